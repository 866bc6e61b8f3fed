import { expect, test } from "vitest";
import { createSharedCount, createSharedRead } from "../../src/store/shared-count.ts";

/** A count whose result the test decides, and which takes a given time. */
function scripted() {
  let now = 0;
  const runs: { end(rows: number, tookMs: number): Promise<void>; fail(): Promise<void> }[] = [];
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const count = createSharedCount({ monotonic: () => now }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    runs.push({
      async end(rows, tookMs) {
        now += tookMs;
        resolve(rows);
        await settled();
      },
      async fail() {
        reject(new Error("unavailable"));
        await settled();
      },
    });
    return promise;
  });
  return { count, runs, pass: (ms: number) => (now += ms) };
}

test("a short queue is counted at each call", async () => {
  const { count, runs } = scripted();
  for (const rows of [0, 20_000, 3]) {
    const counted = count();
    await runs.at(-1)?.end(rows, 1);
    expect(await counted).toBe(rows);
  }
  expect(runs).toHaveLength(3);
});

test("calls at the same time share a count", async () => {
  const { count, runs } = scripted();
  const counted = Promise.all([count(), count(), count()]);
  await runs[0]?.end(5, 1);
  expect(await counted).toEqual([5, 5, 5]);
  expect(runs).toHaveLength(1);
});

test("a long queue is counted in the background, for a twentieth of the time", async () => {
  const { count, runs, pass } = scripted();
  const first = count();
  await runs[0]?.end(1_000_000, 100);
  expect(await first).toBe(1_000_000);
  pass(1999);
  expect([await count(), runs.length]).toEqual([1_000_000, 1]);
  pass(1);
  expect([await count(), await count(), runs.length]).toEqual([1_000_000, 1_000_000, 2]);
  await runs[1]?.end(900_000, 90);
  expect([await count(), runs.length]).toEqual([900_000, 2]);
});

test("a count older than a minute is not returned", async () => {
  const { count, runs, pass } = scripted();
  const first = count();
  await runs[0]?.end(1_000_000, 100);
  await first;
  pass(60_000);
  const second = count();
  await runs[1]?.end(900_000, 90);
  expect(await second).toBe(900_000);
});

test("a failed count is reported, also after one that succeeded", async () => {
  const { count, runs, pass } = scripted();
  const first = count();
  await runs[0]?.end(1_000_000, 100);
  await first;
  pass(2000);
  expect(await count()).toBe(1_000_000);
  await runs[1]?.fail();
  const [next] = await Promise.allSettled([count(), runs[2]?.fail()]);
  expect(next.status).toBe("rejected");
});

test("a shared read runs once within its time, for all callers", async () => {
  let [now, runs] = [0, 0];
  const read = createSharedRead({ monotonic: () => now }, 5000, async () => ++runs);
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  now = 4999;
  expect(await read()).toBe(1);
  now = 5000;
  expect(await read()).toBe(2);
});

test("a shared read that failed runs again at the next call", async () => {
  let runs = 0;
  const read = createSharedRead({ monotonic: () => 0 }, 5000, async () => {
    runs += 1;
    if (runs === 1) throw new Error("unavailable");
    return runs;
  });
  await expect(read()).rejects.toThrow("unavailable");
  expect(await read()).toBe(2);
});
