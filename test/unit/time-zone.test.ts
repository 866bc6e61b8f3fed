import { describe, expect, test } from "vitest";
import { findTimeZone, timeZone } from "../../src/lib/time-zone.ts";

const ZONES = ["UTC", "Asia/Kolkata", "Asia/Kathmandu", "Europe/Berlin", "America/New_York", "Pacific/Auckland", "Australia/Lord_Howe"]; // prettier-ignore
const MINUTE_MS = 60_000;
/** Quarter hours around the clock changes of 2026 on both hemispheres, and one ordinary week. */
const MOMENTS = ["2026-03-07", "2026-03-28", "2026-04-04", "2026-06-01", "2026-10-03", "2026-10-24", "2026-10-31"].flatMap((day) =>
  Array.from({ length: 3 * 96 }, (_, slot) => Date.parse(`${day}T00:00:07Z`) + slot * 15 * MINUTE_MS),
); // prettier-ignore

function localTimeByIntl(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  return (at) => format.format(at);
}

describe("a time zone", () => {
  test.each(ZONES)("%s formats local times as Intl does, also on the days of clock changes", (name) => {
    const byIntl = localTimeByIntl(name);
    const zone = timeZone(name);
    for (const at of MOMENTS) expect(zone.format(at)).toBe(byIntl(at));
  });

  test.each(ZONES)("%s gives the minute of the local day", (name) => {
    const byIntl = localTimeByIntl(name);
    const zone = timeZone(name);
    for (const at of MOMENTS) {
      const [hour = 0, minute = 0] = byIntl(at).slice(11).split(":").map(Number);
      expect(zone.minuteOfDay(Math.floor(at / MINUTE_MS))).toBe(hour * 60 + minute);
    }
  });

  test.each(ZONES)("%s converts local times back to the moment, or to the other one of a repeated hour", (name) => {
    const zone = timeZone(name);
    for (const at of MOMENTS) {
      const back = zone.toUtc(Date.parse(`${zone.format(at).replace(" ", "T")}Z`));
      expect(zone.format(back)).toBe(zone.format(at));
    }
  });

  test("a name of any length is refused without being kept", () => {
    expect(findTimeZone("x".repeat(10_000_000))).toBeNull();
    expect(findTimeZone("x".repeat(65))).toBeNull();
    expect(findTimeZone("America/Argentina/ComodRivadavia")).not.toBeNull();
  });

  test("an unknown name is null when looked up, and an error when required", () => {
    expect(findTimeZone("Mars/Olympus")).toBeNull();
    expect(() => timeZone("Mars/Olympus")).toThrow(RangeError);
  });
});
