import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { PhoneFeeds } from "../../src/carriers/simulator/phone-feeds.ts";
import { newId } from "../../src/lib/ids.ts";
import type { PhoneMessage } from "../../src/model/phone.ts";
import type { PhoneStore } from "../../src/store/phones.ts";
import { MovedClock } from "../support/moved-clock.ts";

const ALL = { accountId: 1, testOnly: false };

describe("streams of simulated phone messages", () => {
  let clock: MovedClock;
  let stored: PhoneMessage[];
  let reads: string[];
  let isUnavailable: boolean;
  /** Reads wait for it, if a test sets it. */
  let held: Promise<void> | null;
  let feeds: PhoneFeeds;
  const arrivals = new EventEmitter<{ message: [PhoneMessage] }>();

  beforeEach(() => {
    clock = new MovedClock();
    stored = [];
    reads = [];
    isUnavailable = false;
    held = null;
    arrivals.removeAllListeners();
    const phoneMessagesSince: PhoneStore["phoneMessagesSince"] = async (accountId, fromId, limit, view) => {
      reads.push(`${accountId} ${view?.testOnly}`);
      if (isUnavailable) throw new Error("unavailable");
      const rows = stored.filter((row) => row.accountId === accountId && row.id >= fromId);
      const found = rows.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limit);
      await held;
      return found;
    };
    const store = { phoneMessagesSince } as PhoneStore;
    feeds = new PhoneFeeds({ store, simulator: { arrivals }, clock });
  });

  /** Stores a message that another node received, so that only the store has it. */
  function receive(at = clock.now(), accountId = 1): string {
    const id = newId(at);
    stored.push({ accountId, id } as PhoneMessage);
    return id;
  }
  async function pass(ms: number): Promise<void> {
    clock.advance(ms);
    for (let turns = 0; turns < 10; turns += 1) await turn();
  }
  function follow(after: string | null = null, followed = ALL) {
    const seen: PhoneMessage[] = [];
    const state = { failures: 0 };
    const stop = feeds.follow(followed, after, {
      onMessages: (messages) => void seen.push(...messages),
      onFailure: () => (state.failures += 1),
    });
    return { seen, state, stop, ids: () => seen.map(({ id }) => id) };
  }

  test("share one poll per account and view, and get the same objects", async () => {
    const streams = Array.from({ length: 50 }, () => follow());
    const ofTests = follow(null, { accountId: 1, testOnly: true });
    await pass(1);
    reads = [];
    clock.advance(10);
    const ids = [receive(), receive()];
    await pass(500);
    expect(reads.toSorted()).toEqual(["1 false", "1 true"]);
    for (const { seen } of streams) expect(seen).toEqual(stored);
    expect(streams.every(({ seen }) => seen[0] === streams[0]?.seen[0])).toBe(true);
    expect(ofTests.ids()).toEqual(ids);
    await pass(500);
    expect(streams[0]?.ids()).toEqual(ids);
  });

  test("of a client that reconnects begin with all missed messages, each once and in order", async () => {
    const present = follow();
    await pass(1);
    const missed = Array.from({ length: 1200 }, () => receive(clock.now() - 20_000));
    const recent = receive();
    const release = Promise.withResolvers<void>();
    held = release.promise;
    const back = follow(missed[99] ?? null);
    await pass(10);
    held = null;
    const next = receive();
    await pass(500);
    release.resolve();
    await pass(500);
    expect(back.ids()).toEqual([...missed.slice(100), recent, next]);
    expect(present.ids()).toEqual([recent, next]);
  });

  test("contain a message that is committed later than the next ones", async () => {
    const { ids } = follow();
    await pass(1000);
    const second = receive();
    await pass(500);
    const first = receive(clock.now() - 900);
    await pass(500);
    expect(ids()).toEqual([second, first]);
  });

  test("poll nothing after the last one has ended, and begin again with the next one", async () => {
    const streams = [follow(), follow()];
    await pass(1);
    for (const { stop } of streams) stop();
    reads = [];
    await pass(5000);
    expect(reads).toEqual([]);
    expect(arrivals.listenerCount("message")).toBe(0);
    const again = follow();
    await pass(1);
    const id = receive();
    await pass(500);
    expect(again.ids()).toEqual([id]);
    expect(streams[0]?.ids()).toEqual([]);
  });

  test("end when the store fails, so that their clients reconnect", async () => {
    const streams = [follow(), follow()];
    await pass(1);
    isUnavailable = true;
    await pass(500);
    expect(streams.map(({ state }) => state.failures)).toEqual([1, 1]);
    isUnavailable = false;
    const again = follow();
    await pass(1);
    const id = receive();
    await pass(500);
    expect(again.ids()).toEqual([id]);
  });

  test("show nothing of other accounts", async () => {
    const { ids } = follow();
    await pass(1);
    receive(clock.now(), 2);
    await pass(500);
    expect(ids()).toEqual([]);
  });
});
