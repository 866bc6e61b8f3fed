import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { HELD } from "../../src/store/callbacks.ts";
import { UNOWNED } from "../../src/store/store.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

describe.each(ENGINES)("the oldest waiting message on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const oldest = () => pipeline.store.listOldestWaiting(pipeline.clock.now());

  test("is the one of its class that has been due longest, owned or not", async () => {
    expect(await oldest()).toEqual({});
    const first = await pipeline.accept("OTP");
    await pipeline.store.release(pipeline.deps.membership.node, [first]);
    pipeline.clock.advance(1000);
    await pipeline.accept("OTP");
    const transaction = await pipeline.accept("TRANS");
    pipeline.clock.advance(1000);
    expect(await oldest()).toEqual({ OTP: first.createdAt, TRANS: transaction.createdAt });
    await pipeline.dispatch(await pipeline.accept("PROMO"));
    expect(await oldest()).toEqual({ OTP: first.createdAt, TRANS: transaction.createdAt });
  });

  test("scheduled for later waits from its time on", async () => {
    const dueAt = pipeline.clock.now() + 60_000;
    await pipeline.accept("TRANS", 3_600_000, { dueAt });
    expect(await oldest()).toEqual({});
    pipeline.clock.advance(61_000);
    expect(await oldest()).toEqual({ TRANS: dueAt });
  });

  test("that its carrier does not take waits since the first attempt, however often it is tried", async () => {
    const dueAt = pipeline.clock.now() + 60_000;
    const message = await pipeline.accept("TRANS", 3_600_000, { dueAt });
    pipeline.carrier.answer = () => ({ kind: "busy" });
    pipeline.clock.advance(60_000);
    for (let tries = 0; tries < 4; tries++) {
      await pipeline.deps.membership.heartbeat();
      const claimed = await pipeline.claim();
      expect(claimed).toHaveLength(1);
      for (const each of claimed) await pipeline.dispatch(each);
      const { dueAt: again } = await pipeline.read(message);
      expect(again).toBeGreaterThan(pipeline.clock.now());
      pipeline.clock.advance(again - pipeline.clock.now() - (tries === 3 ? 1 : 0));
    }
    expect(await oldest()).toEqual({ TRANS: dueAt });
  });

  test("is not one that waits for its receipt, because the carrier may have it", async () => {
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    const message = await pipeline.accept("PROMO");
    await pipeline.dispatch(message);
    pipeline.clock.advance(1000);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting" });
    expect(await oldest()).toEqual({});
  });

  test("is found behind rows of a node that has ended", async () => {
    const left = await pipeline.accept("TRANS");
    await pipeline.opened.execute(`update nodes set dead = 1`);
    pipeline.clock.advance(1000);
    expect(await oldest()).toEqual({ TRANS: left.createdAt });
  });
});

describe.each(ENGINES)("the oldest waiting callback on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const add = (at: number, { state = "waiting", owner = UNOWNED, dueAt = at } = {}) =>
    pipeline.opened.execute(
      `insert into callbacks (account_id, event_id, endpoint_id, kind, at, facts, state, owner, attempts, due_at)
       values (1, '${newId(at)}', '${newId(at)}', 'click', ${at}, '{}', '${state}', ${owner}, 0, ${dueAt})`,
    );
  const oldest = () => pipeline.store.findOldestCallback();

  test("is the one with the oldest event, also between its attempts", async () => {
    const now = pipeline.clock.now();
    expect(await oldest()).toBeNull();
    await add(now - 9000, { state: "delivered" });
    await add(now - 1000);
    await add(now - 5000, { owner: pipeline.deps.membership.node, dueAt: now + 3_600_000 });
    expect(await oldest()).toBe(now - 5000);
  });

  test("is not one of an SMPP client that is not connected", async () => {
    const now = pipeline.clock.now();
    await add(now - 5000, { dueAt: HELD });
    expect(await oldest()).toBeNull();
  });
});
