import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Outcome } from "../../src/carriers/carrier.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { dispatch } from "../../src/pipeline/dispatch/dispatch.ts";
import type { DispatchDeps } from "../../src/pipeline/dispatch/dispatch-deps.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import type { MessageSnapshot, WebhookEvent } from "../../src/model/callback.ts";
import type { Channel, Message, MessageContent } from "../../src/model/message.ts";
import type { RcsContent } from "../../src/model/rcs.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { UNOWNED } from "../../src/store/store.ts";
import { createWebhookPlanner } from "../../src/webhooks/plan.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { ENGINES, openStore } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { TestPipeline, type ScriptedCarrier } from "../support/test-pipeline.ts";
import { transitionAll } from "../support/transitions.ts";

const RICH: RcsContent = {
  kind: "text",
  botId: "bot",
  templateName: "greeting",
  text: "Hello in colour",
  suggestions: [],
  cards: [],
  params: [],
  fallback: {
    sender: "HELIOG",
    content: { text: "Hello", encoding: "gsm7", flash: false },
    segments: 1,
    afterSeconds: 60,
    validityMs: 3_600_000,
  },
};
const CHAT = { kind: "template", templateName: "t", text: "Hi", header: null, params: [] } as unknown as MessageContent;

describe.each(ENGINES)("submit responses on %s", (engine) => {
  let pipeline: TestPipeline;
  /** Events reported to customers, in order. */
  let told: string[];
  let facts: MessageSnapshot[];
  let deps: DispatchDeps;

  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    told = [];
    facts = [];
    const { store, clock, catalog } = pipeline;
    const events: WebhookEvent[] = ["message_status", "message_sent"];
    for (const channel of ["rcs", "chatapp"] as const)
      catalog.of(1).put({
        accountId: 1,
        kind: "webhook",
        id: newId(clock.now()),
        name: `Of ${channel}`,
        origin: "authored",
        createdAt: 0,
        updatedAt: 0,
        content: {
          channel,
          events: channel === "rcs" ? ["message_status"] : events,
          method: "POST",
          url: "https://customer.example/",
          enabled: true,
          disabledReason: null,
          secrets: [],
        },
      });
    const webhookPlanner = createWebhookPlanner(
      { catalog, clock, webhookDispatcher: () => pipeline.deps.membership.node },
      {
        take: (callbacks) => {
          told.push(...callbacks.map(({ happening }) => ("status" in happening ? happening.status : happening.kind)));
          facts.push(...callbacks.flatMap(({ happening }) => (happening.kind === "status" ? [happening.message] : [])));
        },
        claimSoon: () => {},
      },
    );
    const commits = createGroupCommit(
      { store, clock, log: createLog("silent"), webhookPlanner },
      { acceptBacklog: 1000 },
    );
    deps = { ...pipeline.deps, commits };
  });
  afterEach(() => pipeline.close());

  /** Begins to send a message; the carrier answers when the test says so. */
  async function begin(
    carrier: ScriptedCarrier,
    message: Message,
  ): Promise<{ answer(outcome: Outcome): Promise<void> }> {
    const slow = Promise.withResolvers<Outcome>();
    carrier.answer = () => slow.promise;
    const before = carrier.submitted.length;
    const sending = dispatch(deps, message);
    await eventually(
      () => carrier.submitted.length,
      (count) => count > before,
    );
    return {
      answer: (outcome) => {
        slow.resolve(outcome);
        return sending;
      },
    };
  }

  const echoed = (
    carrier: ScriptedCarrier,
    { accountId, requestId, n }: Message,
    state: Receipt["state"],
    channel: Channel,
  ): Receipt => ({
    carrier: carrier.name,
    carrierMessageId: "C1",
    ref: { accountId, requestId, n },
    channel,
    state,
    errorCode: state === "undelivered" ? "9" : null,
    description: state === "undelivered" ? "No such phone" : null,
    at: pipeline.clock.now(),
  });

  const taken = (carrierMessageId: string): Outcome => ({ kind: "taken", carrierMessageId });

  describe.each(["two carriers", "one carrier for both channels"])("after an RCS fallback, with %s", (kind) => {
    it("a submit response leaves the message with the text that replaced it", async () => {
      const rich = pipeline.addCarrier("rich");
      const texts = kind === "two carriers" ? pipeline.addCarrier("texts") : rich;
      pipeline.route("Everything to the simulator", { carrier: "rich", channel: "rcs" });
      pipeline.route("Texts", { carrier: kind === "two carriers" ? "texts" : "rich", channel: "sms" });
      const message = await pipeline.accept("TRANS", 3_600_000, { channel: "rcs", sender: "bot", content: RICH });
      const first = await begin(rich, message);
      await receiveReceipt(deps, echoed(rich, message, "undelivered", "rcs"));
      expect(await pipeline.read(message)).toMatchObject({ state: "accepted", channel: "sms" });
      const [text] = await pipeline.claim();
      if (!text) throw new Error("the text was not claimed");
      const second = await begin(texts, text);
      await first.answer(taken("C1"));
      expect(await pipeline.read(message)).toMatchObject({ state: "submitting", carrier: texts.name, channel: "sms" });
      await second.answer(taken("S1"));
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: texts.name });
      const { ref: _, ...failure } = echoed(texts, message, "undelivered", "sms");
      await receiveReceipt(deps, { ...failure, carrierMessageId: "S1" });
      expect(await pipeline.read(message)).toMatchObject({ state: "undelivered", errorCode: "9" });
    });
  });

  it.each([
    ["delivered", "delivered"],
    ["undelivered", "failed"],
  ] as const)("of the text after an RCS fallback leaves the RCS webhook to hear the end: %s", async (state, status) => {
    const [rich, texts] = [pipeline.addCarrier("rich"), pipeline.addCarrier("texts")];
    pipeline.route("Everything to the simulator", { carrier: "rich", channel: "rcs" });
    pipeline.route("Texts", { carrier: "texts", channel: "sms" });
    rich.answer = () => taken("C1");
    texts.answer = () => taken("S1");
    const message = await pipeline.accept("TRANS", 3_600_000, { channel: "rcs", sender: "bot", content: RICH });
    await dispatch(deps, message);
    await receiveReceipt(deps, echoed(rich, message, "undelivered", "rcs"));
    const [text] = await pipeline.claim();
    if (!text) throw new Error("the text was not claimed");
    await dispatch(deps, text);
    const { ref: _, channel: __, ...receipt } = echoed(texts, message, state, "sms");
    await receiveReceipt(deps, { ...receipt, carrierMessageId: "S1" });
    expect(told).toEqual(["sent", status]);
    expect(facts.at(-1)).toMatchObject({ channel: "rcs", sender: "bot", via: "sms" });
    const rows = await pipeline.opened.execute("select facts from callbacks where status = '" + status + "'");
    expect(JSON.parse((rows[0] as { facts: string }).facts)).toMatchObject({
      channel: "rcs",
      sender: "bot",
      via: "sms",
    });
  });

  it("a submit response does not attribute a late RCS delivery to the text", async () => {
    const rich = pipeline.addCarrier("rich");
    pipeline.route("Everything to the simulator", { carrier: "rich", channel: "rcs" });
    pipeline.route("Texts", { carrier: "texts", channel: "sms" });
    rich.answer = () => taken("C1");
    const message = await pipeline.accept("TRANS", 3_600_000, { channel: "rcs", sender: "bot", content: RICH });
    await dispatch(deps, message);
    await receiveReceipt(deps, echoed(rich, message, "undelivered", "rcs"));
    await receiveReceipt(deps, echoed(rich, message, "delivered", "rcs"));
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered", channel: "sms" });
    expect(told).toEqual(["sent", "delivered"]);
    expect(facts.at(-1)).toMatchObject({ channel: "rcs", sender: "bot" });
    expect(facts.at(-1)).not.toHaveProperty("via");
  });

  it("a submit response after failover is on the timeline, and its id is known", async () => {
    const first = pipeline.addCarrier("first");
    pipeline.route("Everything to the simulator", { carrier: "first", priority: 1 });
    const message = await pipeline.accept("TRANS");
    const sending = await begin(first, message);
    await pipeline.opened.execute("update messages set carrier = '1/second'");
    await sending.answer(taken("C1"));
    const stored = await pipeline.read(message);
    expect(stored).toMatchObject({ state: "submitting", carrier: "1/second" });
    expect(decodeTimeline(stored.timeline).at(-1)).toMatchObject({
      step: "answer",
      carrier: first.name,
      outcome: "taken",
    });
    const found = await pipeline.store.findSubmissions([{ carrier: first.name, carrierMessageId: "C1" }]);
    expect(found).toMatchObject([{ requestId: message.requestId }]);
  });

  describe("a submit response that a receipt overtakes", () => {
    it.each(["enroute", "delivered", "read"] as const)(
      "the customer is told that the message was sent before it is %s",
      async (state) => {
        const message = await pipeline.accept("TRANS", 3_600_000, { channel: "chatapp", content: CHAT });
        const sending = await begin(pipeline.carrier, message);
        await receiveReceipt(deps, echoed(pipeline.carrier, message, state, "chatapp"));
        await sending.answer(taken("C1"));
        if (state === "enroute") await receiveReceipt(deps, echoed(pipeline.carrier, message, "delivered", "chatapp"));
        expect(told).toEqual(["sent", "sent", "delivered", ...(state === "read" ? ["read"] : [])]);
        const stored = await pipeline.read(message);
        expect(stored.state).toBe(state === "read" ? "read" : "delivered");
        expect(decodeTimeline(stored.timeline).filter(({ step }) => step === "answer")).toHaveLength(1);
      },
    );

    it("the receipt finds the message by the carrier's id, even if the submit response never comes", async () => {
      const message = await pipeline.accept("TRANS", 3_600_000, { channel: "chatapp", content: CHAT });
      const sending = await begin(pipeline.carrier, message);
      await receiveReceipt(deps, echoed(pipeline.carrier, message, "delivered", "chatapp"));
      await sending.answer({ kind: "unknown", description: "The connection broke" });
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
      expect(told).toEqual(["sent", "sent", "delivered"]);
      expect(await pipeline.claim()).toEqual([]);
    });

    it("a failure receipt leaves the next route its attempt", async () => {
      const [first, second] = [pipeline.addCarrier("first"), pipeline.addCarrier("second")];
      pipeline.route("Everything to the simulator", { carrier: "first", priority: 1, failoverAfterSeconds: 60 });
      pipeline.route("Next", { carrier: "second", priority: 2 });
      const message = await pipeline.accept("TRANS");
      const sending = await begin(first, message);
      await receiveReceipt(deps, echoed(first, message, "undelivered", "sms"));
      await sending.answer(taken("C1"));
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
      expect(await pipeline.store.listFailovers(pipeline.clock.now(), 10)).toMatchObject([
        { requestId: message.requestId },
      ]);
      expect(second.submitted).toEqual([]);
    });

    it("a failure receipt ends the message without a next route", async () => {
      const message = await pipeline.accept("TRANS");
      const sending = await begin(pipeline.carrier, message);
      await receiveReceipt(deps, echoed(pipeline.carrier, message, "undelivered", "sms"));
      await sending.answer(taken("C1"));
      expect(await pipeline.read(message)).toMatchObject({ state: "undelivered", errorCode: "9" });
    });
  });

  it.each(["enroute", "unknown"] as const)(
    "the next carrier's submit response is awaited although the first still reports %s",
    async (state) => {
      const [first, second] = [pipeline.addCarrier("first"), pipeline.addCarrier("second")];
      const message = await pipeline.accept("TRANS");
      pipeline.route("Everything to the simulator", { carrier: "second" });
      const sending = await begin(second, message);
      await receiveReceipt(deps, echoed(first, message, state, "sms"));
      expect(await pipeline.read(message)).toMatchObject({ state: "submitting", carrier: second.name });
      await receiveReceipt(deps, { ...echoed(first, message, "delivered", "sms") });
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered", carrier: first.name });
      await sending.answer(taken("S1"));
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered", carrier: first.name });
    },
  );
});

describe("the failover plan on postgres", () => {
  it("the failover plan is kept if a receipt and the submit response are written at once", async () => {
    const opened = await openStore("postgres");
    try {
      const { store } = opened;
      const item = acceptance({});
      await store.accept([item]);
      const ref = { accountId: item.message.accountId, requestId: item.message.requestId, n: 1 };
      await transitionAll(store, [{ ...ref, to: "submitting", at: NOON, owner: 7, carrier: "1/line" }]);
      await opened.execute("begin");
      await opened.execute(`update messages set state = 'enroute', submitted_at = ${NOON}, owner = ${UNOWNED}`);
      const writing = transitionAll(store, [
        {
          ...ref,
          to: "submitted",
          at: NOON + 1,
          owner: UNOWNED,
          carrier: "1/line",
          carriedBy: "1/line",
          carrierMessageId: "C1",
          failoverAt: NOON + 60_000,
        },
      ]);
      await opened.untilBlocked();
      await opened.execute("commit");
      await writing;
      expect(await store.findMessage(ref)).toMatchObject({ state: "enroute" });
      expect(await store.listFailovers(NOON + 60_000, 10)).toMatchObject([ref]);
    } finally {
      await opened.discard();
    }
  });
});
