import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Outcome } from "../src/carriers/carrier.ts";
import { newId } from "../src/lib/ids.ts";
import { Dispatcher } from "../src/messages/dispatcher.ts";
import type { Message, RouteClass } from "../src/model/message.ts";
import { Gates } from "../src/work/gates.ts";
import { Lanes } from "../src/work/lanes.ts";
import { acceptance } from "./support/acceptances.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop } from "./support/workshop.ts";

const WINDOW = 50;
const BULK = 1000;

/** Order instead of time: whatever the machine does, so many submits and no more come before the one that matters. */
describe.each(ENGINES)("a flood on %s", (engine) => {
  let shop: Workshop;
  let lanes: Lanes;
  let dispatcher: Dispatcher;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    lanes = new Lanes(100_000, (routeClass) => shop.needs.gates.sizeOf(routeClass));
    dispatcher = new Dispatcher({ ...shop.needs, lanes }, WINDOW);
  });
  afterEach(async () => {
    await dispatcher.stop();
    await shop.close();
  });

  const taken = (): Outcome => ({ kind: "taken", carrierMessageId: newId(shop.clock.now()) });
  const classes = (): RouteClass[] => shop.carrier.submitted.map(({ routeClass }) => routeClass);
  const countOf = (routeClass: RouteClass): number => classes().filter((each) => each === routeClass).length;

  /** Stores messages that this node owns, as one request after another would, and puts them into their lane. */
  async function fill(routeClass: RouteClass, count: number): Promise<void> {
    for (let stored = 0; stored < count; stored += BULK) {
      const to = Array.from({ length: Math.min(BULK, count - stored) }, (_, index) => `1202${5_550_000 + index}`);
      const createdAt = shop.clock.now();
      const item = acceptance({ routeClass, createdAt, owner: shop.needs.membership.node, to });
      const [result] = await shop.store.accept([item]);
      expect(result).toEqual({ kind: "stored" });
      to.forEach((recipient, index) => {
        const own = { n: index + 1, recipient, credits: 1, tried: [], carrier: null, attempts: 0, repeats: 0 };
        const message: Message = { ...item.message, ...own, state: "accepted" };
        lanes.push(message);
      });
    }
  }

  /** Resolves when the carrier has been handed so many messages. */
  const untilSubmitted = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const before = shop.carrier.answer;
      shop.carrier.answer = (message) => {
        if (shop.carrier.submitted.length === count) resolve();
        return before(message);
      };
    });

  /** Resolves when all that can go has gone, and the rest waits for the clock. */
  async function settle(): Promise<void> {
    while (dispatcher.inFlight > 0 || lanes.size > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  test("a password is handed over within two windows, however many promotions wait before it", async () => {
    const passwords = 40;
    await fill("PROMO", 20_000);
    const accepted = new Map<string, number>();
    let underWay = 0;
    /** A password comes in while everything is busy; from the moment it is in its lane its place is counted. */
    async function acceptPassword(): Promise<void> {
      underWay += 1;
      const message = await shop.accept("OTP");
      accepted.set(message.requestId, shop.carrier.submitted.length);
      lanes.push(message);
      dispatcher.wake();
      underWay -= 1;
    }
    shop.carrier.answer = () => {
      if (shop.carrier.submitted.length % 200 === 0 && accepted.size + underWay < passwords) void acceptPassword();
      return taken();
    };
    const done = untilSubmitted(passwords * 200 + 2000);
    dispatcher.wake();
    await done;

    expect(accepted.size).toBe(passwords);
    expect(lanes.sizeOf("PROMO"), "promotions still waited when the last password went").toBeGreaterThan(5000);
    const waited = [...accepted].map(
      ([requestId, place]) => shop.carrier.submitted.findIndex((each) => each.requestId === requestId) - place,
    );
    expect(Math.min(...waited)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...waited)).toBeLessThanOrEqual(2 * WINDOW + 2);
  });

  test("while passwords keep coming, transactions and promotions both go on", async () => {
    for (const routeClass of ["OTP", "TRANS", "PROMO"] as const) await fill(routeClass, 3000);
    const done = untilSubmitted(2000);
    dispatcher.wake();
    await done;
    expect(lanes.sizeOf("OTP"), "passwords waited all the time").toBeGreaterThan(0);
    expect(countOf("TRANS")).toBeGreaterThanOrEqual(45);
    expect(countOf("PROMO")).toBeGreaterThanOrEqual(45);
    expect(countOf("OTP")).toBeGreaterThan(1800);
  });

  test("a speed of less than one a second on each of many nodes still lets something through", async () => {
    const gates = new Gates({ clock: shop.clock, nodeCount: () => 4 });
    const opened: Message[] = [];
    gates.onOpen((message) => opened.push(message));
    shop.carrier.messagesPerSecond = 1;
    for (let sent = 0; sent < 3; sent += 1) {
      const message = await shop.accept("TRANS");
      if (gates.admit(shop.carrier, message)) opened.push(message);
    }
    const counts = [opened.length];
    for (let seconds = 0; seconds < 8; seconds += 1) {
      shop.clock.advance(1000);
      counts.push(opened.length);
    }
    expect(counts).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3]);
  });

  test("at a carrier's contracted speed it is the same: passwords first, and something for the others", async () => {
    shop.carrier.messagesPerSecond = 100;
    await fill("PROMO", 1000);
    dispatcher.wake();
    await settle();
    await fill("OTP", 1000);
    await fill("TRANS", 1000);
    dispatcher.wake();
    await settle();
    const before = shop.carrier.submitted.length;
    expect(before, "a second's worth at once").toBe(100);
    for (let tenths = 0; tenths < 80; tenths += 1) {
      shop.clock.advance(100);
      await settle();
    }
    const after = classes().slice(before);
    const share = (routeClass: RouteClass): number => after.filter((each) => each === routeClass).length;
    expect(after).toHaveLength(800);
    expect(after.slice(0, 10), "the first turn is a password's").toEqual(Array(10).fill("OTP"));
    expect([share("OTP"), share("TRANS"), share("PROMO")]).toEqual([760, 20, 20]);
  });
});
