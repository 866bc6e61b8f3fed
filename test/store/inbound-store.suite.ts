import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { InboundContent, InboundMessage } from "../../src/model/inbound.ts";
import type { InboundFilter } from "../../src/store/inbound.ts";
import type { Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "../support/engines.ts";
import { deleteExpired } from "../support/sweeps.ts";

const HOUR_MS = 3_600_000;
/** As many as one call of a listing looks at. */
const LOOKED_AT = 20_000;

/** Inbound message tests that every engine passes. */
export function inboundStoreSuite(engine: EngineName): void {
  let opened: OpenStore;
  let store: Store;

  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  async function stored(changes: Partial<InboundMessage> = {}): Promise<InboundMessage> {
    const message = inbound(changes);
    await store.storeInbound([message]);
    return message;
  }

  const all = async (accountId = 1): Promise<InboundMessage[]> =>
    (await store.listInbound(accountId, {}, null, 2000)).rows;

  const pages = async (filter: InboundFilter, limit: number): Promise<InboundMessage[][]> => {
    const seen: InboundMessage[][] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<Store["listInbound"]>> = await store.listInbound(1, filter, after, limit);
      seen.push(page.rows);
      after = page.next;
    } while (after);
    return seen;
  };

  describe("storeInbound", () => {
    const part = { mimeType: "image/jpeg", fileSizeBytes: 3_000_000_000, fileName: "Ü 1.jpg", fileUri: "https://f/1" };
    const contents: InboundContent[] = [
      { kind: "text", text: "Ü\"'\\,{} \u{1f600}\n[null]" },
      { kind: "text", text: "" },
      { kind: "suggestion", plainText: "Call us", data: "+33612345678", type: "DIALER" },
      { kind: "file", file: { category: "image", payload: part, thumbnail: { ...part, fileSizeBytes: 12 } } },
      { kind: "file", file: { category: "audio", payload: part, thumbnail: null } },
      { kind: "location", latitude: -33.856_784_1, longitude: 0 },
    ];

    it("storeInbound keeps every kind of content unchanged", async () => {
      const batch = contents.map((content, index) =>
        inbound({ content, at: NOON + index, answers: index % 2 ? { requestId: newId(NOON), n: index } : null }),
      );
      await store.storeInbound(batch);
      expect(await Promise.all(batch.map(({ id }) => store.findInbound(1, id)))).toEqual(batch);
      expect(await all()).toEqual(batch.toReversed());
    });

    it("storeInbound keeps the details and the origin beside the content", async () => {
      const message = await stored({
        channel: "chatapp",
        details: { kind: "text", forwarded: true, referral: { headline: "Ü\"'\\" } },
        origin: { carrier: "1/wa", carrierMessageId: "wamid.in" },
      });
      expect(await store.findInbound(1, message.id)).toEqual(message);
    });

    it("markInboundRead keeps the first time, and changes no other account's message", async () => {
      const message = await stored({ origin: { carrier: "1/wa", carrierMessageId: "wamid.in" } });
      await store.markInboundRead(2, message.id, NOON);
      expect(await store.findInbound(1, message.id)).toEqual(message);
      await store.markInboundRead(1, message.id, NOON + 1);
      await store.markInboundRead(1, message.id, NOON + 2);
      expect(await store.findInbound(1, message.id)).toEqual({ ...message, readAt: NOON + 1 });
      await store.markInboundRead(1, newId(NOON), NOON);
    });

    it("storeInbound stores a repeated message once", async () => {
      const one = inbound();
      const again: InboundMessage = { ...one, content: { kind: "text", text: "Something else." } };
      await store.storeInbound([one, again]);
      await store.storeInbound([again, inbound({ at: NOON + 1 })]);
      expect((await all()).map(({ content }) => content)).toEqual([one.content, one.content]);
    });

    it("storeInbound accepts an empty batch, and one of a thousand", async () => {
      await store.storeInbound([]);
      await store.storeInbound(Array.from({ length: 1000 }, () => inbound()));
      expect(await all()).toHaveLength(1000);
    });
  });

  describe("lastInboundAt", () => {
    const last = (changes: Partial<InboundMessage> = {}): Promise<number | null> => {
      const { accountId, channel, from, to } = inbound(changes);
      return store.lastInboundAt(accountId, channel, from, to, { test: false });
    };

    it("lastInboundAt is the time of the latest message, whatever the order of writes", async () => {
      expect(await last()).toBeNull();
      for (const at of [NOON + 1, NOON + 3, NOON + 2]) await stored({ at });
      expect(await last()).toBe(NOON + 3);
    });

    it("lastInboundAt is separate per account, channel, phone and sender", async () => {
      const others: Partial<InboundMessage>[] = [
        { accountId: 2 },
        { channel: "chatapp" },
        { from: "33600000002" },
        { to: "OTHER" },
      ];
      for (const [index, other] of others.entries()) await stored({ ...other, at: NOON + index });
      expect(await last()).toBeNull();
      expect(await Promise.all(others.map(last))).toEqual(others.map((_, index) => NOON + index));
      await stored({ at: NOON - HOUR_MS });
      expect(await last()).toBe(NOON - HOUR_MS);
      expect(await Promise.all(others.map(last))).toEqual(others.map((_, index) => NOON + index));
    });
  });

  describe("lastInboundOfEach", () => {
    it("lastInboundOfEach has the latest time of each phone that wrote to the sender since then", async () => {
      const { accountId, channel, from, to } = inbound();
      const other = "33600000002";
      const since = (at: number, test = false) =>
        store.lastInboundOfEach(accountId, channel, [from, other, "33600000003"], to, at, { test });
      for (const at of [NOON + 1, NOON + 3, NOON + 2]) await stored({ at });
      await stored({ from: other, at: NOON - HOUR_MS });
      await stored({ from: "33600000003", to: "OTHER", at: NOON });
      expect(await since(NOON)).toEqual(new Map([[from, NOON + 3]]));
      expect(await since(NOON - HOUR_MS)).toEqual(
        new Map([
          [from, NOON + 3],
          [other, NOON - HOUR_MS],
        ]),
      );
      expect(await since(NOON, true)).toEqual(new Map());
      expect(await store.lastInboundOfEach(accountId, channel, [], to, 0, { test: false })).toEqual(new Map());
    });
  });

  describe("listInbound", () => {
    it("listInbound returns every message once, newest first, in pages", async () => {
      const batch = Array.from({ length: 10 }, (_, index) => inbound({ at: NOON + Math.floor(index / 3) }));
      await store.storeInbound(batch);
      const newestFirst = batch.toSorted((a, b) => (a.id < b.id ? 1 : -1));
      for (const limit of [1, 3, 5, 10, 11]) expect((await pages({}, limit)).flat()).toEqual(newestFirst);
      expect(await pages({}, 4)).toEqual([newestFirst.slice(0, 4), newestFirst.slice(4, 8), newestFirst.slice(8)]);
    });

    it("listInbound applies all parts of a filter", async () => {
      const batch = [
        inbound({ at: NOON }),
        inbound({ at: NOON + 1, channel: "chatapp" }),
        inbound({ at: NOON + 2, from: "33600000002" }),
        inbound({ at: NOON + 3, to: "OTHER" }),
        inbound({ at: NOON + 4, channel: "chatapp", to: "OTHER" }),
        inbound({ at: NOON + 5 }),
      ];
      await store.storeInbound(batch);
      const listed = async (filter: InboundFilter) =>
        (await store.listInbound(1, filter, null, 10)).rows.map(({ at }) => at - NOON);
      const { channel, from, to } = inbound();
      expect(await listed({})).toEqual([5, 4, 3, 2, 1, 0]);
      expect(await listed({ channel: "chatapp" })).toEqual([4, 1]);
      expect(await listed({ channel: "sms" })).toEqual([]);
      expect(await listed({ from: "33600000002" })).toEqual([2]);
      expect(await listed({ to: "OTHER" })).toEqual([4, 3]);
      expect(await listed({ channel: "chatapp", to: "OTHER" })).toEqual([4]);
      expect(await listed({ channel, from, to })).toEqual([5, 0]);
      expect(await listed({ since: NOON + 4 })).toEqual([5, 4]);
      expect(await listed({ until: NOON + 1 })).toEqual([0]);
      expect(await listed({ since: NOON + 1, until: NOON + 3 })).toEqual([2, 1]);
      expect(await listed({ channel, from, to, until: NOON + 5 })).toEqual([0]);
      expect((await pages({ channel, from, to }, 1)).flat().map(({ at }) => at - NOON)).toEqual([5, 0]);
    });

    it("listInbound fills a page from as many bounded scans as it takes, and returns no empty one", async () => {
      const first = inbound({ to: "SELDOM" });
      const others = Array.from({ length: LOOKED_AT - 1 }, () => inbound({ at: NOON + 1 }));
      const latest = inbound({ at: NOON + 2, to: "SELDOM" });
      await store.storeInbound([first, ...others, latest]);
      expect(await pages({ to: "SELDOM" }, 10)).toEqual([[latest, first]]);
      expect(await pages({ to: "SELDOM" }, 1)).toEqual([[latest], [first]]);
      expect(await pages({ from: "33600000002" }, 10)).toEqual([[]]);
      // One conversation is not looked for among the others.
      expect(await pages({ channel: first.channel, from: first.from, to: "SELDOM" }, 10)).toEqual([[latest, first]]);
    });
  });

  describe("listAnswers", () => {
    const requestId = newId(NOON);
    const ref = { accountId: 1, requestId, n: 2 };

    it("listAnswers returns the replies to a message, oldest first, up to the limit", async () => {
      for (const at of [NOON + 3, NOON + 1, NOON + 2]) await stored({ at, answers: { requestId, n: 2 } });
      await stored({ answers: { requestId, n: 1 } });
      await stored({ answers: { requestId: newId(NOON), n: 2 } });
      await stored({ answers: null });
      await stored({ accountId: 2, answers: { requestId, n: 2 } });
      expect((await store.listAnswers(ref, 10)).map(({ accountId, at }) => [accountId, at - NOON])).toEqual([
        [1, 1],
        [1, 2],
        [1, 3],
      ]);
      expect((await store.listAnswers(ref, 2)).map(({ at }) => at - NOON)).toEqual([1, 2]);
      expect(await store.listAnswers({ ...ref, n: 3 }, 10)).toEqual([]);
    });
  });

  it("inbound messages of one account are not visible to another, even with the same id", async () => {
    const one = await stored();
    const other = await stored({ accountId: 2, id: one.id, content: { kind: "text", text: "Not yours." } });
    expect(await Promise.all([1, 2, 3].map((accountId) => store.findInbound(accountId, one.id)))).toEqual([
      one,
      other,
      null,
    ]);
    expect(await Promise.all([1, 2, 3].map(all))).toEqual([[one], [other], []]);
    expect(await store.findInbound(1, newId(NOON))).toBeNull();
  });

  describe("retention", () => {
    it("forgetInbound deletes messages before a time, oldest first, up to the limit, of one account", async () => {
      const ages = [NOON, NOON + 1, NOON + 2, NOON + HOUR_MS];
      for (const at of ages.toReversed()) await stored({ at });
      const other = await stored({ accountId: 2 });
      const cutoff = { accountId: 1, before: NOON + HOUR_MS };
      expect(await store.deleteExpired("inbound", cutoff, [], 2)).toMatchObject({ rows: 2 });
      expect((await all()).map(({ at }) => at)).toEqual([NOON + HOUR_MS, NOON + 2]);
      expect(await deleteExpired(store, "inbound", cutoff, 2)).toEqual([1]);
      expect((await all()).map(({ at }) => at)).toEqual([NOON + HOUR_MS]);
      expect(await all(2)).toEqual([other]);
    });
  });
}

/** A text to a bot at noon, unless told otherwise. */
function inbound(changes: Partial<InboundMessage> = {}): InboundMessage {
  const { at = NOON } = changes;
  return {
    accountId: 1,
    id: newId(at),
    channel: "rcs",
    from: "33600000001",
    to: "HELIO_BOT",
    content: { kind: "text", text: "Thank you!" },
    answers: null,
    at,
    ...changes,
  };
}
