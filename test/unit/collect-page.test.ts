import { describe, expect, it } from "vitest";
import { QueryTimedOut } from "../../src/store/reporting-queue.ts";
import { collectPage } from "../../src/store/collect-page.ts";

/** A source whose steps take a time each, and the clock that shows it. */
function sourceOf(steps: readonly { tookMs: number; rows: number[] }[]) {
  let now = 0;
  let taken = 0;
  async function* source(): AsyncGenerator<number[], void> {
    for (const { tookMs, rows } of steps) {
      now += tookMs;
      taken += 1;
      yield rows;
    }
  }
  const budget = { clock: { monotonic: () => now }, timeoutMs: 10_000 };
  return { source: source(), budget, taken: () => taken };
}

describe("a page of a search", () => {
  it("is full while the search is quick", async () => {
    const { source, budget } = sourceOf([1, 2, 3, 4].map((row) => ({ tookMs: 10, rows: [row] })));
    expect(await collectPage(source, 3, budget)).toEqual({ rows: [1, 2, 3], hasMore: true });
  });

  it("ends with the results", async () => {
    const { source, budget } = sourceOf([{ tookMs: 10, rows: [1, 2] }]);
    expect(await collectPage(source, 2, budget)).toEqual({ rows: [1, 2], hasMore: false });
  });

  it("is short once the search has taken 200 ms and has found a row", async () => {
    const steps = [{ tookMs: 150, rows: [1] }, { tookMs: 60, rows: [] }, { tookMs: 1, rows: [2] }]; // prettier-ignore
    const { source, budget, taken } = sourceOf(steps);
    expect(await collectPage(source, 50, budget)).toEqual({ rows: [1], hasMore: true });
    expect(taken()).toBe(2);
  });

  it("no page but the last is empty: without a match the search continues", async () => {
    const { source, budget } = sourceOf([{ tookMs: 5000, rows: [] }, { tookMs: 1, rows: [1] }, { tookMs: 1, rows: [2] }]); // prettier-ignore
    expect(await collectPage(source, 50, budget)).toEqual({ rows: [1], hasMore: true });
  });

  it("fails when the whole search, over all its statements, exceeds the time limit without a row", async () => {
    const { source, budget, taken } = sourceOf(Array.from({ length: 30 }, () => ({ tookMs: 1000, rows: [] })));
    await expect(collectPage(source, 50, budget)).rejects.toThrow(QueryTimedOut);
    expect(taken()).toBe(10);
  });

  it("has no limit outside a request", async () => {
    const { source } = sourceOf([{ tookMs: 50_000, rows: [1] }, { tookMs: 1, rows: [2] }]); // prettier-ignore
    expect(await collectPage(source, 50, null)).toEqual({ rows: [1, 2], hasMore: false });
  });
});
