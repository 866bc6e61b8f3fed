import { ZoneClock } from "./zone-clock.ts";

/** When nobody wants to be disturbed: "HH:MM" on the recipient's clock, over midnight too; never when both are equal. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
}

/** What Indian rules ask of promotional messages: 10:00 to 21:00 is allowed. */
export const INDIA_QUIET_HOURS: QuietHours = { from: "21:00", to: "10:00" };

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const HORIZON_MINUTES = 2 * DAY_MINUTES;

// A campaign asks the same question for every recipient, so the answer is kept until the minute is over. Hours and
// zones are known by identity: both live as long as the settings and tables that hold them.
const answers = new WeakMap<QuietHours, WeakMap<readonly string[], { minute: number; until: number | null }>>();

/**
 * When a message may go to somebody who may be in any of the zones: null for now, or else the first minute (epoch
 * milliseconds) at which it is quiet in none of them. If they are never all awake within 48 hours, it is the first
 * minute with the fewest zones quiet, and that minute itself answers null, so that nothing is held for ever.
 */
export function quietUntil(hours: QuietHours, zones: readonly string[], now: number): number | null {
  const minute = Math.floor(now / MINUTE_MS);
  let ofHours = answers.get(hours);
  if (ofHours === undefined) answers.set(hours, (ofHours = new WeakMap()));
  const known = ofHours.get(zones);
  if (known?.minute === minute) return known.until;

  const free = firstFreeMinute(readSpan(hours), zones.map(clockOf), minute);
  const until = free === minute ? null : free * MINUTE_MS;
  ofHours.set(zones, { minute, until });
  return until;
}

/** In minutes: where it begins after local midnight, and how long it lasts. */
interface Span {
  from: number;
  length: number;
}

function readSpan(hours: QuietHours): Span {
  const from = minutesOf(hours.from);
  return { from, length: (minutesOf(hours.to) - from + DAY_MINUTES) % DAY_MINUTES };
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

// The number of quiet zones falls only where one of them wakes, so it is enough to look there.
function firstFreeMinute(span: Span, clocks: readonly ZoneClock[], minute: number): number {
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

/** The first minute, from the given one on, at which it is not quiet by this clock. */
function endOfQuiet(span: Span, clock: ZoneClock, minute: number): number {
  let at = minute;
  for (;;) {
    const elapsed = (clock.timeOfDay(at) - span.from + DAY_MINUTES) % DAY_MINUTES;
    if (elapsed >= span.length) return at;
    at = Math.min(at + span.length - elapsed, clock.steadyUntil(at));
  }
}

const clocks = new Map<string, ZoneClock>();

function clockOf(zone: string): ZoneClock {
  let clock = clocks.get(zone);
  if (clock === undefined) clocks.set(zone, (clock = new ZoneClock(zone)));
  return clock;
}
