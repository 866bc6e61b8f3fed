import * as fc from "fast-check";
import { SegmentedMessage } from "sms-segments-calculator";
import { split } from "split-sms";
import { describe, expect, test } from "vitest";
import { firstUcs2Character, segment } from "../../src/channels/sms/segment.ts";
import { splitUserData, type UserDataEncoding } from "../../src/model/user-data.ts";
import type { Encoding, Segmentation } from "../../src/channels/sms/segment.ts";
import { repetitions } from "../support/repetitions.ts";

// The rows of the GSM 03.38 table, sixteen codes each, with a gap where the escape stands.
const BASIC_TABLE = [
  "@£$¥èéùìòÇ\nØø\rÅå",
  "Δ_ΦΓΛΩΠΨΣΘΞÆæßÉ",
  " !\"#¤%&'()*+,-./",
  "0123456789:;<=>?",
  "¡ABCDEFGHIJKLMNO",
  "PQRSTUVWXYZÄÖÑÜ§",
  "¿abcdefghijklmno",
  "pqrstuvwxyzäöñüà",
].join("");
const EXTENSION_TABLE = "\f^{}\\[~]|€";

const a = (count: number) => "a".repeat(count);
const euro = (count: number) => "€".repeat(count);
const zhe = (count: number) => "ж".repeat(count);
const smile = (count: number) => "😀".repeat(count);

function gsm7(segments: number, units: number): Segmentation {
  return { encoding: "gsm7", segments, units };
}

function ucs2(segments: number, units: number): Segmentation {
  return { encoding: "ucs2", segments, units };
}

const partsIn = (text: string, encoding: UserDataEncoding): string[] => splitUserData({ text, encoding });

describe("the alphabet", () => {
  test("every character of the basic table costs one septet", () => {
    expect(Array.from(BASIC_TABLE)).toHaveLength(127);
    expect(segment(BASIC_TABLE)).toEqual(gsm7(1, 127));
    for (const character of BASIC_TABLE) expect(segment(character)).toEqual(gsm7(1, 1));
  });

  test("every character of the extension table costs two septets", () => {
    expect(segment(EXTENSION_TABLE)).toEqual(gsm7(1, 20));
    for (const character of EXTENSION_TABLE) expect(segment(character)).toEqual(gsm7(1, 2));
  });

  test("no other code unit fits GSM-7, the bare escape included", () => {
    const fitting: string[] = [];
    for (let code = 0; code <= 0xffff; code++) {
      const character = String.fromCharCode(code);
      if (segment(character).encoding === "gsm7") fitting.push(character);
    }
    expect(fitting.toSorted()).toEqual(Array.from(BASIC_TABLE + EXTENSION_TABLE).toSorted());
  });

  test.each(["`", "ç", "\u001b", "\t", "\u00a0", "’", "😀"])("%j alone forces UCS-2", (character) => {
    expect(segment(`Your code is 4821${character}`)).toEqual(ucs2(1, 17 + character.length));
  });

  test("the first character that forces UCS-2 is named as a whole code point", () => {
    expect(firstUcs2Character("")).toBeNull();
    expect(firstUcs2Character(BASIC_TABLE + EXTENSION_TABLE)).toBeNull();
    expect(firstUcs2Character("garçon `a`")).toBe("ç");
    expect(firstUcs2Character("[ok] 😀ç")).toBe("😀");
  });
});

