import fc from "fast-check";
import { isPossiblePhoneNumber, parsePhoneNumberFromString } from "libphonenumber-js/max";
import metadata from "libphonenumber-js/max/metadata";
import { describe, expect, test } from "vitest";
import { AREA_ZONES } from "../../src/pipeline/policy/area-codes.ts";
import { countryOf, isPossible } from "../../src/pipeline/policy/country.ts";
import { DuplicateTextFilter } from "../../src/pipeline/policy/duplicate-text.ts";
import type { KeywordRule } from "../../src/model/keyword-rule.ts";
import { OPT_OUT_WORDS, type OptOutWords } from "../../src/model/opt-out.ts";
import { readKeyword, type FoundKeyword } from "../../src/pipeline/policy/opt-out-keywords.ts";
import { INDIA_QUIET_HOURS, quietUntil, type QuietHours } from "../../src/pipeline/policy/quiet-hours.ts";
import { zonesOf } from "../../src/pipeline/policy/zones.ts";
import { repetitions } from "../support/repetitions.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const at = (written: string): number => Date.parse(written);

const zonesOfCountry = (country: string): string[] =>
  (new Intl.Locale(`und-${country}`) as Intl.Locale & { getTimeZones(): string[] }).getTimeZones();

/** Valid numbers of every country and kind, made from the patterns of their numbering plans. */
function numbersOfAllCountries(perKind: number): { number: string; country: string | null }[] {
  return Object.values(metadata.countries as unknown as Record<string, unknown[]>).flatMap((plan) => {
    const callingCode = String(plan[0]);
    const patterns = ((plan[11] ?? []) as ([string] | 0)[]).flatMap((kind) => (kind && kind[0] ? [kind[0]] : []));
    return patterns
      .flatMap((pattern) => fc.sample(fc.stringMatching(new RegExp(`^(?:${pattern})$`)), { numRuns: perKind, seed: 1 }))
      .flatMap((national) => {
        const parsed = parsePhoneNumberFromString(`+${callingCode}${national}`);
        if (!parsed?.isValid() || parsed.number !== `+${callingCode}${national}`) return [];
        return [{ number: parsed.number.slice(1), country: parsed.country ?? null }];
      });
  });
}

// Two kinds that receive no messages are left out, as they go by area code: toll-free numbers with 8001, and the seven
// digits that are dialled only inside Canada.
const isForPeople = (number: string): boolean => !number.startsWith("1") || /^1\d{3}[2-9]\d{6}$/.test(number);

describe("the country of a number", () => {
  test.each([
    ["919876543210", "IN"],
    ["12025550123", "US"],
    ["14165550123", "CA"],
    ["12425550123", "BS"],
    ["17875550123", "PR"],
    ["79161234567", "RU"],
    ["77011234567", "KZ"],
    ["447400123456", "GB"],
    ["447839123456", "GG"],
    ["447797712345", "JE"],
    ["441624230123", "IM"],
    ["390612345678", "IT"],
    ["390669812345", "VA"],
    ["4779123456", "SJ"],
    ["61891641234", "CX"],
    ["61412345678", "AU"],
    ["212650123456", "MA"],
    ["35818123456", "AX"],
    ["590590271234", "BL"],
    ["5993181234", "BQ"],
    ["38344123456", "XK"],
  ])("%s is a number of %s", (number, country) => {
    expect(countryOf(number)).toBe(country);
  });

  test("it is the one that libphonenumber finds, for numbers of every country and kind", () => {
    const numbers = numbersOfAllCountries(15).filter(({ number }) => isForPeople(number));
    expect(numbers.length).toBeGreaterThan(10_000);
    expect(new Set(numbers.map(({ country }) => country)).size).toBeGreaterThan(230);
    expect(numbers.filter(({ number, country }) => countryOf(number) !== country)).toEqual([]);
  });

  test("an unassigned area of a shared calling code is the main country's", () => {
    expect(countryOf("15550001111")).toBe("US");
    expect(countryOf("75001112233")).toBe("RU");
    expect(countryOf("44748")).toBe("GB");
  });

  test.each(["999123456789", "88213300655", "80012345678", "9", "", "hello", "0049301234567"])(
    "%j is a number of no country",
    (number) => {
      expect(countryOf(number)).toBeNull();
    },
  );

  test("a number that is cut short leaves no wrong answer behind for whole ones", () => {
    for (const length of [3, 4, 5, 6, 7, 8, 9, 10]) countryOf("447797712345".slice(0, length));
    expect(countryOf("447797712345")).toBe("JE");
    for (const length of [3, 4, 5, 6, 7, 8, 9, 10]) countryOf("12425550123".slice(0, length));
    expect(countryOf("12425550123")).toBe("BS");
  });

  test("a number is possible when its country has numbers of that length", () => {
    expect(isPossible("919876543210")).toBe(true);
    expect(isPossible("15550001111")).toBe(true);
    expect(isPossible("1202555012")).toBe(false);
    expect(isPossible("9991234567")).toBe(false);
    expect(isPossible("")).toBe(false);
  });

  test("a number is possible if libphonenumber accepts it", () => {
    const callingCode = fc.constantFrom("", ...Object.keys(metadata.country_calling_codes));
    fc.assert(
      fc.property(callingCode, fc.stringMatching(/^\d{4,14}$/), (code, rest) => {
        expect(isPossible(code + rest)).toBe(isPossiblePhoneNumber(`+${code}${rest}`));
      }),
      { numRuns: repetitions(1000, 5000) },
    );
  });
});

