import { timeZone, type TimeZone } from "../../lib/time-zone.ts";

/** Hours without promotions: "HH:MM" on the recipient's clock, also across midnight; equal times mean none. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
}

/** Indian regulation allows promotions from 10:00 to 21:00. */
export const INDIA_QUIET_HOURS: QuietHours = { from: "21:00", to: "10:00" };

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const HORIZON_MINUTES = 2 * DAY_MINUTES;

// Memo per minute: a campaign asks the same question for every recipient. Hours and zones are compared by identity, because
// both live as long as the settings and tables that hold them.
const answers = new WeakMap<QuietHours, WeakMap<readonly string[], { minute: number; until: number | null }>>();

/**
 * The first time (epoch milliseconds) outside the quiet hours of all zones; null means now. If the quiet hours of the zones
 * cover all 48 hours ahead, it is the first minute with the fewest quiet zones. That minute itself returns null, so that no
 * message is held forever.
 */
export function quietUntil(hours: QuietHours, zones: readonly string[], now: number): number | null {
  const minute = Math.floor(now / MINUTE_MS);
  let ofHours = answers.get(hours);
  if (ofHours === undefined) answers.set(hours, (ofHours = new WeakMap()));
  const known = ofHours.get(zones);
  if (known?.minute === minute) return known.until;

  const free = firstFreeMinute(readSpan(hours), zones.map(timeZone), minute);
  const until = free === minute ? null : free * MINUTE_MS;
  ofHours.set(zones, { minute, until });
  return until;
}

/** In minutes: the start after local midnight, and the length. */
interface Span {
  from: number;
  length: number;
}

function readSpan(hours: QuietHours): Span {
  const from = minutesOf(hours.from);
  return { from, length: (minutesOf(hours.to) - from + DAY_MINUTES) % DAY_MINUTES };
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

// The number of quiet zones decreases only at the end of quiet hours in a zone, so only those minutes are examined.
function firstFreeMinute(span: Span, clocks: readonly TimeZone[], minute: number): number {
  let best = minute;
  let fewest = Infinity;
  for (let at = minute; at <= minute + HORIZON_MINUTES;) {
    let quiet = 0;
    let next = Infinity;
    for (const clock of clocks) {
      const end = endOfQuiet(span, clock, at);
      if (end === at) continue;
      quiet++;
      next = Math.min(next, end);
    }
    if (quiet === 0) return at;
    if (quiet < fewest) {
      fewest = quiet;
      best = at;
    }
    at = next;
  }
  return best;
}

/** The first minute outside the quiet hours of this clock, from the given one on. */
function endOfQuiet(span: Span, clock: TimeZone, minute: number): number {
  let at = minute;
  for (;;) {
    const elapsed = (clock.minuteOfDay(at) - span.from + DAY_MINUTES) % DAY_MINUTES;
    if (elapsed >= span.length) return at;
    at = Math.min(at + span.length - elapsed, clock.steadyUntil(at));
  }
}
