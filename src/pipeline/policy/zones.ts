import { AREA_ZONES } from "./area-codes.ts";
import { countryOf } from "./country.ts";

/** Supported by Node and missing in TypeScript's library. */
interface LocaleWithZones extends Intl.Locale {
  getTimeZones(): string[] | undefined;
}

// Countries for which the locale data has no zone, or a redundant one.
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
 * The possible time zones of a number; empty when no country has it. The same area always returns the same array, which
 * `quietUntil` uses as the key of its memo.
 */
export function zonesOf(number: string): readonly string[] {
  const area = byArea.get(number.slice(0, AREA_DIGITS));
  if (area !== undefined) return area;
  const country = countryOf(number);
  return country === null ? NOWHERE : (byCountry.get(country) ?? readCountry(country));
}

// Loaded per country on first use: loading all would delay the start by 0.1 s.
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
