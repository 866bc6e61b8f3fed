import type { KeywordRule } from "./keyword-rule.ts";
import { OPT_OUT_WORDS } from "./opt-out.ts";
import { CALM, type Chaos } from "./phone.ts";
import { DEFAULT_GUARD, type PumpingGuard } from "./pumping.ts";

/** The owner of messages, keys and records; every stored row belongs to exactly one account. */
export interface Account {
  id: number;
  name: string;
  suspended: boolean;
  settings: AccountSettings;
}

export interface AccountSettings {
  /** `strict` refuses numbers that no country's numbering plan allows. */
  numbers: "lenient" | "strict";
  /** Country (ISO 3166 alpha-2) in which numbers without a plus may be written nationally. */
  defaultRegion: string | null;
  /** Language of recipients without one of their own, such as `pt_BR`; null for the own language of each template. */
  defaultLanguage: string | null;
  /** `strict` refuses unknown templates and senders on the simulator too, instead of learning them. */
  records: "learn" | "strict";
  /** The action for a text that does not match the template it names. */
  textMismatch: "refuse" | "warn";
  /** Countries (ISO 3166 alpha-2) that may be sent to; null means all. */
  allowedCountries: readonly string[] | null;
  /** The duplicate-text filter: the most equal texts to one number within a window; null means no limit. */
  sameText: { max: number; windowSeconds: number } | null;
  /** Limits that protect money and people apply to real carriers; `everywhere` applies them to the simulator too. */
  limits: "real carriers" | "everywhere";
  /** The guard against SMS pumping (codes requested for premium numbers); null switches it off. */
  otpGuard: PumpingGuard | null;
  /** Replies that add a recipient to the opt-out list or remove it. */
  stopWords: readonly string[];
  startWords: readonly string[];
  /** Keywords and automatic replies by number and country. */
  keywordRules: readonly KeywordRule[];
  /** A `metered` account sends only while it has credits. */
  credits: "unlimited" | "metered";
  /** Refunds messages that the network could not deliver. */
  refundUndelivered: boolean;
  /** The time zone of times that people read, such as `Asia/Kolkata`. */
  zone: string;
  /** E-mails about alerts; null for none. */
  alertEmail: AlertEmail | null;
  /** Retention in days: of texts of ended messages, and of the messages. */
  keepTextsDays: number;
  keepMessagesDays: number;
  /** Contacts that were not changed for this time are deleted; null keeps them. */
  keepContactsDays: number | null;
  /** Faults that the simulated carrier injects for this account. */
  chaos: Chaos;
}

interface AlertEmail {
  /** Name of an e-mail carrier of the account. */
  carrier: string;
  from: string;
  to: readonly string[];
}

export const DEFAULT_SETTINGS: AccountSettings = {
  numbers: "lenient",
  defaultRegion: null,
  defaultLanguage: null,
  records: "learn",
  textMismatch: "refuse",
  allowedCountries: null,
  sameText: { max: 10, windowSeconds: 60 },
  limits: "real carriers",
  otpGuard: DEFAULT_GUARD,
  stopWords: OPT_OUT_WORDS.stop,
  startWords: OPT_OUT_WORDS.start,
  keywordRules: [],
  credits: "unlimited",
  refundUndelivered: false,
  zone: "UTC",
  alertEmail: null,
  keepTextsDays: 30,
  keepMessagesDays: 400,
  keepContactsDays: null,
  chaos: CALM,
};

export type Role = "owner" | "member" | "viewer";
