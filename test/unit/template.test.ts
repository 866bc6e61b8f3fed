import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cheaperText } from "../../src/channels/sms/cheaper-text.ts";
import { segment } from "../../src/channels/sms/segment.ts";
import {
  matchTemplate,
  plainTemplateText,
  readTemplateText,
  renderTemplate,
  type TemplateText,
} from "../../src/channels/template.ts";
import { repetitions } from "../support/repetitions.ts";

function template(text: string): TemplateText {
  const read = readTemplateText(text);
  if ("fault" in read) throw new Error(read.fault);
  return read;
}

function faultOf(text: string): string | null {
  const read = readTemplateText(text);
  return "fault" in read ? read.fault : null;
}

const match = (written: string, text: string) => matchTemplate(template(written), text);

const values = (...given: string[]) => ({ matches: true, values: given });
const differs = (at: number, expected: string, found: string) => ({ matches: false, at, expected, found });

describe("reading a template", () => {
  test("unnumbered placeholders take the values in order", () => {
    expect(template("Dear {#var#}, your code is {#var#}.")).toEqual({
      parts: ["Dear ", 0, ", your code is ", 1, "."],
      variables: 2,
      valueMax: 30,
    });
  });

  test("numbered placeholders take the value of their number, in any order and any number of times", () => {
    expect(template("{{2}} {{1}} {{2}}")).toEqual({ parts: [1, " ", 0, " ", 1], variables: 2, valueMax: null });
  });

  test.each<[string, (string | number)[]]>([
    ["", []],
    ["no placeholder", ["no placeholder"]],
    ["{#var#}", [0]],
    ["{#var#}{#var#}", [0, 1]],
    ["{{1}}\r\n", [0, "\r\n"]],
    ["😀{{1}}😀", ["😀", 0, "😀"]],
    ["{{{1}}}", ["{", 0, "}"]],
    ["{{#var#}}", ["{", 0, "}"]],
  ])("%j is read as %j", (text, parts) => {
    expect(template(text).parts).toEqual(parts);
  });

  test.each([
    "{",
    "}",
    "{{abc}}",
    "{{}}",
    "{{1}",
    "{1}",
    "{{ 1 }}",
    "{{-1}}",
    "{{1a}}",
    "{#VAR#}",
    "{#numeric#}",
    "{SORT}",
  ])("%s is fixed text", (text) => {
    expect(template(text)).toEqual({ parts: [text], variables: 0, valueMax: null });
  });

  test("the two styles do not mix", () => {
    expect(faultOf("{#var#} and {{1}}")).toMatch(/both/);
    expect(faultOf("{{1}} and {#var#}")).toMatch(/both/);
  });

  test("a gap in the numbers is named", () => {
    expect(faultOf("{{1}} {{3}}")).toContain("{{2}} is missing");
    expect(faultOf("{{2}}")).toContain("{{1}} is missing");
    expect(faultOf("{{99999999999999999999}}")).toContain("{{1}} is missing");
  });

  test("numbers begin with one and are written plainly", () => {
    expect(faultOf("{{0}} {{1}}")).toContain("{{0}}");
    expect(faultOf("{{01}}")).toContain("{{01}}");
  });

  test("fifty variables are taken and one more is not", () => {
    const numbered = (count: number) => Array.from({ length: count }, (_, i) => `{{${i + 1}}}`).join(" ");
    expect(template("{#var#} ".repeat(50)).variables).toBe(50);
    expect(template(numbered(50)).variables).toBe(50);
    expect(template("{{1}} ".repeat(51)).variables).toBe(1);
    expect(faultOf("{#var#} ".repeat(51))).toMatch(/51 variables.*at most 50/);
    expect(faultOf(numbered(51))).toMatch(/51 variables.*at most 50/);
  });
});

