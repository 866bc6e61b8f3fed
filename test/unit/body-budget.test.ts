import { afterEach, describe, expect, test, vi } from "vitest";
import { bodyLimitsOf } from "../../src/app/body-limits.ts";
import { readConfig } from "../../src/config.ts";
import { BodyBudget, smallestBudget, type BodyLease } from "../../src/http/body-budget.ts";
import { QueueFull } from "../../src/lib/async.ts";
import { Random } from "../fuzz/random.ts";
import { MovedClock } from "../support/moved-clock.ts";

afterEach(() => void vi.restoreAllMocks());

const MIB = 1_048_576;
const WAIT_MS = 1000;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function open(bytesMax: number, recipientsMax = 1000) {
  const clock = new MovedClock();
  const budget = new BodyBudget(clock, { bytesMax, waitMs: WAIT_MS, recipientsMax });
  return { clock, budget };
}

/** Outcome of a wait: "waiting" until it is settled. */
function watch(wait: boolean | null | Promise<void>): { outcome: string } {
  const seen = { outcome: wait === false ? "refused" : wait instanceof Promise ? "waiting" : "granted" };
  if (wait instanceof Promise)
    wait.then(
      () => (seen.outcome = "granted"),
      (error: unknown) => (seen.outcome = error instanceof QueueFull ? "refused" : String(error)),
    );
  return seen;
}

