import * as fc from "fast-check";
import smpp from "smpp";
import { describe, expect, test } from "vitest";
import {
  codeText,
  decodeText,
  DEFAULT_CODING,
  type Alphabet,
  type CodingSettings,
  type SmppText,
} from "../../src/smpp-text/coding.ts";
import { bodyOf, type Incoming } from "../../src/smpp-text/incoming.ts";
import { partsOf, References, type LongMessage, type PartSettings } from "../../src/smpp-text/parts.ts";
import { assemble, partOf, type IncomingPart } from "../../src/smpp-text/reassemble.ts";
import { segment } from "../../src/channels/sms/segment.ts";
import { repetitions } from "../support/repetitions.ts";

const BASIC =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
  "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const EXTENSION = "^{}\\[~]|€";

/** Members that the package's types do not declare. */
const { encodings } = smpp as unknown as { encodings: { ASCII: { encode(text: string): Buffer } } };

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex");
const octets = (written: string): Buffer => Buffer.from(written.replaceAll(" ", ""), "hex");
const words = (text: string, encoding: SmppText["encoding"] = "gsm7", flash = false): SmppText => ({
  text,
  encoding,
  flash,
});
const carrier = (changes: Partial<CodingSettings>): CodingSettings => ({ ...DEFAULT_CODING, ...changes });

describe("outgoing text", () => {
  test.each<[string, SmppText, Partial<CodingSettings>, number, string]>([
    ["plain words are GSM, one septet to the octet", words("hello"), {}, 0x00, "68656c6c6f"],
    ["@ is 0x00 in GSM", words("a@b"), {}, 0x00, "610062"],
    ["the escape stands before what needs it", words("€[]{}\\^~|"), {}, 0x00, "1b651b3c1b3e1b281b291b2f1b141b3d1b40"],
    ["a form feed needs the escape too", words("\f"), {}, 0x00, "1b0a"],
    ["Greek capitals are in GSM", words("ΔΦΩ"), {}, 0x00, "101215"],
    ["the last code of the table is à", words("¿à§"), {}, 0x00, "607f5f"],
    ["an empty text has no octets", words(""), {}, 0x00, ""],
    ["a Latin-1 carrier gets @ and é as Latin-1", words("@é"), { alphabet: "latin1" }, 0x00, "40e9"],
    ["a Latin-1 carrier gets brackets without escapes", words("[x]"), { alphabet: "latin1" }, 0x00, "5b785d"],
    ["what Latin-1 does not have goes as UCS-2", words("5 €"), { alphabet: "latin1" }, 0x08, "0035002020ac"],
    ["an ASCII carrier gets ASCII", words("a@b_"), { alphabet: "ascii" }, 0x00, "6140625f"],
    ["what ASCII does not have goes as UCS-2", words("né"), { alphabet: "ascii" }, 0x08, "006e00e9"],
    ["UCS-2 is big-endian", words("ж€", "ucs2"), {}, 0x08, "043620ac"],
    ["an emoji is a surrogate pair", words("😀", "ucs2"), {}, 0x08, "d83dde00"],
    ["UCS-2 that was asked for is kept for plain words", words("a", "ucs2"), {}, 0x08, "0061"],
    ["flash GSM is 0xF0", words("hi", "gsm7", true), {}, 0xf0, "6869"],
    ["flash GSM is 0x10 where the carrier wants it", words("hi", "gsm7", true), { flashGsm: 0x10 }, 0x10, "6869"],
    ["flash UCS-2 is 0x18 in any case", words("ж", "ucs2", true), { flashGsm: 0x10 }, 0x18, "0436"],
    ["what a flash cannot say in ASCII is flash UCS-2", words("é", "gsm7", true), { alphabet: "ascii" }, 0x18, "00e9"],
    ["a text that is not GSM after all goes as UCS-2", words("ç"), {}, 0x08, "00e7"],
  ])("%s", (_promise, text, changes, dataCoding, bytes) => {
    const coded = codeText(text, carrier(changes));
    expect({ ...coded, bytes: hex(coded.bytes) }).toEqual({ dataCoding, bytes });
  });

  test("another implementation encodes the whole alphabet to the same octets", () => {
    for (const character of BASIC + EXTENSION)
      expect(hex(codeText(words(character), DEFAULT_CODING).bytes)).toBe(hex(encodings.ASCII.encode(character)));
  });
});

