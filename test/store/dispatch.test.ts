import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Dispatcher } from "../../src/pipeline/dispatch/dispatcher.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import type { RouteClass } from "../../src/model/message.ts";
import { UNOWNED } from "../../src/store/store.ts";
import { PriorityQueues } from "../../src/pipeline/dispatch/priority-queues.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";
import { transitionAll } from "../support/transitions.ts";

describe.each(ENGINES)("dispatch on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  test("the intent is committed before the carrier is called", async () => {
    const message = await pipeline.accept();
    let seen = "";
    pipeline.carrier.answer = async () => {
      seen = (await pipeline.read(message)).state;
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    await pipeline.dispatch(message);
    expect(seen).toBe("submitting");
    expect(await pipeline.read(message)).toMatchObject({
      state: "submitted",
      carrier: "scripted",
      attempts: 1,
      submittedAt: pipeline.clock.now(),
    });
  });

  test("a message for a connection of other nodes is left to them: it is not tried and takes no other route", async () => {
    const [line, second] = [pipeline.addCarrier("north"), pipeline.addCarrier("south")];
    pipeline.route("Everything to the simulator", { carrier: "north", priority: 1 });
    pipeline.route("Second choice", { carrier: "south", priority: 2 });
    line.elsewhere = true;
    line.up = false;
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "accepted", attempts: 0, timeline: null });
    pipeline.clock.advance(500);
    const [again] = await pipeline.claim();
    expect(again).toMatchObject({ requestId: message.requestId });
    expect(second.submitted).toEqual([]);
    // The line has come to this node, or this is the node that has it.
    line.elsewhere = false;
    line.up = true;
    if (again) await pipeline.dispatch(again);
    expect(line.submitted).toHaveLength(1);
  });

  test("a refused message is rejected with the carrier's code and never tried again", async () => {
    const message = await pipeline.accept();
    pipeline.carrier.answer = () => ({
      kind: "refused",
      fault: "message",
      code: "0x0B",
      description: "Invalid destination",
    });
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({
      state: "rejected",
      errorCode: "0x0B",
      description: "Invalid destination",
    });
    pipeline.clock.advance(3_000_000);
    expect(await pipeline.claim()).toEqual([]);
  });

  test("a busy carrier gets the message again after a growing pause", async () => {
    const message = await pipeline.accept();
    pipeline.carrier.answer = () => ({ kind: "busy" });
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "accepted", attempts: 1 });
    expect(await pipeline.claim(), "not before its time").toEqual([]);
    pipeline.clock.advance(1200);
    const [again] = await pipeline.claim();
    expect(again).toMatchObject({ attempts: 1, state: "accepted" });
    if (again) await pipeline.dispatch(again);
    pipeline.clock.advance(1200);
    expect(await pipeline.claim(), "the second pause is longer").toEqual([]);
    pipeline.clock.advance(6000);
    expect(await pipeline.claim()).toHaveLength(1);
  });

  test("a one-time password goes to a busy carrier six times in half a minute, and then every 15 seconds", async () => {
    const message = await pipeline.accept("OTP", 600_000);
    pipeline.carrier.answer = () => ({ kind: "busy" });
    await pipeline.dispatch(message);
    const pauses: number[] = [];
    for (let attempts = 1; attempts < 9; attempts += 1) {
      const { dueAt } = await pipeline.read(message);
      pauses.push(dueAt - pipeline.clock.now());
      pipeline.clock.advance(dueAt - pipeline.clock.now());
      await pipeline.deps.membership.heartbeat();
      const [again] = await pipeline.claim();
      if (again) await pipeline.dispatch(again);
    }
    expect(pauses.slice(0, 5).reduce((sum, pause) => sum + pause, 0)).toBeLessThan(30_000);
    for (const [index, usual] of [500, 1000, 2000, 5000, 10_000, 15_000, 15_000, 15_000].entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(usual * 0.8);
      expect(pauses[index]).toBeLessThanOrEqual(usual * 1.2);
    }
  });

  test("an unconfirmed one-time password is repeated after the usual pauses, so that few copies arrive", async () => {
    const message = await pipeline.accept("OTP", 600_000);
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await pipeline.dispatch(message);
    expect((await pipeline.read(message)).dueAt - pipeline.clock.now()).toBeGreaterThanOrEqual(800);
  });

  test("the pause that a busy carrier names is kept", async () => {
    const message = await pipeline.accept();
    pipeline.carrier.answer = () => ({ kind: "busy", retryAfterMs: 90_000 });
    await pipeline.dispatch(message);
    pipeline.clock.advance(89_999);
    expect(await pipeline.claim()).toEqual([]);
    pipeline.clock.advance(1);
    expect(await pipeline.claim()).toHaveLength(1);
  });

  test("a message past its validity fails as EXPIRED_IN_QUEUE and is never sent", async () => {
    const message = await pipeline.accept("OTP", 300_000);
    pipeline.clock.advance(300_000);
    await pipeline.dispatch(message);
    expect(pipeline.carrier.submitted).toEqual([]);
    expect(await pipeline.read(message)).toMatchObject({
      state: "expired",
      errorCode: "EXPIRED_IN_QUEUE",
      doneAt: pipeline.clock.now(),
    });
  });

  test.each<[RouteClass, string]>([
    ["OTP", "is sent again"],
    ["TRANS", "is sent again"],
  ])("%s in doubt %s", async (routeClass) => {
    const message = await pipeline.accept(routeClass);
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting" });
    pipeline.clock.advance(1200);
    const [again] = await pipeline.claim();
    pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "c-2" });
    if (again) await pipeline.dispatch(again);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", attempts: 2 });
    expect(pipeline.carrier.submitted).toHaveLength(2);
  });

  test("a message in doubt is sent again at most five times, then waits for its receipt until its validity ends", async () => {
    const message = await pipeline.accept("OTP", 86_400_000);
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await pipeline.dispatch(message);
    for (let round = 0; round < 8; round += 1) {
      pipeline.clock.advance(400_000);
      await pipeline.deps.membership.heartbeat();
      for (const each of await pipeline.claim()) await pipeline.dispatch(each);
    }
    expect(pipeline.carrier.submitted).toHaveLength(6);
    const { state, repeats, dueAt, expiresAt } = await pipeline.read(message);
    expect({ state, repeats, dueAt }).toEqual({ state: "submitting", repeats: 5, dueAt: expiresAt });
    pipeline.clock.advance(86_400_000);
    await pipeline.deps.membership.heartbeat();
    for (const each of await pipeline.claim()) await pipeline.dispatch(each);
    expect(pipeline.carrier.submitted).toHaveLength(6);
    expect(await pipeline.read(message)).toMatchObject({ state: "unknown", errorCode: "SUBMIT_UNCONFIRMED" });
  });

  test("a repeat that a carrier certainly refused does not count", async () => {
    const message = await pipeline.accept("TRANS", 86_400_000);
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await pipeline.dispatch(message);
    for (const answer of [{ kind: "busy" }, { kind: "down", description: "Not bound" }] as const) {
      pipeline.carrier.answer = () => answer;
      pipeline.clock.advance(400_000);
      await pipeline.deps.membership.heartbeat();
      for (const each of await pipeline.claim()) await pipeline.dispatch(each);
    }
    expect(pipeline.carrier.submitted).toHaveLength(3);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting", attempts: 3, repeats: 0 });
    // Nor one that this node did not send, because the others have declared it dead.
    pipeline.clock.advance(400_000);
    for (const each of await pipeline.claim()) await pipeline.dispatch(each);
    expect(pipeline.carrier.submitted).toHaveLength(3);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting", attempts: 4, repeats: 0 });
  });

  test("a carrier that throws leaves the message in doubt, not lost", async () => {
    const message = await pipeline.accept();
    pipeline.carrier.answer = () => {
      throw new Error("socket hang up");
    };
    await pipeline.dispatch(message);
    pipeline.clock.advance(1200);
    expect(await pipeline.claim()).toHaveLength(1);
  });

  test("PROMO in doubt is sent again only by a carrier that detects repeats, at most five times", async () => {
    const [knowing, other] = [pipeline.addCarrier("knowing"), pipeline.addCarrier("other")];
    knowing.repeatsSafely = true;
    pipeline.route("Everything to the simulator", { carrier: "knowing", priority: 1 });
    pipeline.route("Second choice", { carrier: "other", priority: 2 });
    const message = await pipeline.accept("PROMO", 86_400_000);
    knowing.answer = () => ({ kind: "unknown", description: "The line broke" });
    await pipeline.dispatch(message);
    for (let round = 0; round < 8; round += 1) {
      pipeline.clock.advance(400_000);
      await pipeline.deps.membership.heartbeat();
      for (const each of await pipeline.claim()) await pipeline.dispatch(each);
    }
    expect([knowing.submitted.length, other.submitted.length]).toEqual([6, 0]);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting", repeats: 5, carrier: "1/knowing" });
  });

  test("PROMO in doubt is sent again by the carrier that detects repeats even if the first route now leads elsewhere", async () => {
    const [knowing, other] = [pipeline.addCarrier("knowing"), pipeline.addCarrier("other")];
    knowing.repeatsSafely = true;
    pipeline.route("Everything to the simulator", { carrier: "knowing", priority: 2 });
    const message = await pipeline.accept("PROMO");
    knowing.answer = () => ({ kind: "unknown", description: "The line broke" });
    await pipeline.dispatch(message);
    pipeline.route("First choice", { carrier: "other", priority: 1 });
    knowing.answer = () => ({ kind: "taken", carrierMessageId: "c-3" });
    pipeline.clock.advance(1200);
    for (const each of await pipeline.claim()) await pipeline.dispatch(each);
    expect([knowing.submitted.length, other.submitted.length]).toEqual([2, 0]);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "1/knowing" });
  });

  describe("a message in doubt whose id the carrier knows beforehand", () => {
    const delivered = { carrier: "scripted", carrierMessageId: "known", errorCode: null, description: null } as const;

    test("a message in doubt with an id known beforehand is settled by its receipt, without a submit response", async () => {
      const message = await pipeline.accept("PROMO");
      pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke", carrierMessageId: "known" });
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitting" });
      await receiveReceipt(pipeline.deps, { ...delivered, state: "delivered", at: pipeline.clock.now() });
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    });

    test("a message in doubt with an id known beforehand is settled by a receipt that came before the connection broke", async () => {
      const message = await pipeline.accept("PROMO");
      pipeline.carrier.answer = async () => {
        await receiveReceipt(pipeline.deps, { ...delivered, state: "delivered", at: pipeline.clock.now() });
        return { kind: "unknown", description: "The line broke", carrierMessageId: "known" };
      };
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
      expect((await pipeline.store.listUnmatched({}, null, 10)).rows).toEqual([]);
    });
  });

  test("PROMO in doubt is not sent again: it waits for its receipt until its validity ends, then it is unknown", async () => {
    const message = await pipeline.accept("PROMO", 60_000);
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await pipeline.dispatch(message);
    pipeline.clock.advance(59_999);
    expect(await pipeline.claim()).toEqual([]);
    pipeline.clock.advance(1);
    const [again] = await pipeline.claim();
    if (again) await pipeline.dispatch(again);
    expect(pipeline.carrier.submitted).toHaveLength(1);
    expect(await pipeline.read(message)).toMatchObject({ state: "unknown", errorCode: "SUBMIT_UNCONFIRMED" });
  });

  test.each<[RouteClass, number]>([
    ["TRANS", 1],
    ["PROMO", 0],
  ])(
    "%s left in doubt by a crash is submitted %i more times by the node that takes it over",
    async (routeClass, times) => {
      const message = await pipeline.accept(routeClass);
      const dead = pipeline.deps.membership.node;
      await transitionAll(pipeline.store, [
        { ...message, to: "submitting", at: pipeline.clock.now(), owner: dead, ownedBy: dead, carrier: "scripted" },
      ]);
      await pipeline.deps.membership.join();
      const [taken] = await pipeline.claim(dead);
      expect(taken).toMatchObject({ state: "submitting" });
      if (taken) await pipeline.dispatch(taken);
      expect(pipeline.carrier.submitted).toHaveLength(times);
      expect((await pipeline.read(message)).state).toBe(times === 1 ? "submitted" : "submitting");
    },
  );

  test("a message that another node owns is not sent", async () => {
    const message = await pipeline.accept();
    await pipeline.deps.membership.join();
    await pipeline.dispatch(message);
    expect(pipeline.carrier.submitted).toEqual([]);
    expect((await pipeline.read(message)).state).toBe("accepted");
  });

  test("a node past its heartbeat time-out does not send, and others can claim the message", async () => {
    const message = await pipeline.accept();
    pipeline.clock.advance(30_000);
    await pipeline.dispatch(message);
    expect(pipeline.carrier.submitted).toEqual([]);
    expect(await pipeline.claim()).toHaveLength(1);
  });

  test("a busy response to a repeat leaves the first attempt in doubt: its receipt still counts", async () => {
    const message = await pipeline.accept();
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await pipeline.dispatch(message);
    pipeline.clock.advance(1200);
    const [again] = await pipeline.claim();
    pipeline.carrier.answer = () => ({ kind: "busy" });
    if (again) await pipeline.dispatch(again);
    expect((await pipeline.read(message)).state).toBe("submitting");
  });

  test("a node that slept past a message's validity does not end it if another node has sent it", async () => {
    const message = await pipeline.accept("OTP", 60_000);
    const sleeper = pipeline.deps.membership.node;
    await transitionAll(pipeline.store, [
      { ...message, to: "submitting", at: 1, owner: UNOWNED, ownedBy: sleeper, carrier: "scripted" },
    ]);
    await transitionAll(pipeline.store, [{ ...message, to: "submitted", at: 2, owner: UNOWNED, carrier: "scripted" }]);
    pipeline.clock.advance(60_000);
    await pipeline.dispatch(message);
    expect((await pipeline.read(message)).state).toBe("submitted");
  });

  test("an internal error leaves the message for a later attempt, not without an owner", async () => {
    const message = await pipeline.accept();
    const queues = new PriorityQueues(10);
    queues.push(message);
    const carriers = {
      find(): never {
        throw new Error("a bug");
      },
    };
    const dispatcher = new Dispatcher({ ...pipeline.deps, carriers, queues }, 10);
    dispatcher.wake();
    await dispatcher.stop();
    pipeline.clock.advance(60_000);
    expect(await pipeline.claim()).toHaveLength(1);
  });

  test("a busy response after another node took the message over changes nothing", async () => {
    const message = await pipeline.accept();
    pipeline.carrier.answer = async () => {
      const before = pipeline.deps.membership.node;
      await pipeline.deps.membership.join();
      await pipeline.claim(before);
      return { kind: "busy" };
    };
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting" });
  });
});
