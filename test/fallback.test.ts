import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Receipt, ReceiptState } from "../src/carriers/carrier.ts";
import { failOver } from "../src/messages/fail-over.ts";
import { report } from "../src/messages/report.ts";
import { SIMULATOR } from "../src/model/catalog.ts";
import type { Message } from "../src/model/message.ts";
import type { RcsContent } from "../src/model/rcs.ts";
import { readTrail } from "../src/model/trail.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop, type ScriptedCarrier } from "./support/workshop.ts";

const TEXT = { text: "Your order is on its way.", encoding: "gsm7", flash: false } as const;
const RICH: RcsContent = {
  botId: "shop",
  templateName: "order",
  kind: "text",
  text: "Your order is on its way.",
  suggestions: [],
  cards: [],
  params: [],
  fallback: { sender: "SHOP", content: TEXT, segments: 1, afterSeconds: 60, validityMs: 3_540_000 },
};
const NOT_THERE = { kind: "refused", fault: "message", code: "009", description: "The number is not on RCS" } as const;

describe.each(ENGINES)("a text as the fallback of an RCS message on %s", (engine) => {
  let shop: Workshop;
  let rcs: ScriptedCarrier;
  let sms: ScriptedCarrier;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    const now = shop.clock.now();
    shop.catalog.of(1).put({
      accountId: 1,
      kind: "bot",
      id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
      name: "shop",
      origin: "authored",
      content: { title: null },
      createdAt: now,
      updatedAt: now,
    });
    rcs = shop.addCarrier("rbm");
    sms = shop.addCarrier("smsc");
    shop.route("Everything to the simulator", { carrier: SIMULATOR, enabled: false });
    shop.route("RCS", { carrier: "rbm", channel: "rcs", priority: 1 });
    shop.route("SMS", { carrier: "smsc", channel: "sms", priority: 1 });
  });
  afterEach(() => shop.close());

  const acceptRich = (content: RcsContent = RICH): Promise<Message> =>
    shop.accept("TRANS", 3_600_000, { channel: "rcs", sender: "shop", content });

  async function dispatchClaimed(): Promise<void> {
    await shop.needs.membership.beat();
    for (const message of await shop.claim()) await shop.dispatch(message);
  }

  const receipt = (state: ReceiptState, carrier: ScriptedCarrier, message: Message): Receipt => ({
    carrier: carrier.name,
    carrierMessageId: "none",
    ref: message,
    channel: carrier === rcs ? "rcs" : "sms",
    state,
    errorCode: "001",
    description: "The phone could not be reached",
    at: shop.clock.now(),
  });

  test("goes out at once when the number is not on RCS, as the same message", async () => {
    const message = await acceptRich();
    rcs.answer = () => NOT_THERE;
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({
      channel: "sms",
      state: "accepted",
      sender: "SHOP",
      content: TEXT,
    });
    await dispatchClaimed();
    expect(sms.submitted).toMatchObject([{ requestId: message.requestId, n: 1, channel: "sms", content: TEXT }]);
    expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: sms.name, channel: "sms" });
    const entries = readTrail((await shop.read(message)).trail);
    expect(entries).toContainEqual(
      expect.objectContaining({ step: "failover", reason: "The number is not on RCS", becomes: "sms" }),
    );
    expect(entries).toContainEqual(expect.objectContaining({ step: "answer", outcome: "refused", code: "009" }));
  });

  test("without one, a number that is not on RCS is Failed", async () => {
    const { fallback: _, ...plain } = RICH;
    const message = await acceptRich(plain);
    rcs.answer = () => NOT_THERE;
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ channel: "rcs", state: "rejected", errorCode: "009" });
  });

  test("goes out when no delivery came in time, and not before", async () => {
    const message = await acceptRich();
    await shop.dispatch(message);
    shop.clock.advance(59_999);
    await failOver(shop.needs);
    expect(await shop.read(message)).toMatchObject({ channel: "rcs", state: "submitted" });
    shop.clock.advance(1);
    await failOver(shop.needs);
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
    await failOver(shop.needs);
    expect(await shop.read(message)).toMatchObject({ channel: "sms", state: "submitted" });
  });

  test("goes out when the carrier reports that it could not deliver", async () => {
    const message = await acceptRich();
    await shop.dispatch(message);
    await report(shop.needs, receipt("undelivered", rcs, message));
    await failOver(shop.needs);
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
    expect(readTrail((await shop.read(message)).trail)).toContainEqual(
      expect.objectContaining({ step: "failover", reason: "The phone could not be reached", becomes: "sms" }),
    );
  });

  test.each(["delivered", "read"] as const)("does not go out once the message is %s", async (state) => {
    const message = await acceptRich();
    await shop.dispatch(message);
    await report(shop.needs, receipt(state, rcs, message));
    shop.clock.advance(120_000);
    await failOver(shop.needs);
    expect(await shop.claim()).toEqual([]);
    expect(await shop.read(message)).toMatchObject({ channel: "rcs", state });
  });

  test("goes out when the carrier has been down for as long as was to be waited, without a longer pause", async () => {
    const message = await acceptRich();
    rcs.up = false;
    await shop.dispatch(message);
    for (let second = 0; second < 61 && (await shop.read(message)).channel === "rcs"; second += 1) {
      shop.clock.advance(1000);
      await dispatchClaimed();
    }
    expect(shop.clock.now() - message.createdAt).toBe(60_000);
    await dispatchClaimed();
    expect(rcs.submitted).toEqual([]);
    expect(sms.submitted).toHaveLength(1);
  });

  test("late bad news of the RCS message neither ends the text nor sends it once more, not even by the same carrier", async () => {
    shop.route("SMS", { carrier: "rbm", channel: "sms", priority: 1, failoverAfterSeconds: 300 });
    shop.route("SMS too", { carrier: "smsc", channel: "sms", priority: 2 });
    const message = await acceptRich();
    await shop.dispatch(message);
    shop.clock.advance(60_000);
    await failOver(shop.needs);
    await dispatchClaimed();
    await report(shop.needs, receipt("undelivered", rcs, message));
    await failOver(shop.needs);
    expect(await shop.claim()).toEqual([]);
    expect(await shop.read(message)).toMatchObject({ state: "submitted", channel: "sms" });
  });

  test("bad news of the RCS message is not the end of a text that is only silent", async () => {
    shop.route("SMS", { carrier: "rbm", channel: "sms", priority: 1, failoverAfterSeconds: 300 });
    const message = await acceptRich();
    await shop.dispatch(message);
    await report(shop.needs, receipt("undelivered", rcs, message));
    await dispatchClaimed();
    shop.clock.advance(300_000);
    await failOver(shop.needs);
    expect(await shop.read(message)).toMatchObject({ state: "submitted", channel: "sms" });
    await report(shop.needs, { ...receipt("delivered", rcs, message), channel: "sms" });
    expect(await shop.read(message)).toMatchObject({ state: "delivered" });
  });

  test.each(["expired", "rejected", "undelivered"] as const)(
    "a %s receipt at the moment at which the text takes over does not end it",
    async (state) => {
      const message = await acceptRich();
      await shop.dispatch(message);
      shop.clock.advance(60_000);
      const { replanFailover, findMessage } = shop.needs.store;
      const turnFirst =
        <A extends unknown[], R>(ask: (...args: A) => Promise<R>) =>
        async (...args: A): Promise<R> => {
          const answer = await ask(...args);
          await failOver(shop.needs);
          return answer;
        };
      const store = {
        ...shop.needs.store,
        replanFailover: turnFirst(replanFailover),
        findMessage: turnFirst(findMessage),
      };
      await report({ ...shop.needs, store }, receipt(state, rcs, message));
      expect(await shop.read(message)).toMatchObject({ channel: "sms", state: "accepted" });
      await dispatchClaimed();
      expect(sms.submitted).toHaveLength(1);
    },
  );

  test("goes out for a message in doubt too: when its failure is reported, and when nothing is", async () => {
    rcs.answer = () => ({ kind: "unknown", description: "The line broke" });
    const reported = await acceptRich();
    await shop.dispatch(reported);
    await report(shop.needs, receipt("undelivered", rcs, reported));
    const silent = await shop.accept("PROMO", 3_600_000, { channel: "rcs", sender: "shop", content: RICH });
    await shop.dispatch(silent);
    shop.clock.advance(60_000);
    await dispatchClaimed();
    await dispatchClaimed();
    expect(new Set(sms.submitted.map(({ requestId }) => requestId))).toEqual(
      new Set([reported.requestId, silent.requestId]),
    );
  });

  test("goes out when there is no route for RCS at all", async () => {
    shop.route("RCS", { carrier: "rbm", enabled: false });
    const message = await acceptRich();
    await shop.dispatch(message);
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
  });

  describe("does not take the place of a message that may still arrive, where it could not go itself", () => {
    test("without a route for it", async () => {
      shop.route("SMS", { carrier: "smsc", enabled: false });
      const message = await acceptRich();
      await shop.dispatch(message);
      shop.clock.advance(60_000);
      await failOver(shop.needs);
      await report(shop.needs, receipt("delivered", rcs, message));
      expect(await shop.read(message)).toMatchObject({ channel: "rcs", state: "delivered" });
    });

    test("to somebody who wants no promotions any more", async () => {
      const message = await shop.accept("PROMO", 3_600_000, { channel: "rcs", sender: "shop", content: RICH });
      await shop.dispatch(message);
      const { recipient: number } = message;
      await shop.store.addOptOuts([{ accountId: 1, number, source: "reply", note: null, createdAt: 1 }]);
      shop.clock.advance(60_000);
      await failOver(shop.needs);
      expect(await shop.read(message)).toMatchObject({ channel: "rcs", state: "submitted" });
    });
  });

  test("a message that was held waits as long as any other before the text takes over", async () => {
    const message = await acceptRich();
    // Held for ten minutes: its validity has moved with it.
    const held = { ...message, expiresAt: message.expiresAt + 600_000, attempts: 1 };
    shop.clock.advance(600_000);
    await shop.needs.membership.beat();
    await shop.dispatch(held);
    expect(rcs.submitted).toHaveLength(1);
  });

  test("a late delivery of the RCS message still counts", async () => {
    const message = await acceptRich();
    await shop.dispatch(message);
    shop.clock.advance(60_000);
    await failOver(shop.needs);
    await report(shop.needs, receipt("delivered", rcs, message));
    expect(await shop.read(message)).toMatchObject({ state: "delivered" });
    expect(await shop.claim()).toEqual([]);
  });

  test("is paid for once", async () => {
    shop.settings = { ...shop.settings, credits: "metered" };
    await shop.opened.execute("insert into balances (account_id, balance, held) values (1, 0, 0)");
    await shop.store.addCredits(1, { id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d48", amount: 5, note: null, at: 1 });
    const message = await acceptRich();
    await shop.dispatch(message);
    shop.clock.advance(60_000);
    await failOver(shop.needs);
    await dispatchClaimed();
    await report(shop.needs, receipt("delivered", sms, message));
    expect(await shop.store.findBalance(1)).toEqual({ balance: 4, held: 0 });
    const ledger = await shop.store.listLedgerOfMessage(message);
    expect(ledger.map(({ kind }) => kind)).toEqual(["hold", "spend"]);
  });

  test("is not sent after the message has expired", async () => {
    const message = await shop.accept("TRANS", 30_000, { channel: "rcs", sender: "shop", content: RICH });
    await shop.dispatch(message);
    shop.clock.advance(60_000);
    await failOver(shop.needs);
    expect(await shop.read(message)).toMatchObject({ channel: "rcs", state: "submitted" });
  });
});
