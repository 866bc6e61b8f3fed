import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GRAINS, type Figure } from "../src/model/figure.ts";
import type { FigureWriting } from "../src/store/figure-store.ts";
import type { MessageRef } from "../src/model/message.ts";
import { NOBODY, type Move, type MoveResult, type Store } from "../src/store/store.ts";
import { acceptance, NOON } from "./support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "./support/engines.ts";

const DAY_MS = GRAINS.day;
const MIDNIGHT = NOON - (NOON % DAY_MS);
const TODAY = { from: MIDNIGHT, to: MIDNIGHT + DAY_MS };

const figure = (more: Partial<Figure> = {}): Figure => ({
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
const writing = (): FigureWriting => ({ writer: "tests", sequence: (sequence += 1), at: NOON });

/** What every engine behind the port promises about figures. */
export function figureStoreSuite(engine: EngineName): void {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  describe("figures", () => {
    it("add up, in stretches of every length, each account's for itself", async () => {
      const later = NOON + GRAINS["10m"];
      await store.addFigures([figure({ count: 2 }), figure({ at: later }), figure({ what: "delivered" })], writing());
      await store.addFigures([figure({ count: 3 }), figure({ accountId: 2, count: 50 })], writing());
      for (const grain of ["10m", "hour", "day"] as const)
        expect(await store.sumFigures(1, { ...TODAY, grain })).toEqual(
          expect.arrayContaining([
            { what: "accepted", channel: "sms", code: "", count: 6 },
            { what: "delivered", channel: "sms", code: "", count: 1 },
          ]),
        );
      expect(await store.listFigures(1, { ...TODAY, grain: "10m" }, ["accepted"])).toEqual([
        { at: NOON, what: "accepted", channel: "sms", count: 5 },
        { at: later, what: "accepted", channel: "sms", count: 1 },
      ]);
      expect(await store.listFigures(1, { ...TODAY, grain: "hour" }, ["accepted"])).toEqual([
        { at: NOON, what: "accepted", channel: "sms", count: 6 },
      ]);
      expect(await store.listFigures(1, { ...TODAY, grain: "day" }, ["read"])).toEqual([]);
    });

    it("tell reasons apart, and are together where nobody asks for them", async () => {
      await store.addFigures(
        [
          figure({ what: "rejected", code: "A" }),
          figure({ what: "rejected", code: "B", routeClass: "OTP" }),
          figure({ what: "rejected", code: "B", routeClass: "PROMO" }),
        ],
        writing(),
      );
      const span = { ...TODAY, grain: "day" } as const;
      const sums = await store.sumFigures(1, span);
      expect(Object.fromEntries(sums.map(({ code, count }) => [code, count]))).toEqual({ A: 1, B: 2 });
      expect(await store.listFigures(1, span, ["rejected"])).toMatchObject([{ count: 3 }]);
    });

    it("are lost by nobody when many write at the same time, in whatever order", async () => {
      const batch = Array.from({ length: 40 }, (_, index) => figure({ code: String(index), what: "rejected" }));
      await Promise.all(
        Array.from({ length: 12 }, (_, turn) =>
          store.addFigures(turn % 2 === 0 ? batch : batch.toReversed(), {
            writer: `node ${turn}`,
            sequence: 1,
            at: NOON,
          }),
        ),
      );
      const sums = await store.sumFigures(1, { ...TODAY, grain: "hour" });
      expect(sums.map(({ count }) => count)).toEqual(batch.map(() => 12));
    });

    it("that come again, one after the other or at the same moment, are counted once", async () => {
      const counted = async () => (await store.sumFigures(1, { ...TODAY, grain: "day" })).map(({ count }) => count);
      const write = (writer: string, place: number) =>
        store.addFigures([figure()], { writer, sequence: place, at: NOON });
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

    it("leave nothing behind of processes that ended long ago", async () => {
      await store.addFigures([figure()], { writer: "old", sequence: 1, at: NOON });
      await store.addFigures([figure()], { writer: "new", sequence: 1, at: NOON + 30 * DAY_MS });
      expect(await opened.execute("select writer from figure_writers")).toEqual([{ writer: "new" }]);
    });

    it("are forgotten from the oldest on, a bounded number at once", async () => {
      const old = Array.from({ length: 5 }, (_, index) => figure({ at: NOON - (index + 3) * DAY_MS }));
      await store.addFigures([...old, figure(), figure({ accountId: 2, at: NOON - 9 * DAY_MS })], writing());
      expect(await store.forgetFigures(1, MIDNIGHT, 4)).toBe(4);
      while ((await store.forgetFigures(1, MIDNIGHT, 4)) === 4);
      for (const grain of ["10m", "hour", "day"] as const) {
        const span = { from: 0, to: TODAY.to, grain };
        expect(await store.listFigures(1, span, ["accepted"])).toMatchObject([{ count: 1 }]);
        expect(await store.listFigures(2, span, ["accepted"])).toHaveLength(1);
      }
    });
  });

  describe("a move that takes place", () => {
    async function move(ref: MessageRef, to: Move["to"], at = NOON + 5): Promise<MoveResult> {
      const [result] = await store.move([{ ...ref, to, at, owner: NOBODY }]);
      if (!result || result instanceof Error) throw result ?? new Error("no result");
      return result;
    }

    it("tells what its message is, and once only that a carrier has it, even within one millisecond", async () => {
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

    it("tells that a carrier has it when the receipt comes before the answer", async () => {
      const item = acceptance();
      await store.accept([item]);
      const ref = { accountId: 1, requestId: item.message.requestId, n: 1 };
      await move(ref, "submitting");
      expect((await move(ref, "delivered")).message).toMatchObject({ taken: true });
    });
  });

  it("lists the nodes that live, with what they do", async () => {
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
