import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Receipt, ReceiptState } from "../../src/model/receipt.ts";
import { failOver } from "../../src/pipeline/dispatch/failover.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { SIMULATOR } from "../../src/model/catalog.ts";
import type { Message } from "../../src/model/message.ts";
import type { RcsContent } from "../../src/model/rcs.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline, type ScriptedCarrier } from "../support/test-pipeline.ts";

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

describe.each(ENGINES)("the SMS fallback of an RCS message on %s", (engine) => {
  let pipeline: TestPipeline;
  let rcs: ScriptedCarrier;
  let sms: ScriptedCarrier;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    const now = pipeline.clock.now();
    pipeline.catalog.of(1).put({
      accountId: 1,
      kind: "bot",
      id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
      name: "shop",
      origin: "authored",
      content: { title: null },
      createdAt: now,
      updatedAt: now,
    });
    rcs = pipeline.addCarrier("rbm");
    sms = pipeline.addCarrier("smsc");
    pipeline.route("Everything to the simulator", { carrier: SIMULATOR, enabled: false });
    pipeline.route("RCS", { carrier: "rbm", channel: "rcs", priority: 1 });
    pipeline.route("SMS", { carrier: "smsc", channel: "sms", priority: 1 });
  });
  afterEach(() => pipeline.close());

  const acceptRich = (content: RcsContent = RICH): Promise<Message> =>
    pipeline.accept("TRANS", 3_600_000, { channel: "rcs", sender: "shop", content });

  async function dispatchClaimed(): Promise<void> {
    await pipeline.deps.membership.heartbeat();
    for (const message of await pipeline.claim()) await pipeline.dispatch(message);
  }

  const receipt = (state: ReceiptState, carrier: ScriptedCarrier, message: Message): Receipt => ({
    carrier: carrier.name,
    carrierMessageId: "none",
    ref: message,
    channel: carrier === rcs ? "rcs" : "sms",
    state,
    errorCode: "001",
    description: "The phone could not be reached",
    at: pipeline.clock.now(),
  });

  test("the fallback is sent at once, as the same message, when the number is not on RCS", async () => {
    const message = await acceptRich();
    rcs.answer = () => NOT_THERE;
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({
      channel: "sms",
      state: "accepted",
      sender: "SHOP",
      content: TEXT,
    });
    await dispatchClaimed();
    expect(sms.submitted).toMatchObject([{ requestId: message.requestId, n: 1, channel: "sms", content: TEXT }]);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: sms.name, channel: "sms" });
    const entries = decodeTimeline((await pipeline.read(message)).timeline);
    expect(entries).toContainEqual(
      expect.objectContaining({ step: "failover", reason: "The number is not on RCS", becomes: "sms" }),
    );
    expect(entries).toContainEqual(expect.objectContaining({ step: "answer", outcome: "refused", code: "009" }));
  });

  test("without a fallback, a number that is not on RCS is Failed", async () => {
    const { fallback: _, ...plain } = RICH;
    const message = await acceptRich(plain);
    rcs.answer = () => NOT_THERE;
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state: "rejected", errorCode: "009" });
  });

  test("the fallback is sent when no delivery came in time, and not before", async () => {
    const message = await acceptRich();
    await pipeline.dispatch(message);
    pipeline.clock.advance(59_999);
    await failOver(pipeline.deps);
    expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state: "submitted" });
    pipeline.clock.advance(1);
    await failOver(pipeline.deps);
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
    await failOver(pipeline.deps);
    expect(await pipeline.read(message)).toMatchObject({ channel: "sms", state: "submitted" });
  });

  test("the fallback is sent when the carrier reports a failed delivery", async () => {
    const message = await acceptRich();
    await pipeline.dispatch(message);
    await receiveReceipt(pipeline.deps, receipt("undelivered", rcs, message));
    await failOver(pipeline.deps);
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
    expect(decodeTimeline((await pipeline.read(message)).timeline)).toContainEqual(
      expect.objectContaining({ step: "failover", reason: "The phone could not be reached", becomes: "sms" }),
    );
  });

  test.each(["delivered", "read"] as const)("the fallback is not sent once the message is %s", async (state) => {
    const message = await acceptRich();
    await pipeline.dispatch(message);
    await receiveReceipt(pipeline.deps, receipt(state, rcs, message));
    pipeline.clock.advance(120_000);
    await failOver(pipeline.deps);
    expect(await pipeline.claim()).toEqual([]);
    expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state });
  });

  test("the fallback is sent when the carrier has been down for the failover time, without a longer pause", async () => {
    const message = await acceptRich();
    rcs.up = false;
    await pipeline.dispatch(message);
    for (let second = 0; second < 61 && (await pipeline.read(message)).channel === "rcs"; second += 1) {
      pipeline.clock.advance(1000);
      await dispatchClaimed();
    }
    expect(pipeline.clock.now() - message.createdAt).toBe(60_000);
    await dispatchClaimed();
    expect(rcs.submitted).toEqual([]);
    expect(sms.submitted).toHaveLength(1);
  });

  test("late failure receipts of the RCS message neither end the text nor repeat it, even from the same carrier", async () => {
    pipeline.route("SMS", { carrier: "rbm", channel: "sms", priority: 1, failoverAfterSeconds: 300 });
    pipeline.route("SMS too", { carrier: "smsc", channel: "sms", priority: 2 });
    const message = await acceptRich();
    await pipeline.dispatch(message);
    pipeline.clock.advance(60_000);
    await failOver(pipeline.deps);
    await dispatchClaimed();
    await receiveReceipt(pipeline.deps, receipt("undelivered", rcs, message));
    await failOver(pipeline.deps);
    expect(await pipeline.claim()).toEqual([]);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", channel: "sms" });
  });

  test("a failure receipt of the RCS message does not end a text without a receipt", async () => {
    pipeline.route("SMS", { carrier: "rbm", channel: "sms", priority: 1, failoverAfterSeconds: 300 });
    const message = await acceptRich();
    await pipeline.dispatch(message);
    await receiveReceipt(pipeline.deps, receipt("undelivered", rcs, message));
    await dispatchClaimed();
    pipeline.clock.advance(300_000);
    await failOver(pipeline.deps);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", channel: "sms" });
    await receiveReceipt(pipeline.deps, { ...receipt("delivered", rcs, message), channel: "sms" });
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
  });

  test.each(["expired", "rejected", "undelivered"] as const)(
    "a %s receipt while the text takes over does not end the message",
    async (state) => {
      const message = await acceptRich();
      await pipeline.dispatch(message);
      pipeline.clock.advance(60_000);
      const { replanFailover, findMessage } = pipeline.deps.store;
      const turnFirst =
        <A extends unknown[], R>(ask: (...args: A) => Promise<R>) =>
        async (...args: A): Promise<R> => {
          const answer = await ask(...args);
          await failOver(pipeline.deps);
          return answer;
        };
      const store = {
        ...pipeline.deps.store,
        replanFailover: turnFirst(replanFailover),
        findMessage: turnFirst(findMessage),
      };
      await receiveReceipt({ ...pipeline.deps, store }, receipt(state, rcs, message));
      expect(await pipeline.read(message)).toMatchObject({ channel: "sms", state: "accepted" });
      await dispatchClaimed();
      expect(sms.submitted).toHaveLength(1);
    },
  );

  test("the fallback is sent for a message in doubt too: on a failure receipt, and on none", async () => {
    rcs.answer = () => ({ kind: "unknown", description: "The line broke" });
    const reported = await acceptRich();
    await pipeline.dispatch(reported);
    await receiveReceipt(pipeline.deps, receipt("undelivered", rcs, reported));
    const silent = await pipeline.accept("PROMO", 3_600_000, { channel: "rcs", sender: "shop", content: RICH });
    await pipeline.dispatch(silent);
    pipeline.clock.advance(60_000);
    await dispatchClaimed();
    await dispatchClaimed();
    expect(new Set(sms.submitted.map(({ requestId }) => requestId))).toEqual(
      new Set([reported.requestId, silent.requestId]),
    );
  });

  test("the fallback is sent when there is no route for RCS", async () => {
    pipeline.route("RCS", { carrier: "rbm", enabled: false });
    const message = await acceptRich();
    await pipeline.dispatch(message);
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
  });

  describe("does not take the place of a message that may still arrive, where it could not go itself", () => {
    test("the fallback does not replace a message that may still arrive while it has no route", async () => {
      pipeline.route("SMS", { carrier: "smsc", enabled: false });
      const message = await acceptRich();
      await pipeline.dispatch(message);
      pipeline.clock.advance(60_000);
      await failOver(pipeline.deps);
      await receiveReceipt(pipeline.deps, receipt("delivered", rcs, message));
      expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state: "delivered" });
    });

    test("the fallback does not replace a message that may still arrive while its recipient has opted out", async () => {
      const message = await pipeline.accept("PROMO", 3_600_000, { channel: "rcs", sender: "shop", content: RICH });
      await pipeline.dispatch(message);
      const { recipient: number } = message;
      await pipeline.store.addOptOuts([{ accountId: 1, number, source: "reply", note: null, createdAt: 1 }]);
      pipeline.clock.advance(60_000);
      await failOver(pipeline.deps);
      expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state: "submitted" });
    });

    test("a late delivery counts after an opt-out has stopped the fallback", async () => {
      const message = await pipeline.accept("PROMO", 3_600_000, { channel: "rcs", sender: "shop", content: RICH });
      await pipeline.dispatch(message);
      pipeline.clock.advance(60_000);
      await failOver(pipeline.deps);
      const { recipient: number } = message;
      await pipeline.store.addOptOuts([{ accountId: 1, number, source: "reply", note: null, createdAt: 1 }]);
      await dispatchClaimed();
      expect(sms.submitted).toEqual([]);
      expect(await pipeline.read(message)).toMatchObject({ state: "expired", errorCode: "RECIPIENT_OPTED_OUT" });
      await receiveReceipt(pipeline.deps, receipt("delivered", rcs, message));
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    });
  });

  test("a message that was held waits as long as any other before the fallback", async () => {
    const message = await acceptRich();
    // Held for ten minutes: its validity has moved with it.
    const held = { ...message, expiresAt: message.expiresAt + 600_000, attempts: 1 };
    await pipeline.opened.execute("update messages set attempts = 1, expires_at = expires_at + 600000");
    pipeline.clock.advance(600_000);
    await pipeline.deps.membership.heartbeat();
    await pipeline.dispatch(held);
    expect(rcs.submitted).toHaveLength(1);
  });

  test("a late delivery of the RCS message still counts", async () => {
    const message = await acceptRich();
    await pipeline.dispatch(message);
    pipeline.clock.advance(60_000);
    await failOver(pipeline.deps);
    await receiveReceipt(pipeline.deps, receipt("delivered", rcs, message));
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    expect(await pipeline.claim()).toEqual([]);
  });

  test("a message with a fallback is paid for once", async () => {
    pipeline.settings = { ...pipeline.settings, credits: "metered" };
    await pipeline.opened.execute("insert into balances (account_id, balance, held) values (1, 0, 0)");
    await pipeline.store.addCredits(1, { id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d48", amount: 5, note: null, at: 1 });
    const message = await acceptRich();
    await pipeline.dispatch(message);
    pipeline.clock.advance(60_000);
    await failOver(pipeline.deps);
    await dispatchClaimed();
    await receiveReceipt(pipeline.deps, receipt("delivered", sms, message));
    expect(await pipeline.store.findBalance(1)).toEqual({ balance: 4, held: 0 });
    const ledger = await pipeline.store.listLedgerOfMessage(message);
    expect(ledger.map(({ kind }) => kind)).toEqual(["hold", "spend"]);
  });

  test("the fallback is not sent after the message has expired", async () => {
    const message = await pipeline.accept("TRANS", 30_000, { channel: "rcs", sender: "shop", content: RICH });
    await pipeline.dispatch(message);
    pipeline.clock.advance(60_000);
    await failOver(pipeline.deps);
    expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state: "submitted" });
  });
});
