import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failOver } from "../../src/pipeline/dispatch/failover.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { SIMULATOR } from "../../src/model/catalog.ts";
import type { ChatContent } from "../../src/model/chatapp.ts";
import type { Message } from "../../src/model/message.ts";
import type { RcsContent } from "../../src/model/rcs.ts";
import type { Receipt, ReceiptState } from "../../src/model/receipt.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline, type ScriptedCarrier } from "../support/test-pipeline.ts";

const VALIDITY_MS = 3_600_000;
const WAIT_MS = 30_000;
const TEXT = { text: "Your order is on its way.", encoding: "gsm7", flash: false } as const;
const CHAT: ChatContent = {
  kind: "template",
  templateName: "order",
  language: "en",
  header: null,
  text: "Your order is on its way.",
  footer: null,
  buttons: [],
  params: [],
  fallback: { channel: "sms", sender: "SHOP", content: TEXT, segments: 1, afterSeconds: 30, validityMs: VALIDITY_MS },
};
const RICH: RcsContent = {
  botId: "shop",
  templateName: "order",
  kind: "text",
  text: "Your order is on its way.",
  suggestions: [],
  cards: [],
  params: [],
  fallback: {
    channel: "chatapp",
    sender: "+15550100199",
    content: CHAT,
    segments: 1,
    afterSeconds: 30,
    validityMs: WAIT_MS + VALIDITY_MS,
  },
};
const NOT_THERE = { kind: "refused", fault: "message", code: "009", description: "The number is not there" } as const;

