import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Outcome } from "../../src/carriers/carrier.ts";
import { newId } from "../../src/lib/ids.ts";
import { Dispatcher } from "../../src/pipeline/dispatch/dispatcher.ts";
import type { Message, RouteClass } from "../../src/model/message.ts";
import { CarrierLimiter } from "../../src/pipeline/dispatch/carrier-limiter.ts";
import { PriorityQueues } from "../../src/pipeline/dispatch/priority-queues.ts";
import { acceptance } from "../support/acceptances.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const WINDOW = 50;
const BULK = 1000;

/** Order instead of time: whatever the machine does, so many submits and no more come before the one that matters. */
describe.each(ENGINES)("a flood on %s", (engine) => {
  let pipeline: TestPipeline;
  let queues: PriorityQueues;
  let dispatcher: Dispatcher;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    queues = new PriorityQueues(100_000, (routeClass) => pipeline.deps.carrierLimiter.waitingCount(routeClass));
    dispatcher = new Dispatcher({ ...pipeline.deps, queues }, WINDOW);
  });
  afterEach(async () => {
    await dispatcher.stop();
    await pipeline.close();
  });

  const taken = (): Outcome => ({ kind: "taken", carrierMessageId: newId(pipeline.clock.now()) });
  const classes = (): RouteClass[] => pipeline.carrier.submitted.map(({ routeClass }) => routeClass);
  const countOf = (routeClass: RouteClass): number => classes().filter((each) => each === routeClass).length;

  /** Stores messages that this node owns, as one request after another would, and puts them into their lane. */
  async function fill(routeClass: RouteClass, count: number): Promise<void> {
    for (let stored = 0; stored < count; stored += BULK) {
      const to = Array.from({ length: Math.min(BULK, count - stored) }, (_, index) => `1202${5_550_000 + index}`);
      const createdAt = pipeline.clock.now();
      const item = acceptance({ routeClass, createdAt, owner: pipeline.deps.membership.node, to });
      const [result] = await pipeline.store.accept([item]);
      expect(result).toEqual({ kind: "stored" });
      to.forEach((recipient, index) => {
        const own = { n: index + 1, recipient, credits: 1, tried: [], carrier: null, attempts: 0, repeats: 0 };
        const message: Message = { ...item.message, ...own, state: "accepted" };
        queues.push(message);
      });
    }
  }

  /** Resolves when the carrier has been handed so many messages. */
  const untilSubmitted = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const before = pipeline.carrier.answer;
      pipeline.carrier.answer = (message) => {
        if (pipeline.carrier.submitted.length === count) resolve();
        return before(message);
      };
    });

  /** Resolves when all that can go has gone, and the rest waits for the clock. */
  async function settle(): Promise<void> {
    while (dispatcher.inFlight > 0 || queues.size > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  test("a one-time password leaves its queue within two windows, however many promotions wait", async () => {
    const passwords = 20;
    await fill("PROMO", 10_000);
    const accepted = new Map<string, number>();
    let underWay = 0;
    // Counted where the dispatcher takes messages: how fast the two connections commit is up to the database.
    const started: string[] = [];
    const take = queues.take.bind(queues);
    queues.take = (mayGoOn) => {
      const message = take(mayGoOn);
      if (message) started.push(message.requestId);
      return message;
    };
    /** A password comes in while everything is busy; from the moment it is in its lane its place is counted. */
    async function acceptPassword(): Promise<void> {
      underWay += 1;
      const message = await pipeline.accept("OTP");
      accepted.set(message.requestId, started.length);
      queues.push(message);
      dispatcher.wake();
      underWay -= 1;
    }
    pipeline.carrier.answer = () => {
      if (pipeline.carrier.submitted.length % 200 === 0 && accepted.size + underWay < passwords) void acceptPassword();
      return taken();
    };
    dispatcher.wake();
    await eventually(
      async () => {
        // Time passes as in production: a write that the store could not take is retried after a pause on this clock.
        // Without heartbeats the node would stop sending after 30 seconds of it, which a busy machine reaches.
        pipeline.clock.advance(20);
        await pipeline.deps.membership.heartbeat();
        const { submitted } = pipeline.carrier;
        return { passwords: countOf("OTP"), submitted: submitted.length, inFlight: dispatcher.inFlight };
      },
      (seen) => seen.passwords === passwords,
      200_000,
    );
    expect(accepted.size).toBe(passwords);
    expect(queues.sizeOf("PROMO"), "promotions still waited when the last password went").toBeGreaterThan(0);
    const waited = [...accepted].map(([requestId, place]) => started.indexOf(requestId) - place);
    expect(Math.min(...waited)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...waited)).toBeLessThanOrEqual(2 * WINDOW + 2);
  });

  test("transactions and promotions both proceed while one-time passwords keep coming", async () => {
    for (const routeClass of ["OTP", "TRANS", "PROMO"] as const) await fill(routeClass, 3000);
    const done = untilSubmitted(2000);
    dispatcher.wake();
    await done;
    expect(queues.sizeOf("OTP"), "passwords waited all the time").toBeGreaterThan(0);
    expect(countOf("TRANS")).toBeGreaterThanOrEqual(45);
    expect(countOf("PROMO")).toBeGreaterThanOrEqual(45);
    expect(countOf("OTP")).toBeGreaterThan(1800);
  });

  test("a rate of less than one per second on each of many nodes lets messages through", async () => {
    const carrierLimiter = new CarrierLimiter({ clock: pipeline.clock, nodeCount: () => 4 });
    const opened: Message[] = [];
    carrierLimiter.onAcquired((message) => opened.push(message));
    pipeline.carrier.messagesPerSecond = 1;
    for (let sent = 0; sent < 3; sent += 1) {
      const message = await pipeline.accept("TRANS");
      if (carrierLimiter.acquire(pipeline.carrier, message)) opened.push(message);
    }
    const counts = [opened.length];
    for (let seconds = 0; seconds < 8; seconds += 1) {
      pipeline.clock.advance(1000);
      counts.push(opened.length);
    }
    expect(counts).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3]);
  });

  test("at a carrier's rate limit one-time passwords go first, and the other classes do not starve", async () => {
    pipeline.carrier.messagesPerSecond = 100;
    await fill("PROMO", 1000);
    dispatcher.wake();
    await settle();
    await fill("OTP", 1000);
    await fill("TRANS", 1000);
    dispatcher.wake();
    await settle();
    const before = pipeline.carrier.submitted.length;
    expect(before, "a second's worth at once").toBe(100);
    for (let tenths = 0; tenths < 80; tenths += 1) {
      pipeline.clock.advance(100);
      await settle();
    }
    const after = classes().slice(before);
    const share = (routeClass: RouteClass): number => after.filter((each) => each === routeClass).length;
    expect(after).toHaveLength(800);
    expect(after.slice(0, 10), "the first turn is a password's").toEqual(Array(10).fill("OTP"));
    expect([share("OTP"), share("TRANS"), share("PROMO")]).toEqual([760, 20, 20]);
  });
});