describe("the zones of a number", () => {
  test.each([
    ["919876543210", ["Asia/Calcutta"]],
    ["33612345678", ["Europe/Paris"]],
    ["34612345678", ["Europe/Madrid", "Atlantic/Canary"]],
    ["12125550123", ["America/New_York"]],
    ["18505550123", ["America/New_York", "America/Chicago"]],
    ["19285550123", ["America/Phoenix", "America/Denver"]],
    ["17095550123", ["America/St_Johns", "America/Goose_Bay"]],
    ["12425550123", ["America/Nassau"]],
    ["5511987654321", ["America/Sao_Paulo"]],
    ["5581987654321", ["America/Recife", "America/Noronha"]],
    ["525512345678", ["America/Mexico_City"]],
    ["5215512345678", ["America/Mexico_City"]],
    ["38344123456", ["Europe/Belgrade"]],
    ["88213300655", []],
  ])("%s may be in %j", (number, zones) => {
    expect(zonesOf(number)).toEqual(zones);
  });

  test.each([
    ["18005550123", "US"],
    ["15550001111", "US"],
    ["526641234567", "MX"],
    ["79161234567", "RU"],
    ["61412345678", "AU"],
    ["6281234567890", "ID"],
  ])("%s tells no more than its country, so it may be anywhere in %s", (number, country) => {
    expect(zonesOf(number)).toEqual(zonesOfCountry(country));
  });

  test("every country has at least one, and Intl knows all of them", () => {
    const numbers = numbersOfAllCountries(1).map(({ number }) => number);
    expect(numbers.filter((number) => zonesOf(number).length === 0)).toEqual([]);
    const zones = [...new Set(numbers.flatMap(zonesOf))];
    expect(() => zones.map((zone) => new Intl.DateTimeFormat("en", { timeZone: zone }))).not.toThrow();
  });

  const areas = Object.entries(AREA_ZONES).flatMap(([callingCode, rows]) =>
    rows.flatMap(([zones, list]) => list.split(" ").map((area) => ({ prefix: callingCode + area, zones }))),
  );

  test("an area has zones of its own country only", () => {
    const wrong = areas.filter(({ prefix, zones }) => {
      const country = countryOf(prefix.padEnd(7, "2")) ?? "";
      return !zones.split(" ").every((zone) => zonesOfCountry(country).includes(zone));
    });
    expect(wrong).toEqual([]);
  });

  test("no area is listed twice, or inside another", () => {
    const repeated = areas.filter((area) =>
      areas.some((other) => other !== area && area.prefix.startsWith(other.prefix)),
    );
    expect(repeated).toEqual([]);
    expect(areas.filter(({ prefix }) => prefix.length > 4)).toEqual([]);
  });

  test("every area code of the United States and Canada is known", () => {
    const geographic = Array.from({ length: 800 }, (_, index) => String(200 + index)).filter((area) => {
      const parsed = parsePhoneNumberFromString(`+1${area}2345678`);
      const home = parsed?.country === "US" || parsed?.country === "CA";
      return home && parsed.getType() === "FIXED_LINE_OR_MOBILE";
    });
    expect(geographic.length).toBeGreaterThan(400);
    const known = new Set(areas.map(({ prefix }) => prefix));
    expect(geographic.filter((area) => !known.has(`1${area}`))).toEqual([]);
  });
});

