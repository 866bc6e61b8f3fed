import { describe, expect, test } from "vitest";
import type { Carrier } from "../../src/carriers/carrier.ts";
import { CarrierLimiter } from "../../src/pipeline/dispatch/carrier-limiter.ts";
import type { Message, RouteClass } from "../../src/model/message.ts";
import { MovedClock } from "../support/moved-clock.ts";

interface Line {
  messagesPerSecond: number | null;
  capacity?: number;
  share?: number;
  up: boolean;
}

function open(line: Partial<Line>, nodes = 1) {
  const clock = new MovedClock();
  const carrierLimiter = new CarrierLimiter({ clock, nodeCount: () => nodes });
  const let_through: string[] = [];
  carrierLimiter.onAcquired((message) => let_through.push(message.requestId));
  const now: Line = { messagesPerSecond: null, up: true, ...line };
  const carrier = (): Carrier => ({ name: "line", ...now, isUp: () => now.up }) as never;
  let made = 0;
  const message = (routeClass: RouteClass = "TRANS", segments = 1): Message =>
    ({ requestId: `${routeClass} ${(made += 1)}`, routeClass, segments, expiresAt: clock.now() + 3_600_000 }) as never;
  return { clock, carrierLimiter, opened: let_through, line: now, carrier, message };
}

describe("the limiter of a carrier", () => {
  test("lets as many through as the carrier has places, and the next one the moment a place is free", () => {
    const { carrierLimiter, opened, carrier, message } = open({ capacity: 2 });
    const admitted = [1, 2, 3, 4].map(() => carrierLimiter.acquire(carrier(), message()));
    expect(admitted).toEqual([true, true, false, false]);
    carrierLimiter.release("line");
    expect(opened).toHaveLength(1);
    carrierLimiter.release("line");
    expect(opened).toHaveLength(2);
  });

  test("a one-time password goes first although it came last, with a starvation guard for other classes", () => {
    const { carrierLimiter, opened, carrier, message } = open({ capacity: 1 });
    carrierLimiter.acquire(carrier(), message());
    for (let n = 0; n < 40; n += 1) carrierLimiter.acquire(carrier(), message("PROMO"));
    for (let n = 0; n < 40; n += 1) carrierLimiter.acquire(carrier(), message("OTP"));
    for (let n = 0; n < 30; n += 1) carrierLimiter.release("line");
    expect(opened[0]).toMatch(/^OTP/);
    expect(opened.filter((id) => id.startsWith("PROMO")).length).toBeGreaterThan(0);
  });

  test("counts every part of a long message against the speed", () => {
    const { clock, carrierLimiter, opened, carrier, message } = open({ messagesPerSecond: 10 });
    for (let n = 0; n < 20; n += 1) carrierLimiter.acquire(carrier(), message("TRANS", 5));
    const before = opened.length;
    clock.advance(10_000);
    // 100 parts in ten seconds.
    expect(opened.length - before).toBeLessThanOrEqual(20);
    expect(opened.length - before).toBeGreaterThanOrEqual(17);
  });

  test("a node's rate is its share of the binds, or of the nodes if shares are unknown", () => {
    for (const [share, nodes, expected] of [
      [1, 3, 100],
      [undefined, 4, 25],
    ] as const) {
      const { clock, carrierLimiter, opened, carrier, message } = open(
        { messagesPerSecond: 100, ...(share && { share }) },
        nodes,
      );
      for (let n = 0; n < 400; n += 1) carrierLimiter.acquire(carrier(), message());
      const before = opened.length;
      clock.advance(1000);
      expect(Math.abs(opened.length - before - expected)).toBeLessThanOrEqual(2);
    }
  });

  test("no message waits for a connection that is down", () => {
    const { clock, carrierLimiter, opened, line, carrier, message } = open({ capacity: 1 });
    for (let n = 0; n < 3; n += 1) carrierLimiter.acquire(carrier(), message());
    line.up = false;
    clock.advance(200);
    expect(opened).toHaveLength(2);
  });

  test("has all its places again once everything that passed has left", () => {
    const { clock, carrierLimiter, line, carrier, message } = open({ capacity: 2 });
    for (let n = 0; n < 6; n += 1) carrierLimiter.acquire(carrier(), message());
    line.up = false;
    clock.advance(200);
    for (let n = 0; n < 6; n += 1) carrierLimiter.release("line");
    line.up = true;
    expect([1, 2, 3].map(() => carrierLimiter.acquire(carrier(), message()))).toEqual([true, true, false]);
  });
});
