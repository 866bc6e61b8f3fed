import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeCursor,
  nextPage,
  rowsToRead,
  startAt,
  encodeCursor,
  type EventPosition,
} from "../../src/http/public/event-cursor.ts";
import { newId } from "../../src/lib/ids.ts";

const NOON = Date.UTC(2026, 0, 15, 12);
const LATE_MS = 30_000;

/** An event has its id at one moment and is in the store from a later one on. */
interface Event {
  eventId: string;
  storedAt: number;
}

const eventAt = (at: number, lateMs = 0): Event => ({ eventId: newId(at), storedAt: at + lateMs });

/** Rows of the store behind a floor at a given time. */
const rowsAt = (events: readonly Event[], now: number, { floor }: EventPosition, limit: number): Event[] =>
  events
    .filter(({ eventId, storedAt }) => storedAt <= now && eventId > floor)
    .toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1))
    .slice(0, limit);

/** One call of a reader that keeps nothing but the text of its cursor. */
function call(events: readonly Event[], cursor: string, now: number, limit: number): { ids: string[]; cursor: string } {
  const position = decodeCursor(cursor);
  if (!position) throw new Error(`${cursor} is no cursor`);
  const rows = rowsAt(events, now, position, rowsToRead(position, limit));
  const { page, next } = nextPage(position, rows, { limit, now });
  expect(page.length).toBeLessThanOrEqual(limit);
  return { ids: page.map(({ eventId }) => eventId), cursor: encodeCursor(next) };
}

const START = encodeCursor(startAt(0));

describe("a cursor of events", () => {
  test("lists every event exactly once, although events are stored up to 30 s late", () => {
    const moments = fc.array(fc.record({ at: fc.nat(90_000), lateMs: fc.nat(LATE_MS) }), {
      minLength: 1,
      maxLength: 60,
    });
    const asking = fc.array(fc.record({ waitMs: fc.nat(20_000), limit: fc.integer({ min: 1, max: 7 }) }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(moments, asking, (happened, asked) => {
        const events = happened.map(({ at, lateMs }) => eventAt(NOON + at, lateMs));
        const given: string[] = [];
        let cursor = START;
        let now = NOON;
        for (const { waitMs, limit } of asked) {
          now += waitMs;
          const answer = call(events, cursor, now, limit);
          given.push(...answer.ids);
          ({ cursor } = answer);
        }
        for (let rest = [""]; rest.length > 0;) {
          now += 2 * LATE_MS;
          const answer = call(events, cursor, now + 90_000, 7);
          rest = answer.ids;
          given.push(...rest);
          ({ cursor } = answer);
        }
        expect(given.toSorted()).toEqual(events.map(({ eventId }) => eventId).toSorted());
      }),
      { numRuns: 500 },
    );
  });

  test("lists a new event at once and never again", () => {
    const events = [eventAt(NOON), eventAt(NOON + 1), eventAt(NOON + 2)];
    const first = call(events, START, NOON + 2, 50);
    expect(first.ids).toEqual(events.map(({ eventId }) => eventId));
    expect(call(events, first.cursor, NOON + 3, 50).ids).toEqual([]);
    expect(call(events, first.cursor, NOON + 90_000, 50).ids).toEqual([]);
  });

  test("shrinks to its floor once no event can be late", () => {
    const events = [eventAt(NOON), eventAt(NOON + 1)];
    const fresh = call(events, START, NOON + 2, 50).cursor;
    const settled = call(events, fresh, NOON + 90_000, 50).cursor;
    expect(fresh.length).toBeGreaterThan(settled.length);
    expect(settled).toBe(events[1]?.eventId);
  });

  test("fits into a URL under any load and omits no event", () => {
    const events = Array.from({ length: 3000 }, (_, index) => eventAt(NOON + index * 10));
    const given: string[] = [];
    let cursor = START;
    for (let now = NOON; now < NOON + 120_000; now += 1000) {
      for (let full = true; full;) {
        const answer = call(events, cursor, now, 200);
        full = answer.ids.length === 200;
        given.push(...answer.ids);
        ({ cursor } = answer);
        expect(cursor.length).toBeLessThan(1500);
      }
    }
    expect(given).toEqual(events.map(({ eventId }) => eventId));
  });

  test.each([
    "",
    "now",
    "1",
    `${START}.`,
    `${START}.AAAA`,
    `${START}.AAAAAAA=`,
    `${START}..`,
    `${START}.AAAAAAA.`,
    START.toUpperCase().replace("0", "A"),
  ])("%j is not a cursor", (written) => {
    expect(decodeCursor(written)).toBeNull();
  });

  test("with more than 200 seen events is invalid", () => {
    const seen = new Set(Array.from({ length: 201 }, () => newId(NOON).slice(-10)));
    expect(decodeCursor(encodeCursor({ ...startAt(NOON), seen }))).toBeNull();
    seen.delete([...seen][0] ?? "");
    expect(decodeCursor(encodeCursor({ ...startAt(NOON), seen }))).toEqual({ ...startAt(NOON), seen });
  });
});
