const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const SLOT_MINUTES = 15;
const DAYS_KEPT_MAX = 32;
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2}))?/;

/**
 * The UTC offsets of one time zone. Intl takes microseconds per call, so it is called twice per day. On a day with a clock
 * change it is called for each quarter of an hour, because changes fall on a quarter.
 */
export class TimeZone {
  readonly #offsetFormat: Intl.DateTimeFormat;
  /** By UTC day: the offset in minutes, or one offset per quarter of an hour. */
  readonly #days = new Map<number, number | Int16Array>();
  /** Most events of one second are formatted in a row. */
  #formatted = { second: Number.NaN, text: "" };

  /** Throws a RangeError if the system does not know the zone. */
  constructor(name: string) {
    this.#offsetFormat = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
  }

  /** Minutes after local midnight; `minute` counts from the epoch. */
  minuteOfDay(minute: number): number {
    return (minute + this.#offsetAt(minute) + DAY_MINUTES) % DAY_MINUTES;
  }

  /** The offset does not change before this minute; `minute` counts from the epoch. */
  steadyUntil(minute: number): number {
    const step = typeof this.#dayOf(minute) === "number" ? DAY_MINUTES : SLOT_MINUTES;
    return minute - (minute % step) + step;
  }

  /** Local time as `YYYY-MM-DD HH:mm:ss`. */
  format(at: number): string {
    const second = Math.floor(at / SECOND_MS);
    if (second !== this.#formatted.second) {
      const local = at + this.#offsetAt(Math.floor(at / MINUTE_MS)) * MINUTE_MS;
      this.#formatted = { second, text: new Date(local).toISOString().slice(0, 19).replace("T", " ") };
    }
    return this.#formatted.text;
  }

  /**
   * The moment at which local clocks show a time; `localMs` is that time read as UTC. For a time that a clock change skips
   * it is the moment after the change, and for a repeated time one of the two.
   */
  toUtc(localMs: number): number {
    const guess = localMs - this.#offsetAt(Math.floor(localMs / MINUTE_MS)) * MINUTE_MS;
    return localMs - this.#offsetAt(Math.floor(guess / MINUTE_MS)) * MINUTE_MS;
  }

  #offsetAt(minute: number): number {
    const day = this.#dayOf(minute);
    if (typeof day === "number") return day;
    return day[Math.floor((minute - Math.floor(minute / DAY_MINUTES) * DAY_MINUTES) / SLOT_MINUTES)] ?? 0;
  }

  #dayOf(minute: number): number | Int16Array {
    const day = Math.floor(minute / DAY_MINUTES);
    const known = this.#days.get(day);
    if (known !== undefined) return known;
    if (this.#days.size >= DAYS_KEPT_MAX) this.#days.clear();
    const read = this.#readDay(day * DAY_MINUTES);
    this.#days.set(day, read);
    return read;
  }

  #readDay(start: number): number | Int16Array {
    const offset = this.#readOffset(start);
    if (offset === this.#readOffset(start + DAY_MINUTES)) return offset;
    return Int16Array.from({ length: DAY_MINUTES / SLOT_MINUTES }, (_, slot) =>
      this.#readOffset(start + slot * SLOT_MINUTES),
    );
  }

  #readOffset(minute: number): number {
    const [, sign, hours = 0, minutes = 0] = OFFSET.exec(this.#offsetFormat.format(minute * MINUTE_MS)) ?? [];
    return (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
  }
}

/** The longest name of a zone has 32 characters. */
const NAME_MAX = 64;
/** More than there are zones; names can be written in capitals or small letters. */
const ZONES_KEPT_MAX = 1000;
const zones = new Map<string, TimeZone>();

/** Null if the system does not know the zone. Each zone is created once, because creating one takes far longer than using it. */
export function findTimeZone(name: string): TimeZone | null {
  const known = zones.get(name);
  if (known) return known;
  const zone = name.length > NAME_MAX ? null : createTimeZone(name);
  if (zones.size >= ZONES_KEPT_MAX) zones.clear();
  if (zone) zones.set(name, zone);
  return zone;
}

/** Throws a RangeError if the system does not know the zone. */
export const timeZone = (name: string): TimeZone => findTimeZone(name) ?? new TimeZone(name);

function createTimeZone(name: string): TimeZone | null {
  try {
    return new TimeZone(name);
  } catch {
    // Names come from configuration; the caller decides whether an unknown one is an error.
    return null;
  }
}