describe("incoming text", () => {
  test.each<[string, string, number, Alphabet, string]>([
    ["data coding 0 is the carrier's alphabet", "68656c6c6f00", 0x00, "gsm7", "hello@"],
    ["an escaped character is read", "1b65 1b3c", 0x00, "gsm7", "€["],
    ["an escape before nothing known is passed over", "1b41 1b1b65 1b", 0x00, "gsm7", "A€"],
    ["a Latin-1 carrier's default is Latin-1", "40e9", 0x00, "latin1", "@é"],
    ["an ASCII carrier's default is ASCII", "40245f", 0x00, "ascii", "@$_"],
    ["what cannot be GSM is read as Latin-1", "636166e9 40", 0x00, "gsm7", "café@"],
    ["what cannot be GSM and is UTF-8 is read as UTF-8", "636166c3a9", 0x00, "gsm7", "café"],
    ["1 is ASCII", "40245f", 0x01, "gsm7", "@$_"],
    ["3 is Latin-1", "e9c3a9", 0x03, "gsm7", "éÃ©"],
    ["6 is Cyrillic", "bfe0d8d2d5e2", 0x06, "gsm7", "Привет"],
    ["7 is Hebrew", "f9", 0x07, "gsm7", "ש"],
    ["8 is UCS-2", "0436d83dde00", 0x08, "gsm7", "ж😀"],
    ["half a unit at the end is dropped", "043604", 0x08, "gsm7", "ж"],
    ["a mark of the byte order is obeyed", "fffe3604", 0x08, "gsm7", "ж"],
    ["a mark of the usual order is not shown", "feff0436", 0x08, "gsm7", "ж"],
    ["0x10 to 0x13 is the default with a class", "4100", 0x11, "gsm7", "A@"],
    ["0x18 to 0x1B is UCS-2 with a class", "0436", 0x19, "gsm7", "ж"],
    ["0xF0 to 0xF3 is the default with a class", "00", 0xf0, "gsm7", "@"],
    ["0xC0 is a waiting message in the default", "00", 0xc8, "gsm7", "@"],
    ["0xE0 is a waiting message in UCS-2", "0436", 0xe0, "gsm7", "ж"],
    ["a reserved value is read as the default", "00", 0x0c, "gsm7", "@"],
    ["nothing is an empty text", "", 0x00, "gsm7", ""],
  ])("%s", (_promise, bytes, dataCoding, alphabet, text) => {
    expect(decodeText(octets(bytes), dataCoding, alphabet)).toEqual({ text, binary: false });
  });

  test.each([0x02, 0x04, 0x09, 0x14, 0x17, 0x20, 0xf4, 0xf7])(
    "data_coding %i is binary and decodes to hex",
    (dataCoding) => {
      expect(decodeText(octets("00ff1b"), dataCoding, "gsm7")).toEqual({ text: "00ff1b", binary: true });
    },
  );

  test("decoding never throws and never changes its input", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 0, max: 255 }),
        fc.constantFrom<Alphabet>("gsm7", "latin1", "ascii"),
        (bytes, dataCoding, alphabet) => {
          const given = Buffer.from(bytes);
          const before = hex(given);
          expect(typeof decodeText(given, dataCoding, alphabet).text).toBe("string");
          expect(hex(given)).toBe(before);
        },
      ),
      { numRuns: repetitions(1000, 5000) },
    );
  });

  test("encoded text decodes to itself in every alphabet and as flash", () => {
    fc.assert(
      fc.property(
        anyText,
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom<Alphabet>("gsm7", "latin1", "ascii"),
        fc.constantFrom(0xf0, 0x10),
        (text, force, flash, alphabet, flashGsm) => {
          // A leading byte order mark is not part of the text.
          fc.pre(!/^[\ufeff\ufffe]/.test(text));
          const { encoding } = segment(text, force);
          const { dataCoding, bytes } = codeText(words(text, encoding, flash), { alphabet, flashGsm });
          // Latin-1 that is also valid UTF-8 is ambiguous.
          fc.pre(alphabet !== "latin1" || encoding === "ucs2" || !/[\u0080-\u00ff]/.test(text));
          expect(decodeText(bytes, dataCoding, alphabet).text).toBe(text);
        },
      ),
      { numRuns: repetitions(600, 3000) },
    );
  });
});

// Runs of one character with lengths around the limits: random strings rarely reach a boundary.
function runsOf(character: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const length = fc.oneof(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 30, max: 36 }),
    fc.integer({ min: 63, max: 72 }),
    fc.integer({ min: 74, max: 82 }),
    fc.integer({ min: 149, max: 162 }),
  );
  const run = fc.tuple(character, length).map(([unit, count]) => unit.repeat(count));
  return fc.array(run, { maxLength: 8 }).map((runs) => runs.join(""));
}

