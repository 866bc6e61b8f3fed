/** Keywords of users and the texts that answer them, for some of an account's numbers or for some countries. */
export interface KeywordRule {
  /** Language tag of the texts, such as `fr`; null for none. */
  language: string | null;
  /** Senders, bots or business numbers that the rule is for; null for all. */
  numbers: readonly string[] | null;
  /** Countries (ISO 3166 alpha-2) of users that the rule is for; null for all. */
  countries: readonly string[] | null;
  /** Null for the words of the account. */
  stopWords: readonly string[] | null;
  startWords: readonly string[] | null;
  helpWords: readonly string[];
  /** Words that confirm an opt-in. */
  confirmWords: readonly string[];
  /** The texts that answer; null for no answer. */
  stopReply: string | null;
  startReply: string | null;
  helpReply: string | null;
  /** Double opt-in: answers a start word, which then counts once the user confirms it. */
  confirmReply: string | null;
}

/** A user confirms an opt-in within this time. */
export const CONFIRM_MS = 86_400_000;

/** The most automatic replies to one number within `REPLIES_WINDOW_MS`, so that two automatic repliers stop soon. */
export const REPLIES_MAX = 6;
export const REPLIES_WINDOW_MS = 86_400_000;