describe.each(ENGINES)("a message with three ways on %s", (engine) => {
  let pipeline: TestPipeline;
  let rcs: ScriptedCarrier;
  let chat: ScriptedCarrier;
  let sms: ScriptedCarrier;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    rcs = pipeline.addCarrier("rbm");
    chat = pipeline.addCarrier("whatsapp");
    sms = pipeline.addCarrier("smsc");
    pipeline.route("Everything to the simulator", { carrier: SIMULATOR, enabled: false });
    pipeline.route("RCS", { carrier: "rbm", channel: "rcs", priority: 1 });
    pipeline.route("Chat app", { carrier: "whatsapp", channel: "chatapp", priority: 1 });
    pipeline.route("SMS", { carrier: "smsc", channel: "sms", priority: 1 });
  });
  afterEach(() => pipeline.close());

  const accept = (): Promise<Message> =>
    pipeline.accept("TRANS", 2 * WAIT_MS + VALIDITY_MS, { channel: "rcs", sender: "shop", content: RICH });
  async function dispatchClaimed(): Promise<void> {
    await pipeline.deps.membership.heartbeat();
    for (const message of await pipeline.claim()) await pipeline.dispatch(message);
  }
  async function pass(ms: number): Promise<void> {
    pipeline.clock.advance(ms);
    await failOver(pipeline.deps);
    await dispatchClaimed();
  }
  const channelOf = async (message: Message): Promise<string> => (await pipeline.read(message)).channel;
  const CHANNEL_OF = (carrier: ScriptedCarrier) => (carrier === rcs ? "rcs" : carrier === chat ? "chatapp" : "sms");
  const receipt = (state: ReceiptState, carrier: ScriptedCarrier, message: Message): Receipt => ({
    carrier: carrier.name,
    carrierMessageId: "none",
    ref: message,
    channel: CHANNEL_OF(carrier),
    state,
    errorCode: "001",
    description: "The phone could not be reached",
    at: pipeline.clock.now(),
  });

  test("without a delivery it takes the next way, after each way's own wait", async () => {
    const message = await accept();
    await pipeline.dispatch(message);
    await pass(WAIT_MS - 1);
    expect(await channelOf(message)).toBe("rcs");
    await pass(1);
    expect(await pipeline.read(message)).toMatchObject({
      channel: "chatapp",
      sender: "+15550100199",
      state: "submitted",
    });
    await pass(WAIT_MS - 1);
    expect(await channelOf(message)).toBe("chatapp");
    await pass(1);
    expect(await pipeline.read(message)).toMatchObject({ channel: "sms", sender: "SHOP", state: "submitted" });
    await pass(10 * WAIT_MS);
    expect([rcs, chat, sms].map(({ submitted }) => submitted.length)).toEqual([1, 1, 1]);
  });

  test("an unreachable number takes the next way at once, whose own wait starts then", async () => {
    rcs.answer = () => Promise.resolve(NOT_THERE);
    const message = await accept();
    await pipeline.dispatch(message);
    pipeline.clock.advance(1000);
    await dispatchClaimed();
    expect(await channelOf(message)).toBe("chatapp");
    await pass(WAIT_MS - 1);
    expect(await channelOf(message)).toBe("chatapp");
    await pass(1);
    expect(await channelOf(message)).toBe("sms");
  });

  test("it takes the next way when the platform of a later way reports a failure", async () => {
    rcs.answer = () => Promise.resolve(NOT_THERE);
    const message = await accept();
    await pipeline.dispatch(message);
    await dispatchClaimed();
    await receiveReceipt(pipeline.deps, receipt("undelivered", chat, message));
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
    const steps = decodeTimeline((await pipeline.read(message)).timeline).filter(({ step }) => step === "failover");
    expect(steps).toMatchObject([
      { becomes: "chatapp", reason: "The number is not there" },
      { becomes: "sms", reason: "The phone could not be reached" },
    ]);
  });

  test("it takes no further way once any way has delivered it, also an earlier one", async () => {
    const message = await accept();
    await pipeline.dispatch(message);
    await pass(WAIT_MS);
    expect(await channelOf(message)).toBe("chatapp");
    await receiveReceipt(pipeline.deps, receipt("delivered", rcs, message));
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    await pass(2 * WAIT_MS);
    expect(sms.submitted).toEqual([]);
    await receiveReceipt(pipeline.deps, receipt("undelivered", chat, message));
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered", credits: message.credits });
  });

  test("a late delivery of an earlier way keeps a way that waits from being sent", async () => {
    chat.up = false;
    const message = await accept();
    await pipeline.dispatch(message);
    await pass(WAIT_MS);
    await receiveReceipt(pipeline.deps, receipt("delivered", rcs, message));
    chat.up = true;
    await pass(WAIT_MS);
    expect([chat, sms].flatMap(({ submitted }) => submitted)).toEqual([]);
  });

  test("failure receipts of an earlier way do not move it on", async () => {
    const message = await accept();
    await pipeline.dispatch(message);
    await pass(WAIT_MS);
    await receiveReceipt(pipeline.deps, receipt("undelivered", rcs, message));
    await dispatchClaimed();
    expect(await pipeline.read(message)).toMatchObject({ channel: "chatapp", state: "submitted" });
    expect(sms.submitted).toEqual([]);
  });

  test("a way without a route is skipped", async () => {
    pipeline.route("Chat app", { carrier: "whatsapp", channel: "chatapp", priority: 1, enabled: false });
    rcs.answer = () => Promise.resolve(NOT_THERE);
    const message = await accept();
    await pipeline.dispatch(message);
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
    expect(await channelOf(message)).toBe("sms");
  });

  test("it fails when the last way fails", async () => {
    for (const carrier of [rcs, chat, sms]) carrier.answer = () => Promise.resolve(NOT_THERE);
    const message = await accept();
    await pipeline.dispatch(message);
    await dispatchClaimed();
    await dispatchClaimed();
    expect(await pipeline.read(message)).toMatchObject({ channel: "sms", state: "rejected", errorCode: "009" });
  });

  test("after a crash the message continues on its current way", async () => {
    rcs.answer = () => Promise.resolve(NOT_THERE);
    const message = await accept();
    await pipeline.dispatch(message);
    // Nothing of the message is in memory: a node that starts finds the next way in the row.
    const [claimed] = await pipeline.claim();
    expect(claimed).toMatchObject({ channel: "chatapp", requestId: message.requestId, content: { kind: "template" } });
    expect(claimed?.content).toMatchObject({ fallback: { channel: "sms" } });
  });
});
