import { AREA_ZONES } from "./area-codes.ts";
import { countryOf } from "./country.ts";

/** What Node's locales can do already and TypeScript's library of this year does not know yet. */
interface LocaleWithZones extends Intl.Locale {
  getTimeZones(): string[] | undefined;
}

// Where the locale data has no zone for a country, or one more that only repeats another's clock.
const OWN_ZONES: Record<string, readonly string[]> = {
  AC: ["Atlantic/St_Helena"],
  ES: ["Europe/Madrid", "Atlantic/Canary"],
  TA: ["Atlantic/St_Helena"],
  XK: ["Europe/Belgrade"],
};

const NOWHERE: readonly string[] = Object.freeze([]);
const AREA_DIGITS = 4;

const byArea = readAreas();
const byCountry = new Map<string, readonly string[]>();

/**
 * The time zones in which the holder of a number may be, none when no country has it. The same place always gives the
 * same array, by which `quietUntil` remembers its answers.
 */
export function zonesOf(number: string): readonly string[] {
  const area = byArea.get(number.slice(0, AREA_DIGITS));
  if (area !== undefined) return area;
  const country = countryOf(number);
  return country === null ? NOWHERE : (byCountry.get(country) ?? readCountry(country));
}

// A country at a time, when it is first sent to: all of them would delay the start by a tenth of a second.
function readCountry(country: string): readonly string[] {
  const zones = OWN_ZONES[country] ?? (new Intl.Locale(`und-${country}`) as LocaleWithZones).getTimeZones() ?? NOWHERE;
  byCountry.set(country, Object.freeze(zones));
  return zones;
}

function readAreas(): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const lists = new Map<string, readonly string[]>();
  for (const [callingCode, rows] of Object.entries(AREA_ZONES)) {
    for (const [zones, areas] of rows) {
      const list = lists.get(zones) ?? Object.freeze(zones.split(" "));
      lists.set(zones, list);
      for (const area of areas.split(" ")) {
        for (const prefix of fourDigitsFrom(callingCode + area)) found.set(prefix, list);
      }
    }
  }
  return found;
}

function fourDigitsFrom(prefix: string): string[] {
  const count = 10 ** (AREA_DIGITS - prefix.length);
  return Array.from({ length: count }, (_, index) => String(Number(prefix) * count + index));
}
