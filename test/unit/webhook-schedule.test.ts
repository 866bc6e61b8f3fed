import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isBusy, nextTryAt, readRetryAfter } from "../../src/webhooks/retry-schedule.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const NOW = Date.parse("2026-01-01T00:00:00Z");
const NEVER_MORE = 10;

type Tries = Parameters<typeof nextTryAt>[0];
const calm = { now: NOW, retryAfterMs: null, busy: false, random: () => 0.5 };
const pauseOf = (tries: Partial<Tries> & { attempts: number }): number | null => {
  const at = nextTryAt({ ...calm, ...tries });
  return at === null ? null : at - (tries.now ?? NOW);
};

const PAUSES = [
  0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR,
] as const; // prettier-ignore

const attempts = fc.integer({ min: 0, max: NEVER_MORE - 1 });
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const asked = fc.integer({ min: 0, max: 60 * 24 * HOUR });

describe("the schedule of tries", () => {
  test.each(PAUSES.map((pause, made) => [made, pause] as const))(
    "after %i tries the next comes in %i ms, give or take a fifth",
    (made, pause) => {
      expect(pauseOf({ attempts: made })).toBe(pause);
      expect(pauseOf({ attempts: made, random: () => 0 })).toBe(Math.round(pause * 0.8));
      expect(pauseOf({ attempts: made, random: () => 1 - Number.EPSILON })).toBe(Math.round(pause * 1.2));
    },
  );

  test("the first try is at once", () => {
    expect(nextTryAt({ ...calm, attempts: 0 })).toBe(NOW);
  });

  test("after the tenth try there is no other", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: NEVER_MORE, max: 1000 }),
        fc.option(asked),
        fc.boolean(),
        (made, retryAfterMs, busy) => {
          expect(nextTryAt({ ...calm, attempts: made, retryAfterMs, busy })).toBeNull();
        },
      ),
    );
  });

  test("the tries of a push take three days in all, and a little over", () => {
    expect(PAUSES.reduce((sum: number, _pause, made) => sum + (pauseOf({ attempts: made }) ?? 0), 0)).toBe(
      75 * HOUR + 35 * MINUTE + 5 * SECOND,
    );
  });

  test("every pause is longer than the one before it, with the same luck", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: NEVER_MORE - 1 }), chance, (made, luck) => {
        const random = (): number => luck;
        expect(pauseOf({ attempts: made, random })).toBeGreaterThan(
          pauseOf({ attempts: made - 1, random }) ?? Infinity,
        );
      }),
    );
  });

  test("a pause is a whole number of milliseconds within a fifth of the planned one", () => {
    fc.assert(
      fc.property(attempts, chance, fc.integer({ min: 0, max: 4e12 }), (made, luck, now) => {
        const pause = pauseOf({ attempts: made, now, random: () => luck }) ?? Number.NaN;
        expect(Number.isSafeInteger(pause)).toBe(true);
        expect(pause).toBeGreaterThanOrEqual(Math.floor((PAUSES[made] ?? 0) * 0.8));
        expect(pause).toBeLessThanOrEqual(Math.ceil((PAUSES[made] ?? 0) * 1.2));
      }),
    );
  });
});

describe("an endpoint that is too busy", () => {
  test.each([429, 502, 503, 504])("status %i means that the endpoint is overloaded", (status) => {
    expect(isBusy({ status, timedOut: false })).toBe(true);
  });

  test("a time-out means overload, a refused connection does not", () => {
    expect(isBusy({ status: null, timedOut: true })).toBe(true);
    expect(isBusy({ status: null, timedOut: false })).toBe(false);
  });

  test.each([302, 400, 401, 404, 410, 500, 501])("status %i does not mean overload", (status) => {
    expect(isBusy({ status, timedOut: false })).toBe(false);
  });

  test("it is left alone for at least a minute, and not by all at the same moment", () => {
    expect(pauseOf({ attempts: 1, busy: true, random: () => 0 })).toBe(60 * SECOND);
    expect(pauseOf({ attempts: 1, busy: true, random: () => 0.5 })).toBe(66 * SECOND);
    fc.assert(
      fc.property(attempts, chance, fc.option(asked), (made, luck, retryAfterMs) => {
        const pause = pauseOf({ attempts: made, busy: true, retryAfterMs, random: () => luck });
        expect(pause).toBeGreaterThanOrEqual(MINUTE);
      }),
    );
  });

  test("a longer pause of the plan wins", () => {
    expect(pauseOf({ attempts: 4, busy: true })).toBe(2 * HOUR);
    expect(pauseOf({ attempts: 4, busy: true, random: () => 0 })).toBe(1.6 * HOUR);
  });
});

