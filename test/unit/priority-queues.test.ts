import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BatcherFull, createBatcher } from "../../src/lib/batcher.ts";
import { DelayQueue } from "../../src/lib/delay-queue.ts";
import { idFloor, newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { Queue } from "../../src/lib/queue.ts";
import { TokenBucket } from "../../src/lib/token-bucket.ts";
import type { Message, RouteClass } from "../../src/model/message.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { PriorityQueues } from "../../src/pipeline/dispatch/priority-queues.ts";
import { MovedClock } from "../support/moved-clock.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("batcher", () => {
  const carrierLimiter = (): {
    run(items: readonly number[]): Promise<number[]>;
    batches: number[][];
    open(): void;
  } => {
    const batches: number[][] = [];
    let waiting: (() => void)[] = [];
    return {
      batches,
      run: async (items) => {
        batches.push([...items]);
        await new Promise<void>((resolve) => waiting.push(resolve));
        return items.map((item) => item * 10);
      },
      open: () => {
        const now = waiting;
        waiting = [];
        for (const resolve of now) resolve();
      },
    };
  };

  test("items that arrive during a batch become the next batch", async () => {
    const { run, batches, open } = carrierLimiter();
    const batcher = createBatcher<number, number>({ run, maxBatch: 100, maxLoad: 100, inFlight: 1 });
    const first = batcher.add(1);
    await turn();
    const others = [batcher.add(2), batcher.add(3), batcher.add(4)];
    await turn();
    expect(batches).toEqual([[1]]);
    open();
    expect(await first).toBe(10);
    expect(batches).toEqual([[1], [2, 3, 4]]);
    open();
    expect(await Promise.all(others)).toEqual([20, 30, 40]);
  });

  test("a full batch leaves before the event-loop turn ends, and later items leave with the rest of their turn", async () => {
    const { run, batches, open } = carrierLimiter();
    const batcher = createBatcher<number, number>({ run, maxBatch: 3, maxLoad: 100, inFlight: 2 });
    const all = [1, 2, 3, 4, 5].map((item) => batcher.add(item));
    expect(batches).toEqual([[1, 2, 3]]);
    await turn();
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    const more = [6, 7, 8, 9].map((item) => batcher.add(item));
    expect(batches, "no more of them may be under way").toHaveLength(2);
    open();
    expect(await Promise.all(all)).toEqual([10, 20, 30, 40, 50]);
    expect(batches.slice(2)).toEqual([[6, 7, 8], [9]]);
    open();
    expect(await Promise.all(more)).toEqual([60, 70, 80, 90]);
  });

  test("the rest of a full batch waits for the end of the turn, whatever its weight", async () => {
    const { run, batches, open } = carrierLimiter();
    const weigh = (item: number): number => item;
    const batcher = createBatcher<number, number>({ run, weigh, maxBatch: 10, maxLoad: 100, inFlight: 3 });
    const all = [4, 5, 3, 2].map((item) => batcher.add(item));
    expect(batches).toEqual([[4, 5]]);
    await turn();
    expect(batches).toEqual([
      [4, 5],
      [3, 2],
    ]);
    open();
    expect(await Promise.all(all)).toEqual([40, 50, 30, 20]);
    expect(batcher.load).toBe(0);
  });

  test("an error in place of a result rejects its caller only; a failed batch rejects all its callers", async () => {
    const batcher = createBatcher<number, number>({
      run: async (items) => {
        if (items.includes(9)) throw new Error("all");
        return items.map((item) => (item === 2 ? new Error("two") : item));
      },
      maxBatch: 3,
      maxLoad: 100,
      inFlight: 1,
    });
    const settled = await Promise.allSettled([1, 2, 3, 9, 4].map((item) => batcher.add(item)));
    expect(
      settled.map((result) => (result.status === "fulfilled" ? result.value : (result.reason as Error).message)),
    ).toEqual([1, "two", 3, "all", "all"]);
    expect(await batcher.add(5), "it goes on afterwards").toBe(5);
  });

  test("a full batcher refuses at once and starts nothing of it", async () => {
    const { run, batches, open } = carrierLimiter();
    const batcher = createBatcher<number, number>({
      run,
      weigh: (item) => item,
      maxBatch: 10,
      maxLoad: 10,
      inFlight: 1,
    });
    const first = batcher.add(8);
    await expect(batcher.add(3)).rejects.toBeInstanceOf(BatcherFull);
    await turn();
    open();
    await first;
    expect(batches).toEqual([[8]]);
    expect(batcher.load).toBe(0);
  });

  test("batches keep to their weight, and every item has its own result, in any mix", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        async (items, inFlight) => {
          const weights: number[] = [];
          const batcher = createBatcher<number, number>({
            run: async (batch) => {
              weights.push(batch.length === 1 ? 0 : batch.reduce((sum, item) => sum + item, 0));
              await turn();
              return batch.map((item) => item + 1);
            },
            weigh: (item) => item,
            maxBatch: 60,
            maxLoad: 1e9,
            inFlight,
          });
          expect(await Promise.all(items.map((item) => batcher.add(item)))).toEqual(items.map((item) => item + 1));
          expect(Math.max(0, ...weights)).toBeLessThanOrEqual(60);
          await batcher.idle();
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("delay queue", () => {
  test("items leave when due, ordered by time and then by arrival, for any delays", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 200 }), (delays) => {
        const clock = new MovedClock(0);
        const out: { delay: number; index: number; at: number }[] = [];
        const queue = new DelayQueue<{ delay: number; index: number }>(clock, (items) => {
          for (const item of items) out.push({ ...item, at: clock.now() });
        });
        delays.forEach((delay, index) => queue.add({ delay, index }, delay));
        clock.advance(100);
        const expected = delays
          .map((delay, index) => ({ delay, index, at: delay }))
          .toSorted((a, b) => a.delay - b.delay || a.index - b.index);
        expect(out).toEqual(expected);
        expect(queue.size).toBe(0);
      }),
    );
  });
});