describe("the boundaries", () => {
  test.each<[string, string, Segmentation]>([
    ["an empty text is one segment", "", gsm7(1, 0)],
    ["160 septets stand alone", a(160), gsm7(1, 160)],
    ["161 septets take two parts", a(161), gsm7(2, 161)],
    ["2 x 153 septets take two parts", a(306), gsm7(2, 306)],
    ["one septet more takes three", a(307), gsm7(3, 307)],
    ["7 x 153 septets take seven parts", a(1071), gsm7(7, 1071)],
    ["one septet more takes eight", a(1072), gsm7(8, 1072)],
    ["80 escaped characters stand alone", euro(80), gsm7(1, 160)],
    ["an escape that would end at septet 161 takes two parts", a(159) + euro(1), gsm7(2, 161)],
    ["an escape across 152/153 of a text that stands alone costs nothing more", a(152) + euro(4), gsm7(1, 160)],
    ["an escape that ends at septet 153 stays in its part", a(151) + euro(1) + a(153), gsm7(2, 306)],
    ["an escape across 152/153 moves whole, and 306 septets take three parts", a(152) + euro(1) + a(152), gsm7(3, 306)],
    ["escapes only fill 152 septets of each part", euro(152), gsm7(2, 304)],
    ["one escape more takes a third part", euro(153), gsm7(3, 306)],
    ["70 units stand alone", zhe(70), ucs2(1, 70)],
    ["71 units take two parts", zhe(71), ucs2(2, 71)],
    ["2 x 67 units take two parts", zhe(134), ucs2(2, 134)],
    ["one unit more takes three", zhe(135), ucs2(3, 135)],
    ["9 x 67 units take nine parts", zhe(603), ucs2(9, 603)],
    ["one unit more takes ten", zhe(604), ucs2(10, 604)],
    ["35 surrogate pairs stand alone", smile(35), ucs2(1, 70)],
    ["a pair that would end at unit 71 takes two parts", zhe(69) + smile(1), ucs2(2, 71)],
    ["a pair across 66/67 of a text that stands alone costs nothing more", zhe(66) + smile(2), ucs2(1, 70)],
    ["a pair that ends at unit 67 stays in its part", zhe(65) + smile(1) + zhe(67), ucs2(2, 134)],
    ["a pair across 66/67 moves whole, and 134 units take three parts", zhe(66) + smile(1) + zhe(66), ucs2(3, 134)],
    ["pairs only fill 66 units of each part", smile(66), ucs2(2, 132)],
    ["one pair more takes a third part", smile(67), ucs2(3, 134)],
    ["an escaped character costs one unit in UCS-2", euro(69) + zhe(1), ucs2(1, 70)],
  ])("%s", (_promise, text, expected) => {
    expect(segment(text)).toEqual(expected);
    expect(partsIn(text, expected.encoding)).toHaveLength(expected.segments);
  });

  test("a forced UCS-2 counts UTF-16 units whatever the text", () => {
    expect(segment("", true)).toEqual(ucs2(1, 0));
    expect(segment(a(70), true)).toEqual(ucs2(1, 70));
    expect(segment(a(71), true)).toEqual(ucs2(2, 71));
    expect(segment(euro(134), true)).toEqual(ucs2(2, 134));
  });

  test("half a surrogate pair counts as one unit and pulls nothing along", () => {
    const high = "\ud83d";
    const low = "\ude00";
    expect(partsIn(zhe(66) + high + zhe(10), "ucs2")).toEqual([zhe(66) + high, zhe(10)]);
    expect(partsIn(zhe(66) + low + low + zhe(10), "ucs2")).toEqual([zhe(66) + low, low + zhe(10)]);
    expect(partsIn(zhe(66) + high + high + zhe(10), "ucs2")).toEqual([zhe(66) + high, high + zhe(10)]);
  });
});

// Runs of one character with lengths around the limits: plain random strings almost never come near a boundary.
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

function between(first: number, last: number): fc.Arbitrary<string> {
  return fc.integer({ min: first, max: last }).map((code) => String.fromCodePoint(code));
}

const gsmCharacter = fc.oneof(
  fc.constantFrom(...Array.from(BASIC_TABLE)),
  fc.constantFrom(...Array.from(EXTENSION_TABLE)),
);
const gsmText = runsOf(gsmCharacter);
// Cyrillic, Devanagari letters, Han and faces: each code point is a character by itself and joins no neighbour.
const plainText = runsOf(
  fc.oneof(
    gsmCharacter,
    between(0x400, 0x45f),
    between(0x905, 0x939),
    between(0x4e00, 0x9fa5),
    between(0x1f600, 0x1f64f),
  ),
);
// Anything well-formed: control characters, combining marks, joined emoji and flags included.
const wellFormedText = fc.oneof(
  plainText,
  runsOf(fc.string({ unit: "binary", minLength: 1, maxLength: 1 })),
  fc.string({ unit: "grapheme", maxLength: 250 }),
  fc.string({ unit: "binary", maxLength: 250 }),
);
// The same with halves of surrogate pairs strewn in, as JSON may carry them.
const anyText = fc.oneof(wellFormedText, runsOf(fc.oneof(gsmCharacter, between(0xd7fe, 0xe001), between(0, 0x10ffff))));