describe("the memory of request bodies", () => {
  test("is never exceeded by any mix of bodies, and all of it is given back", async () => {
    const bytesMax = 24 * MIB;
    const { clock, budget } = open(bytesMax);
    const random = Random.of(30, 1);
    const done: BodyLease[] = [];
    const counts = { granted: 0, refused: 0 };
    let highest = 0;
    const note = (): void => {
      highest = Math.max(highest, budget.heldBytes);
    };
    const run = async (): Promise<void> => {
      const lease = budget.lease();
      const length = random.chance(0.5) ? random.below(16_384) + 1 : random.below(MIB) + 1;
      try {
        await lease.expect(random.chance(0.2) ? 0 : length);
        for (let at = 0; at < length; at += 65_536) {
          if (!lease.append(Buffer.alloc(Math.min(65_536, length - at)))) throw new QueueFull("no room");
          note();
          if (random.chance(0.3)) await nextTurn();
          if (random.chance(0.02)) return lease.release();
        }
        if ((await lease.handle(length, random.chance(0.7))) === false) throw new QueueFull("no room");
        note();
        lease.releaseBody();
        if ((await lease.holdMessages(random.below(1000) + 1)) === false) throw new QueueFull("no room");
        note();
        counts.granted += 1;
        done.push(lease);
      } catch (error) {
        if (!(error instanceof QueueFull)) throw error;
        counts.refused += 1;
        lease.release();
      }
    };
    const all: Promise<void>[] = [];
    for (let round = 0; round < 400; round += 1) {
      all.push(run(), run());
      clock.advance(random.below(60));
      await nextTurn();
      note();
      while (done.length > 0 && random.chance(0.6)) done.splice(random.below(done.length), 1)[0]?.release();
    }
    for (let round = 0; round < 80; round += 1) {
      clock.advance(50);
      await nextTurn();
      for (const lease of done.splice(0)) lease.release();
    }
    await Promise.all(all);
    for (const lease of done) lease.release();
    expect(highest).toBeGreaterThan(bytesMax / 2);
    expect(highest).toBeLessThanOrEqual(bytesMax);
    expect(counts.granted).toBeGreaterThan(100);
    expect(counts.refused).toBeGreaterThan(10);
    expect([budget.heldBytes, budget.waiting]).toEqual([0, 0]);
  });

  test("a body over the budget is refused after the configured time, and not before", async () => {
    const { clock, budget } = open(16 * MIB);
    const holders = Array.from({ length: 3 }, () => budget.lease());
    for (const lease of holders) {
      expect(lease.expect(MIB)).toBeNull();
      lease.append(Buffer.alloc(MIB));
    }
    const late = watch(budget.lease().expect(MIB));
    clock.advance(WAIT_MS - 50);
    await nextTurn();
    expect(late.outcome).toBe("waiting");
    clock.advance(50);
    await nextTurn();
    expect(late.outcome).toBe("refused");
  });

  test("waiting to arrive and waiting to be handled share the configured time", async () => {
    const { clock, budget } = open(16 * MIB);
    const holders = Array.from({ length: 3 }, () => budget.lease());
    for (const lease of holders) {
      void lease.expect(MIB);
      lease.append(Buffer.alloc(MIB));
    }
    const [first] = holders;
    await first?.handle(MIB, true);
    const lease = budget.lease();
    const arriving = watch(lease.expect(MIB));
    clock.advance(600);
    first?.releaseBody();
    await nextTurn();
    expect(arriving.outcome).toBe("granted");
    lease.append(Buffer.alloc(MIB));
    const handling = watch(lease.handle(MIB, true));
    clock.advance(350);
    await nextTurn();
    expect(handling.outcome).toBe("waiting");
    clock.advance(50);
    await nextTurn();
    expect(handling.outcome).toBe("refused");
    expect(lease.waitedMs).toBe(1000);
  });

  test("a client that announces a body and does not send it holds no share of the budget (Slowloris)", async () => {
    const { clock, budget } = open(16 * MIB);
    const slow = Array.from({ length: 3 }, () => budget.lease());
    for (const lease of slow) {
      void lease.expect(MIB);
      lease.append(Buffer.alloc(1));
    }
    const other = watch(budget.lease().expect(MIB));
    clock.advance(300);
    await nextTurn();
    expect(other.outcome).toBe("granted");
    // The slow ones go on with what is left.
    expect(slow[0]?.append(Buffer.alloc(100_000))).toBe(true);
    expect(slow[0]?.body.length).toBe(100_001);
  });

  test("a small body is admitted while large ones wait", async () => {
    const { budget } = open(16 * MIB);
    expect(budget.lease().handle(MIB, true)).toBe(true);
    const second = watch(budget.lease().handle(MIB, true));
    await nextTurn();
    expect(second.outcome).toBe("waiting");
    expect(budget.lease().handle(200, true)).toBe(true);
  });

  test("one turn of the event loop starts few large bodies", async () => {
    const { budget } = open(512 * MIB);
    const watched = Array.from({ length: 8 }, () => watch(budget.lease().handle(MIB, true)));
    const granted = (): number => watched.filter(({ outcome }) => outcome === "granted").length;
    expect(granted()).toBe(1);
    await nextTurn();
    await nextTurn();
    expect(granted()).toBeLessThan(5);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(granted()).toBe(8);
  });

  test("a client that leaves while it waits gives back what it is granted", async () => {
    const { budget } = open(16 * MIB);
    const holder = budget.lease();
    await holder.handle(MIB, true);
    const left = budget.lease();
    const waiting = watch(left.handle(MIB, true));
    left.release();
    holder.release();
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(waiting.outcome).toBe("granted");
    expect(budget.heldBytes).toBe(0);
  });

  test("a body in many chunks is received whole", () => {
    const { budget } = open(64 * MIB);
    const lease = budget.lease();
    const sent = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    for (let at = 0; at < sent.length; at += 7001)
      expect(lease.append(sent, at, Math.min(sent.length, at + 7001))).toBe(true);
    expect(lease.body.equals(sent)).toBe(true);
  });

  test.each([64, 4.1])(
    "a chunked body is copied few times within %d MiB, however small its chunks are",
    (memoryMib) => {
      const { budget } = open(memoryMib * MIB);
      const lease = budget.lease();
      expect(lease.expect(0)).toBeNull();
      const allocate = vi.spyOn(Buffer, "allocUnsafeSlow");
      const chunk = Buffer.alloc(100, 1);
      const bytes = 800_000;
      for (let at = 0; at < bytes; at += chunk.length) expect(lease.append(chunk)).toBe(true);
      expect(lease.receivedBytes).toBe(bytes);
      expect(allocate.mock.calls.length).toBeLessThan(40);
      lease.release();
      expect(budget.heldBytes).toBe(0);
    },
  );

  test("a large body never uses the share of small ones, also if it is chunked or admitted again", async () => {
    const { clock, budget } = open(16 * MIB);
    const slow = budget.lease();
    expect(slow.expect(3 * MIB)).toBeNull();
    const waiting = watch(budget.lease().expect(MIB));
    clock.advance(5000);
    await nextTurn();
    slow.append(Buffer.alloc(1));
    const chunked = budget.lease();
    const step = Buffer.alloc(65_536);
    let isTaken = true;
    for (let chunk = 0; chunk < 64 && isTaken; chunk += 1) isTaken = chunked.append(step);
    expect([waiting.outcome === "waiting", isTaken]).toEqual([false, false]);
    for (isTaken = true; isTaken;) isTaken = slow.append(step);
    expect(budget.heldBytes).toBeLessThanOrEqual(3.5 * MIB);
    const small = budget.lease();
    expect([small.expect(16_384), small.append(Buffer.alloc(16_384))]).toEqual([null, true]);
  });

  test("counts nothing for a client that has left", async () => {
    const { budget } = open(16 * MIB);
    const lease = budget.lease();
    lease.release();
    expect([lease.append(Buffer.alloc(10)), lease.handle(200, true), lease.handleAgain(300, true)]).toEqual([
      false,
      true,
      true,
    ]);
    expect([lease.holdMessages(50), await lease.holdMessages(1000)]).toEqual([true, true]);
    expect(budget.heldBytes).toBe(0);
  });

  test("requests that turn out to have many messages do not wait for each other", async () => {
    const { budget } = open(16 * MIB);
    const leases = Array.from({ length: 8 }, () => budget.lease());
    // Together these hold most of the room, and each needs more than the rest.
    for (const lease of leases) {
      await lease.handle(200_000, false);
      await nextTurn();
    }
    const watched = leases.map((lease) => watch(lease.holdMessages(4000)));
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(watched.some(({ outcome }) => outcome === "granted")).toBe(true);
  });
});

