const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const SLOT_MINUTES = 15;
const DAYS_KEPT_MAX = 32;

/**
 * The clock on the wall of one time zone, in minutes since the epoch. Asking Intl costs microseconds, so it is asked
 * twice for a day and, only when the clocks change on that day, for each quarter of an hour: that is where changes fall.
 */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  /** By day: the minutes to add for local time, or such a number for each slot. */
  readonly #days = new Map<number, number | Int16Array>();

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
    });
  }

  /** Minutes after local midnight. */
  timeOfDay(minute: number): number {
    const day = this.#day(minute);
    const offset = typeof day === "number" ? day : (day[Math.floor((minute % DAY_MINUTES) / SLOT_MINUTES)] ?? 0);
    return (minute + offset) % DAY_MINUTES;
  }

  /** Before this minute the clock certainly runs on without a change. */
  steadyUntil(minute: number): number {
    const step = typeof this.#day(minute) === "number" ? DAY_MINUTES : SLOT_MINUTES;
    return minute - (minute % step) + step;
  }

  #day(minute: number): number | Int16Array {
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

  /** 0 to 1439: the time of day matters here and the date does not, so west of Greenwich it is a day less. */
  #readOffset(minute: number): number {
    const shown = this.#format.format(minute * MINUTE_MS);
    const local = Number(shown.slice(0, 2)) * 60 + Number(shown.slice(3, 5));
    return (local - (minute % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES;
  }
}
