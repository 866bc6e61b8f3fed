import { beforeEach, describe, expect, test } from "vitest";
import type { Outcome } from "../../src/carriers/carrier.ts";
import { ConnectionHealth, type HealthVerdict } from "../../src/carriers/connection-health.ts";
import { createLog } from "../../src/lib/log.ts";
import { MovedClock } from "../support/moved-clock.ts";

const TAKEN: HealthVerdict = { outcome: { kind: "taken", carrierMessageId: "1" } };
const DOWN: HealthVerdict = { outcome: { kind: "down", description: "nobody there" } };
const UNKNOWN: HealthVerdict = { outcome: { kind: "unknown", description: "cut" } };
const BUSY: HealthVerdict = { outcome: { kind: "busy" }, code: "503" };
const THROTTLED: HealthVerdict = { outcome: { kind: "busy" }, code: "429", effect: "throttled" };
const HALTED: HealthVerdict = {
  outcome: { kind: "down", description: "the key has ended" },
  code: "401",
  effect: "halted",
};
const REFUSED: HealthVerdict = {
  outcome: { kind: "refused", fault: "message", code: "400", description: "bad number" },
  code: "400",
};

describe("connection health", () => {
  let clock: MovedClock;
  let contract: number | null;
  let counted: string[];
  let logged: string[];
  let standing: ConnectionHealth;
  const run = (verdict: HealthVerdict): Promise<Outcome> => standing.run(() => Promise.resolve(verdict));
  const runAll = async (verdict: HealthVerdict, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) await run(verdict);
  };

  beforeEach(() => {
    clock = new MovedClock();
    contract = 100;
    counted = [];
    logged = [];
    standing = new ConnectionHealth({
      name: "1/line",
      messagesPerSecond: () => contract,
      requestsMax: 10,
      clock,
      log: createLog("warn", { write: (line: string) => void logged.push(line) }),
      metrics: { carrierErrors: (carrier, code) => ({ inc: () => void counted.push(`${carrier} ${code}`) }) },
    });
  });

  test("a new connection is up, at full rate and capacity", () => {
    expect(standing.isUp()).toBe(true);
    expect(standing.messagesPerSecond).toBe(100);
    expect(standing.capacity).toBe(10);
    expect(standing.state()).toMatchObject({ pausedUntil: null, errors: {}, lastError: null, submitsPerSecond: 0 });
  });

  test("the outcome is returned, and errors are counted by code", async () => {
    expect(await run(TAKEN)).toEqual(TAKEN.outcome);
    expect(await run(REFUSED)).toEqual(REFUSED.outcome);
    await run(DOWN);
    expect(counted).toEqual(["1/line 400", "1/line down"]);
    expect(standing.state()).toMatchObject({
      errors: { "400": 1, down: 1 },
      lastError: { at: clock.now(), code: "down", description: "nobody there" },
    });
    clock.advance(1000);
    expect(standing.state().submitsPerSecond).toBe(3);
  });

  test("codes beyond a hundred are counted together, and so are those that may contain a number", async () => {
    for (let code = 0; code < 150; code += 1) await run({ ...BUSY, code: `E${code}` });
    await run({ ...BUSY, code: "E99" });
    await run({ ...BUSY, code: "to 15550100100" });
    await run({ ...BUSY, code: "E7 1555010" });
    expect(new Set(counted).size).toBe(101);
    expect(counted.filter((each) => each === "1/line other")).toHaveLength(52);
    expect(counted.filter((each) => each === "1/line E99")).toHaveLength(2);
    expect(standing.state().errors).toMatchObject({ E99: 2, other: 52 });
    expect(Object.keys(standing.state().errors)).toHaveLength(101);
  });

  test("a changed contract applies at once", () => {
    contract = 7;
    expect(standing.messagesPerSecond).toBe(7);
    contract = null;
    expect(standing.messagesPerSecond).toBeNull();
  });

  test("throttling pauses, halves the rate, and recovers 5 % per second", async () => {
    await run(THROTTLED);
    expect(standing.messagesPerSecond).toBe(50);
    expect(standing.capacity).toBe(0);
    expect(standing.isUp()).toBe(true);
    expect(standing.state().pausedUntil).toBe(clock.now() + 1000);
    clock.advance(1000);
    expect(standing.capacity).toBe(10);
    expect(standing.messagesPerSecond).toBe(55);
    clock.advance(9000);
    expect(standing.messagesPerSecond).toBe(100);
  });

  test("a window throttled at once halves the rate once", async () => {
    await runAll(THROTTLED, 10);
    expect(standing.messagesPerSecond).toBe(50);
  });

  test("Retry-After pauses the connection", async () => {
    await run({ ...THROTTLED, outcome: { kind: "busy", retryAfterMs: 20_000 } });
    clock.advance(19_999);
    expect(standing.capacity).toBe(0);
    clock.advance(1);
    expect(standing.capacity).toBe(10);
  });

  test("a message to retry later does not delay others", async () => {
    await run({ ...BUSY, outcome: { kind: "busy", retryAfterMs: 20_000 } });
    expect(standing.capacity).toBe(10);
    expect(standing.messagesPerSecond).toBe(100);
  });

  test.each([
    ["down", DOWN],
    ["silent", UNKNOWN],
  ])(
    "when nearly every request is %s, the breaker opens for 30 seconds, then probes one at a time",
    async (_, verdict) => {
      await runAll(verdict, 10);
      expect(standing.isUp()).toBe(false);
      expect(standing.state().pausedUntil).toBe(clock.now() + 30_000);
      expect(logged.join("")).toContain("circuit breaker opened");
      clock.advance(30_000);
      expect(standing.isUp()).toBe(true);
      expect(standing.capacity).toBe(1);
      await runAll(TAKEN, 5);
      expect(standing.capacity).toBe(10);
    },
  );

  test("a failed probe opens the breaker again", async () => {
    await runAll(DOWN, 10);
    clock.advance(30_000);
    await run(DOWN);
    expect(standing.isUp()).toBe(false);
  });

  test.each([
    ["refuses", REFUSED],
    ["is busy", BUSY],
    ["takes", TAKEN],
  ])("a platform that %s counts as available", async (_, verdict) => {
    await runAll(verdict, 50);
    expect(standing.isUp()).toBe(true);
  });

  test("a halted connection pauses for a minute, then twice as long each time, up to 15 minutes", async () => {
    for (const minutes of [1, 2, 4, 8, 15, 15]) {
      await run(HALTED);
      expect(standing.isUp()).toBe(false);
      expect(standing.state().pausedUntil).toBe(clock.now() + minutes * 60_000);
      clock.advance(minutes * 60_000 - 1);
      expect(standing.isUp()).toBe(false);
      clock.advance(1);
      expect(standing.isUp()).toBe(true);
    }
  });

  test("a window of halting responses halts once, and is logged once", async () => {
    await runAll(HALTED, 10);
    expect(standing.state().pausedUntil).toBe(clock.now() + 60_000);
    expect(logged.filter((line) => line.includes("carrier halted"))).toHaveLength(1);
  });

  test("after a halt the connection is not probing: it resumes at full capacity", async () => {
    await runAll(HALTED, 20);
    clock.advance(60_000);
    expect(standing.isUp()).toBe(true);
    expect(standing.capacity).toBe(10);
  });

  test("a success resets the halt backoff", async () => {
    await run(HALTED);
    clock.advance(60_000);
    await run(HALTED);
    clock.advance(120_000);
    await run(TAKEN);
    await run(HALTED);
    expect(standing.state().pausedUntil).toBe(clock.now() + 60_000);
  });

  test("logs contain no number, whatever the platform sent", async () => {
    await runAll({ ...HALTED, outcome: { kind: "down", description: "no credit for 15550100100" } }, 1);
    expect(logged.join("")).not.toContain("15550100100");
    clock.advance(60_000);
    await run({ ...HALTED, code: "15550100100" });
    expect(logged.filter((line) => line.includes("carrier halted"))).toHaveLength(2);
    expect(logged.join("")).not.toContain("15550100100");
    clock.advance(600_000);
    await run({ ...HALTED, code: "Ann, see you at five" });
    expect(logged.filter((line) => line.includes("carrier halted"))).toHaveLength(3);
    expect(`${logged.join("")}${counted.join("")}`).not.toContain("Ann");
  });

  describe("stop", () => {
    const pending = (): { give(verdict: HealthVerdict): void; outcome: Promise<Outcome> } => {
      let give: (verdict: HealthVerdict) => void = () => {};
      const outcome = standing.run(() => new Promise((resolve) => (give = resolve)));
      return { give: (verdict) => give(verdict), outcome };
    };
    const isOver = async (promise: Promise<void>): Promise<boolean> => {
      let over = false;
      void promise.then(() => (over = true));
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      return over;
    };

    test("stop resolves at once without requests in flight", async () => {
      await standing.stop();
      expect(standing.isUp()).toBe(false);
    });

    test("later messages are busy, without a request", async () => {
      await standing.stop();
      let asked = 0;
      expect(await standing.run(() => Promise.resolve((asked += 1)).then(() => TAKEN))).toEqual({ kind: "busy" });
      expect(asked).toBe(0);
    });

    test("stop waits for outstanding responses", async () => {
      const first = pending();
      const second = pending();
      const stopped = standing.stop();
      first.give(TAKEN);
      expect(await isOver(stopped)).toBe(false);
      second.give(TAKEN);
      await stopped;
      expect(await second.outcome).toEqual(TAKEN.outcome);
    });

    test("stop waits no longer than its time-out", async () => {
      pending();
      const stopped = standing.stop({ drainMs: 4000, unbindMs: 0 });
      clock.advance(3999);
      expect(await isOver(stopped)).toBe(false);
      clock.advance(1);
      await stopped;
    });

    test("stop can be called twice", async () => {
      const { give } = pending();
      const stops = [standing.stop(), standing.stop({ drainMs: 1000, unbindMs: 0 })];
      give(TAKEN);
      expect(await Promise.all(stops)).toHaveLength(2);
    });

    test("a rejected submit counts as finished", async () => {
      const failing = standing.run(() => Promise.reject(new Error("a fault of ours")));
      await expect(failing).rejects.toThrow("a fault of ours");
      await standing.stop();
    });

    test("a restarted connection accepts messages again", async () => {
      await standing.stop();
      standing.start();
      expect(standing.isUp()).toBe(true);
      expect(await run(TAKEN)).toEqual(TAKEN.outcome);
    });
  });

  test.each([THROTTLED, HALTED])("a wall clock set back does not prolong a pause: %o", async (verdict) => {
    await run(verdict);
    clock.setBack(3_600_000);
    clock.advance(60_000);
    expect([standing.isUp(), standing.capacity > 0]).toEqual([true, true]);
    expect(standing.state().pausedUntil).toBeNull();
  });
});