const formats = new Map<string, Intl.DateTimeFormat>();

/** "HH:MM" on a wall in the zone, asked of Intl each time. */
function wallClock(zone: string, time: number): string {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  formats.set(zone, format);
  return format.format(time);
}

function isQuiet({ from, to }: QuietHours, zone: string, time: number): boolean {
  const clock = wallClock(zone, time);
  return from <= to ? from <= clock && clock < to : from <= clock || clock < to;
}

const countQuiet = (hours: QuietHours, zones: readonly string[], time: number): number =>
  zones.filter((zone) => isQuiet(hours, zone, time)).length;

/** The rule, as slowly and plainly as it can be written. */
function slowQuietUntil(hours: QuietHours, zones: readonly string[], now: number): number | null {
  const start = now - (now % MINUTE);
  let best = { time: start, quiet: Infinity };
  for (let time = start; time <= start + 2 * DAY; time += MINUTE) {
    const quiet = countQuiet(hours, zones, time);
    if (quiet < best.quiet) best = { time, quiet };
    if (quiet === 0) break;
  }
  return best.time === start ? null : best.time;
}

const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Sydney",
  "Australia/Lord_Howe",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "America/St_Johns",
  "America/Santiago",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
  "Africa/Casablanca",
  "Asia/Gaza",
];

// Midnights (UTC) before and on which clocks change somewhere, in both directions and hemispheres.
const CHANGES = [
  "2026-03-08", // New York, St John's: forward
  "2026-11-01", // and back
  "2026-03-29", // Berlin: forward
  "2026-10-25", // and back
  "2026-10-03", // Sydney, Lord Howe: forward
  "2026-04-04", // and back
  "2026-09-26", // Chatham: forward
  "2026-04-05", // Santiago: back
  "2026-09-06", // and forward
].map((day) => at(`${day}T00:00Z`));

const anyTimeOfDay = fc
  .integer({ min: 0, max: 1439 })
  .map((minute) => new Date(minute * MINUTE).toISOString().slice(11, 16));
const anyHours = fc.record({ from: anyTimeOfDay, to: anyTimeOfDay });
const anyZones = fc.subarray(ZONES, { minLength: 1, maxLength: 3 });
const anyTime = fc.oneof(
  fc.integer({ min: at("2020-01-01T00:00Z"), max: at("2035-01-01T00:00Z") }),
  fc
    .tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -DAY, max: DAY }))
    .map(([midnight, offset]) => midnight + offset),
);

