import { beforeEach, describe, expect, test } from "vitest";
import type { Outcome } from "../src/carriers/carrier.ts";
import { Standing, type Verdict } from "../src/carriers/standing.ts";
import { createLog } from "../src/lib/log.ts";
import { MovedClock } from "./support/moved-clock.ts";

const TAKEN: Verdict = { outcome: { kind: "taken", carrierMessageId: "1" } };
const DOWN: Verdict = { outcome: { kind: "down", description: "nobody there" } };
const UNKNOWN: Verdict = { outcome: { kind: "unknown", description: "cut" } };
const BUSY: Verdict = { outcome: { kind: "busy" }, code: "503" };
const THROTTLED: Verdict = { outcome: { kind: "busy" }, code: "429", line: "throttled" };
const HALTED: Verdict = { outcome: { kind: "down", description: "the key has ended" }, code: "401", line: "halted" };
const REFUSED: Verdict = {
  outcome: { kind: "refused", fault: "message", code: "400", description: "bad number" },
  code: "400",
};

describe("how a line stands", () => {
  let clock: MovedClock;
  let contract: number | null;
  let counted: string[];
  let logged: string[];
  let standing: Standing;
  const run = (verdict: Verdict): Promise<Outcome> => standing.run(() => Promise.resolve(verdict));
  const runAll = async (verdict: Verdict, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) await run(verdict);
  };

  beforeEach(() => {
    clock = new MovedClock();
    contract = 100;
    counted = [];
    logged = [];
    standing = new Standing({
      name: "1/line",
      messagesPerSecond: () => contract,
      requestsMax: 10,
      clock,
      log: createLog("warn", { write: (line: string) => void logged.push(line) }),
      meters: { carrierErrors: (carrier, code) => ({ inc: () => void counted.push(`${carrier} ${code}`) }) },
    });
  });

  test("begins up, at full speed, with room for all its requests", () => {
    expect(standing.isUp()).toBe(true);
    expect(standing.messagesPerSecond).toBe(100);
    expect(standing.capacity).toBe(10);
    expect(standing.state()).toMatchObject({ pausedUntil: null, errors: {}, lastError: null, submitsPerSecond: 0 });
  });

  test("hands back what became of the message, and counts what was not yes by its code", async () => {
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

  test("codes without end are counted together once there are a hundred, and so is one that may be a number", async () => {
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

  test("a changed contract counts at once", () => {
    contract = 7;
    expect(standing.messagesPerSecond).toBe(7);
    contract = null;
    expect(standing.messagesPerSecond).toBeNull();
  });

  test("throttling halves the speed after a breath, and it recovers by a twentieth each second", async () => {
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

  test("a whole window that is throttled at once halves the speed once", async () => {
    await runAll(THROTTLED, 10);
    expect(standing.messagesPerSecond).toBe(50);
  });

  test("a platform that says when to come again is left alone until then", async () => {
    await run({ ...THROTTLED, outcome: { kind: "busy", retryAfterMs: 20_000 } });
    clock.advance(19_999);
    expect(standing.capacity).toBe(0);
    clock.advance(1);
    expect(standing.capacity).toBe(10);
  });

  test("a message that is to come again later holds up no other", async () => {
    await run({ ...BUSY, outcome: { kind: "busy", retryAfterMs: 20_000 } });
    expect(standing.capacity).toBe(10);
    expect(standing.messagesPerSecond).toBe(100);
  });

  test.each([
    ["down", DOWN],
    ["silent", UNKNOWN],
  ])(
    "a line that is %s nearly every time is left alone for half a minute, and then tried one by one",
    async (_, verdict) => {
      await runAll(verdict, 10);
      expect(standing.isUp()).toBe(false);
      expect(standing.state().pausedUntil).toBe(clock.now() + 30_000);
      expect(logged.join("")).toContain("left alone");
      clock.advance(30_000);
      expect(standing.isUp()).toBe(true);
      expect(standing.capacity).toBe(1);
      await runAll(TAKEN, 5);
      expect(standing.capacity).toBe(10);
    },
  );

  test("a probe that fails leaves it alone again", async () => {
    await runAll(DOWN, 10);
    clock.advance(30_000);
    await run(DOWN);
    expect(standing.isUp()).toBe(false);
  });

  test.each([
    ["refuses", REFUSED],
    ["is busy", BUSY],
    ["takes", TAKEN],
  ])("a platform that %s has answered, and stays up", async (_, verdict) => {
    await runAll(verdict, 50);
    expect(standing.isUp()).toBe(true);
  });

  test("a halted line takes nothing for a minute, then twice as long each time, and at most a quarter of an hour", async () => {
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

  test("a whole window that is answered so halts it once, and is told once", async () => {
    await runAll(HALTED, 10);
    expect(standing.state().pausedUntil).toBe(clock.now() + 60_000);
    expect(logged.filter((line) => line.includes("takes nothing more"))).toHaveLength(1);
  });

  test("a halted line is not failing: it is tried with all it has when its time has come", async () => {
    await runAll(HALTED, 20);
    clock.advance(60_000);
    expect(standing.isUp()).toBe(true);
    expect(standing.capacity).toBe(10);
  });

  test("once something is taken, the next halt is short again", async () => {
    await run(HALTED);
    clock.advance(60_000);
    await run(HALTED);
    clock.advance(120_000);
    await run(TAKEN);
    await run(HALTED);
    expect(standing.state().pausedUntil).toBe(clock.now() + 60_000);
  });

  test("logs have no number in them, whatever the platform said", async () => {
    await runAll({ ...HALTED, outcome: { kind: "down", description: "no credit for 15550100100" } }, 1);
    expect(logged.join("")).not.toContain("15550100100");
    clock.advance(60_000);
    await run({ ...HALTED, code: "15550100100" });
    expect(logged.filter((line) => line.includes("takes nothing more"))).toHaveLength(2);
    expect(logged.join("")).not.toContain("15550100100");
  });

  describe("stop", () => {
    const pending = (): { give(verdict: Verdict): void; outcome: Promise<Outcome> } => {
      let give: (verdict: Verdict) => void = () => {};
      const outcome = standing.run(() => new Promise((resolve) => (give = resolve)));
      return { give: (verdict) => give(verdict), outcome };
    };
    const isOver = async (promise: Promise<void>): Promise<boolean> => {
      let over = false;
      void promise.then(() => (over = true));
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      return over;
    };

    test("is done at once where nothing is under way", async () => {
      await standing.stop();
      expect(standing.isUp()).toBe(false);
    });

    test("what comes too late is busy, and asks nobody", async () => {
      await standing.stop();
      let asked = 0;
      expect(await standing.run(() => Promise.resolve((asked += 1)).then(() => TAKEN))).toEqual({ kind: "busy" });
      expect(asked).toBe(0);
    });

    test("waits for the answers that are due", async () => {
      const first = pending();
      const second = pending();
      const stopped = standing.stop();
      first.give(TAKEN);
      expect(await isOver(stopped)).toBe(false);
      second.give(TAKEN);
      await stopped;
      expect(await second.outcome).toEqual(TAKEN.outcome);
    });

    test("waits no longer than it was told", async () => {
      pending();
      const stopped = standing.stop({ drainMs: 4000, unbindMs: 0 });
      clock.advance(3999);
      expect(await isOver(stopped)).toBe(false);
      clock.advance(1);
      await stopped;
    });

    test("who stops it twice is answered twice", async () => {
      const { give } = pending();
      const stops = [standing.stop(), standing.stop({ drainMs: 1000, unbindMs: 0 })];
      give(TAKEN);
      expect(await Promise.all(stops)).toHaveLength(2);
    });

    test("an answer that never comes as one counts as given all the same", async () => {
      const failing = standing.run(() => Promise.reject(new Error("a fault of ours")));
      await expect(failing).rejects.toThrow("a fault of ours");
      await standing.stop();
    });

    test("a line that is started again takes messages again", async () => {
      await standing.stop();
      standing.start();
      expect(standing.isUp()).toBe(true);
      expect(await run(TAKEN)).toEqual(TAKEN.outcome);
    });
  });
});
