import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { InboundPart } from "../../src/model/inbound.ts";
import type { KeptText } from "../../src/store/inbound.ts";
import type { Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "../support/engines.ts";
import { deleteExpired } from "../support/sweeps.ts";

/** Tests that every engine passes, for long inbound texts in parts. */
export function inboundPartsSuite(engine: EngineName): void {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  const part = (index: number, text: string, more: Partial<InboundPart> = {}): InboundPart => ({
    accountId: 1,
    carrier: "1/north",
    from: "33612345678",
    to: "56767",
    reference: 7,
    total: 2,
    index,
    octets: Buffer.from(text, "latin1"),
    dataCoding: 0,
    alphabet: "gsm7",
    at: NOON,
    ...more,
  });
  const wordsOf = (text: KeptText | null): string[] | null =>
    text && text.parts.map(({ index, octets }) => `${index}:${octets.toString("latin1")}`);

  describe("parts of an inbound text", () => {
    it("the parts of a text are returned in order with the last of them, and none before", async () => {
      expect(await store.keepInboundPart(part(2, "\u0000\u00ff", { at: NOON + 9, dataCoding: 4 }))).toBeNull();
      expect(await store.keepInboundPart(part(1, "Hello "))).toEqual({
        accountId: 1,
        carrier: "1/north",
        from: "33612345678",
        to: "56767",
        reference: "7",
        total: 2,
        alphabet: "gsm7",
        parts: [
          { index: 1, octets: Buffer.from("Hello "), dataCoding: 0 },
          { index: 2, octets: Buffer.from([0x00, 0xff]), dataCoding: 4 },
        ],
        firstAt: NOON,
      });
    });

    it("a repeated part counts once, and all parts are returned again", async () => {
      await store.keepInboundPart(part(1, "a"));
      expect(await store.keepInboundPart(part(1, "a", { at: NOON + 5 }))).toBeNull();
      const whole = await store.keepInboundPart(part(2, "b"));
      if (whole) await store.endInboundParts(whole, NOON);
      const again = await store.keepInboundPart(part(2, "b", { at: NOON + 60_000 }));
      expect(again).toEqual(whole);
    });

    it("account, carrier, phone, sender, reference and total identify a text", async () => {
      await store.keepInboundPart(part(1, "a"));
      const others = [
        { accountId: 2 },
        { carrier: "1/south" },
        { from: "33612345679" },
        { to: "56768" },
        { reference: 8 },
        { total: 3 },
      ];
      for (const other of others) expect(await store.keepInboundPart(part(2, "b", other))).toBeNull();
      expect(wordsOf(await store.keepInboundPart(part(2, "c")))).toEqual(["1:a", "2:c"]);
    });

    it("of two parts that arrive at once, at least one returns the whole", async () => {
      const both = await Promise.all([store.keepInboundPart(part(1, "a")), store.keepInboundPart(part(2, "b"))]);
      expect(both.map(wordsOf)).toContainEqual(["1:a", "2:b"]);
    });

    it("a new text under a used reference starts again, and the first is kept", async () => {
      await store.keepInboundPart(part(1, "old", { total: 3 }));
      await store.keepInboundPart(part(2, "old", { total: 3 }));
      await store.keepInboundPart(part(1, "new", { total: 3, at: NOON + 1 }));
      await store.keepInboundPart(part(2, "new", { total: 3, at: NOON + 2 }));
      expect(wordsOf(await store.keepInboundPart(part(3, "new", { total: 3, at: NOON + 3 })))).toEqual([
        "1:new",
        "2:new",
        "3:new",
      ]);
      const rests = await store.listIncompleteTexts(NOON + 1, 10);
      expect(rests.map(wordsOf)).toEqual([["1:old", "2:old"]]);
      expect(rests[0]).toMatchObject({ firstAt: NOON });
    });

    it("parts that arrive after their text was received incomplete start again", async () => {
      await store.keepInboundPart(part(1, "a"));
      const [rest] = await store.listIncompleteTexts(NOON + 1, 10);
      if (rest) await store.endInboundParts(rest, NOON + 1);
      expect(await store.keepInboundPart(part(2, "b", { at: NOON + 2 }))).toBeNull();
      expect((await store.listIncompleteTexts(NOON + 3, 10)).map(wordsOf)).toEqual([["2:b"]]);
    });

    it("parts are listed as incomplete until their text is received, and deleted some time later", async () => {
      await store.keepInboundPart(part(1, "a"));
      await store.keepInboundPart(part(1, "b", { reference: 8, at: NOON + 5 }));
      expect((await store.listIncompleteTexts(NOON, 10)).map(wordsOf)).toEqual([]);
      const rests = await store.listIncompleteTexts(NOON + 5, 10);
      expect(rests.map(wordsOf)).toEqual([["1:a"]]);
      for (const rest of rests) await store.endInboundParts(rest, NOON + 6);
      expect((await store.listIncompleteTexts(NOON + 6, 10)).map(wordsOf)).toEqual([["1:b"]]);
      await deleteExpired(store, "inboundParts", { before: NOON + 6 });
      expect(await opened.execute("select part from inbound_parts")).toHaveLength(2);
      await deleteExpired(store, "inboundParts", { before: NOON + 7 });
      expect(await opened.execute("select part from inbound_parts")).toHaveLength(1);
    });
  });
}
