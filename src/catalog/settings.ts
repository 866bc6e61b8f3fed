import { isSupportedCountry } from "libphonenumber-js/max";
import { nullable } from "../lib/nullable.ts";
import { isPlainText } from "../lib/plain-text.ts";
import { Type, type Schema } from "../lib/schema.ts";
import type { AccountSettings } from "../model/account.ts";
import type { Fault } from "../model/problem.ts";
import { oneOf } from "./kinds/words.ts";
import { refuseFaults } from "./refuse-faults.ts";

/** What people set of an account. The chaos of the simulator has a door of its own. */
export type Settings = Omit<AccountSettings, "chaos">;

const WORD_MAX = 30;
const DAYS_MAX = 3650;

const words = (description: string): Schema =>
  Type.Array(Type.String({ minLength: 1, maxLength: WORD_MAX }), { minItems: 1, maxItems: 30, description });
const limit = (description: string): Schema => Type.Integer({ minimum: 1, maximum: 10_000_000, description });
const days = (description: string): Schema => Type.Integer({ minimum: 1, maximum: DAYS_MAX, description });

/** Every setting with what it means. */
export const settingFields: Readonly<Record<keyof Settings, Schema>> = {
  numbers: oneOf(["lenient", "strict"], "strict refuses numbers at the door that no country could have given out."),
  defaultRegion: nullable(
    Type.String(),
    "Country in which numbers without a plus may be written nationally, like IN; null for none.",
  ),
  records: oneOf(
    ["learn", "strict"],
    "strict refuses templates and senders that are not stored on the simulator too; learn takes them from the request.",
  ),
  textMismatch: oneOf(["refuse", "warn"], "What becomes of a text that does not match the template it names."),
  allowedCountries: nullable(
    Type.Array(Type.String(), { minItems: 1, maxItems: 300 }),
    "Countries that may be sent to, by their two-letter codes, like IN; null means all.",
  ),
  sameText: nullable(
    Type.Object({
      max: Type.Integer({ minimum: 1, maximum: 1000, description: "So many times." }),
      windowSeconds: Type.Integer({ minimum: 1, maximum: 86_400, description: "Within so many seconds." }),
    }),
    "How often the same text may go to the same number; null means any number of times.",
  ),
  limits: oneOf(
    ["real carriers", "everywhere"],
    "Where limits that guard money and people bind; on the simulator they are only noted unless it says everywhere.",
  ),
  otpGuard: nullable(
    Type.Object({
      prefixUnused: limit(
        "Codes that one block of 10,000 numbers may owe. Every code sent to it is owed, and one that is used pays for several; what is still owed after five minutes has the block of numbers sent nothing for a while.",
      ),
      countryPerHour: nullable(limit(""), "The same for one country within an hour; null for any number."),
      sendsPerDay: nullable(limit(""), "Codes that the account sends in a day (UTC); null for any number."),
      conversionPercent: Type.Integer({
        minimum: 1,
        maximum: 100,
        description: "The share of codes that must be used: at 20 one that is used pays for five, itself among them.",
      }),
      blockHours: Type.Integer({
        minimum: 1,
        maximum: 168,
        description: "How long the first time; twice as long each time again, a week at the most.",
      }),
    }),
    "What keeps one-time passwords from being pumped to numbers that earn with them; null switches it off.",
  ),
  stopWords: words("Answers that put a recipient on the opt-out list. Case, accents and punctuation do not matter."),
  startWords: words("Answers that take a recipient off the opt-out list."),
  credits: oneOf(["unlimited", "metered"], "metered accounts send as long as their credits last."),
  refundUndelivered: Type.Boolean({
    description: "Whether a message that the network could not deliver is paid back.",
  }),
  zone: Type.String({
    description: "Time zone in which times are written out in delivery reports, as in `Asia/Kolkata`.",
  }),
  keepTextsDays: days("Days after which the texts of ended messages are erased."),
  keepMessagesDays: days("Days after which ended messages are removed; at least keepTextsDays."),
};

const NAMES = Object.keys(settingFields) as (keyof Settings)[];

/** The known ones among some fields, in the order in which people see them: what else there is counts for nothing. */
export const pickSettings = (fields: Partial<Settings>): Partial<Settings> =>
  Object.fromEntries(NAMES.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));

/** A change of settings: whatever is not given stays. */
export const settingsShape = Type.Partial(Type.Object(settingFields));

/** The settings among some fields of the right shape, or every fault of them at once. */
export function readSettings(fields: Partial<Settings>, current: Settings): Partial<Settings> {
  const change = pickSettings(fields);
  const faults: Fault[] = [];
  checkCountries(change, faults);
  checkWords(change, faults);
  checkZone(change, faults);
  checkDays(change, current, faults);
  refuseFaults(faults);
  return change;
}

function checkCountries({ defaultRegion, allowedCountries }: Partial<Settings>, faults: Fault[]): void {
  const check = (parameter: string, country: string): void => {
    if (isSupportedCountry(country)) return;
    faults.push({ parameter, message: "A country is given by its two-letter code in capitals, like IN." });
  };
  if (typeof defaultRegion === "string") check("defaultRegion", defaultRegion);
  allowedCountries?.forEach((country, index) => check(`allowedCountries[${index}]`, country));
}

function checkWords({ stopWords = [], startWords = [] }: Partial<Settings>, faults: Fault[]): void {
  for (const [field, list] of Object.entries({ stopWords, startWords }))
    list.forEach((word, index) => {
      // A word of nothing but signs would never be found in an answer.
      if (isPlainText(word) && word.length <= WORD_MAX && /[\p{L}\p{N}]/u.test(word)) return;
      const message = `A word is plain text of 1 to ${WORD_MAX} characters with at least one letter or digit.`;
      faults.push({ parameter: `${field}[${index}]`, message });
    });
}

function checkZone({ zone }: Partial<Settings>, faults: Fault[]): void {
  if (zone === undefined || isZone(zone)) return;
  faults.push({ parameter: "zone", message: "zone is the name of a time zone, like Asia/Kolkata or UTC." });
}

/** Whether a time zone has this name. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    // There is no other way to ask whether a name is known.
    return false;
  }
}

function checkDays(change: Partial<Settings>, current: Settings, faults: Fault[]): void {
  const { keepTextsDays, keepMessagesDays } = { ...current, ...change };
  if (keepMessagesDays >= keepTextsDays) return;
  const parameter = change.keepMessagesDays === undefined ? "keepTextsDays" : "keepMessagesDays";
  const message = `Messages are kept for ${keepMessagesDays} days and their texts for ${keepTextsDays}: a text cannot outlive its message.`;
  faults.push({ parameter, message });
}