describe("rendering a template", () => {
  test("a repeated number inserts its value again", () => {
    expect(renderTemplate(template("{{2}}, {{1}}! {{2}}?"), ["a", "b"])).toBe("b, a! b?");
  });

  test("a value that looks like a placeholder stays as it is", () => {
    expect(renderTemplate(template("{{1}}-{{2}}"), ["{{2}}", "{#var#}$&$1"])).toBe("{{2}}-{#var#}$&$1");
    expect(renderTemplate(template("{#var#}var#}{#var#}"), ["{#", ""])).toBe("{#var#}");
  });

  test("a template that was only learned shows its id and the values", () => {
    expect(plainTemplateText("1107", [])).toBe("1107");
    expect(plainTemplateText("1107", ["Ann", "", "{{1}}"])).toBe("1107: Ann, , {{1}}");
  });
});

describe("matching a text", () => {
  test.each<[string, string, string[]]>([
    ["Dear {#var#}, bye.", "Dear Ann, bye.", ["Ann"]],
    ["Dear {#var#}, bye.", "Dear , bye.", [""]],
    ["Dear {#var#}, bye.", "Dear Ann, bye., bye.", ["Ann, bye."]],
    ["{#var#}", "", [""]],
    ["{#var#}", "x".repeat(30), ["x".repeat(30)]],
    ["{#var#}{#var#}!", `${"x".repeat(45)}!`, ["x".repeat(30), "x".repeat(15)]],
    ["{#var#}{#var#}{#var#}", "x", ["x", "", ""]],
    ["{#var#} {#var#}", "a b c", ["a", "b c"]],
    ["{{1}}{{2}}", "x".repeat(99), ["x".repeat(99), ""]],
    ["{{1}} and {{1}}", "you and you", ["you"]],
    ["{{1}} and {{1}}", "a and a and a and a", ["a and a"]],
    ["{{2}}{{1}}-{{2}}", "abc-ab", ["c", "ab"]],
    ["{{1}}{{1}}", "abab", ["ab"]],
    ["a\r\n{#var#}\r\nb", "a\r\n\r\n\r\nb", ["\r\n"]],
    ["{#var#}😁", "😀😁", ["😀"]],
    ["no placeholder", "no placeholder", []],
    ["", "", []],
  ])("%j matches %j", (written, text, found) => {
    expect(match(written, text)).toEqual(values(...found));
  });

  test("only whitespace at the very end is ignored", () => {
    expect(match("Bye {#var#}.", "Bye Ann. \r\n")).toEqual(values("Ann"));
    expect(match("Bye {#var#}. \n", "Bye Ann.")).toEqual(values("Ann"));
    expect(match("Bye {#var#}\n", "Bye Ann")).toEqual(values("Ann"));
    expect(match("{#var#}", `${"x".repeat(30)}\n`)).toEqual(values("x".repeat(30)));
    expect(match("Bye.", " Bye.")).toEqual(differs(0, "Bye.", " Bye."));
    expect(match("Good bye.", "Good  bye.")).toEqual(differs(5, "bye.", " bye."));
    expect(match("a\r\nb", "a\nb")).toEqual(differs(1, "\r\nb", "\nb"));
  });

  test("whitespace at the end of a value is kept", () => {
    expect(match("Bye {#var#}", "Bye Ann  ")).toEqual(values("Ann  "));
    expect(match("Bye {#var#} ", "Bye Ann ")).toEqual(values("Ann"));
  });

  test("adjacent variables are parted between characters", () => {
    const text = `${"x".repeat(29)}😀y`;
    expect(match("{#var#}{#var#}", text)).toEqual(values("x".repeat(29), "😀y"));
  });

  test.each<[string, string, number, string, string]>([
    ["Dear {#var#}, your code is {#var#}.", "Dear Ann, your kode is 12.", 15, "code is ", "kode is 12."],
    ["Dear {#var#}, bye", "Hello Ann, bye", 0, "Dear ", "Hello Ann, bye"],
    ["Dear {#var#}, bye", "", 0, "Dear ", ""],
    ["Dear {#var#}, bye", "Dear Ann", 5, ", bye", "Ann"],
    ["Dear {#var#}, bye", "Dear Ann, by", 12, "e", ""],
    ["Dear {#var#}, bye", "Dear Ann, bye and more", 13, "", " and more"],
    ["Bye", "Bye bye", 3, "", " bye"],
    ["", "text", 0, "", "text"],
    ["{#var#} bye", "go bye now bye!", 14, "", "!"],
    ["a{#var#}", `a${"x".repeat(31)}`, 31, "", "x"],
    ["a{#var#}{#var#}b", `a${"x".repeat(61)}b`, 61, "b", "xb"],
    ["a{#var#}b{#var#}c", `a${"x".repeat(31)}bc`, 31, "b", "xbc"],
    ["ab{#var#}ba", "aba", 2, "ba", "a"],
    ["{{1}} and {{1}}", "you and me", 8, "you", "me"],
    ["{{1}}, {{1}}!", "Ann, Annie!", 8, "!", "ie!"],
    ["{{1}}-{{1}}", "abc-a", 5, "bc", ""],
    ["{{1}};{{1}}-{{2}}.{{2}}", "a-b;a-b-c.d", 10, "c", "d"],
    ["{{1}} {{2}}, {{1}}{{2}}!", "a b, ac!", 6, "b!", "c!"],
    ["😀!", "😁!", 0, "😀!", "😁!"],
    ["{#var#}b", `${"x".repeat(29)}😀b`, 29, "b", "😀b"],
    ["0123456789012345678😀", "x123456789012345678😀", 0, "0123456789012345678", "x123456789012345678"],
    ["one two three four five six", "a", 0, "one two three four f", "a"],
  ])("%j against %j differs first at %i", (written, text, at, expected, found) => {
    expect(match(written, text)).toEqual(differs(at, expected, found));
  });

  test("no text makes a match long to find", () => {
    const text = "a".repeat(1600);
    const between = (placeholder: (i: number) => string, literal: string) =>
      Array.from({ length: 50 }, (_, i) => placeholder(i)).join(literal);
    const numbered = between((i) => `{{${i + 1}}}`, "a");
    const unnumbered = between(() => "{#var#}", "a");

    expect(match(unnumbered, "a".repeat(50 * 30 + 49)).matches).toBe(true);
    expect(match(unnumbered, text)).toEqual(differs(50 * 30 + 49, "", "a".repeat(20)));
    expect(match(`${unnumbered}b`, text).matches).toBe(false);
    expect(match(`${numbered}b`, text).matches).toBe(false);
    expect(match(numbered, text).matches).toBe(true);
    expect(match(`${numbered}a{{1}}`, text).matches).toBe(true);
    expect(match(`${numbered}b{{1}}`, `${text}b${text}`).matches).toBe(false);
    expect(match(numbered.replaceAll("a", "") + numbered.replaceAll("a", ""), `${text}b`).matches).toBe(false);
    expect(match("{{1}}{{2}}{{3}}".repeat(100), `${text}b`).matches).toBe(false);
  });

  test("repeated values are parted between characters", () => {
    // Both faces end in the same half, which a value must not be.
    expect(match("{{2}}{{1}}x{{3}}{{1}}y{{4}}{{4}}", "😀x🨀yaa")).toEqual(values("", "😀", "🨀", "a"));
  });

  test("long repeated values are found in a text of one letter", () => {
    const [first, second] = ["a".repeat(300), "a".repeat(200)];
    expect(match("{{1}}{{2}}{{1}}{{2}}-{{1}}", `${first}${second}${first}${second}-${first}`)).toEqual(
      values(first, second),
    );
  });

  test("a repeated value of several words is found in a long text", () => {
    const written = `{{1}} ${Array.from({ length: 20 }, (_, i) => `{{${i + 2}}}`).join(" ")} {{1}}`;
    const words = Array.from({ length: 150 }, (_, i) => `w${i % 7}`).join(" ");
    const rendered = `Ann Mary Lee ${words} Ann Mary Lee`;
    const found = match(written, rendered);
    expect(found).toMatchObject({ matches: true });
    expect(found.matches && found.values[0]).toBe("Ann Mary Lee");
  });
});

