import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GRAINS, type StatsGroup, type StatsRow } from "../../src/model/stats.ts";
import type { StatsBatchId } from "../../src/store/stats.ts";
import type { MessageRef } from "../../src/model/message.ts";
import { UNOWNED, type Store } from "../../src/store/store.ts";
import type { TransitionResult } from "../../src/store/transition.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "../support/engines.ts";
import { transitionAll, type TransitionFields } from "../support/transitions.ts";
import { deleteExpired } from "../support/sweeps.ts";

const DAY_MS = GRAINS.day;
const MIDNIGHT = NOON - (NOON % DAY_MS);
const TODAY = { from: MIDNIGHT, to: MIDNIGHT + DAY_MS };

const figure = (more: Partial<StatsRow> = {}): StatsRow => ({
  accountId: 1,
  at: NOON,
  channel: "sms",
  routeClass: "TRANS",
  what: "accepted",
  code: "",
  count: 1,
  ...more,
});

let sequence = 0;

/** A batch of its own, as the next second of a process has one. */
const writing = (): StatsBatchId => ({ writer: "tests", sequence: (sequence += 1), at: NOON });

/** Statistics tests that every engine passes. */
export function figureStoreSuite(engine: EngineName): void {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  describe("statistics", () => {
    it("statistics add up in spans of every length, separately per account", async () => {
      const later = NOON + GRAINS["10m"];
      await store.addStats([figure({ count: 2 }), figure({ at: later }), figure({ what: "delivered" })], writing());
      await store.addStats([figure({ count: 3 }), figure({ accountId: 2, count: 50 })], writing());
      for (const grain of ["10m", "hour", "day"] as const)
        expect(await store.sumStats(1, { ...TODAY, grain })).toEqual(
          expect.arrayContaining([
            { what: "accepted", channel: "sms", code: "", count: 6 },
            { what: "delivered", channel: "sms", code: "", count: 1 },
          ]),
        );
      expect(await store.listStats(1, { ...TODAY, grain: "10m" }, ["accepted"])).toEqual([
        { at: NOON, what: "accepted", channel: "sms", count: 5 },
        { at: later, what: "accepted", channel: "sms", count: 1 },
      ]);
      expect(await store.listStats(1, { ...TODAY, grain: "hour" }, ["accepted"])).toEqual([
        { at: NOON, what: "accepted", channel: "sms", count: 6 },
      ]);
      expect(await store.listStats(1, { ...TODAY, grain: "day" }, ["read"])).toEqual([]);
    });

    it("statistics are kept per reason, and summed if no reason is requested", async () => {
      await store.addStats(
        [
          figure({ what: "rejected", code: "A" }),
          figure({ what: "rejected", code: "B", routeClass: "OTP" }),
          figure({ what: "rejected", code: "B", routeClass: "PROMO" }),
        ],
        writing(),
      );
      const span = { ...TODAY, grain: "day" } as const;
      const sums = await store.sumStats(1, span);
      expect(Object.fromEntries(sums.map(({ code, count }) => [code, count]))).toEqual({ A: 1, B: 2 });
      expect(await store.listStats(1, span, ["rejected"])).toMatchObject([{ count: 3 }]);
    });

    it("no count is lost when many write at the same time, in any order", async () => {
      const batch = Array.from({ length: 40 }, (_, index) => figure({ code: String(index), what: "rejected" }));
      await Promise.all(
        Array.from({ length: 12 }, (_, turn) =>
          store.addStats(turn % 2 === 0 ? batch : batch.toReversed(), {
            writer: `node ${turn}`,
            sequence: 1,
            at: NOON,
          }),
        ),
      );
      const sums = await store.sumStats(1, { ...TODAY, grain: "hour" });
      expect(sums.map(({ count }) => count)).toEqual(batch.map(() => 12));
    });

    it("repeated counts, one after the other or at once, are counted once", async () => {
      const counted = async () => (await store.sumStats(1, { ...TODAY, grain: "day" })).map(({ count }) => count);
      const write = (writer: string, place: number) =>
        store.addStats([figure()], { writer, sequence: place, at: NOON });
      await write("one", 1);
      await write("one", 1);
      expect(await counted()).toEqual([1]);
      await write("one", 2);
      await write("two", 1);
      expect(await counted()).toEqual([3]);
      await Promise.all(Array.from({ length: 8 }, () => write("one", 3)));
      await write("one", 2);
      expect(await counted()).toEqual([4]);
    });

    it("counters of processes that ended long ago are deleted", async () => {
      await store.addStats([figure()], { writer: "old", sequence: 1, at: NOON });
      await store.addStats([figure()], { writer: "new", sequence: 1, at: NOON + 30 * DAY_MS });
      expect(await opened.execute("select writer from figure_writers")).toEqual([{ writer: "new" }]);
    });

    it("statistics are deleted oldest first, a bounded number at once", async () => {
      const old = Array.from({ length: 5 }, (_, index) => figure({ at: NOON - (index + 3) * DAY_MS }));
      await store.addStats([...old, figure(), figure({ accountId: 2, at: NOON - 9 * DAY_MS })], writing());
      expect(await deleteExpired(store, "stats", { accountId: 1, before: MIDNIGHT }, 4)).toEqual([4, 4, 4, 4, 4, 0]);
      for (const grain of ["10m", "hour", "day"] as const) {
        const span = { from: 0, to: TODAY.to, grain };
        expect(await store.listStats(1, span, ["accepted"])).toMatchObject([{ count: 1 }]);
        expect(await store.listStats(2, span, ["accepted"])).toHaveLength(1);
      }
    });
  });

  describe("statistics by carrier and by country", () => {
    const north: StatsGroup = { dimension: "carrier", name: "north" };
    const india: StatsGroup = { dimension: "country", name: "IN" };
    const inGroup = (group: StatsGroup, more: Partial<StatsRow> = {}): StatsRow =>
      figure({ group, routeClass: "", ...more });

    it("groups add up in spans of every length, apart from the counts of all and from other dimensions", async () => {
      const later = NOON + GRAINS["10m"];
      const rows = [
        figure({ what: "submitted", count: 9 }),
        inGroup(north, { what: "submitted", count: 2 }),
        inGroup(north, { what: "submitted", at: later }),
        inGroup(north, { what: "undelivered", code: "001" }),
        inGroup({ ...north, name: "south" }, { what: "submitted", channel: "rcs" }),
        inGroup(india, { what: "submitted", count: 7 }),
      ];
      await store.addStats(rows, writing());
      await store.addStats([inGroup(north, { what: "submitted", accountId: 2, count: 50 })], writing());
      for (const grain of ["minute", "10m", "hour", "day"] as const) {
        const span = { ...TODAY, grain };
        const sums = await store.sumGroups(1, span, { dimension: "carrier" });
        expect(sums).toHaveLength(3);
        expect(sums).toEqual(
          expect.arrayContaining([
            { name: "north", what: "submitted", code: "", count: 3 },
            { name: "north", what: "undelivered", code: "001", count: 1 },
            { name: "south", what: "submitted", code: "", count: 1 },
          ]),
        );
        const submitted = (await store.sumStats(1, span)).filter(({ what }) => what === "submitted");
        expect(submitted).toMatchObject([{ count: 9 }]);
      }
      const span = { ...TODAY, grain: "10m" } as const;
      expect(await store.sumGroups(1, span, { dimension: "country" })).toMatchObject([{ name: "IN", count: 7 }]);
      expect(await store.sumGroups(1, span, { dimension: "carrier", channel: "rcs" })).toMatchObject([
        { name: "south", count: 1 },
      ]);
      const chosen = { dimension: "carrier", names: ["north"], what: ["submitted"] } as const;
      expect(await store.listGroups(1, span, chosen)).toEqual([
        { at: NOON, name: "north", what: "submitted", count: 2 },
        { at: later, name: "north", what: "submitted", count: 1 },
      ]);
    });

    it("a repeated batch counts a group once", async () => {
      const again = writing();
      await store.addStats([inGroup(north)], again);
      await store.addStats([inGroup(north)], again);
      const sums = await store.sumGroups(1, { ...TODAY, grain: "day" }, { dimension: "carrier" });
      expect(sums).toMatchObject([{ count: 1 }]);
    });

    it("no count of a group is lost when many write at the same time, in any order", async () => {
      const batch = Array.from({ length: 20 }, (_, index) => inGroup({ ...north, name: `line-${index}` }));
      await Promise.all(
        Array.from({ length: 10 }, (_, turn) =>
          store.addStats(turn % 2 === 0 ? batch : batch.toReversed(), {
            writer: `node ${turn}`,
            sequence: 1,
            at: NOON,
          }),
        ),
      );
      const sums = await store.sumGroups(1, { ...TODAY, grain: "hour" }, { dimension: "carrier" });
      expect(sums.map(({ count }) => count)).toEqual(batch.map(() => 10));
    });

    it("the latest text of a code replaces the one before, separately per carrier and account", async () => {
      const text = { accountId: 1, carrier: "north", code: "001", text: "absent" };
      await store.addStats([figure()], writing(), [text, { ...text, carrier: "south", text: "unknown" }]);
      await store.addStats([figure()], writing(), [
        { ...text, text: "switched off" },
        { ...text, accountId: 2 },
      ]);
      expect(await store.listCodeTexts(1)).toEqual([
        { carrier: "north", code: "001", text: "switched off" },
        { carrier: "south", code: "001", text: "unknown" },
      ]);
    });

    it("of two texts of a code in one batch, as over midnight, the latter is kept and the counts are written", async () => {
      const text = { accountId: 1, carrier: "north", code: "001", text: "absent" };
      await store.addStats([figure()], writing(), [text, { ...text, text: "switched off" }]);
      expect(await store.listCodeTexts(1)).toEqual([{ carrier: "north", code: "001", text: "switched off" }]);
      expect(await store.sumStats(1, { ...TODAY, grain: "day" })).toMatchObject([{ what: "accepted", count: 1 }]);
    });

    it("counts of a campaign add up by carrier and code and by step, apart from those of test keys and of all messages", async () => {
      const sale = { name: "sale", test: false, carrier: "north" };
      const inCampaign = (more: Partial<StatsRow> = {}): StatsRow =>
        figure({ channel: "", routeClass: "", what: "delivered", campaign: sale, ...more });
      await store.addStats(
        [
          inCampaign({ count: 2 }),
          inCampaign({ count: 3, what: "undelivered", code: "001" }),
          inCampaign({ at: NOON + GRAINS.hour, campaign: { ...sale, carrier: "south" } }),
          inCampaign({ count: 7, campaign: { ...sale, test: true } }),
          inCampaign({ count: 9, campaign: { ...sale, name: "sale 2" } }),
        ],
        writing(),
      );
      await store.addStats([inCampaign()], writing());
      const totals = await store.sumCampaign(1, sale, NOON);
      expect(totals.toSorted((a, b) => a.count - b.count)).toEqual([
        { what: "delivered", carrier: "south", code: "", count: 1 },
        { what: "delivered", carrier: "north", code: "", count: 3 },
        { what: "undelivered", carrier: "north", code: "001", count: 3 },
      ]);
      expect(await store.sumCampaign(1, { name: "sale", test: true }, NOON)).toMatchObject([{ count: 7 }]);
      const steps = (grain: "minute" | "hour") =>
        store.listCampaignSteps(1, sale, { ...TODAY, grain }, ["delivered", "undelivered"]);
      for (const grain of ["minute", "hour"] as const)
        expect(await steps(grain)).toEqual([
          { at: NOON, what: "delivered", count: 3 },
          { at: NOON, what: "undelivered", count: 3 },
          { at: NOON + GRAINS.hour, what: "delivered", count: 1 },
        ]);
      expect(await store.sumStats(1, { ...TODAY, grain: "day" })).toEqual([]);
      const before = NOON + DAY_MS;
      await deleteExpired(store, "campaignStatsMinutes", { accountId: 1, before }, 10);
      expect([await steps("minute"), (await steps("hour")).length]).toEqual([[], 3]);
      await deleteExpired(store, "campaignStats", { accountId: 1, before }, 100);
      expect([await steps("hour"), await store.sumCampaign(1, sale, NOON)]).toEqual([[], []]);
    });

    it("counts of minutes are deleted apart from those of longer steps", async () => {
      await store.addStats([figure(), inGroup(north)], writing());
      const before = NOON + 1;
      await deleteExpired(store, "statsMinutes", { accountId: 1, before }, 10);
      await deleteExpired(store, "groupStatsMinutes", { accountId: 1, before }, 10);
      for (const [grain, kept] of [
        ["minute", 0],
        ["10m", 1],
        ["day", 1],
      ] as const) {
        const span = { ...TODAY, grain };
        expect(await store.sumStats(1, span)).toHaveLength(kept);
        expect(await store.sumGroups(1, span, { dimension: "carrier" })).toHaveLength(kept);
      }
      await deleteExpired(store, "groupStats", { accountId: 1, before }, 10);
      expect(await store.sumGroups(1, { ...TODAY, grain: "10m" }, { dimension: "carrier" })).toEqual([]);
    });

    it("texts of codes are deleted when their carrier has not used them for as long as messages are kept", async () => {
      const text = { accountId: 1, carrier: "north", code: "001", text: "absent" };
      await store.addStats([figure()], { ...writing(), at: NOON - DAY_MS }, [text]);
      await store.addStats([figure()], writing(), [{ ...text, code: "002" }]);
      await deleteExpired(store, "codeTexts", { accountId: 1, before: MIDNIGHT }, 10);
      expect(await store.listCodeTexts(1)).toMatchObject([{ code: "002" }]);
    });
  });

  describe("a successful transition", () => {
    async function move(ref: MessageRef, to: TransitionFields["to"], at = NOON + 5): Promise<TransitionResult> {
      const [result] = await transitionAll(store, [{ ...ref, to, at, owner: UNOWNED }]);
      if (!result || result instanceof Error) throw result ?? new Error("no result");
      return result;
    }

    it("a transition returns the message, and its submit once, even within one millisecond", async () => {
      const item = acceptance({ routeClass: "OTP", metered: false });
      await store.accept([item]);
      const { accountId, requestId } = item.message;
      const ref = { accountId, requestId, n: 1 };
      const known = { channel: "sms", routeClass: "OTP", recipient: "33612345678" };
      expect((await move(ref, "submitting")).message).toEqual({ ...known, taken: false });
      expect((await move(ref, "submitted")).message).toEqual({ ...known, taken: true });
      // The first route brought nothing: the second takes it again.
      expect((await move(ref, "accepted")).message).toEqual({ ...known, taken: false });
      expect((await move(ref, "submitting")).message).toEqual({ ...known, taken: false });
      expect((await move(ref, "submitted")).message).toEqual({ ...known, taken: false });
      expect((await move(ref, "delivered")).message).toEqual({ ...known, taken: false });
      expect((await move(ref, "delivered")).message).toBeNull();
    });

    it("a transition returns the submit when the receipt comes before the submit response", async () => {
      const item = acceptance();
      await store.accept([item]);
      const ref = { accountId: 1, requestId: item.message.requestId, n: 1 };
      await move(ref, "submitting");
      expect((await move(ref, "delivered")).message).toMatchObject({ taken: true });
    });
  });

  it("living nodes are listed with their roles", async () => {
    const first = await store.join({ alone: false, roles: ["api", "dispatch"] });
    const second = await store.join({ alone: false });
    expect(await store.listNodes()).toMatchObject([
      { id: first, roles: ["api", "dispatch"] },
      { id: second, roles: [] },
    ]);
    await store.leave(first);
    expect((await store.listNodes()).map(({ id }) => id)).toEqual([second]);
    expect(await store.databaseBytes()).toBeGreaterThan(1000);
    expect(await store.countWaitingCallbacks()).toBe(0);
  });
}
