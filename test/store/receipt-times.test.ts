import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Receipt } from "../../src/model/receipt.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { renderCustomerTimeline, renderOperatorTimeline } from "../../src/pipeline/timeline.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { UNOWNED } from "../../src/store/store.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";
import { transitionAll, type TransitionFields } from "../support/transitions.ts";

const HOUR = 3_600_000;

describe.each(ENGINES)("the times of a message on %s", (engine) => {
  let pipeline: TestPipeline;

  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "C1" });
  });
  afterEach(() => pipeline.close());

  const receipt = (state: Receipt["state"], at: number): Receipt => ({
    carrier: pipeline.carrier.name,
    carrierMessageId: "C1",
    state,
    errorCode: null,
    description: null,
    at,
  });

  it.each([
    ["behind", -HOUR],
    ["ahead", HOUR],
  ])("the times of a message are ours even if the carrier's clock is %s, which is recorded", async (_, offMs) => {
    const message = await pipeline.accept("TRANS");
    await pipeline.dispatch(message);
    pipeline.clock.advance(5000);
    const now = pipeline.clock.now();
    await receiveReceipt(pipeline.deps, receipt("delivered", now + offMs));
    const stored = await pipeline.read(message);
    expect(stored).toMatchObject({ state: "delivered", doneAt: now, submittedAt: now - 5000 });
    expect(decodeTimeline(stored.timeline).at(-1)).toMatchObject({ step: "receipt", at: now, carrierAt: now + offMs });
    const history = { message: stored, clicks: [], answers: [], ledger: [] };
    expect(renderCustomerTimeline(history).map(({ event }) => event)).toEqual(["accepted", "sent", "delivered"]);
    const words = renderOperatorTimeline(history).map(({ what }) => what);
    expect(words.join("\n")).toContain(`by the carrier's clock at ${new Date(now + offMs).toISOString()}`);
  });

  it("the timeline does not mention a carrier's clock that is right to the minute", async () => {
    const message = await pipeline.accept("TRANS");
    await pipeline.dispatch(message);
    await receiveReceipt(pipeline.deps, receipt("delivered", pipeline.clock.now() - 59_000));
    const stored = await pipeline.read(message);
    expect(stored.doneAt).toBe(pipeline.clock.now());
    expect(decodeTimeline(stored.timeline).at(-1)).not.toHaveProperty("carrierAt");
  });

  it("a refund has a later time than its hold", async () => {
    pipeline.settings = { ...pipeline.settings, credits: "metered", refundUndelivered: true };
    await pipeline.opened.execute("insert into balances (account_id, balance, held) values (1, 0, 0)");
    await pipeline.store.addCredits(1, { id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d48", amount: 5, note: null, at: 1 });
    const message = await pipeline.accept("TRANS");
    await pipeline.dispatch(message);
    await receiveReceipt(pipeline.deps, receipt("undelivered", pipeline.clock.now() - HOUR));
    expect(await pipeline.read(message)).toMatchObject({ state: "undelivered", cost: 0 });
    const { rows } = await pipeline.store.listLedger(1, null, 10);
    const times = rows.filter(({ requestId }) => requestId === message.requestId).map(({ at }) => at);
    expect(times).toEqual([message.createdAt, message.createdAt, message.createdAt]);
  });

  it.each([true, false])(
    "the times of a message never go backwards if the clocks of two nodes differ, known to the store: %s",
    async (known) => {
      const message = await pipeline.accept("TRANS");
      const { accountId, requestId, n, createdAt } = message;
      const early = createdAt - 40;
      const carrier = pipeline.carrier.name;
      const step = {
        accountId,
        requestId,
        n,
        at: early,
        owner: UNOWNED,
        carrier,
        timeline: "[]\n",
        timelineAlways: true,
      };
      const facts = { sender: message.sender, credits: message.credits, createdAt };
      const about = {
        channel: message.channel,
        routeClass: message.routeClass,
        recipient: message.recipient,
        campaignName: message.campaignName,
      };
      const moves: TransitionFields[] = [
        { ...step, to: "submitting" },
        {
          ...step,
          to: "submitted",
          carriedBy: carrier,
          channelIs: message.channel,
          carrierMessageId: "C1",
          ...(known ? { expected: about } : {}),
        },
        { ...step, to: "delivered", failoverAt: null, ...(known ? { expected: about, snapshot: facts } : {}) },
      ];
      for (const move of moves) expect(await transitionAll(pipeline.store, [move])).toMatchObject([{ moved: true }]);
      expect(await pipeline.read(message)).toMatchObject({ submittedAt: createdAt, doneAt: createdAt });
    },
  );

  it("the timeline is in the order of events on this server", async () => {
    const message = await pipeline.accept("TRANS");
    await pipeline.dispatch(message);
    const stored = await pipeline.read(message);
    const timeline = `${stored.timeline ?? ""}${JSON.stringify(["receipt", message.createdAt - HOUR, pipeline.carrier.name, "delivered", null, null])}\n`;
    const history = { message: { ...stored, timeline }, clicks: [], answers: [], ledger: [] };
    expect(renderOperatorTimeline(history).map((each) => each.step)).toEqual([
      "accepted",
      "attempt",
      "answer",
      "receipt",
    ]);
  });
});
