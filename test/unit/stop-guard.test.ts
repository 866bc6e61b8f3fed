import { expect, test } from "vitest";
import type { Message } from "../../src/model/message.ts";
import { LEASE_MS, StopGuard } from "../../src/pipeline/dispatch/stop-guard.ts";

const message = { accountId: 1, recipient: "12025550100", routeClass: "PROMO", campaignName: null } as Message;

test("a lease ends after its time by either clock, so it does not outlive a suspended machine", () => {
  const time = { wall: 0, monotonic: 0 };
  const clock = { now: () => time.wall, monotonic: () => time.monotonic, after: () => () => undefined };
  const guard = new StopGuard({ store: { countNodes: async () => 2 }, clock });
  const [first, second] = [guard.issueLease(message), guard.issueLease(message)];
  time.wall += LEASE_MS - 1;
  expect(first()).toBe(true);
  time.wall += 1;
  expect(first(), "the machine was suspended").toBe(false);
  time.wall -= 10 * LEASE_MS;
  time.monotonic += LEASE_MS - 1;
  expect(second(), "the wall clock was set back").toBe(true);
  time.monotonic += 1;
  expect(second()).toBe(false);
});