describe("any text", () => {
  test("its parts fit, lose nothing, cut no pair, and are as many as counted", () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, anyText), fc.boolean(), (text, forceUcs2) => {
        const { encoding, segments, units } = segment(text, forceUcs2);
        const parts = partsIn(text, encoding);
        const sizes = parts.map((part) => unitsOf(part, encoding));
        const [alone, perPart] = encoding === "gsm7" ? [160, 153] : [70, 67];

        expect(parts.join("")).toBe(text);
        expect(parts).toHaveLength(segments);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(units);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(segments === 1 ? alone : perPart);
        expect(segments > 1).toBe(units > alone);
        // A cut is early by one unit at most, and only to keep a pair whole.
        for (const size of sizes.slice(0, -1)) expect(size).toBeGreaterThanOrEqual(perPart - 1);
        for (const [i, part] of parts.entries()) {
          const cutsPair = i > 0 && /^[\udc00-\udfff]/.test(part) && /[\ud800-\udbff]$/.test(parts[i - 1] ?? "");
          expect(cutsPair).toBe(false);
        }
      }),
      { numRuns: repetitions(600, 3000) },
    );
  });

  test("a part of a well-formed text never starts with a low surrogate", () => {
    fc.assert(
      fc.property(wellFormedText, (text) => {
        for (const part of partsIn(text, "ucs2")) expect(part.isWellFormed()).toBe(true);
      }),
      { numRuns: repetitions(300, 1500) },
    );
  });

  test("a character that forces UCS-2 is named exactly when UCS-2 is chosen", () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, anyText), (text) => {
        const named = firstUcs2Character(text);
        expect(segment(text).encoding).toBe(named === null ? "gsm7" : "ucs2");
        if (named === null) return;
        expect(Array.from(named)).toHaveLength(1);
        expect(segment(text.slice(0, text.indexOf(named))).encoding).toBe("gsm7");
      }),
      { numRuns: repetitions(300, 1500) },
    );
  });
});

describe("split-sms as a second opinion", () => {
  // It skips whatever follows a high surrogate, so it miscounts halves of pairs; the texts here are well-formed.
  test("both cut every well-formed text into the same parts", () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, wellFormedText), (text) => {
        const theirs = split(text);
        const ours = segment(text);
        expect(ours).toEqual(
          theirs.characterSet === "GSM"
            ? gsm7(theirs.parts.length, theirs.bytes)
            : ucs2(theirs.parts.length, theirs.bytes / 2),
        );
        expect(partsIn(text, ours.encoding)).toEqual(theirs.parts.map((part) => part.content));
      }),
      { numRuns: repetitions(600, 3000) },
    );
  });

  test("both cut every well-formed text into the same parts when UCS-2 is forced", () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, wellFormedText), (text) => {
        const theirs = split(text, { characterset: "Unicode" });
        expect(segment(text, true)).toEqual(ucs2(theirs.parts.length, theirs.bytes / 2));
        expect(partsIn(text, "ucs2")).toEqual(theirs.parts.map((part) => part.content));
      }),
      { numRuns: repetitions(300, 1500) },
    );
  });
});

describe("sms-segments-calculator as a third opinion", () => {
  test("both count the same where every code point is a character by itself", () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, plainText), fc.boolean(), (text, forceUcs2) => {
        expect(segment(text, forceUcs2)).toEqual(calculate(text, forceUcs2));
      }),
      { numRuns: repetitions(100, 400) },
    );
  });

  // It moves a whole grapheme to the next part, we only a surrogate pair: handsets join the parts before they draw
  // them, so the cut is never seen, and ours is then the shorter message.
  test("a joined emoji on the cut costs us no part where it costs the calculator one", () => {
    const family = "👨‍👩‍👧‍👦";
    const text = zhe(61) + family + zhe(134 - 61 - family.length);
    expect(segment(text)).toEqual(ucs2(2, 134));
    expect(calculate(text, false)).toEqual(ucs2(3, 134));
  });

  test("we never count more than it does, and agree on encoding and units, for any well-formed text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 250 }), (text) => {
        const ours = segment(text);
        const theirs = calculate(text, false);
        expect({ ...ours, segments: 0 }).toEqual({ ...theirs, segments: 0 });
        expect(ours.segments).toBeLessThanOrEqual(theirs.segments);
      }),
      { numRuns: 150 },
    );
  });
});

// By the test's own tables, so that a wrong cost in the source cannot vouch for itself.
function unitsOf(part: string, encoding: Encoding): number {
  if (encoding === "ucs2") return part.length;
  return part.length + Array.from(part).filter((character) => EXTENSION_TABLE.includes(character)).length;
}

function calculate(text: string, forceUcs2: boolean): Segmentation {
  const message = new SegmentedMessage(text, forceUcs2 ? "UCS-2" : "auto");
  return message.encodingName === "GSM-7"
    ? gsm7(message.segmentsCount, message.messageSize / 7)
    : ucs2(message.segmentsCount, message.messageSize / 16);
}