describe("the limits of bodies", () => {
  const limits = (env: Record<string, string>, memoryMb = 4096) => bodyLimitsOf(readConfig(env), memoryMb * MIB);

  test("allow the largest send: 1,000 recipients with 1,600 escaped characters each", () => {
    const recipients = Array.from({ length: 1000 }, () => ({ to: "+155501001001234", custom: ["x".repeat(6 * 1600)] }));
    const largest = Buffer.byteLength(
      JSON.stringify({ sender: "HELIOG", type: "PROMO", templateId: "x".repeat(200), recipients }),
    );
    expect(limits({}).bodyBytesMax).toBeGreaterThanOrEqual(largest);
    const more = { HELIOGRAPH_RECIPIENTS_MAX: "2000" };
    expect(limits(more).bodyBytesMax).toBeGreaterThanOrEqual(2 * largest);
  });

  test("follow the memory of the machine or container, and hold at least one body", () => {
    expect(limits({}, 1024).budgetBytes).toBe(128 * MIB);
    expect(limits({}, 65_536).budgetBytes).toBe(256 * MIB);
    for (const memoryMb of [128, 256, 512]) {
      const { bodyBytesMax, budgetBytes } = limits({}, memoryMb);
      expect(budgetBytes).toBeGreaterThanOrEqual(smallestBudget(bodyBytesMax, 1000));
      const { budget } = open(budgetBytes);
      const lease = budget.lease();
      expect([lease.expect(bodyBytesMax), lease.handle(bodyBytesMax, true)]).toEqual([null, true]);
    }
  });

  test("refuse a memory in which the largest body has no room, and name both settings", () => {
    expect(() => limits({ HELIOGRAPH_BODY_MEMORY_MB: "16" })).toThrow(
      /^HELIOGRAPH_BODY_MEMORY_MB must be at least \d+ for bodies of 10 MB \(HELIOGRAPH_BODY_MAX_MB\)$/,
    );
    expect(limits({ HELIOGRAPH_BODY_MEMORY_MB: "16", HELIOGRAPH_BODY_MAX_MB: "1" })).toEqual({
      bodyBytesMax: MIB,
      budgetBytes: 16 * MIB,
    });
  });
});
