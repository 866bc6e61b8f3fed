/** A recipient that gets no promotions from an account. */
export interface OptOut {
  accountId: number;
  /** Digits of the international number, without plus. */
  number: string;
  /** `reply`: the recipient answered with a stop word. */
  source: "reply" | "manual";
  note: string | null;
  createdAt: number;
}

/** Opt-out and opt-in keywords. */
export interface OptOutWords {
  readonly stop: readonly string[];
  readonly start: readonly string[];
}

/** The keywords that carriers and regulators require. YES is not one of them: it answers other questions. */
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