describe("a pause that was asked for", () => {
  test("it is kept, where it is between the planned pause and twice that", () => {
    expect(pauseOf({ attempts: 3, retryAfterMs: 45 * MINUTE, random: () => 0 })).toBe(45 * MINUTE);
    expect(pauseOf({ attempts: 1, busy: true, retryAfterMs: 90 * SECOND, random: () => 0 })).toBe(90 * SECOND);
  });

  test("a shorter Retry-After does not advance the next try", () => {
    expect(pauseOf({ attempts: 3, retryAfterMs: 0, random: () => 0 })).toBe(30 * MINUTE);
  });

  test("a longer one puts it off to twice the planned pause and no further", () => {
    expect(pauseOf({ attempts: 3, retryAfterMs: 365 * 24 * HOUR })).toBe(HOUR);
    expect(pauseOf({ attempts: 1, busy: true, retryAfterMs: HOUR })).toBe(2 * MINUTE);
  });

  test("no try starts before the requested time, unless that exceeds the limit", () => {
    fc.assert(
      fc.property(attempts, chance, asked, fc.boolean(), (made, luck, retryAfterMs, busy) => {
        const base = Math.max(PAUSES[made] ?? 0, busy ? MINUTE : 0);
        const pause = pauseOf({ attempts: made, busy, retryAfterMs, random: () => luck });
        expect(pause).toBeGreaterThanOrEqual(Math.min(Math.max(base, retryAfterMs), 2 * base));
        expect(pause).toBeLessThanOrEqual(2 * base);
      }),
    );
  });
});

describe("Retry-After", () => {
  test.each([
    ["0", 0],
    ["120", 120 * SECOND],
    [" 120 ", 120 * SECOND],
    ["Thu, 01 Jan 2026 00:02:00 GMT", 2 * MINUTE],
    ["Thursday, 01-Jan-26 00:02:00 GMT", 2 * MINUTE],
    ["Thu Jan  1 00:02:00 2026", 2 * MINUTE],
    ["Sat, 31 Jan 2026 00:00:00 GMT", 30 * 24 * HOUR],
    ["Wed, 31 Dec 2025 23:59:59 GMT", 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
  ])("%j is a pause of %i ms", (header, pause) => {
    expect(readRetryAfter(header, NOW)).toBe(pause);
  });

  test.each([
    "", "-1", "1.5", "soon", "1e3", "0x10", "120 seconds", "2026-01-01T00:02:00Z", "Thu, 01 Foo 2026 00:02:00 GMT",
    "Thu, 41 Jan 2026 00:02:00 GMT", "Thu, 01 Jan 2026 25:02:00 GMT", "Thu, 01 Jan 2026 00:02:00 CET",
  ])("%j asks for nothing", (header) => {
    expect(readRetryAfter(header, NOW)).toBeNull();
  }); // prettier-ignore

  test("an absent header asks for no pause", () => {
    expect(readRetryAfter(null, NOW)).toBeNull();
  });

  test("every date that HTTP writes is read to the second", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800 }), (seconds) => {
        const written = new Date(seconds * SECOND).toUTCString();
        expect(readRetryAfter(written, NOW)).toBe(Math.max(0, seconds * SECOND - NOW));
      }),
    );
  });

  test("whatever an endpoint writes gives a pause that can be reckoned with, or none", () => {
    const numbers = fc.bigInt({ min: 0n, max: 10n ** 400n }).map(String);
    fc.assert(
      fc.property(fc.oneof(fc.string(), numbers), (header) => {
        const pause = readRetryAfter(header, NOW);
        expect(pause === null || (Number.isFinite(pause) && pause >= 0)).toBe(true);
      }),
    );
  });
});
