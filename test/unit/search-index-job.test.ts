import { describe, expect, test } from "vitest";
import { indexMessages, type IndexMessagesDeps } from "../../src/cluster/search-index.ts";
import { createLog } from "../../src/lib/log.ts";
import type { NotedChange } from "../../src/store/search/search-index.ts";
import { StorageUnavailable } from "../../src/store/store.ts";
import type { SearchBlockRow } from "../../src/store/tables.ts";
import { MovedClock } from "../support/moved-clock.ts";

type Fake = IndexMessagesDeps["store"];

const MINUTE_MS = 60_000;

const change = (accountId: number): NotedChange => ({ account_id: accountId, from_id: "a", to_id: "b", noted_at: 0 });
const block = (number: number): SearchBlockRow => ({
  account_id: 1,
  block: number,
  after_request_id: "a",
  after_n: 0,
  last_request_id: "b",
  last_n: 1,
  firm_after: 0,
  messages: 4,
  has_texts: 1,
  version: "v",
});

/** The job on a store without work, except for the given methods. */
function start(methods: Partial<Fake>, accounts: readonly number[] = [1]) {
  const clock = new MovedClock();
  const store = {
    listSearchChanges: async () => [],
    listDueBlocks: async () => [],
    indexNextBlock: async () => null,
    indexErasedTexts: async () => 0,
    forgetSearchBlock: async () => false,
    forgetSearchNumbers: async () => null,
    listAccounts: async () => accounts.map((id) => ({ id, settings: { keepMessagesDays: 90 } })),
    ...methods,
  } as unknown as Fake;
  const membership = { rank: 0, alive: true, sends: true, count: 1 };
  const run = indexMessages({ store, clock, membership, log: createLog("silent"), searchChanges: { observe() {} } });
  return { clock, run };
}

describe("the search index job", () => {
  test("goes on with the other changes, blocks and accounts when one of each fails, and retries those later", async () => {
    const tried: string[] = [];
    const attempt = (name: string, fails: boolean): void => {
      tried.push(name);
      if (fails) throw new Error("poison");
    };
    const { clock, run } = start(
      {
        listSearchChanges: async () => [1, 2].map(change),
        indexChange: async ({ account_id }) => attempt(`change ${account_id}`, account_id === 1),
        listDueBlocks: async () => [1, 2].map(block),
        indexDueBlock: async (row) => attempt(`block ${row.block}`, row.block === 1),
        indexNextBlock: async (accountId) => {
          attempt(`account ${accountId}`, accountId === 1);
          return null;
        },
        forgetSearchBlock: async (accountId) => {
          attempt(`cleaning ${accountId}`, accountId === 1);
          return false;
        },
      },
      [1, 2],
    );
    await run();
    expect(tried).toEqual(["change 1", "change 2", "block 1", "block 2", "account 1", "account 2", "cleaning 1"]);
    tried.length = 0;
    clock.advance(2000);
    await run();
    expect(tried).toEqual(["change 2", "block 2", "account 2", "cleaning 2"]);
    tried.length = 0;
    clock.advance(MINUTE_MS);
    await run();
    expect(tried.slice(0, 4)).toEqual(["change 1", "change 2", "block 1", "block 2"]);
  });

  test("many failed items do not hide the others", async () => {
    const all = Array.from({ length: 250 }, (_, index) => change(index));
    const indexed: number[] = [];
    const { run } = start({
      listSearchChanges: async (limit) => all.slice(0, limit),
      indexChange: async ({ account_id }) => {
        if (account_id < 249) throw new Error("poison");
        indexed.push(account_id);
      },
    });
    for (let turn = 0; turn < 3; turn += 1) await run();
    expect(indexed).toContain(249);
  });

  test("ends its run when the store is unavailable", async () => {
    let tried = 0;
    const { run } = start({
      listDueBlocks: async () => [1, 2].map(block),
      indexDueBlock: async () => {
        tried += 1;
        throw new StorageUnavailable("away");
      },
    });
    await expect(run()).rejects.toThrow(StorageUnavailable);
    expect(tried).toBe(1);
  });

  test("summarizes a block once for all its changes of a run", async () => {
    const summarized: string[] = [];
    const { run } = start({
      listSearchChanges: async (limit) => Array.from({ length: limit }, () => change(1)),
      indexChange: async (_, __, done) => {
        if (done.has("1 7")) return;
        done.add("1 7");
        summarized.push("1 7");
      },
    });
    await run();
    expect(summarized).toEqual(["1 7"]);
  });

  test("goes on after the wall clock was set back by a year", async () => {
    let looks = 0;
    const { clock, run } = start({
      indexNextBlock: async () => {
        looks += 1;
        return null;
      },
    });
    await run();
    clock.setBack(365 * 86_400_000);
    clock.advance(2 * MINUTE_MS);
    await run();
    expect(looks).toBe(2);
  });

  test("looks for the numbers of removed messages in every segment, each hour", async () => {
    const asked: [before: number, segment: number][] = [];
    const { clock, run } = start({
      forgetSearchNumbers: async (_, before, segment) => {
        asked.push([before, segment]);
        return segment < 2 ? segment + 1 : null;
      },
    });
    const before = clock.now() - 90 * 86_400_000;
    for (let turn = 0; turn < 6; turn += 1) await run();
    expect(asked).toEqual([0, 1, 2].map((segment) => [before, segment]));
    clock.advance(61 * MINUTE_MS);
    for (let turn = 0; turn < 6; turn += 1) await run();
    expect(asked).toHaveLength(6);
  });
});
