import { describe, expect, test } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import { StorageUnavailable, type StoredReceipt } from "../../src/store/store.ts";
import { listJobs, startJobs } from "../../src/cluster/jobs.ts";
import { MovedClock } from "../support/moved-clock.ts";

type ListJobsDeps = Parameters<typeof listJobs>[0];

const unmatched = (id: number): StoredReceipt & { ref: { accountId: number; requestId: string; n: number } } => ({
  id,
  receipt: {
    carrier: "1/north",
    carrierMessageId: `m-${id}`,
    state: "delivered",
    errorCode: null,
    description: null,
    at: 0,
  },
  ref: { accountId: 1, requestId: `request ${id}`, n: 1 },
});

/** Runs one job with its own dependencies only. */
function run(
  name: string,
  store: Partial<ListJobsDeps["store"]>,
  sending: Partial<NonNullable<ListJobsDeps["sending"]>>,
) {
  const deps = { store, sending, clock: new MovedClock(), log: createLog("silent"), webhooks: null };
  const job = listJobs(deps as unknown as ListJobsDeps).find((each) => each.name === name);
  if (!job) throw new Error(`there is no job ${name}`);
  return job.run();
}

describe("matching early receipts", () => {
  const NAME = "early-receipts";

  test("a receipt that always fails does not block the others, nor does a whole page of them", async () => {
    const settled: number[] = [];
    const all = Array.from({ length: 501 }, (_, index) => unmatched(index + 1));
    await run(
      NAME,
      { listMatchable: async (limit, after = 0) => all.filter(({ id }) => id > after).slice(0, limit) },
      {
        applyUnmatched: async (_, [receipt]) => {
          if (receipt && receipt.id <= 500) throw new Error("poison");
          settled.push(receipt?.id ?? 0);
        },
      },
    );
    expect(settled).toEqual([501]);
  });

  test("the run ends when the store is unavailable", async () => {
    let asked = 0;
    const away = run(
      NAME,
      { listMatchable: async () => [unmatched(1), unmatched(2)] },
      {
        applyUnmatched: async () => {
          asked += 1;
          throw new StorageUnavailable("away");
        },
      },
    );
    await expect(away).rejects.toThrow("away");
    expect(asked).toBe(1);
  });

  test("matching by alternate id continues after a receipt that always fails", async () => {
    const matched: number[] = [];
    const pages = [
      [2, 1],
      [4, 3],
    ].map((ids) => ids.map((id) => ({ ...unmatched(id), parkedAt: 0 })));
    await run(
      `${NAME}-by-alternate-id`,
      { listUnmatched: async (_, after) => ({ rows: pages[after ?? 0] ?? [], next: after === null ? 1 : null }) },
      {
        matchUnmatched: async ([receipt]) => {
          if (receipt?.id === 2) throw new Error("poison");
          matched.push(receipt?.id ?? 0);
        },
      },
    );
    expect(matched.toSorted((a, b) => a - b)).toEqual([1, 3, 4]);
  });
});

test("a failed heartbeat is retried after a tenth of its interval, and then keeps its interval", async () => {
  const clock = new MovedClock();
  const log = createLog("silent");
  const beats: number[] = [];
  const membership = {
    heartbeat: async () => {
      beats.push(clock.monotonic());
      if (beats.length === 2) throw new StorageUnavailable("away");
    },
  };
  const deps = { membership, clock, log, heartbeatMs: 10_000, webhooks: null, sending: null };
  const heartbeat = listJobs(deps as unknown as ListJobsDeps).filter(({ name }) => name === "heartbeat");
  expect(heartbeat).toHaveLength(1);
  const jobs = startJobs({ clock, log }, heartbeat);
  for (let passed = 0; passed < 35_000; passed += 500) {
    clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await jobs.stop();
  expect(beats).toEqual([10_000, 20_000, 21_000, 31_000]);
});
