import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { applyUnmatched } from "../../src/pipeline/receipts/apply-receipt.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import type { Message } from "../../src/model/message.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { isExpecting, type Transition } from "../../src/store/transition.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";
import { transitionAll } from "../support/transitions.ts";
import { deleteExpired } from "../support/sweeps.ts";

describe.each(ENGINES)("delivery receipts on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const receipt = (state: Receipt["state"], carrierMessageId = "c-1"): Receipt => ({
    carrier: "scripted",
    carrierMessageId,
    state,
    errorCode: state === "delivered" ? "000" : "017",
    description: `The carrier says ${state}`,
    at: pipeline.clock.now(),
  });
  async function submitted(): Promise<Message> {
    const message = await pipeline.accept();
    pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "c-1" });
    await pipeline.dispatch(message);
    return message;
  }

  test("a delivered receipt makes the message delivered, with the carrier's time and text", async () => {
    const message = await submitted();
    pipeline.clock.advance(1500);
    await receiveReceipt(pipeline.deps, receipt("delivered"));
    expect(await pipeline.read(message)).toMatchObject({
      state: "delivered",
      errorCode: "000",
      description: "The carrier says delivered",
      doneAt: pipeline.clock.now(),
    });
  });

  test("a transition to delivered carries the expected row, unless the store has to read it", async () => {
    const { move } = pipeline.deps.commits;
    const written: Transition[] = [];
    pipeline.deps.commits.move = { ...move, add: (step) => (written.push(step), move.add(step)) };
    const delivered = async (): Promise<boolean | undefined> => {
      await submitted();
      await receiveReceipt(pipeline.deps, receipt("delivered"));
      return written
        .filter(({ kind }) => kind === "delivered")
        .map(isExpecting)
        .at(-1);
    };
    expect(await delivered()).toBe(true);
    await pipeline.store.addCredits(1, { id: newId(1), amount: 5, note: null, at: 1 });
    pipeline.settings = { ...pipeline.settings, credits: "metered" };
    expect(await delivered()).toBe(false);
  });

  test("a receipt that is stored while its submit ack is committed is applied at once, and only once", async () => {
    const message = await pipeline.accept();
    const { move, storeUnmatched } = pipeline.deps.commits;
    // As on two connections of PostgreSQL: neither transaction sees the rows of the other.
    pipeline.deps.commits.move = { ...move, add: async (step) => ({ ...(await move.add(step)), unmatched: [] }) };
    pipeline.deps.commits.storeUnmatched = {
      ...storeUnmatched,
      add: async (unmatched) => {
        const found = await storeUnmatched.add(unmatched);
        pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "c-1" });
        await pipeline.dispatch(message);
        return found;
      },
    };
    await receiveReceipt(pipeline.deps, receipt("delivered"));
    const delivered = await pipeline.read(message);
    expect(delivered.state).toBe("delivered");

    const [stored] = await pipeline.store.listMatchable(10);
    if (stored) await applyUnmatched(pipeline.deps, stored.ref, [stored]);
    expect(await pipeline.store.listMatchable(10)).toEqual([]);
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered", doneAt: delivered.doneAt });
  });

  test("a repeated receipt only adds to the timeline", async () => {
    const message = await submitted();
    await receiveReceipt(pipeline.deps, receipt("delivered"));
    const first = await pipeline.read(message);
    pipeline.clock.advance(1000);
    await receiveReceipt(pipeline.deps, receipt("delivered"));
    const again = await pipeline.read(message);
    expect({ ...again, timeline: null }).toEqual({ ...first, timeline: null });
    expect(decodeTimeline(again.timeline)).toHaveLength(decodeTimeline(first.timeline).length + 1);
  });

  test("receipts out of order never move the message backwards", async () => {
    const message = await submitted();
    await receiveReceipt(pipeline.deps, receipt("delivered"));
    await receiveReceipt(pipeline.deps, receipt("enroute"));
    expect((await pipeline.read(message)).state).toBe("delivered");
  });

  test("the first final state of contradictory receipts stands", async () => {
    const message = await submitted();
    await receiveReceipt(pipeline.deps, receipt("undelivered"));
    await receiveReceipt(pipeline.deps, receipt("delivered"));
    expect((await pipeline.read(message)).state).toBe("undelivered");
  });

  test("a late delivered receipt overrules an expired failure", async () => {
    const message = await submitted();
    await receiveReceipt(pipeline.deps, receipt("expired"));
    pipeline.clock.advance(60_000);
    await receiveReceipt(pipeline.deps, receipt("delivered"));
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered", doneAt: pipeline.clock.now() });
  });

  test("unknown is not final: any later receipt applies", async () => {
    const message = await submitted();
    await receiveReceipt(pipeline.deps, receipt("unknown"));
    expect(await pipeline.read(message)).toMatchObject({ state: "unknown", doneAt: null });
    await receiveReceipt(pipeline.deps, receipt("undelivered"));
    expect((await pipeline.read(message)).state).toBe("undelivered");
  });

  test("a receipt that arrives before the submit response is kept and applied with it", async () => {
    const message = await pipeline.accept();
    pipeline.carrier.answer = async () => {
      await receiveReceipt(pipeline.deps, receipt("delivered"));
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered", submittedAt: pipeline.clock.now() });
    expect(await pipeline.store.listMatchable(10)).toEqual([]);
  });

  test("early receipts are applied in the order of their arrival", async () => {
    const message = await pipeline.accept();
    pipeline.carrier.answer = async () => {
      await receiveReceipt(pipeline.deps, receipt("enroute"));
      await receiveReceipt(pipeline.deps, receipt("expired"));
      await receiveReceipt(pipeline.deps, receipt("delivered"));
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    await pipeline.dispatch(message);
    expect((await pipeline.read(message)).state).toBe("delivered");
  });

  test("a receipt with an unknown id is kept for seven days and changes nothing", async () => {
    const message = await submitted();
    await receiveReceipt(pipeline.deps, receipt("delivered", "never-heard-of"));
    expect((await pipeline.read(message)).state).toBe("submitted");
    const day = 86_400_000;
    const gone = () => deleteExpired(pipeline.store, "unmatchedReceipts", { before: pipeline.clock.now() - 7 * day });
    expect(await gone()).toEqual([0]);
    pipeline.clock.advance(7 * day + 1);
    expect(await gone()).toEqual([1]);
  });

  test("the job applies an unmatched receipt once its submit is known", async () => {
    const message = await pipeline.accept();
    await receiveReceipt(pipeline.deps, receipt("delivered"));
    // The submit's answer is written by a process that dies before it can apply what was parked.
    const { node } = pipeline.deps.membership;
    await transitionAll(pipeline.store, [{ ...message, to: "submitting", at: 1, owner: node, carrier: "scripted" }]);
    await transitionAll(pipeline.store, [
      { ...message, to: "submitted", at: 2, owner: 0, carrier: "scripted", carrierMessageId: "c-1" },
    ]);
    const [parked] = await pipeline.store.listMatchable(10);
    if (parked) await applyUnmatched(pipeline.deps, parked.ref, [parked]);
    expect((await pipeline.read(message)).state).toBe("delivered");
    expect(await pipeline.store.listMatchable(10)).toEqual([]);
  });

  test("a receipt that echoes our own id is matched although the submit response was lost", async () => {
    const message = await pipeline.accept("PROMO");
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await pipeline.dispatch(message);
    await receiveReceipt(pipeline.deps, { ...receipt("delivered", "c-9"), ref: message });
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered", submittedAt: pipeline.clock.now() });
  });

  test("a receipt that echoes an unknown id of ours is kept as unmatched", async () => {
    const message = await submitted();
    await receiveReceipt(pipeline.deps, { ...receipt("delivered", "c-9"), ref: { ...message, n: 7 } });
    expect((await pipeline.store.listUnmatched({}, null, 10)).rows).toMatchObject([
      { receipt: { carrierMessageId: "c-9" } },
    ]);
    await receiveReceipt(pipeline.deps, { ...receipt("delivered"), ref: message });
    await receiveReceipt(pipeline.deps, { ...receipt("delivered"), ref: message });
    expect((await pipeline.store.listUnmatched({}, null, 10)).rows).toHaveLength(1);
  });

  test("many parallel receipts, repeated and shuffled, leave every message delivered once", async () => {
    const messages = await Promise.all(Array.from({ length: 50 }, () => pipeline.accept()));
    pipeline.carrier.answer = (message) => ({ kind: "taken", carrierMessageId: message.requestId });
    await Promise.all(messages.map((message) => pipeline.dispatch(message)));
    const receipts = messages.flatMap((message) => [
      receipt("enroute", message.requestId),
      receipt("delivered", message.requestId),
      receipt("delivered", message.requestId),
    ]);
    await Promise.all(receipts.toSorted(() => Math.random() - 0.5).map((each) => receiveReceipt(pipeline.deps, each)));
    for (const message of messages) expect((await pipeline.read(message)).state).toBe("delivered");
  });
});
