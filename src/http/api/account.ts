import { isSupportedCountry } from "libphonenumber-js/max";
import Type, { type TSchema } from "typebox";
import { DEFAULT_SETTINGS, type Account, type AccountSettings } from "../../model/account.ts";
import type { Fault } from "../../model/problem.ts";
import { refuseFaults } from "../page-query.ts";
import type { KeyedRoute } from "../route.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import { nullable } from "./records.ts";

/** The chaos of the simulator has a door of its own. */
type Settings = Omit<AccountSettings, "chaos">;

const WORD_MAX = 30;
const DAYS_MAX = 3650;

const oneOf = (words: readonly [string, string], description: string): TSchema =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description },
  );
const words = (description: string): TSchema =>
  Type.Array(Type.String({ minLength: 1, maxLength: WORD_MAX }), { minItems: 1, maxItems: 30, description });
const days = (description: string): TSchema => Type.Integer({ minimum: 1, maximum: DAYS_MAX, description });

const settings: Readonly<Record<keyof Settings, TSchema>> = {
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
  stopWords: words("Answers that put a recipient on the opt-out list. Case, accents and punctuation do not matter."),
  startWords: words("Answers that take a recipient off the opt-out list."),
  credits: oneOf(["unlimited", "metered"], "metered accounts send as long as their credits last."),
  refundUndelivered: Type.Boolean({
    description: "Whether a message that the network could not deliver is paid back.",
  }),
  keepTextsDays: days("Days after which the texts of ended messages are erased."),
  keepMessagesDays: days("Days after which ended messages are removed; at least keepTextsDays."),
};

const NAMES = Object.keys(settings) as (keyof Settings)[];

/** The known ones among some fields: what else a body has is ignored, not stored. */
const pick = (fields: Partial<Settings>): Partial<Settings> =>
  Object.fromEntries(NAMES.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));

const accountView = ({ name, suspended, settings: all }: Account): object => ({ name, suspended, ...pick(all) });

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

function checkDays(change: Partial<Settings>, current: Settings, faults: Fault[]): void {
  const { keepTextsDays, keepMessagesDays } = { ...current, ...change };
  if (keepMessagesDays >= keepTextsDays) return;
  const parameter = change.keepMessagesDays === undefined ? "keepTextsDays" : "keepMessagesDays";
  const message = `Messages are kept for ${keepMessagesDays} days and their texts for ${keepTextsDays}: a text cannot outlive its message.`;
  faults.push({ parameter, message });
}

const AccountView = Type.Object(
  {
    name: Type.String({ description: "The account's name." }),
    suspended: Type.Boolean({ description: "Whether the operator has stopped it." }),
    ...settings,
  },
  { title: "Account" },
);
const example = { name: "default", suspended: false, ...pick(DEFAULT_SETTINGS) };
const common = {
  path: "/api/account",
  family: "plain",
  scope: "manage",
  group: "Account",
  response: AccountView,
} as const;

export const getAccount: KeyedRoute = {
  ...common,
  method: "GET",
  summary: "Read the account",
  description: "The account that the key belongs to, with its settings.",
  responseExample: example,
  handle: async (_services, { caller }) => accountView(caller.account),
};

export const patchAccount: KeyedRoute = {
  ...common,
  method: "PATCH",
  summary: "Change the account's settings",
  description:
    "Changes the settings that are given. It takes effect at once here and within five seconds on every other node.",
  body: Type.Partial(Type.Object(settings)),
  requestExamples: {
    "national numbers": { defaultRegion: "IN" },
    "forget texts after a week": { keepTextsDays: 7 },
  },
  responseExample: { ...example, defaultRegion: "IN" },
  handle: async ({ store, keyring }, { body, caller }) => {
    const { account } = caller;
    const change = pick(body as Partial<Settings>);
    const faults: Fault[] = [];
    checkCountries(change, faults);
    checkWords(change, faults);
    checkDays(change, account.settings, faults);
    refuseFaults(faults);
    await store.saveSettings(account.id, change);
    await keyring.refresh();
    return accountView(keyring.account(account.id) ?? account);
  },
};
