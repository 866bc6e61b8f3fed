import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Message, RouteClass } from "../../src/model/message.ts";
import { claimDue } from "../../src/pipeline/dispatch/claim.ts";
import { PriorityQueues } from "../../src/pipeline/dispatch/priority-queues.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline, type ScriptedCarrier } from "../support/test-pipeline.ts";

const LANE = 2000;

describe.each(ENGINES)("claims from a queue whose carrier is down, on %s", (engine) => {
  let pipeline: TestPipeline;
  let north: ScriptedCarrier;
  let lanes: PriorityQueues;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    lanes = new PriorityQueues(LANE);
    north = pipeline.addCarrier("north");
    pipeline.route("Everything to the simulator", { carrier: "north" });
    pipeline.addCarrier("south");
    pipeline.route("South", { carrier: "south", prefixes: ["44"], priority: 0 });
    north.up = false;
  });
  afterEach(() => pipeline.close());

  /** Messages that this node has stored and not kept, each batch due after the one before. */
  async function queue(count: number, recipient = "15550100100", routeClass: RouteClass = "TRANS"): Promise<Message[]> {
    const messages = await Promise.all(
      Array.from({ length: count }, () => pipeline.accept(routeClass, 3_600_000, { recipient })),
    );
    await pipeline.store.release(
      pipeline.deps.membership.node,
      messages.map(({ requestId }) => ({ accountId: 1, requestId })),
    );
    pipeline.clock.advance(1);
    return messages;
  }
  /** One claim into lanes that have so much room, and everything that it gave sent or put off. */
  async function claimAndSend(room = LANE): Promise<{ claimed: number; more: boolean }> {
    for (const routeClass of ["OTP", "TRANS"] as const) lanes.reserve(routeClass, LANE - room);
    const more = await claimDue({ ...pipeline.deps, store: pipeline.store, queues: lanes });
    for (const routeClass of ["OTP", "TRANS"] as const) lanes.releaseSlots(routeClass, LANE - room);
    const claimed = lanes.size;
    const messages = Array.from({ length: claimed }, () => lanes.take() as Message);
    await Promise.all(messages.map((message) => pipeline.dispatch(message)));
    return { claimed, more };
  }

  test("claims are small after one that yielded nothing, fetch nothing at once, and include the newest message", async () => {
    await queue(500);
    const [last] = await queue(1, "447700900123");
    expect(await claimAndSend(100)).toEqual({ claimed: 100, more: true });
    expect((await pipeline.read(last as Message)).state).toBe("accepted");
    expect(await claimAndSend()).toEqual({ claimed: 300, more: false });
    expect((await pipeline.read(last as Message)).state).toBe("submitted");
    expect(await claimAndSend()).toEqual({ claimed: 101, more: false });
  });

  test("claims have their full size again once the carrier is back", async () => {
    await queue(650);
    await queue(650);
    await claimAndSend(100);
    expect((await claimAndSend()).claimed).toBe(300);
    north.up = true;
    expect(await claimAndSend()).toEqual({ claimed: 300, more: false });
    expect((await claimAndSend()).claimed).toBe(600);
    pipeline.clock.advance(5000);
    // Those that were put off have their turn, and none is left.
    expect(await claimAndSend()).toEqual({ claimed: 400, more: false });
    expect(north.submitted).toHaveLength(1300);
  });

  test("claims of one-time passwords keep their full size", async () => {
    await queue(600, "15550100100", "OTP");
    await claimAndSend(100);
    expect((await claimAndSend()).claimed).toBe(500);
    pipeline.clock.advance(5000);
    expect((await claimAndSend()).claimed).toBe(600);
  });

  test("claims keep their full size while only messages that were never claimed are deferred", async () => {
    await queue(600, "447700900123");
    await claimAndSend(100);
    await Promise.all(Array.from({ length: 100 }, async () => pipeline.dispatch(await pipeline.accept())));
    expect((await claimAndSend()).claimed).toBe(500);
  });
});