describe("quiet hours", () => {
  const kolkata = ["Asia/Kolkata"];

  test.each([
    ["2026-06-01T04:29:59.999Z", "2026-06-01T04:30Z"], // 09:59 there
    ["2026-06-01T04:30Z", null],
    ["2026-06-01T15:29:59Z", null], // 20:59
    ["2026-06-01T15:30Z", "2026-06-02T04:30Z"],
    ["2026-06-01T23:00Z", "2026-06-02T04:30Z"],
  ])("in India at %s a promotion waits until %s", (now, until) => {
    expect(quietUntil(INDIA_QUIET_HOURS, kolkata, at(now))).toBe(until && at(until));
  });

  test("Nepal is a quarter of an hour ahead of India", () => {
    expect(quietUntil(INDIA_QUIET_HOURS, ["Asia/Kathmandu"], at("2026-06-01T04:10Z"))).toBe(at("2026-06-01T04:15Z"));
  });

  test("hours inside one day hold inside it", () => {
    const siesta = { from: "13:00", to: "15:30" };
    expect(quietUntil(siesta, ["Europe/Madrid"], at("2026-01-10T11:59Z"))).toBeNull();
    expect(quietUntil(siesta, ["Europe/Madrid"], at("2026-01-10T12:00Z"))).toBe(at("2026-01-10T14:30Z"));
    expect(quietUntil(siesta, ["Europe/Madrid"], at("2026-01-10T14:30Z"))).toBeNull();
  });

  test("hours that end where they begin are never quiet", () => {
    expect(quietUntil({ from: "10:00", to: "10:00" }, kolkata, at("2026-06-01T04:30Z"))).toBeNull();
  });

  test("no quiet hours apply when no zone is known", () => {
    expect(quietUntil(INDIA_QUIET_HOURS, [], at("2026-06-01T23:00Z"))).toBeNull();
  });

  test("a number that may be in several zones waits for the last of them to wake", () => {
    const florida = zonesOf("18505550123");
    expect(quietUntil(INDIA_QUIET_HOURS, florida, at("2026-01-10T15:30Z"))).toBe(at("2026-01-10T16:00Z"));
    expect(quietUntil(INDIA_QUIET_HOURS, florida, at("2026-01-11T02:00Z"))).toBe(at("2026-01-11T16:00Z"));
  });

  const night = { from: "22:00", to: "02:30" };

  test.each([
    ["Europe/Berlin", "2026-03-29T00:30Z", "2026-03-29T01:00Z"], // 02:30 does not exist; it is 03:00 at once
    ["Europe/Berlin", "2026-10-25T00:10Z", "2026-10-25T00:30Z"], // the first 02:30
    ["Europe/Berlin", "2026-10-25T01:10Z", "2026-10-25T01:30Z"], // the second
    ["America/New_York", "2026-03-08T06:30Z", "2026-03-08T07:00Z"],
    ["America/New_York", "2026-11-01T05:10Z", "2026-11-01T07:30Z"],
    ["Australia/Sydney", "2026-10-03T15:30Z", "2026-10-03T16:00Z"],
    ["Australia/Sydney", "2026-04-04T15:10Z", "2026-04-04T15:30Z"],
    ["Australia/Sydney", "2026-04-04T16:10Z", "2026-04-04T16:30Z"],
  ])("in %s, where the clocks change, it is quiet from %s until %s", (zone, now, until) => {
    expect(quietUntil(night, [zone], at(now))).toBe(at(until));
  });

  test("zones that are never awake together get the minute with the fewest quiet, and then may be sent to", () => {
    const long = { from: "10:00", to: "08:00" };
    const zones = ["Asia/Tokyo", "Europe/London", "Europe/Lisbon"]; // awake 23–01 and 08–10 UTC
    const noon = at("2026-01-10T12:00Z");
    expect(quietUntil(long, zones, noon)).toBe(at("2026-01-11T08:00Z"));
    expect(quietUntil(long, zones, at("2026-01-11T08:00Z"))).toBeNull();
  });

  test("the answer is that of a reference which asks Intl about every minute", () => {
    fc.assert(
      fc.property(anyHours, anyZones, anyTime, (hours, zones, now) => {
        expect(quietUntil(hours, zones, now)).toBe(slowQuietUntil(hours, zones, now));
      }),
      { numRuns: repetitions(100, 300) },
    );
  });

  test("around every change of the clocks, each minute agrees with the reference", () => {
    const hours = { from: "23:15", to: "02:45" };
    const wrong = CHANGES.flatMap((midnight) =>
      ZONES.flatMap((zone) => {
        const zones = [zone];
        const minutes = Array.from({ length: (2 * DAY) / MINUTE }, (_, index) => midnight - 12 * HOUR + index * MINUTE);
        // Backwards, so that the next waking is known; from a day later on, which begins after it.
        let waking = slowQuietUntil(hours, zones, midnight + 2 * DAY - 12 * HOUR);
        return minutes.toReversed().filter((time) => {
          waking = isQuiet(hours, zone, time) ? (waking ?? time + MINUTE) : null;
          return quietUntil(hours, zones, time) !== waking;
        });
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("it is never in the past, then quiet nowhere, and the minute before quiet somewhere", () => {
    const neighbours = fc.constantFrom(
      ["Europe/Berlin", "Africa/Casablanca"],
      ["Asia/Kolkata", "Asia/Kathmandu"],
      ["America/New_York", "America/St_Johns"],
      ["Australia/Sydney", "Australia/Lord_Howe", "Pacific/Chatham"],
    );
    const tenHours = anyTimeOfDay.map((from) => ({
      from,
      to: wallClock("UTC", at(`2026-01-01T${from}Z`) + 10 * HOUR),
    }));
    fc.assert(
      fc.property(tenHours, neighbours, anyTime, (hours, zones, now) => {
        const until = quietUntil(hours, zones, now);
        expect(until ?? now).toBeGreaterThanOrEqual(now);
        expect(countQuiet(hours, zones, until ?? now)).toBe(0);
        expect(until === null || countQuiet(hours, zones, until - MINUTE) > 0).toBe(true);
      }),
      { numRuns: repetitions(300, 1000) },
    );
  });
});

describe("the flood filter", () => {
  const filter = (entriesMax = 1000): DuplicateTextFilter => new DuplicateTextFilter({ entriesMax });

  test("the same text to the same number is counted, this time included", () => {
    const flood = filter();
    expect(flood.count(1, "4915112345678", "hello", HOUR, 0)).toBe(1);
    expect(flood.count(1, "4915112345678", "hello", HOUR, 10)).toBe(2);
    expect(flood.count(1, "4915112345678", "hello", HOUR, 20)).toBe(3);
  });

  test("another text, another number or another account is another count", () => {
    const flood = filter();
    flood.count(1, "4915112345678", "hello", HOUR, 0);
    expect(flood.count(1, "4915112345678", "hello!", HOUR, 1)).toBe(1);
    expect(flood.count(1, "4915112345679", "hello", HOUR, 1)).toBe(1);
    expect(flood.count(14, "915112345678", "hello", HOUR, 1)).toBe(1);
    expect(flood.count(2, "4915112345678", "hello", HOUR, 1)).toBe(1);
  });

  test("a send counts while it is younger than the window", () => {
    const flood = filter();
    flood.count(1, "4915112345678", "hello", HOUR, 0);
    flood.count(1, "4915112345678", "hello", HOUR, 10);
    expect(flood.count(1, "4915112345678", "hello", HOUR, HOUR - 1)).toBe(3);
    expect(flood.count(1, "4915112345678", "hello", HOUR, HOUR)).toBe(3);
    expect(flood.count(1, "4915112345678", "hello", HOUR, HOUR + 10)).toBe(3);
    expect(flood.count(1, "4915112345678", "hello", HOUR, 3 * HOUR)).toBe(1);
  });

  test("messages with pauses longer than the window never reach the limit", () => {
    const flood = filter();
    for (let hour = 0; hour < 100; hour++) {
      expect(flood.count(1, "4915112345678", "hourly", HOUR, hour * HOUR)).toBe(1);
    }
  });

  test("a clock that is set back loses no send", () => {
    const flood = filter();
    for (const hour of [5, 4, 4, 5, 4]) flood.count(1, "4915112345678", "hello", HOUR, hour * HOUR);
    expect(flood.count(1, "4915112345678", "hello", HOUR, 5 * HOUR + 10)).toBe(6);
  });

  test("counts go on over a change of generations", () => {
    const flood = filter(10);
    for (let n = 1; n <= 4; n++) flood.count(1, "4915112345678", "hello", HOUR, n);
    for (let n = 0; n < 4; n++) flood.count(1, `49151000000${n}`, "other", HOUR, 5);
    expect(flood.count(1, "4915112345678", "hello", HOUR, 6)).toBe(5);
  });

  test("a forgotten text leaves nothing behind for later ones", () => {
    const counts = Array.from({ length: 200 }, () => {
      const flood = filter(4);
      for (const text of ["a", "a", "b", "b", "c"]) flood.count(1, "4915112345678", text, HOUR, 0);
      return flood.count(1, "4915112345678", "c", HOUR, 0);
    });
    expect(new Set(counts)).toEqual(new Set([2]));
  });

  test("too small a memory is refused", () => {
    expect(() => filter(1)).toThrow(RangeError);
    expect(() => filter(Number.NaN)).toThrow(RangeError);
  });

  test("it never remembers more than it may, invents nothing, and counts the last half of its memory rightly", () => {
    const send = fc.record({
      account: fc.integer({ min: 1, max: 2 }),
      recipient: fc.constantFrom("4915112345678", "919876543210"),
      text: fc.constantFrom("a", "b"),
      afterMs: fc.nat(30),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 1, max: 300 }),
        fc.array(send, { maxLength: 200 }),
        (entriesMax, windowMs, sends) => {
          const flood = filter(entriesMax);
          const past: { key: string; time: number }[] = [];
          let now = 0;
          for (const { account, recipient, text, afterMs } of sends) {
            now += afterMs;
            const key = `${account} ${recipient} ${text}`;
            const counted = flood.count(account, recipient, text, windowMs, now);
            const matching = (list: typeof past): number =>
              list.filter((each) => each.key === key && now - each.time < windowMs).length + 1;
            expect(counted).toBeLessThanOrEqual(matching(past));
            expect(counted).toBeGreaterThanOrEqual(matching(past.slice(-Math.floor(entriesMax / 2))));
            expect(flood.size).toBeLessThanOrEqual(entriesMax);
            past.push({ key, time: now });
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

const USER = { from: "33612345678", to: "HELIOG" };

describe("opt-out keywords", () => {
  const read = (text: string, { stop, start }: OptOutWords = OPT_OUT_WORDS): FoundKeyword["name"] | null =>
    readKeyword(text, { stopWords: stop, startWords: start, keywordRules: [] }, USER)?.name ?? null;

  test.each([
    "STOP",
    "stop",
    "Stop.",
    " STOP!",
    "“stop”",
    "stop 🙏",
    "🛑 stop 🛑",
    "stop ❤️",
    "👍🏽stop👨‍👩‍👧",
    "1️⃣ stop",
    "stop ‼️ℹ️™️",
    "🇮🇳 stop 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "ＳＴＯＰ",
    "s\u200btop\ufeff",
    "STOP ALL",
    "stop-all",
    "stopall",
    "opt out",
    "Opt-Out",
    "OPTOUT",
    "unsubscribe\n",
    "¡Cancel!",
    "end",
    "quit…",
  ])("%j means stop", (text) => {
    expect(read(text)).toBe("stop");
  });

  test.each(["START", "start!", "Unstop", "subscribe 🙂", "opt in"])("%j means start", (text) => {
    expect(read(text)).toBe("start");
  });

  test.each([
    "please stop sending",
    "stop it",
    "don't stop",
    "non-stop",
    "st op",
    "stops",
    "YES",
    "1",
    "",
    "  ",
    "🙏",
    "?!",
    "the end",
    "stop start",
    "stop 1",
  ])("%j is a message like any other", (text) => {
    expect(read(text)).toBeNull();
  });

  test("keywords of any language match in any capitalisation and with any accents", () => {
    const words: OptOutWords = { stop: ["ARRÊT", "iptal", "रोकें", "СТОП", "توقف"], start: ["DÉBUT", "başla"] };
    const leaving = ["arret", "Arrêt!", "İPTAL", "IPTAL", "ıptal", "रोकें।", "стоп", "توقف؟"];
    expect(leaving.filter((text) => read(text, words) !== "stop")).toEqual([]);
    expect(read("debut", words)).toBe("start");
    expect(read("BAŞLA", words)).toBe("start");
    expect(read("रुकें", words)).toBeNull();
    expect(read("stop", words)).toBeNull();
  });

  test("a word in both lists means stop, and one without letters means nothing", () => {
    expect(read("ok", { stop: ["OK"], start: ["OK"] })).toBe("stop");
    expect(read("!", { stop: ["!"], start: [] })).toBeNull();
  });

  describe("with rules", () => {
    const rule = (changes: Partial<KeywordRule> = {}): KeywordRule => ({
      language: null,
      numbers: null,
      countries: null,
      stopWords: null,
      startWords: null,
      helpWords: ["HELP"],
      confirmWords: ["YES"],
      stopReply: null,
      startReply: null,
      helpReply: null,
      confirmReply: null,
      ...changes,
    });
    const found = (text: string, rules: readonly KeywordRule[], parties = USER): string | null => {
      const settings = { stopWords: ["STOP", "END"], startWords: ["START"], keywordRules: rules };
      const keyword = readKeyword(text, settings, parties);
      return keyword && `${keyword.name} ${keyword.rule?.language}`;
    };
    const french = rule({ language: "fr", countries: ["FR"], stopWords: ["ARRET"], confirmReply: "Oui ?" });
    const anywhere = rule({ language: "en" });
    const booking = rule({ language: "de", numbers: ["+491700000001"], stopWords: ["RAUS"] });

    test("a rule for the number precedes one for the country, and that one the others", () => {
      const rules = [anywhere, french, booking];
      expect(found("stop", rules)).toBe("stop fr");
      expect(found("stop", rules, { ...USER, to: "491700000001" })).toBe("stop de");
      expect(found("stop", rules, { from: "15550100100", to: "HELIOG" })).toBe("stop en");
    });

    test("words of a rule replace those of the account, except for STOP", () => {
      expect(found("end", [french])).toBeNull();
      expect(found("arrêt", [french])).toBe("stop fr");
      expect(found("STOP", [french])).toBe("stop fr");
      expect(found("end", [anywhere])).toBe("stop en");
    });

    test("among rules of one group, the first with the word decides, so the word chooses the language", () => {
      const spanish = rule({ language: "es", stopWords: ["BAJA"] });
      expect(found("baja", [anywhere, spanish])).toBe("stop es");
      expect(found("stop", [anywhere, spanish])).toBe("stop en");
    });

    test("without a rule that applies, the words of the account count", () => {
      expect(found("end", [french], { from: "15550100100", to: "HELIOG" })).toBe("stop undefined");
      expect(found("help", [french], { from: "15550100100", to: "HELIOG" })).toBeNull();
    });

    test("a word that confirms counts only under a rule with double opt-in", () => {
      expect(found("yes", [french])).toBe("confirm fr");
      expect(found("yes", [anywhere])).toBeNull();
    });
  });

  test("characters around a word do not change it", () => {
    const noise = fc
      .array(fc.constantFrom(" ", "\n", "\t", ".", "!", "?", "…", "*", "“", "🙏", "❤️", "👍🏽", "🇮🇳", "\u200d", "-"))
      .map((parts) => parts.join(""));
    const word = fc.constantFrom(...OPT_OUT_WORDS.stop).chain((chosen) =>
      fc.array(fc.boolean(), { minLength: chosen.length, maxLength: chosen.length }).map((upper) =>
        Array.from(chosen)
          .map((letter, index) => (upper[index] ? letter : letter.toLowerCase()))
          .join(""),
      ),
    );
    fc.assert(
      fc.property(noise, word, noise, (before, said, after) => {
        expect(read(before + said + after)).toBe("stop");
        expect(read(`${before + said + after} please`)).toBeNull();
      }),
    );
  });

  test("any text at all is read without complaint, halves of characters included", () => {
    const anyText = fc.array(fc.integer({ min: 0, max: 0x10ffff })).map((codes) => String.fromCodePoint(...codes));
    fc.assert(
      fc.property(anyText, (text) => {
        expect(["stop", "start", null]).toContain(read(text));
      }),
    );
  });
});
