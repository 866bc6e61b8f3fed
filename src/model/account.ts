import { OPT_OUT_WORDS } from "./opt-out.ts";
import { CALM, type Chaos } from "./phone.ts";
import { DEFAULT_GUARD, type PumpingGuard } from "./pumping.ts";

/** Who owns messages, keys and records; everything stored belongs to exactly one account. */
export interface Account {
  id: number;
  name: string;
  suspended: boolean;
  settings: AccountSettings;
}

export interface AccountSettings {
  /** `strict` refuses numbers at the door that no country could have given out. */
  numbers: "lenient" | "strict";
  /** Country (ISO 3166 alpha-2) in which numbers without a plus may be written nationally. */
  defaultRegion: string | null;
  /** `strict` refuses unknown templates and senders on the simulator too, instead of learning them. */
  records: "learn" | "strict";
  /** What becomes of a text that does not match the template it names. */
  textMismatch: "refuse" | "warn";
  /** Countries (ISO 3166 alpha-2) that may be sent to; null means all. */
  allowedCountries: readonly string[] | null;
  /** How often the same text may go to the same number within a window; null means any number of times. */
  sameText: { max: number; windowSeconds: number } | null;
  /** Limits that guard money and people bind on real carriers; `everywhere` makes them bind on the simulator too. */
  limits: "real carriers" | "everywhere";
  /** What keeps one-time passwords from being pumped to numbers that earn with them; null switches it off. */
  otpGuard: PumpingGuard | null;
  /** Answers by which a recipient leaves and joins the list of who gets no promotions. */
  stopWords: readonly string[];
  startWords: readonly string[];
  /** `metered` accounts send as long as their credits last. */
  credits: "unlimited" | "metered";
  /** Whether a message that the network could not deliver is paid back. */
  refundUndelivered: boolean;
  /** The time zone in which times are written out for people, as in `Asia/Kolkata`. */
  zone: string;
  /** Days after which the texts of ended messages are erased, and after which the messages themselves are. */
  keepTextsDays: number;
  keepMessagesDays: number;
  /** How the simulated carrier misbehaves for this account. */
  chaos: Chaos;
}

export const DEFAULT_SETTINGS: AccountSettings = {
  numbers: "lenient",
  defaultRegion: null,
  records: "learn",
  textMismatch: "refuse",
  allowedCountries: null,
  sameText: { max: 10, windowSeconds: 60 },
  limits: "real carriers",
  otpGuard: DEFAULT_GUARD,
  stopWords: OPT_OUT_WORDS.stop,
  startWords: OPT_OUT_WORDS.start,
  credits: "unlimited",
  refundUndelivered: false,
  zone: "UTC",
  keepTextsDays: 30,
  keepMessagesDays: 400,
  chaos: CALM,
};

export type Role = "owner" | "member" | "viewer";
