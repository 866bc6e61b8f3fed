import { expect, test } from "vitest";
import { createSmppDelivery } from "../../src/facades/smpp/deliver.ts";
import { LiveBinds } from "../../src/facades/smpp/live-binds.ts";
import type { Callback } from "../../src/model/callback.ts";
import { MovedClock } from "../support/moved-clock.ts";

const HOUR_MS = 3_600_000;

test("a receipt older than the retention is dropped, and a younger one waits for its client", async () => {
  const clock = new MovedClock();
  const delivery = createSmppDelivery({ binds: new LiveBinds(), clock, keptMs: 72 * HOUR_MS });
  const message = { messageId: "m:1", channel: "sms", recipient: "1", sender: "S", credits: 1, createdAt: 0 } as const;
  const receipt: Callback = {
    accountId: 1,
    eventId: "e",
    endpointId: "c",
    attempts: 0,
    happening: {
      kind: "state",
      state: "delivered",
      at: clock.now(),
      message: { ...message, session: false },
      gateway: "",
      errorCode: null,
      description: null,
    },
  };
  clock.advance(72 * HOUR_MS);
  expect(await delivery.deliver(receipt)).toBe("away");
  clock.advance(1);
  expect(await delivery.deliver(receipt)).toBe("nothing to send");
});