const gsmCharacter = fc.constantFrom(...Array.from(`${BASIC}${EXTENSION}${EXTENSION}${EXTENSION}`));
const asciiCharacter = fc.constantFrom(...Array.from("abc XYZ 019 []{}~^|\\@$_"));
const anyCharacter = fc.oneof(
  gsmCharacter,
  fc.constantFrom("ж", "आ", "😀", "👩‍👧", "ç"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);
const anyText = fc.oneof(runsOf(gsmCharacter), runsOf(asciiCharacter), runsOf(anyCharacter));

const usual: PartSettings = { ...DEFAULT_CODING, longMessage: "udh8", messagingMode: 0 };
const cut = (text: SmppText, changes: Partial<PartSettings> = {}, reference = 0x1234): ReturnType<typeof partsOf> =>
  partsOf(text, { ...usual, ...changes }, () => reference);
const shown = (parts: ReturnType<typeof partsOf>) =>
  parts?.map(({ shortMessage, tlvs, ...rest }) => ({
    ...rest,
    start: hex(shortMessage.subarray(0, 8)),
    length: shortMessage.length,
    tlvs: tlvs.map(({ tag, value }) => `${tag.toString(16)}=${hex(value.subarray(0, 4))}`),
  }));

const a = (count: number): string => "a".repeat(count);
const FORMS: readonly LongMessage[] = ["udh8", "udh16", "sar", "payload"];

describe("a long message", () => {
  test.each(FORMS)("160 septets are a single part with %s", (longMessage) => {
    expect(shown(cut(words(a(160)), { longMessage }))).toEqual([
      { esmClass: 0, dataCoding: 0, start: "6161616161616161", length: 160, tlvs: [] },
    ]);
  });

  test("udh8 adds six octets to each part and sets UDHI", () => {
    expect(shown(cut(words(a(161))))).toEqual([
      { esmClass: 0x40, dataCoding: 0, start: "0500033402016161", length: 159, tlvs: [] },
      { esmClass: 0x40, dataCoding: 0, start: "0500033402026161", length: 14, tlvs: [] },
    ]);
  });

  test("udh16 adds seven octets to each part and leaves one septet less", () => {
    expect(shown(cut(words(a(161)), { longMessage: "udh16" }))).toEqual([
      { esmClass: 0x40, dataCoding: 0, start: "0608041234020161", length: 159, tlvs: [] },
      { esmClass: 0x40, dataCoding: 0, start: "0608041234020261", length: 16, tlvs: [] },
    ]);
  });

  test("sar numbers the parts in TLVs and leaves the text unchanged", () => {
    expect(shown(cut(words(a(161)), { longMessage: "sar" }))).toEqual([
      { esmClass: 0, dataCoding: 0, start: "6161616161616161", length: 153, tlvs: ["20c=1234", "20e=02", "20f=01"] },
      { esmClass: 0, dataCoding: 0, start: "6161616161616161", length: 8, tlvs: ["20c=1234", "20e=02", "20f=02"] },
    ]);
  });

  test("payload sends the whole text in message_payload", () => {
    const [part, ...others] = cut(words(a(161)), { longMessage: "payload" }) ?? [];
    expect(others).toEqual([]);
    expect(part?.shortMessage).toHaveLength(0);
    expect(part?.tlvs.map(({ tag, value }) => [tag, value.toString("latin1")])).toEqual([[0x0424, a(161)]]);
  });

  test("UCS-2 parts have 67 units, and flash stays flash", () => {
    const parts = cut(words("ж".repeat(71), "ucs2", true));
    expect(parts?.map(({ shortMessage, dataCoding }) => [shortMessage.length, dataCoding])).toEqual([
      [6 + 134, 0x18],
      [6 + 8, 0x18],
    ]);
  });

  test("every part carries the configured messaging mode", () => {
    expect(cut(words(a(161)), { messagingMode: 3 })?.map(({ esmClass }) => esmClass)).toEqual([0x43, 0x43]);
    expect(cut(words("a"), { messagingMode: 3 })?.map(({ esmClass }) => esmClass)).toEqual([3]);
  });

  test("brackets for a Latin-1 carrier count two septets, as on the air interface", () => {
    expect(cut(words("[".repeat(81)), { alphabet: "latin1" })?.map((part) => part.shortMessage.length)).toEqual([
      82, 11,
    ]);
  });

  test("255 parts are accepted and 256 refused; a payload may have 65,535 octets", () => {
    expect(cut(words(a(255 * 153)))).toHaveLength(255);
    expect(cut(words(a(255 * 153 + 1)))).toBeNull();
    expect(cut(words(a(65_535)), { longMessage: "payload" })).toHaveLength(1);
    expect(cut(words(a(65_536)), { longMessage: "payload" })).toBeNull();
  });

  test("a single-part message uses no reference number", () => {
    const never = (): number => {
      throw new Error("a reference was taken");
    };
    expect(partsOf(words(a(160)), usual, never)).toHaveLength(1);
    expect(partsOf(words(a(161)), { ...usual, longMessage: "payload" }, never)).toHaveLength(1);
  });

  test.each(["udh8", "sar"] as const)(
    "with %s the number of parts equals the charged segments for any text",
    (longMessage) => {
      fc.assert(
        fc.property(anyText, fc.boolean(), (text, force) => {
          const { encoding, segments } = segment(text, force);
          expect(cut(words(text, encoding), { longMessage })).toHaveLength(segments);
        }),
        { numRuns: repetitions(600, 3000) },
      );
    },
  );

  test("with udh16 there are never fewer parts, and none exceeds the air interface", () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, force) => {
        const { encoding, segments } = segment(text, force);
        const parts = cut(words(text, encoding), { longMessage: "udh16" }) ?? [];
        expect(parts.length).toBeGreaterThanOrEqual(segments);
        const most = parts.length === 1 ? 160 : 7 + 152;
        for (const part of parts)
          expect(part.shortMessage.length).toBeLessThanOrEqual(encoding === "gsm7" ? most : 140);
      }),
      { numRuns: repetitions(300, 1500) },
    );
  });

  test.each(["udh8", "udh16", "sar", "payload"] as const)(
    "with %s the parts contain the whole text and split no character",
    (longMessage) => {
      fc.assert(
        fc.property(anyText, fc.boolean(), fc.integer({ min: 0, max: 0xffff }), (text, force, reference) => {
          fc.pre(text.isWellFormed() && !/[\ufeff\ufffe]/.test(text));
          const { encoding } = segment(text, force);
          const parts = cut(words(text, encoding), { longMessage }, reference) ?? [];
          const read = parts.map((part) => decodeText(bodyOf(part).bytes, part.dataCoding, "gsm7").text);
          expect(read.join("")).toBe(text);
          for (const each of read) expect(each.isWellFormed()).toBe(true);
        }),
        { numRuns: repetitions(300, 1500) },
      );
    },
  );
});

