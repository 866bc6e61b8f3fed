import { expect, test } from "vitest";
import { countMessages } from "../../src/http/public/messages.ts";
import type { AuthenticCall, Services } from "../../src/http/route.ts";
import { QueryTimedOut } from "../../src/store/reporting-queue.ts";

const position = { requestId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47", n: 1 };

/** Counts in a store whose pages take these times; null is a search that finds nothing until its time is over. */
async function countWith(pages: readonly ({ rows: number; tookMs: number } | null)[]) {
  let now = 0;
  const limits: number[] = [];
  const left = [...pages];
  const store = {
    listMessages: (...[, , , , withinMs]: Parameters<Services["store"]["listMessages"]>) => {
      limits.push(withinMs ?? Infinity);
      const page = left.shift();
      if (!page) return Promise.reject(new QueryTimedOut(withinMs ?? 0));
      now += page.tookMs;
      return Promise.resolve({ rows: Array.from({ length: page.rows }), next: left.length > 0 ? position : null });
    },
  };
  const services = { store, clock: { monotonic: () => now } } as unknown as Services;
  const call = {
    query: {},
    caller: { account: { id: 1 }, role: "owner", key: { mode: "live" } },
  } as unknown as AuthenticCall;
  return { view: await countMessages.handle(services, call), limits };
}

test("a count adds up its pages", async () => {
  const { view } = await countWith([
    { rows: 500, tookMs: 10 },
    { rows: 3, tookMs: 10 },
  ]);
  expect(view).toEqual({ count: 503, more: false });
});

test("a count that finds nothing more in its time returns what it has counted", async () => {
  const { view, limits } = await countWith([{ rows: 3, tookMs: 200 }, null]);
  expect(view).toEqual({ count: 3, more: true });
  expect(limits).toEqual([2000, 1800]);
});

test("a count ends after two seconds, with more to count", async () => {
  const page = { rows: 500, tookMs: 900 };
  expect((await countWith([page, page, page, page])).view).toEqual({ count: 1500, more: true });
});
