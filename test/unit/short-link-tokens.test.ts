import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { segment } from "../../src/channels/sms/segment.ts";
import { STAND_IN_CODE, countTokens, placeCodes } from "../../src/channels/sms/short-link-tokens.ts";
import { repetitions } from "../support/repetitions.ts";

const BASE = "https://hel.example";

describe("short-link tokens", () => {
  test.each<[string, number]>([
    ["", 0],
    ["{SORT}", 1],
    ["{SORT}{SORT} {SORT}", 3],
    ["{sort} {SHORT} {SORT {SORT", 0],
    ["{{SORT}}", 1],
    ["{SO{SORT}RT}", 1],
  ])("%j has %i", (text, count) => {
    expect(countTokens(text)).toBe(count);
  });

  test.each([
    ["{SORT}", "https://hel.example/abcdefg"],
    ["See {SORT}.", "See https://hel.example/abcdefg."],
    ["See\n{SORT}", "See\nhttps://hel.example/abcdefg"],
    ["See\u00a0{SORT}", "See\u00a0https://hel.example/abcdefg"],
    ["({SORT})", "(https://hel.example/abcdefg)"],
    ["<{SORT}>", "<https://hel.example/abcdefg>"],
    ['"{SORT}"', '"https://hel.example/abcdefg"'],
    ["“{SORT}”", "“https://hel.example/abcdefg”"],
    ["「{SORT}」", "「https://hel.example/abcdefg」"],
    ["{{SORT}}", "{https://hel.example/abcdefg}"],
  ])("alone in %j a token becomes a whole link", (text, placed) => {
    expect(placeCodes(text, ["abcdefg"], BASE)).toBe(placed);
  });

  test.each([
    ["https://my.example/{SORT}", "https://my.example/abcdefg"],
    ["my.example/{SORT}/x", "my.example/abcdefg/x"],
    ["https://my.example/?c={SORT}&d=1", "https://my.example/?c=abcdefg&d=1"],
    ["https://my.example/a-{SORT}", "https://my.example/a-abcdefg"],
    ["https://my.example/#{SORT}", "https://my.example/#abcdefg"],
  ])("inside the link %j a token becomes the code alone", (text, placed) => {
    expect(placeCodes(text, ["abcdefg"], BASE)).toBe(placed);
  });

  test("each token takes the code in its place", () => {
    expect(placeCodes("{SORT} or x/{SORT} or {SORT}", ["1111111", "2222222", "3333333"], "b")).toBe(
      "b/1111111 or x/2222222 or b/3333333",
    );
  });

  test("codes are placed as they are", () => {
    expect(placeCodes("a/{SORT} b/{SORT}", ["{SORT}", "$&$1"], BASE)).toBe("a/{SORT} b/$&$1");
  });

  test("codes that are too many or too few are not placed", () => {
    expect(() => placeCodes("a/{SORT}", [], BASE)).toThrow(RangeError);
    expect(() => placeCodes("no token", ["abcdefg"], BASE)).toThrow(RangeError);
  });

  test("placeholders have the length of the codes, so that price and segments do not change", () => {
    const piece = fc.oneof(
      fc.constantFrom("{SORT}", "/{SORT}", " {SORT}", "\r\n", "{", "😀"),
      fc.string({ maxLength: 40 }),
    );
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    const code = fc.string({ unit: fc.constantFrom("1", "2", "A", "B", "x", "z"), minLength: 7, maxLength: 7 });
    fc.assert(
      fc.property(text, fc.array(code, { minLength: 12, maxLength: 12 }), (given, codes) => {
        const count = countTokens(given);
        fc.pre(count <= codes.length);
        const used = codes.slice(0, count);
        const placed = placeCodes(given, used, BASE);
        const counted = placeCodes(
          given,
          used.map(() => STAND_IN_CODE),
          BASE,
        );
        expect(segment(counted)).toEqual(segment(placed));
        let rest = placed;
        for (const [i, between] of given.split("{SORT}").entries()) {
          const before = [`${BASE}/${used[i - 1]}${between}`, `${used[i - 1]}${between}`];
          const next = i === 0 ? between : before.find((possible) => rest.startsWith(possible));
          expect(next).toBeDefined();
          rest = rest.slice(next?.length);
        }
        expect(rest).toBe("");
      }),
      { numRuns: repetitions(300, 1000) },
    );
  });
});