describe("concatenation references", () => {
  test("the next long message to a phone has the next number, with wrap-around", () => {
    const references = new References(() => 0.9999999);
    expect([1, 2, 3].map(() => references.next("919876543210"))).toEqual([65_535, 0, 1]);
  });

  test("256 consecutive messages to one phone have distinct 8-bit numbers", () => {
    const references = new References(() => 0.4);
    const given = Array.from({ length: 256 }, () => references.next("4915112345678") & 0xff);
    expect(new Set(given).size).toBe(256);
  });
});

describe("a long inbound message", () => {
  const pdu = (bytes: string, fields: Partial<Incoming> = {}): Incoming => ({
    esmClass: 0x40,
    dataCoding: 0,
    shortMessage: octets(bytes),
    tlvs: [],
    ...fields,
  });
  const sar = (reference: string, total: string, index: string): Incoming["tlvs"] => [
    { tag: 0x020c, value: octets(reference) },
    { tag: 0x020e, value: octets(total) },
    { tag: 0x020f, value: octets(index) },
  ];
  const numbers = (part: IncomingPart | null): unknown =>
    part && [part.reference, part.total, part.index, hex(part.bytes)];

  test.each<[string, Incoming, unknown]>([
    ["an 8-bit reference", pdu("05 00 03 2a 02 01 6869"), [42, 2, 1, "6869"]],
    ["a 16-bit reference", pdu("06 08 04 1234 03 03 6869"), [0x1234, 3, 3, "6869"]],
    ["sar parameters", pdu("6869", { esmClass: 0, tlvs: sar("1234", "02", "02") }), [0x1234, 2, 2, "6869"]],
    ["a sar reference of one octet", pdu("6869", { esmClass: 0, tlvs: sar("2a", "02", "02") }), [42, 2, 2, "6869"]],
    [
      "sar numbers of too many octets",
      pdu("6869", { esmClass: 0, tlvs: sar("002a", "0002", "0001") }),
      [42, 2, 1, "6869"],
    ],
    ["a header with ports in front", pdu("0b 05 04 23f0 0000 00 03 2a 02 01 68"), [42, 2, 1, "68"]],
    ["a header that the carrier did not mark", pdu("05 00 03 2a 02 01 68", { esmClass: 0 }), [42, 2, 1, "68"]],
    ["a 16-bit one that it did not mark", pdu("06 08 04 012a 02 02 68", { esmClass: 0 }), [298, 2, 2, "68"]],
    [
      "a part that comes as a payload",
      { esmClass: 0x40, dataCoding: 0, tlvs: [{ tag: 0x0424, value: octets("05 00 03 2a 02 01 68") }] },
      [42, 2, 1, "68"],
    ],
    ["a part without words", pdu("05 00 03 2a 02 01"), [42, 2, 1, ""]],
    ["a text that stands alone", pdu("6869", { esmClass: 0 }), null],
    ["a header of another kind", pdu("06 05 04 23f0 0000 68"), null],
    ["one part of one", pdu("05 00 03 2a 01 01 68"), null],
    ["index 0", pdu("05 00 03 2a 02 00 68"), null],
    ["an index above the total", pdu("05 00 03 2a 02 03 68"), null],
    ["a header longer than the message", pdu("7f 00 03 2a 02 01"), null],
    ["an element longer than its header", pdu("05 00 09 2a 02 01 68"), null],
    ["an element of the wrong length", pdu("04 00 02 2a 02 68"), null],
    ["nothing at all", pdu(""), null],
    ["sar without a reference", pdu("68", { esmClass: 0, tlvs: sar("2a", "02", "01").slice(1) }), null],
    ["sar with empty values", pdu("68", { esmClass: 0, tlvs: sar("", "", "") }), null],
  ])("%s is parsed", (_case, message, expected) => {
    expect(numbers(partOf(message))).toEqual(expected);
  });

  test("a header without part numbers is not shown as text", () => {
    expect(hex(bodyOf(pdu("06 05 04 23f0 0000 6869")).bytes)).toBe("6869");
    expect(hex(bodyOf(pdu("05 00 03 2a 01 01 6869")).bytes)).toBe("6869");
    expect(hex(bodyOf(pdu("7f 00")).bytes)).toBe("7f00");
  });

  test("parsing never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 0, max: 255 }), (bytes, esmClass) => {
        const part = partOf({ esmClass, dataCoding: 0, shortMessage: Buffer.from(bytes), tlvs: [] });
        expect(part === null || (part.index >= 1 && part.index <= part.total && part.total >= 2)).toBe(true);
      }),
      { numRuns: repetitions(1000, 5000) },
    );
  });

  const part = (index: number, bytes: string, dataCoding = 0, total = 3): IncomingPart => ({
    reference: 1,
    total,
    index,
    bytes: octets(bytes),
    dataCoding,
  });

  test("parts are assembled in any order, without duplicates", () => {
    const [one, two, three] = [part(1, "41"), part(2, "42"), part(3, "43")];
    expect(assemble([three, one, two, one], "gsm7")).toEqual({ text: "ABC", binary: false });
  });

  test("with a missing part there is no text, unless a gap marker is given", () => {
    expect(assemble([part(1, "41"), part(3, "43")], "gsm7")).toBeNull();
    expect(assemble([part(1, "41"), part(3, "43")], "gsm7", " … ")).toEqual({ text: "A … C", binary: false });
    expect(assemble([], "gsm7")).toBeNull();
  });

  test("an escape sequence or surrogate pair split between parts is restored", () => {
    expect(assemble([part(1, "1b", 0, 2), part(2, "65", 0, 2)], "gsm7")?.text).toBe("€");
    expect(assemble([part(1, "d83d", 8, 2), part(2, "de00", 8, 2)], "gsm7")?.text).toBe("😀");
  });

  test("parts of different encodings are decoded separately", () => {
    expect(assemble([part(1, "00"), part(2, "0436", 8), part(3, "ff", 4)], "gsm7")).toEqual({
      text: "@жff",
      binary: true,
    });
  });

  test.each(["udh8", "udh16", "sar"] as const)("parts sent with %s are reassembled in any order", (longMessage) => {
    fc.assert(
      fc.property(anyText, fc.boolean(), fc.integer({ min: 1, max: 1000 }), (text, force, turn) => {
        fc.pre(!/[\ufeff\ufffe]/.test(text));
        const { encoding, segments } = segment(text, force);
        fc.pre(segments > 1);
        const parts = (cut(words(text, encoding), { longMessage }) ?? []).flatMap((each) => partOf(each) ?? []);
        const turned = [...parts.slice(turn % parts.length), ...parts.slice(0, turn % parts.length)];
        expect(assemble(turned, "gsm7")?.text).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});
