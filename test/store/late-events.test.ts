import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../../src/records/catalog.ts";
import { nextPage, rowsToRead, startAt } from "../../src/http/public/event-cursor.ts";
import { idOf, newId } from "../../src/lib/ids.ts";
import type { InboundMessage } from "../../src/model/inbound.ts";
import { UNOWNED } from "../../src/store/store.ts";
import { createWebhookPlanner } from "../../src/webhooks/plan.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import { MovedClock } from "../support/moved-clock.ts";

const MINUTE_MS = 60_000;

describe.each(ENGINES)("events that are stored late, on %s", (engine) => {
  let opened: OpenStore;
  const clock = new MovedClock();
  beforeEach(async () => {
    opened = await openStore(engine);
  });
  afterEach(() => opened.discard());

  function webhookFor(channel: "chatapp" | "verify", event: "user_message" | "verification_status") {
    const catalog = new Catalog({ store: opened.store, clock });
    catalog.of(1).put({
      accountId: 1,
      kind: "webhook",
      id: newId(clock.now()),
      name: "W",
      origin: "authored",
      createdAt: 0,
      updatedAt: 0,
      content: {
        channel,
        method: "POST",
        events: [event],
        url: "https://shop.example/",
        enabled: true,
        disabledReason: null,
        secrets: [],
      },
    });
    return createWebhookPlanner({ catalog, clock, webhookDispatcher: () => UNOWNED }, null);
  }

  /** Reads on from where it stands, and gives the times at which what it finds happened. */
  function reader() {
    let place = startAt(clock.now() - MINUTE_MS);
    return async (): Promise<number[]> => {
      const rows = await opened.store.listEvents(1, place.floor, rowsToRead(place, 50));
      const { page, next } = nextPage(place, rows, { limit: 50, now: clock.now() });
      place = next;
      return page.map(({ happening }) => happening.at);
    };
  }

  test("a reader gets an event although the phone sent the message ten minutes before", async () => {
    const webhookPlanner = webhookFor("chatapp", "user_message");
    const read = reader();
    const receive = async (at: number): Promise<void> => {
      const inbound: InboundMessage = {
        accountId: 1,
        id: idOf(at, "wamid.1"),
        channel: "chatapp",
        from: "15550100100",
        to: "15550100900",
        content: { kind: "text", text: "Hi" },
        answers: null,
        at,
      };
      await opened.store.storeInbound([inbound], webhookPlanner.planInbound(inbound), clock.now());
    };
    const first = clock.now();
    await receive(first);
    expect(await read()).toEqual([first]);
    clock.advance(MINUTE_MS);
    expect(await read()).toEqual([]);
    const late = clock.now() - 10 * MINUTE_MS;
    await receive(late);
    await receive(late);
    expect(await read()).toEqual([late]);
    clock.advance(MINUTE_MS);
    expect(await read()).toEqual([]);
  });

  test("a reader gets an event although the verification ended while no node ran", async () => {
    const webhookPlanner = webhookFor("verify", "verification_status");
    const read = reader();
    const ended = async (at: number): Promise<void> => {
      const verification = { id: newId(at), config: "login", number: "15550100100", checks: 0, test: false };
      const callbacks = webhookPlanner.planVerification(1, { ...verification, state: "expired" }, at);
      await opened.store.storeCallbacks(callbacks, clock.now());
    };
    const first = clock.now();
    await ended(first);
    expect(await read()).toEqual([first]);
    clock.advance(MINUTE_MS);
    expect(await read()).toEqual([]);
    await ended(first - 10 * MINUTE_MS);
    expect(await read()).toEqual([first - 10 * MINUTE_MS]);
  });
});
