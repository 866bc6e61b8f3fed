import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../src/lib/ids.ts";
import { createLog } from "../src/lib/log.ts";
import { DEFAULT_SETTINGS } from "../src/model/account.ts";
import type { Callback, StatusWord } from "../src/model/callback.ts";
import type { CallbackStore } from "../src/store/callback-store.ts";
import { NOBODY } from "../src/store/store.ts";
import { Teller } from "../src/webhooks/teller.ts";
import { createMeters } from "../src/work/meters.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { Workshop } from "./support/workshop.ts";

const NAP_MS = 31_000;

describe.each(ENGINES)("a node on %s that has been silent for longer than it may", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.opened.discard());

  /** Tells what the store has, and falls asleep whenever it has taken something from there until it is woken. */
  function sleepyTeller() {
    const { clock, catalog, needs, store } = shop;
    const told: string[] = [];
    let isSleepy = true;
    const claimCallbacks: CallbackStore["claimCallbacks"] = async (claim) => {
      const due = await store.claimCallbacks(claim);
      if (isSleepy && due.length > 0) clock.advance(NAP_MS);
      return due;
    };
    const teller = new Teller({
      store: { ...store, claimCallbacks },
      membership: needs.membership,
      catalog,
      clock,
      log: createLog("silent"),
      meters: createMeters(),
      figures: { onTold: () => {} },
      seal: { seal: (text) => text, open: (sealed) => sealed },
      accountOf: (id) => ({ id, name: "default", suspended: false, settings: DEFAULT_SETTINGS }),
      operatorOf: () => "",
      pusher: {
        async push({ body }) {
          told.push((JSON.parse(body ?? "") as { status: string }).status);
          return { kind: "delivered", status: 200, ms: 1, excerpt: "" };
        },
      },
    });
    return { teller, told, stayAwake: () => void (isSleepy = false) };
  }

  /** Somebody who is told of one message that it has failed, and then that it came to its phone after all. */
  async function twoReports(): Promise<void> {
    const { clock, catalog, store } = shop;
    const endpointId = newId(clock.now());
    catalog.of(1).put({
      accountId: 1,
      kind: "dlrConfig",
      id: endpointId,
      name: "Reports",
      origin: "authored",
      content: {
        provider: "ALL",
        method: "POST",
        url: "https://shop.example/reports",
        headers: [],
        enabled: true,
        disabledReason: null,
        secrets: [],
      },
      createdAt: clock.now(),
      updatedAt: clock.now(),
    });
    const messageId = `${newId(clock.now())}:1`;
    const report = (status: StatusWord): Callback => ({
      accountId: 1,
      eventId: newId(clock.now()),
      endpointId,
      attempts: 0,
      happening: {
        kind: "status",
        status,
        at: clock.now(),
        gateway: "scripted",
        errorCode: null,
        description: null,
        message: {
          messageId,
          channel: "sms",
          recipient: "15550100100",
          sender: "HELIOG",
          credits: 1,
          createdAt: clock.now(),
          session: false,
        },
      },
    });
    await store.storeCallbacks([report("failed"), report("delivered")], clock.now());
  }

  test("puts back what it has in hand, and tells it in its order once it knows that it lives", async () => {
    await twoReports();
    const { teller, told, stayAwake } = sleepyTeller();
    const ownersOfWaiting = async (): Promise<unknown[]> =>
      (await shop.opened.execute("select owner from callbacks where state = 'waiting'")).map((row) =>
        Object.values(row as object),
      );
    await teller.claim();
    await eventually(ownersOfWaiting, (owners) => JSON.stringify(owners) === JSON.stringify([[NOBODY], [NOBODY]]));
    expect(told).toEqual([]);

    stayAwake();
    await shop.needs.membership.beat();
    await eventually(
      () => teller.claim(),
      () => told.length === 2,
    );
    expect(told).toEqual(["Failed", "Delivered"]);
    await teller.stop();
    expect(await ownersOfWaiting()).toEqual([]);
  });
});