// Few letters and many braces: what can be confused should be.
const snippet = (max: number) =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "b", " ", "\r\n", "{", "}", "#", "1", "😀", "é"), maxLength: max }),
    fc.constantFrom("{#var#}", "{{1}}", "{{2}}", "$&", "{SORT}"),
  );
const fixedText = snippet(6).filter((text) => !/\{#var#\}|\{\{\d+\}\}/.test(text));

interface Written {
  text: string;
  variables: number;
}

const unnumbered: fc.Arbitrary<Written> = fc
  .array(fc.oneof(fixedText, fc.constant("{#var#}")), { maxLength: 12 })
  .map((pieces) => pieces.join(""))
  .map((text) => ({ text, variables: text.split("{#var#}").length - 1 }));

const numbered: fc.Arbitrary<Written> = fc
  .array(fc.oneof(fixedText, fc.integer({ min: 0, max: 3 })), { maxLength: 10 })
  .map((pieces) => {
    // Numbered again by first appearance, so that there is no gap.
    const order = [...new Set(pieces.filter((piece) => typeof piece === "number"))];
    const text = pieces
      .map((piece) => (typeof piece === "number" ? `{{${order.indexOf(piece) + 1}}}` : piece))
      .join("");
    return { text, variables: order.length };
  });

// Joined pieces may by chance make one placeholder more; the fixed text then meant something else.
const written = fc.oneof(unnumbered, numbered).filter(({ text, variables }) => {
  const read = readTemplateText(text);
  return !("fault" in read) && read.variables === variables;
});

const filled = written.chain(({ text, variables }) =>
  fc.record({
    template: fc.constant(template(text)),
    given: fc.array(snippet(14), { minLength: variables, maxLength: variables }),
  }),
);

describe("any template", () => {
  test("its own rendering matches, with values that render to the same text", () => {
    fc.assert(
      fc.property(filled, ({ template: read, given }) => {
        const text = renderTemplate(read, given);
        const found = matchTemplate(read, text);
        expect(found.matches).toBe(true);
        if (!found.matches) return;
        expect(found.values).toHaveLength(read.variables);
        expect(renderTemplate(read, found.values)).toBe(text);
        for (const value of found.values) expect(value.isWellFormed()).toBe(true);
      }),
      { numRuns: repetitions(1000, 5000) },
    );
  });

  test("its rendering is its parts and the values, each untouched", () => {
    fc.assert(
      fc.property(filled, ({ template: read, given }) => {
        let rest = renderTemplate(read, given);
        for (const part of read.parts) {
          const piece = typeof part === "string" ? part : (given[part] ?? "");
          expect(rest.startsWith(piece)).toBe(true);
          rest = rest.slice(piece.length);
        }
        expect(rest).toBe("");
      }),
      { numRuns: repetitions(300, 1000) },
    );
  });

  test("the placeholders of a template can be joined to its text again", () => {
    fc.assert(
      fc.property(written, ({ text }) => {
        const read = template(text);
        const placeholder = (i: number) => (read.valueMax === null ? `{{${i + 1}}}` : "{#var#}");
        const names = Array.from({ length: read.variables }, (_, i) => placeholder(i));
        expect(renderTemplate(read, names)).toBe(text);
      }),
      { numRuns: repetitions(300, 1000) },
    );
  });

  // Regular expressions take exponential time on the worst of these; the texts here are short.
  test("a regular expression of the same meaning finds the same texts", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 3 });
    const pieces = fc.array(fc.oneof(letters, fc.integer({ min: 0, max: 2 })), { maxLength: 7 });
    const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
    fc.assert(
      fc.property(pieces, text, fc.constantFrom(null, 2), (given, candidate, valueMax) => {
        const read = templateOf(given, valueMax);
        const found = matchTemplate(read, candidate);
        expect(found.matches).toBe(expressionFor(read).test(candidate));
        const shown = found.matches ? renderTemplate(read, found.values) : candidate.slice(0, found.at) + found.found;
        expect(candidate.slice(0, found.matches ? undefined : found.at + 20)).toBe(shown);
      }),
      { numRuns: repetitions(4000, 20_000) },
    );
  });

  test("a changed character of its fixed text is the first difference, at its place or before it", () => {
    // Every character of the fixed text stands there once and in no value, so that no value can take it in.
    const alphabet = Array.from("abcdefghijklmnopqrstuvwxyz");
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: 26 }), { minLength: 1, maxLength: 8 });
    const value = fc.string({ unit: fc.constantFrom("0", "1", " ", "😀"), maxLength: 15 });
    const shuffled = fc.shuffledSubarray(alphabet, { minLength: 26, maxLength: 26 });
    fc.assert(
      fc.property(
        shuffled,
        cuts,
        fc.array(value, { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        fc.nat(25),
        (...args) => {
          const [letters, places, given, unlimited, mutated] = args;
          const sorted = places.toSorted((a, b) => a - b);
          const ends = [0, ...sorted, 26];
          const texts = ends.slice(1).map((end, i) => letters.slice(ends[i], end).join(""));
          const read = template(
            texts.map((text, i) => (i === 0 ? text : (unlimited ? `{{${i}}}` : "{#var#}") + text)).join(""),
          );
          const text = renderTemplate(read, given);
          const at = text.indexOf(letters[mutated] ?? "");
          const found = matchTemplate(read, `${text.slice(0, at)}?${text.slice(at + 1)}`);
          expect(found.matches).toBe(false);
          if (found.matches) return;
          expect(found.at).toBeLessThanOrEqual(at);
          // When the fixed text has begun to match, the place is exact.
          const begun = at > 0 && letters.includes(text.charAt(at - 1)) && !sorted.includes(mutated);
          const exactly = found.at === at && found.expected.startsWith(letters[mutated] ?? "?");
          expect(exactly || !begun).toBe(true);
        },
      ),
      { numRuns: repetitions(600, 3000) },
    );
  });

  test("a value over the limit does not match where the fixed text fits nowhere else", () => {
    const adjacent = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(adjacent, fc.integer({ min: 1, max: 130 }), (count, length) => {
        const found = match(`<${"{#var#}".repeat(count)}>`, `<${"x".repeat(length)}>`);
        expect(found.matches ? null : found.at).toBe(length <= 30 * count ? null : 30 * count + 1);
      }),
    );
  });
});

