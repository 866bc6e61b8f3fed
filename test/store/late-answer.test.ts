import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KnownOutcome } from "../../src/carriers/carrier.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { handleLateAnswer } from "../../src/pipeline/receipts/late-answer.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import type { Message, RouteClass } from "../../src/model/message.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { StorageUnavailable } from "../../src/store/store.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline, type ScriptedCarrier } from "../support/test-pipeline.ts";
import { transitionAll } from "../support/transitions.ts";

const REFUSED = { kind: "refused", fault: "message", code: "0x0B", description: "Invalid destination" } as const;

describe.each(ENGINES)("a late submit response on %s", (engine) => {
  let pipeline: TestPipeline;
  let line: ScriptedCarrier;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    line = pipeline.addCarrier("north");
    pipeline.route("Everything to the simulator", { carrier: "north" });
  });
  afterEach(() => pipeline.close());

  async function inDoubt(routeClass: RouteClass = "TRANS"): Promise<Message> {
    const message = await pipeline.accept(routeClass);
    line.answer = () => ({ kind: "unknown", description: "The carrier did not answer in time" });
    await pipeline.dispatch(message);
    return message;
  }
  const answer = (message: Message, outcome: KnownOutcome): Promise<void> => {
    const { accountId, requestId, n } = message;
    return handleLateAnswer(pipeline.deps, { message: { accountId, requestId, n }, carrier: line.name, outcome });
  };
  const receipt = (carrierMessageId: string, state: Receipt["state"] = "delivered"): Receipt => ({
    carrier: line.name,
    carrierMessageId,
    state,
    errorCode: null,
    description: null,
    at: pipeline.clock.now(),
  });
  /** Claims and dispatches due messages again. */
  async function again(): Promise<number> {
    pipeline.clock.advance(1200);
    const claimed = await pipeline.claim();
    for (const each of claimed) await pipeline.dispatch(each);
    return claimed.length;
  }

  test("a late submit response ends the doubt: the message is not sent again, and its receipt finds it", async () => {
    const message = await inDoubt();
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: line.name, attempts: 1 });
    expect(await again()).toBe(0);
    await receiveReceipt(pipeline.deps, receipt("c-1"));
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    expect(line.submitted).toHaveLength(1);
  });

  test("a late submit response waits for a store that is away", async () => {
    const message = await inDoubt();
    let isAway = true;
    const findMessage: typeof pipeline.store.findMessage = async (ref) => {
      if (isAway) throw new StorageUnavailable("the database is away");
      return pipeline.store.findMessage(ref);
    };
    const { accountId, requestId, n } = message;
    const answered = handleLateAnswer(
      { ...pipeline.deps, store: { ...pipeline.deps.store, findMessage } },
      { message: { accountId, requestId, n }, carrier: line.name, outcome: { kind: "taken", carrierMessageId: "c-1" } },
    );
    await new Promise(setImmediate);
    isAway = false;
    pipeline.clock.advance(1000);
    await answered;
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: line.name });
  });

  test("a late submit response applies earlier receipts of all parts", async () => {
    const message = await inDoubt("PROMO");
    for (const id of ["c-1", "c-2"]) await receiveReceipt(pipeline.deps, receipt(id));
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting" });
    await answer(message, { kind: "taken", carrierMessageId: "c-1", partIds: ["c-1", "c-2"] });
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
  });

  test("a late response after an accepted repeat only adds an id for receipts", async () => {
    const message = await inDoubt();
    line.answer = () => ({ kind: "taken", carrierMessageId: "c-2" });
    await again();
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    const { state, attempts, repeats, timeline } = await pipeline.read(message);
    expect({ state, attempts, repeats }).toEqual({ state: "submitted", attempts: 2, repeats: 1 });
    expect(decodeTimeline(timeline).at(-1)).toMatchObject({ step: "answer", outcome: "taken", late: true });
    await receiveReceipt(pipeline.deps, receipt("c-1"));
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
  });

  test("a late submit response does not reopen a message in a final state", async () => {
    const message = await inDoubt("PROMO");
    pipeline.clock.advance(3_600_000);
    await again();
    expect(await pipeline.read(message)).toMatchObject({ state: "unknown" });
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    expect(await pipeline.read(message)).toMatchObject({ state: "unknown" });
    await receiveReceipt(pipeline.deps, receipt("c-1"));
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
  });

  test("a late submit response leaves a message with the carrier of its failover", async () => {
    const message = await inDoubt();
    const ref = { accountId: 1, requestId: message.requestId, n: 1, at: pipeline.clock.now(), owner: 0 };
    await transitionAll(pipeline.store, [
      { ...ref, to: "accepted", carrier: "" },
      { ...ref, to: "submitting", carrier: "1/south" },
    ]);
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting", carrier: "1/south" });
  });

  test("a late submit response plans failover as one in time does", async () => {
    pipeline.route("Everything to the simulator", { carrier: "north", failoverAfterSeconds: 60 });
    const message = await inDoubt();
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    const due = await pipeline.store.listFailovers(pipeline.clock.now() + 60_000, 10);
    expect(due).toMatchObject([{ requestId: message.requestId }]);
  });

  test("a late refusal ends a message that was sent once", async () => {
    const message = await inDoubt();
    await answer(message, REFUSED);
    expect(await pipeline.read(message)).toMatchObject({ state: "rejected", errorCode: "0x0B" });
  });

  test("a late refusal of the first attempt does not end a message that was sent again", async () => {
    const message = await inDoubt();
    await again();
    await answer(message, REFUSED);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting", repeats: 1 });
    const { timeline } = await pipeline.read(message);
    expect(decodeTimeline(timeline).at(-1)).toMatchObject({ step: "answer", outcome: "refused", late: true });
  });

  test("a late refusal of the first attempt does not end a message that is being sent again", async () => {
    const message = await inDoubt();
    pipeline.clock.advance(1200);
    const [taken] = await pipeline.claim();
    await answer(message, REFUSED);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting" });
    line.answer = () => ({ kind: "taken", carrierMessageId: "c-2" });
    if (taken) await pipeline.dispatch(taken);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
  });

  test.each<KnownOutcome>([
    { kind: "busy" },
    { kind: "down", description: "Not bound" },
    { ...REFUSED, fault: "carrier" },
  ])("a late response that the carrier did not take a promotion lets it be sent again: $kind", async (outcome) => {
    const message = await inDoubt("PROMO");
    await answer(message, outcome);
    expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
    line.answer = () => ({ kind: "taken", carrierMessageId: "c-2" });
    expect(await again()).toBe(1);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
  });

  test("a late response to a deleted message is ignored", async () => {
    const message = await inDoubt();
    await answer({ ...message, n: 2 }, { kind: "taken", carrierMessageId: "c-1" });
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting" });
  });
});
