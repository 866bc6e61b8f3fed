import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { MessageRef } from "../../src/model/message.ts";
import type { Receipt, ReceiptState } from "../../src/model/receipt.ts";
import { UNOWNED, type Part, type Store } from "../../src/store/store.ts";
import type { TransitionResult } from "../../src/store/transition.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "../support/engines.ts";
import { transitionAll, type TransitionFields } from "../support/transitions.ts";
import { deleteExpired } from "../support/sweeps.ts";

const NORTH = "1/north";

/** Carrier id tests that every engine passes: ids of parts, ids in other formats, unknown ids. */
export function receiptStoreSuite(engine: EngineName): void {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  const receipt = (carrierMessageId: string, more: Partial<Receipt> = {}): Receipt => ({
    carrier: NORTH,
    carrierMessageId,
    state: "delivered",
    errorCode: null,
    description: null,
    at: NOON,
    ...more,
  });

  async function stored(to = "33612345678", accountId = 1): Promise<MessageRef> {
    const item = acceptance({ to: [to], accountId });
    await store.accept([item]);
    return { accountId, requestId: item.message.requestId, n: 1 };
  }

  async function moveOne(
    ref: MessageRef,
    step: Partial<TransitionFields> & Pick<TransitionFields, "to">,
  ): Promise<TransitionResult> {
    const [result] = await transitionAll(store, [{ ...ref, at: NOON, owner: UNOWNED, ...step }]);
    if (!result || result instanceof Error) throw result ?? new Error("no result");
    return result;
  }

  async function taken(ids: readonly string[], to?: string, carrier = NORTH): Promise<MessageRef> {
    const ref = await stored(to);
    await moveOne(ref, { to: "submitting" });
    const parts = ids.length > 1 ? { partIds: ids } : {};
    await moveOne(ref, { to: "submitted", carrier, carrierMessageId: ids[0] ?? "", ...parts });
    return ref;
  }

  const statesOf = async (id: string): Promise<Part["state"][]> =>
    ((await store.listParts([receipt(id)]))[0] ?? []).map(({ state }) => state);
  const say = (id: string, state: ReceiptState, errorCode: string | null = null) =>
    receipt(id, { state, errorCode, description: `It is ${state}` });

  describe("a message of several parts", () => {
    it("a message of several parts is found by the id of each part, with their number", async () => {
      const ref = await taken(["A1", "A2", "A3"]);
      const alone = await taken(["B1"]);
      expect(await store.findSubmissions(["A1", "A3", "B1", "C1"].map((id) => receipt(id)))).toEqual([
        { ...ref, parts: 3 },
        { ...ref, parts: 3 },
        alone,
        null,
      ]);
      expect(await store.storeUnmatched([receipt("A2")], NOON)).toEqual([{ ...ref, parts: 3 }]);
    });

    it("a message of several parts gets earlier receipts of any part, in order", async () => {
      const ref = await stored();
      const other = await stored("33600000001");
      await store.storeUnmatched([receipt("A3"), receipt("B1"), receipt("A1"), receipt("X")], NOON);
      for (const each of [ref, other]) await moveOne(each, { to: "submitting" });
      const results = await transitionAll(store, [
        {
          ...ref,
          at: NOON,
          owner: UNOWNED,
          to: "submitted",
          carrier: NORTH,
          carrierMessageId: "A1",
          partIds: ["A1", "A2", "A3"],
        },
        { ...other, at: NOON, owner: UNOWNED, to: "submitted", carrier: NORTH, carrierMessageId: "B1" },
      ]);
      const ids = results.map((result) =>
        result instanceof Error ? result : result.unmatched.map((parked) => parked.receipt.carrierMessageId),
      );
      expect(ids).toEqual([["A3", "A1"], ["B1"]]);
      const matched = await store.listMatchable(10);
      expect(matched.map((each) => [each.receipt.carrierMessageId, each.ref])).toEqual([
        ["A3", { ...ref, parts: 3 }],
        ["B1", other],
        ["A1", { ...ref, parts: 3 }],
      ]);
    });

    it("the state of each part is kept, separately for each submit", async () => {
      const ref = await taken(["A1", "A2"]);
      await moveOne(ref, { to: "submitted", carrier: NORTH, carrierMessageId: "B1", partIds: ["B1", "B2"] });
      await store.reportParts([say("A2", "undelivered", "017"), say("B1", "delivered")]);
      expect(await store.listParts([receipt("A1"), receipt("B2"), receipt("nothing")])).toEqual([
        [
          { index: 1, total: 2, carrierMessageId: "A1", state: null, errorCode: null, description: null },
          {
            index: 2,
            total: 2,
            carrierMessageId: "A2",
            state: "undelivered",
            errorCode: "017",
            description: "It is undelivered",
          },
        ],
        [
          {
            index: 1,
            total: 2,
            carrierMessageId: "B1",
            state: "delivered",
            errorCode: null,
            description: "It is delivered",
          },
          { index: 2, total: 2, carrierMessageId: "B2", state: null, errorCode: null, description: null },
        ],
        [],
      ]);
    });

    it("no part moves backwards, whether receipts come one by one or together", async () => {
      await taken(["A1", "A2"]);
      await store.reportParts([
        say("A1", "enroute"),
        say("A1", "delivered"),
        say("A1", "enroute"),
        say("A2", "expired"),
      ]);
      expect(await statesOf("A1")).toEqual(["delivered", "expired"]);
      await store.reportParts([say("A1", "undelivered")]);
      await store.reportParts([say("A2", "undelivered"), say("A2", "delivered")]);
      expect(await statesOf("A1")).toEqual(["delivered", "delivered"]);
    });

    it("the states of parts are kept when the submit is stored again", async () => {
      const ref = await taken(["A1", "A2"]);
      await store.reportParts([say("A1", "delivered")]);
      await moveOne(ref, { to: "submitted", carrier: NORTH, carrierMessageId: "A1", partIds: ["A1", "A2"] });
      expect(await statesOf("A1")).toEqual(["delivered", null]);
    });

    it("parts start again under ids of another message", async () => {
      await taken(["A1", "A2"], "33600000001");
      await store.reportParts([say("A1", "undelivered")]);
      const ref = await taken(["A1", "A2"], "33600000002");
      expect(await store.findSubmissions([receipt("A2")])).toEqual([{ ...ref, parts: 2 }]);
      expect(await statesOf("A1")).toEqual([null, null]);
      const alone = await taken(["A1"], "33600000003");
      expect(await store.findSubmissions([receipt("A1")])).toEqual([alone]);
    });

    it("a deleted message loses all its parts", async () => {
      await taken(["A1", "A2"]);
      await opened.execute("update messages set state = 'delivered', done_at = 1");
      await deleteExpired(store, "messages", { accountId: 1, before: NOON + 1 });
      expect(await store.findSubmissions([receipt("A1"), receipt("A2")])).toEqual([null, null]);
    });
  });

  describe("a receipt that names its phone", () => {
    const about = (recipient: string): Receipt => receipt("65536", { recipient });

    it("a receipt that names its phone matches the message to it, in any number format", async () => {
      const ref = await taken(["65536"], "33612345678");
      const written = ["33612345678", "+33612345678", "0612345678", "2345678", "5678", "", "33612****", "BANK"];
      expect(await store.findSubmissions(written.map(about))).toEqual(written.map(() => ref));
      expect(await store.findSubmissions([about("33612345679"), about("0712345670")])).toEqual([null, null]);
    });

    it("a receipt for another phone than its id's message is stored as unmatched", async () => {
      const ref = await taken(["65536"], "33612345678");
      expect(await store.storeUnmatched([about("33600000009"), about("0612345678")], NOON)).toEqual([null, ref]);
      expect(await store.listMatchable(10)).toEqual([]);
      expect((await store.listUnmatched({ accountId: 1 }, null, 10)).rows).toHaveLength(1);
    });

    it("an unmatched receipt is returned with the submit of the message to its phone only", async () => {
      await store.storeUnmatched([about("33600000009"), receipt("A2", { recipient: "33600000009" })], NOON);
      const submit = async (to: string, step: Partial<TransitionFields>): Promise<number> => {
        const ref = await stored(to);
        await moveOne(ref, { to: "submitting" });
        return (await moveOne(ref, { to: "submitted", carrier: NORTH, ...step })).unmatched.length;
      };
      const whole = { carrierMessageId: "65536" };
      const parts = { carrierMessageId: "A1", partIds: ["A1", "A2"] };
      expect([await submit("33612345678", whole), await submit("33612345678", parts)]).toEqual([0, 0]);
      expect([await submit("33600000009", whole), await submit("33600000009", parts)]).toEqual([1, 1]);
      expect(await store.listMatchable(10)).toHaveLength(2);
    });

    it("an unmatched receipt is returned with a transition into doubt, and matches from then on", async () => {
      await store.storeUnmatched([receipt("K1")], NOON);
      const ref = await stored();
      await moveOne(ref, { to: "submitting", carrier: NORTH });
      const { moved, unmatched: parked } = await moveOne(ref, {
        to: "submitting",
        carrier: NORTH,
        carrierMessageId: "K1",
      });
      expect([moved, parked.length]).toEqual([true, 1]);
      expect(await store.findSubmissions([receipt("K1")])).toEqual([ref]);
      // The answer comes after all, under the same id.
      await moveOne(ref, { to: "submitted", carrier: NORTH, carrierMessageId: "K1" });
      expect(await store.findSubmissions([receipt("K1")])).toEqual([ref]);
    });
  });

  describe("learned id formats", () => {
    it("a learned id format is kept per carrier, the latest one", async () => {
      const [north, south] = [newId(NOON), newId(NOON)];
      expect(await store.listIdForms()).toEqual([]);
      await store.saveIdForm({ accountId: 1, carrierId: north, form: "in lower case" }, NOON);
      await store.saveIdForm({ accountId: 1, carrierId: south, form: "from hex to decimal" }, NOON);
      await store.saveIdForm({ accountId: 1, carrierId: north, form: "in upper case" }, NOON + 1);
      const learned = await store.listIdForms();
      expect(learned.toSorted((a, b) => (a.form < b.form ? -1 : 1))).toEqual([
        { accountId: 1, carrierId: south, form: "from hex to decimal" },
        { accountId: 1, carrierId: north, form: "in upper case" },
      ]);
    });
  });

  describe("ids in another format", () => {
    it("an id in another format matches the message to the receipt's number, by the likeliest format", async () => {
      const ref = await taken(["ff"], "33612345678");
      const long = await taken(["255", "256"], "33612345678");
      const asked = (otherIds: string[], recipient?: string) =>
        receipt("0255", { otherIds, ...(recipient ? { recipient } : {}) });
      expect(
        await store.findRespelled([
          asked(["ff", "255"], "33612345678"),
          asked(["255", "ff"], "+33612345678"),
          asked(["fe", "FF", "ff"], "0612345678"),
          asked(["ff"], "33612345679"),
          asked(["ff"], "5678"),
          asked(["ff"]),
          asked([], "33612345678"),
          { ...asked(["ff"], "33612345678"), carrier: "2/north" },
        ]),
      ).toEqual([
        { submission: ref, knownAs: "ff" },
        { submission: { ...long, parts: 2 }, knownAs: "255" },
        { submission: ref, knownAs: "ff" },
        null,
        null,
        null,
        null,
        null,
      ]);
    });
  });

  describe("unmatched receipts", () => {
    const unmatched = async (filter: Parameters<Store["listUnmatched"]>[0]): Promise<string[]> =>
      (await store.listUnmatched(filter, null, 100)).rows.map((row) => row.receipt.carrierMessageId);

    it("an unmatched receipt keeps all its fields", async () => {
      const early = receipt("A1", {
        spelt: "0161",
        otherIds: ["a1", "161"],
        recipient: "33612345678",
        channel: "sms",
        errorCode: "7",
        operator: "Airtel",
        circle: "Punjab",
      });
      await store.storeUnmatched([early], NOON + 5);
      const { rows, next } = await store.listUnmatched({ accountId: 1 }, null, 10);
      expect(rows).toEqual([{ id: expect.any(Number), receipt: early, parkedAt: NOON + 5 }]);
      expect(next).toBeNull();
      expect(await store.findUnmatched(1, rows[0]?.id ?? 0)).toEqual(rows[0]);
    });

    it("unmatched receipts of two phones under one id are separate, and a repeated one is stored once", async () => {
      const [one, other] = ["33612345678", "33600000009"].map((recipient) => receipt("65536", { recipient }));
      const nobodys = receipt("65536");
      for (const each of [one, other, nobodys, one, other, nobodys]) if (each) await store.storeUnmatched([each], NOON);
      const { rows } = await store.listUnmatched({ accountId: 1 }, null, 10);
      expect(rows.map((row) => row.receipt)).toEqual([nobodys, other, one]);
    });

    it("an unmatched receipt passes the phone's network to its submit", async () => {
      const network = { operator: "Airtel", circle: "Punjab" };
      await store.storeUnmatched([receipt("A1", network), receipt("B1", { operator: "Jio" })], NOON);
      const parked: Partial<Receipt>[] = [];
      for (const ids of [["A1"], ["B1", "B2"]]) {
        const ref = await stored();
        await moveOne(ref, { to: "submitting" });
        const parts = ids.length > 1 ? { partIds: ids } : {};
        const step = { to: "submitted", carrier: NORTH, carrierMessageId: ids[0] ?? "", ...parts } as const;
        parked.push(...(await moveOne(ref, step)).unmatched.map((each) => each.receipt));
      }
      expect(parked).toMatchObject([network, { operator: "Jio" }]);
      expect(await store.listMatchable(10)).toMatchObject(parked.map((each) => ({ receipt: each })));
    });

    it("unmatched receipts are listed newest first in pages, by carrier, format and time", async () => {
      await store.storeUnmatched([receipt("A1"), receipt("A2", { carrier: "1/south" })], NOON);
      await store.storeUnmatched([receipt("A3", { otherIds: ["a3"] })], NOON + 1);
      expect(await unmatched({ accountId: 1 })).toEqual(["A3", "A2", "A1"]);
      expect(await unmatched({ accountId: 1, carrier: "1/south" })).toEqual(["A2"]);
      expect(await unmatched({ respelled: true })).toEqual(["A3"]);
      expect(await unmatched({ since: NOON + 1 })).toEqual(["A3"]);
      const first = await store.listUnmatched({ accountId: 1 }, null, 2);
      const second = await store.listUnmatched({ accountId: 1 }, first.next, 2);
      expect([...first.rows, ...second.rows].map((row) => row.receipt.carrierMessageId)).toEqual(["A3", "A2", "A1"]);
      expect(second.next).toBeNull();
    });

    it("unmatched receipts of an account are not visible to another, even with the same number prefix", async () => {
      await store.storeUnmatched([receipt("A1", { carrier: "1/north" }), receipt("B1", { carrier: "12/north" })], NOON);
      await store.storeUnmatched([receipt("S", { carrier: "simulator" })], NOON);
      expect(await unmatched({ accountId: 1 })).toEqual(["A1"]);
      expect(await unmatched({ accountId: 12 })).toEqual(["B1"]);
      const [own] = (await store.listUnmatched({ accountId: 1 }, null, 1)).rows;
      const id = own?.id ?? 0;
      expect(await store.findUnmatched(12, id)).toBeNull();
      expect(await store.removeUnmatched(12, id)).toBe(false);
      expect(await store.removeUnmatched(1, id)).toBe(true);
      expect(await store.removeUnmatched(1, id)).toBe(false);
      expect(await unmatched({ accountId: 1 })).toEqual([]);
    });
  });
}
