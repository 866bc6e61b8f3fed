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
  fallback: { sender: "SHOP", content: TEXT, segments: 1, afterSeconds: 60 },
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

  test("late bad news of the RCS message does not end the text, not even by the same carrier", async () => {
    shop.route("SMS", { carrier: "rbm", channel: "sms", priority: 1 });
    const message = await acceptRich();
    rcs.answer = ({ channel }) => (channel === "rcs" ? NOT_THERE : { kind: "taken", carrierMessageId: "1" });
    await shop.dispatch(message);
    await dispatchClaimed();
    await report(shop.needs, receipt("undelivered", rcs, message));
    expect(await shop.read(message)).toMatchObject({ state: "submitted", channel: "sms" });
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
