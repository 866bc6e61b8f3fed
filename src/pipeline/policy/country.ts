import {
  getCountries,
  getCountryCallingCode,
  isPossiblePhoneNumber,
  Metadata,
  parsePhoneNumberFromString,
  type CountryCode,
} from "libphonenumber-js/max";

/** The country of the numbers that begin with three given digits. */
interface Owner {
  country: string;
  /** Leading digits that distinguish the countries of a shared calling code; 0 if it is not shared. */
  digits: number;
  /** Length of a whole number, because libphonenumber parses only whole numbers. */
  length: number;
  /** A bit for each length that a number may have in all countries of the calling code. */
  possibleLengths: number;
}

// Calling codes that several countries share: the main country, and the ranges that contain numbers of the others.
const SHARED: Record<string, { main: string; length: number; ranges: Record<string, number> }> = {
  "1": { main: "US", length: 11, ranges: { "1": 4 } },
  "7": { main: "RU", length: 11, ranges: { "7": 2 } },
  "39": { main: "IT", length: 12, ranges: { "390": 7 } },
  "44": { main: "GB", length: 12, ranges: { "441": 7, "447": 7, "449": 5 } },
  "47": { main: "NO", length: 10, ranges: { "477": 4 } },
  "61": { main: "AU", length: 11, ranges: { "618": 8 } },
  "212": { main: "MA", length: 12, ranges: {} },
  "262": { main: "RE", length: 12, ranges: { "262": 8 } },
  "290": { main: "SH", length: 8, ranges: { "290": 4 } },
  "358": { main: "FI", length: 12, ranges: { "358": 5 } },
  "590": { main: "GP", length: 12, ranges: { "590": 8 } },
  "599": { main: "CW", length: 11, ranges: { "599": 4 } },
};

const RESOLVED_MAX = 50_000;

const owners = readOwners();
const resolved = new Map<string, string>();

/**
 * The ISO country of an international number (digits without plus), or null when no country has that calling code. Only the
 * leading digits count; an unassigned area of a shared code belongs to the main country.
 */
export function countryOf(number: string): string | null {
  const owner = owners.get(number.slice(0, 3));
  if (owner === undefined) return null;
  if (owner.digits === 0) return owner.country;
  const prefix = number.slice(0, owner.digits);
  return resolved.get(prefix) ?? resolve(prefix, owner);
}

/** True if the length of a number is valid in its country. Only unusual lengths need libphonenumber, which is far slower. */
export function isPossible(number: string): boolean {
  const owner = owners.get(number.slice(0, 3));
  if (owner !== undefined && number.length < 32 && (owner.possibleLengths >>> number.length) & 1) return true;
  return isPossiblePhoneNumber(`+${number}`);
}

// The prefix is padded to a whole number. Parsing the number at hand would let a malformed one leave a wrong answer in the
// cache for all numbers with its prefix.
function resolve(prefix: string, owner: Owner): string {
  const country = parsePhoneNumberFromString(`+${prefix.padEnd(owner.length, "2")}`)?.country ?? owner.country;
  if (resolved.size >= RESOLVED_MAX) resolved.clear();
  resolved.set(prefix, country);
  return country;
}

// Calling codes have one to three digits and are prefix-free, so three digits always determine the country.
function readOwners(): Map<string, Owner> {
  const found = new Map<string, Owner>();
  for (const country of getCountries()) {
    const code: string = getCountryCallingCode(country);
    const shared = SHARED[code];
    const lengths = possibleLengths(country, code);
    for (const prefix of threeDigitsFrom(code)) {
      const range = Object.keys(shared?.ranges ?? {}).find((each) => prefix.startsWith(each));
      found.set(prefix, {
        country: shared?.main ?? country,
        digits: (range && shared?.ranges[range]) || 0,
        length: shared?.length ?? 0,
        possibleLengths: lengths & (found.get(prefix)?.possibleLengths ?? lengths),
      });
    }
  }
  return found;
}

function possibleLengths(country: CountryCode, code: string): number {
  const metadata = new Metadata();
  metadata.selectNumberingPlan(country);
  const lengths = metadata.numberingPlan?.possibleLengths() ?? [];
  return lengths.reduce((bits, length) => bits | (1 << (code.length + length)), 0);
}

function threeDigitsFrom(code: string): string[] {
  const count = 10 ** (3 - code.length);
  return Array.from({ length: count }, (_, index) => String(Number(code) * count + index));
}