describe("queue", () => {
  test("first in, first out, for any mix of pushes and shifts", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 300 }), (steps) => {
        const queue = new Queue<number>();
        const model: number[] = [];
        const shifted: (number | undefined)[] = [];
        const expected: (number | undefined)[] = [];
        steps.forEach((push, index) => {
          if (push) {
            queue.push(index);
            model.push(index);
            return;
          }
          shifted.push(queue.shift());
          expected.push(model.shift());
        });
        expect(shifted).toEqual(expected);
        expect(queue.length).toBe(model.length);
      }),
    );
  });
});

describe("token bucket", () => {
  test("lets the rate through and not more, whatever the pattern of asking", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 }),
        (rate, gaps) => {
          const bucket = new TokenBucket(rate, 0);
          let now = 0;
          let taken = 0;
          for (const gap of gaps) {
            now += gap;
            if (bucket.take(now).taken) taken += 1;
          }
          expect(taken).toBeLessThanOrEqual(rate + (now / 1000) * rate + 1e-6);
        },
      ),
    );
  });

  test("a refusal names the wait, after which a request is admitted", () => {
    const bucket = new TokenBucket(2, 0);
    expect([bucket.take(0).taken, bucket.take(0).taken]).toEqual([true, true]);
    const refused = bucket.take(0);
    expect(refused).toEqual({ taken: false, waitMs: 500 });
    expect(bucket.take(500).taken).toBe(true);
  });
});

describe("ids", () => {
  test("an id is a UUID of version 7 that begins with its moment", () => {
    const id = newId(1_767_225_600_123);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id.slice(0, 13)).toBe(idFloor(1_767_225_600_123).slice(0, 13));
  });
  test("ids order by time and never repeat", () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => newId(1_767_225_600_000 + index));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
  });
});

describe("lanes", () => {
  const message = (routeClass: RouteClass, n: number): Message => ({ routeClass, n }) as Message;

  test("OTP goes before TRANS, TRANS before PROMO, in order of arrival within each", () => {
    const lanes = new PriorityQueues(100);
    for (const routeClass of ["PROMO", "TRANS", "OTP"] as const)
      for (const n of [1, 2]) lanes.push(message(routeClass, n));
    const order = Array.from({ length: 6 }, () => lanes.take()).map((taken) => `${taken?.routeClass} ${taken?.n}`);
    expect(order).toEqual(["OTP 1", "OTP 2", "TRANS 1", "TRANS 2", "PROMO 1", "PROMO 2"]);
    expect(lanes.take()).toBeUndefined();
  });

  test("under an endless flood of OTP the lower lanes still get a turn now and then", () => {
    const lanes = new PriorityQueues(10_000);
    for (let n = 0; n < 1000; n += 1) lanes.push(message("OTP", n));
    lanes.push(message("PROMO", 1));
    const place = Array.from({ length: 40 }, () => lanes.take()).findIndex((taken) => taken?.routeClass === "PROMO");
    expect(place).toBeGreaterThan(0);
  });

  test("a lane holds no more than its bound, and a full lane does not limit the others", () => {
    const lanes = new PriorityQueues(3);
    expect(lanes.reserve("PROMO", 3)).toBe(true);
    expect(lanes.reserve("PROMO", 1)).toBe(false);
    expect(lanes.reserve("OTP", 3)).toBe(true);
    lanes.releaseSlots("PROMO", 3);
    lanes.push(message("PROMO", 1));
    expect([lanes.freeSlots("PROMO"), lanes.reserve("PROMO", 3), lanes.reserve("PROMO", 2)]).toEqual([2, false, true]);
  });
});

describe("group commit", () => {
  test.each(["accept", "move"] as const)(
    "while passwords pass, each other kind of %s keeps to one commit at a time",
    async (kind) => {
      const clock = new MovedClock();
      let underWay = 0;
      let most = 0;
      const returns: (() => void)[] = [];
      const write = async (batch: readonly unknown[], urgent = false): Promise<object[]> => {
        if (!urgent) most = Math.max(most, (underWay += 1));
        await new Promise<void>((resolve) => returns.push(resolve));
        if (!urgent) underWay -= 1;
        return batch.map(() => ({ kind: "stored", moved: true, message: null, unmatched: [], callbacks: [] }));
      };
      const store = { accept: write, transition: write } as unknown as Parameters<typeof createGroupCommit>[0]["store"];
      const commits = createGroupCommit({ store, clock, log: createLog("silent") }, { acceptBacklog: 10 });
      const item = { recipients: [{ failure: null }] } as never;
      const [others, passwords] =
        kind === "accept" ? [commits.accept, commits.urgentAccept] : [commits.move, commits.urgentMove];
      /** Highest number of concurrent commits for two items that arrive one after the other. */
      const twoInARow = async (): Promise<number> => {
        most = 0;
        const written = [others.add(item)];
        await turn();
        written.push(others.add(item));
        await turn();
        while (returns.length > 0 || underWay > 0) {
          returns.shift()?.();
          await turn();
        }
        await Promise.all(written);
        return most;
      };
      expect(await twoInARow()).toBe(2);
      const password = passwords.add(item);
      await turn();
      // However long its own commit takes.
      clock.advance(1000);
      returns.shift()?.();
      await password;
      expect(await twoInARow()).toBe(1);
      clock.advance(249);
      expect(await twoInARow()).toBe(1);
      clock.advance(1);
      expect(await twoInARow()).toBe(2);
    },
  );
});
