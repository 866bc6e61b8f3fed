import { countOf } from "../lib/text.ts";
import { nullable, Type, type SchemasOf, type Typed } from "../lib/schema.ts";
import { pickFields } from "../lib/shape.ts";
import { LANGUAGE_CODE } from "../model/chatapp.ts";
import type { AccountSettings } from "../model/account.ts";
import type { Fault } from "../model/problem.ts";
import { readAddress, readMailbox } from "../email/address.ts";
import { NAME_MAX } from "./record-type.ts";
import { keywordRules } from "./keyword-rules.ts";
import { countries, country, oneOf, zoneFault } from "./types/shared-fields.ts";
import { words } from "./words.ts";

/** Account settings of `/api/account`. The simulator's chaos settings have their own endpoint. */
export type Settings = Omit<AccountSettings, "chaos">;

const DAYS_MAX = 3650;

const limit = (description: string): Typed<number> => Type.Integer({ minimum: 1, maximum: 10_000_000, description });
const days = (description: string): Typed<number> => Type.Integer({ minimum: 1, maximum: DAYS_MAX, description });

export const settingFields = {
  numbers: oneOf(["lenient", "strict"], "strict refuses phone numbers that are not assigned in any numbering plan."),
  defaultRegion: nullable(
    country,
    "Default country for numbers without a plus, such as IN; null requires international numbers.",
  ),
  defaultLanguage: nullable(
    Type.String({
      pattern: LANGUAGE_CODE,
      error: { pattern: "Write the language as the chat app does: en, or pt_BR." },
    }),
    "Language of chat-app templates for recipients without one of their own, such as pt_BR; null takes the own language of each template.",
  ),
  records: oneOf(
    ["learn", "strict"],
    "learn stores unknown templates and senders from requests to the simulator; strict refuses them there too.",
  ),
  textMismatch: oneOf(["refuse", "warn"], "Action if a text does not match its template."),
  allowedCountries: nullable(
    countries,
    "Allowed destination countries as two-letter codes, such as IN; null allows all.",
  ),
  sameText: nullable(
    Type.Object({
      max: Type.Integer({ minimum: 1, maximum: 1000, description: "Maximum number of messages." }),
      windowSeconds: Type.Integer({ minimum: 1, maximum: 86_400, description: "Time window in seconds." }),
    }),
    "Limit for sending the same text to the same number; null means no limit.",
  ),
  limits: oneOf(
    ["real carriers", "everywhere"],
    "Carriers on which limits that protect money and recipients are enforced. With real carriers, the simulator only reports violations.",
  ),
  otpGuard: nullable(
    Type.Object({
      prefixUnused: limit(
        "SMS pumping limit per block of 10,000 numbers. Each code sent there counts until it is verified; one verified code offsets several (see conversionPercent). If the limit is exceeded after five minutes, the block receives no codes for blockHours.",
      ),
      countryPerHour: nullable(limit(""), "The same limit per country and hour; null means no limit."),
      sendsPerDay: nullable(limit(""), "Maximum number of codes per day (UTC); null means no limit."),
      conversionPercent: Type.Integer({
        minimum: 1,
        maximum: 100,
        description: "Required share of verified codes. At 20, one verified code offsets five.",
      }),
      blockHours: Type.Integer({
        minimum: 1,
        maximum: 168,
        description: "Duration of the first block. It doubles with each further block, up to a week.",
      }),
    }),
    "Protection against SMS pumping, codes requested for premium numbers and never verified; null disables it.",
  ),
  stopWords: words("Replies that add the recipient to the opt-out list. Case, accents and punctuation are ignored."),
  startWords: words("Replies that remove the recipient from the opt-out list."),
  keywordRules,
  credits: oneOf(["unlimited", "metered"], "metered accounts can send while the balance covers the messages."),
  refundUndelivered: Type.Boolean({
    description: "True if undeliverable messages are refunded.",
  }),
  zone: Type.String({
    description: "Time zone of dates in delivery reports, such as `Asia/Kolkata`.",
    check: zoneFault,
  }),
  alertEmail: nullable(
    Type.Object({
      carrier: Type.String({ minLength: 1, maxLength: NAME_MAX, description: "Name of an e-mail carrier." }),
      from: Type.String({
        maxLength: 400,
        description: "The sender's address, with or without a name.",
        check: (from) =>
          readMailbox(from) === null ? "from is an e-mail address such as Alerts <alerts@example.com>." : null,
      }),
      to: Type.Array(
        Type.String({
          check: (to) =>
            readAddress(to) === to ? null : "Write one e-mail address without a name, such as ada@example.com.",
        }),
        { minItems: 1, maxItems: 10, description: "Addresses that get an e-mail when an alert opens or resolves." },
      ),
    }),
    "E-mails about alerts, over an e-mail carrier of the account; null sends none.",
  ),
  keepTextsDays: days("Days after which the texts of ended messages are erased."),
  keepMessagesDays: days("Days after which ended messages are deleted; at least keepTextsDays."),
  keepContactsDays: nullable(
    Type.Integer({ minimum: 1, maximum: DAYS_MAX }),
    "Days after which contacts that were not changed are deleted. Defaults to null, which keeps them.",
  ),
} satisfies SchemasOf<Settings>;

/** Picks the known settings, in display order, and drops other fields. */
export const pickSettings = (fields: Partial<Settings>): Partial<Settings> => pickFields(settingFields, fields);

/** Schema of an update, with all settings optional. */
export const settingsShape = Type.Partial(Type.Object(settingFields));

/** Retention must be consistent with the settings that stay; `wrong` lists fields that have faults already. */
export function settingsFaults(
  change: Partial<Settings>,
  current: Settings,
  wrong: ReadonlySet<string> = new Set(),
): Fault[] {
  const { keepTextsDays, keepMessagesDays } = { ...current, ...pickSettings(change) };
  if (wrong.has("keepTextsDays") || wrong.has("keepMessagesDays") || keepMessagesDays >= keepTextsDays) return [];
  const parameter = change.keepMessagesDays === undefined ? "keepTextsDays" : "keepMessagesDays";
  const message = `keepMessagesDays is ${countOf(keepMessagesDays, "day")} and keepTextsDays ${keepTextsDays}: texts cannot be kept longer than messages.`;
  return [{ parameter, message }];
}