function templateOf(pieces: readonly (string | number)[], valueMax: number | null): TemplateText {
  const order: number[] = [];
  const parts: (string | number)[] = [];
  for (const piece of pieces) {
    const last = parts.at(-1);
    if (typeof piece === "number") {
      // A limit goes with placeholders in order, so every one of them is new.
      const known = valueMax === null ? order.indexOf(piece) : -1;
      parts.push(known === -1 ? order.push(piece) - 1 : known);
    } else if (typeof last === "string") parts[parts.length - 1] = last + piece;
    else if (piece !== "") parts.push(piece);
  }
  return { parts, variables: order.length, valueMax };
}

function expressionFor({ parts, valueMax }: TemplateText): RegExp {
  const seen = new Set<number>();
  const source = parts.map((part) => {
    if (typeof part === "string") return part;
    if (seen.has(part)) return `\\k<v${part}>`;
    seen.add(part);
    return `(?<v${part}>.${valueMax === null ? "*" : `{0,${valueMax}}`})`;
  });
  return new RegExp(`^${source.join("")}$`, "su");
}

describe("a cheaper spelling", () => {
  const long = "a".repeat(80);

  test.each<[string, string]>([
    ["‘a’ “b” „c“ «d»", '\'a\' "b" "c" "d"'],
    ["5–10 — a‑b −3", "5-10 - a-b -3"],
    ["wait…", "wait..."],
    ["a\u00a0b\u2009c\u202fd\u3000e\tf", "a b c d e f"],
    ["a\u200bb\ufeffc\u00add\u2060e", "abcde"],
    ["\u202a+91 98\u202c", "+91 98"],
    ["• one\u2028• two", "* one\n* two"],
    ["ﬁne aﬄuent", "fine affluent"],
    ["cafe\u0301", "café"],
    ["\u212b", "Å"],
  ])("%j is spelled %j without touching a letter", (found, use) => {
    const cheaper = cheaperText(found + long);
    expect(cheaper).toMatchObject({ text: use + long, segments: 1 });
    expect(cheaper?.replaced.every(({ letter }) => !letter)).toBe(true);
  });

  test.each([
    ["ç", "c"],
    ["Ș", "S"],
    ["ế", "e"],
    ["s\u0327", "s"],
    ["ł", "l"],
    ["œ", "oe"],
  ])("%j for %j is offered and marked as a change of a letter", (found, use) => {
    expect(cheaperText(`“${found}${long}`)).toEqual({
      text: `"${use}${long}`,
      replaced: [
        { found: "“", use: '"', letter: false },
        { found, use, letter: true },
      ],
      segments: 1,
    });
  });

  test("each character is named once, in the order of the text", () => {
    expect(cheaperText(`’a–a’${long}`)?.replaced.map(({ found }) => found)).toEqual(["’", "–"]);
  });

  test.each([
    "😀",
    "1\ufe0f\u20e3",
    "न",
    "कि",
    "ж",
    "й",
    "ή",
    "中",
    "₹",
    "²",
    "½",
    "×",
    "\u202e",
    "a\u20dd",
    " \u0301",
    "\ud83d",
  ])("with %j in the text there is none", (character) => {
    expect(cheaperText(`“${character}”${long}`)).toBeNull();
  });

  test("there is none for a text that fits, or that would cost the same", () => {
    expect(cheaperText("")).toBeNull();
    expect(cheaperText("a".repeat(200))).toBeNull();
    expect(cheaperText("short…")).toBeNull();
    expect(cheaperText("\u200b")).toBeNull();
    expect(cheaperText("…".repeat(70))).toBeNull();
    expect(cheaperText(`${"[".repeat(66)}…`)).toBeNull();
  });

  test("it fits GSM-7, costs less, accounts for every change, and has no cheaper one", () => {
    const ordinary = fc.constantFrom("a", "Z", " ", "é", "€", "[", "\n", "5");
    const costly = fc.constantFrom("’", "“", "–", "…", "\u00a0", "\u200b", "•", "ﬁ", "ç", "e\u0301", "x\u0304", "œ");
    const hopeless = fc.constantFrom("😀", "न", "ж", "\u0301", "\ufe0f");
    const text = fc
      .array(
        fc.oneof(
          { weight: 40, arbitrary: ordinary },
          { weight: 10, arbitrary: costly },
          { weight: 1, arbitrary: hopeless },
        ),
        {
          maxLength: 400,
          size: "max",
        },
      )
      .map((characters) => characters.join(""));
    let offered = 0;
    fc.assert(
      fc.property(text, (given) => {
        const cheaper = cheaperText(given);
        if (cheaper === null) return;
        offered++;
        expect(segment(cheaper.text)).toMatchObject({ encoding: "gsm7", segments: cheaper.segments });
        expect(cheaper.segments).toBeLessThan(segment(given).segments);
        expect(cheaperText(cheaper.text)).toBeNull();
        // Longest first, so that a letter with its accent goes before the letter.
        const byLength = cheaper.replaced.toSorted((a, b) => b.found.length - a.found.length);
        const changed = byLength.reduce((sofar, { found, use }) => sofar.replaceAll(found, use), given);
        expect(changed).toBe(cheaper.text);
      }),
      { numRuns: repetitions(300, 1500) },
    );
    expect(offered).toBeGreaterThan(0);
  });
});
