/** A recipient who gets no promotions of an account. */
export interface OptOut {
  accountId: number;
  /** Digits of the international number, without plus. */
  number: string;
  /** `reply`: the recipient answered with a stop word. */
  source: "reply" | "manual";
  note: string | null;
  createdAt: number;
}

/** The words by which people leave a sender's list and come back to it. */
export interface OptOutWords {
  readonly stop: readonly string[];
  readonly start: readonly string[];
}

/** What carriers and regulators expect to be understood everywhere. YES is not among them: it answers other questions. */
export const OPT_OUT_WORDS: OptOutWords = {
  stop: [
    "STOP",
    "STOPALL",
    "STOP ALL",
    "UNSUBSCRIBE",
    "CANCEL",
    "END",
    "QUIT",
    "REVOKE",
    "OPTOUT",
    "OPT OUT",
    "REMOVE",
  ],
  start: ["START", "UNSTOP", "SUBSCRIBE", "RESUBSCRIBE", "OPTIN", "OPT IN"],
};
