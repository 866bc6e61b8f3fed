import {
  getCountries,
  getCountryCallingCode,
  isPossiblePhoneNumber,
  Metadata,
  parsePhoneNumberFromString,
  type CountryCode,
} from "libphonenumber-js/max";

/** Who answers for the numbers that begin with three given digits. */
interface Owner {
  country: string;
  /** How many leading digits tell the countries of a shared calling code apart; 0 where there is nothing to tell. */
  digits: number;
  /** How long a whole number is there, since libphonenumber judges only whole numbers. */
  length: number;
  /** A bit for each length that a number may have in all countries of the calling code. */
  possibleLengths: number;
}

// Calling codes that several countries share, with the one that has most of the numbers, and those of its ranges in
// which the others live. Everything else under the code is the main country's.
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
 * The ISO country of an international number (digits without plus), or null when no country has that calling code.
 * It looks at the leading digits only, so it is quick and does not depend on which numbers were asked about before;
 * an unassigned area of a shared code counts as the main country's.
 */
export function countryOf(number: string): string | null {
  const owner = owners.get(number.slice(0, 3));
  if (owner === undefined) return null;
  if (owner.digits === 0) return owner.country;
  const prefix = number.slice(0, owner.digits);
  return resolved.get(prefix) ?? resolve(prefix, owner);
}

/** Whether a number has a length that its country gives out. Only odd ones need libphonenumber, which costs far more. */
export function isPossible(number: string): boolean {
  const owner = owners.get(number.slice(0, 3));
  if (owner !== undefined && number.length < 32 && (owner.possibleLengths >>> number.length) & 1) return true;
  return isPossiblePhoneNumber(`+${number}`);
}

// The prefix is filled up to a whole number rather than judged by the number at hand: a malformed one would otherwise
// leave a wrong answer behind for all that begin like it.
function resolve(prefix: string, owner: Owner): string {
  const country = parsePhoneNumberFromString(`+${prefix.padEnd(owner.length, "2")}`)?.country ?? owner.country;
  if (resolved.size >= RESOLVED_MAX) resolved.clear();
  resolved.set(prefix, country);
  return country;
}

// Calling codes have one to three digits and none begins with another, so three digits always name the owner.
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
