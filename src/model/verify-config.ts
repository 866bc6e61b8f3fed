import type { Channel } from "./message.ts";
import type { FailureCaps, SendCaps } from "./verification.ts";

export const ALPHABETS = ["digits", "letters and digits"] as const;
export type CodeAlphabet = (typeof ALPHABETS)[number];

/** An OTP delivery channel. */
export interface VerifyChannel {
  channel: Channel;
  /** The sender, the bot, the business number, or the address on e-mail. */
  from: string;
  /** Takes the code, or the code and the minutes it is valid; null, on SMS and e-mail, sends the configuration's own text. */
  template: string | null;
  /** The next channel is used when no delivery comes within this time. */
  waitSeconds: number;
}

/** The configuration of codes: form, delivery and limits. Its name or id is the `configId` of requests. */
export interface VerifyConfigContent extends SendCaps, FailureCaps {
  /** In the order they are tried. */
  channels: readonly VerifyChannel[];
  /** The text of an e-mail, and of an SMS without a template; `{code}` and `{minutes}` are filled in. */
  text: string;
  /** The same in other languages, by language tag. Absent in records of an earlier version. */
  texts?: Readonly<Record<string, string>> | undefined;
  /** The subject of an e-mail, with the same placeholders. Absent in records of an earlier version. */
  subject?: string | undefined;
  /** The subject in other languages, by language tag. */
  subjects?: Readonly<Record<string, string>> | undefined;
  length: number;
  alphabet: CodeAlphabet;
  lifeSeconds: number;
  /** The most attempts to verify a code. */
  checks: number;
  /** ISO 3166 alpha-2; null means all countries that the account allows. */
  allowedCountries: readonly string[] | null;
  /** The app hash of 11 characters by which Android passes an SMS to its app (SMS Retriever). */
  appHash: string | null;
  /** The site on which browsers fill in the code (WebOTP). */
  webOtpDomain: string | null;
  /** Test numbers with a fixed code, delivered by the simulator only. */
  testNumbers: readonly { number: string; code: string }[];
}

/** The defaults. */
export const DEFAULT_VERIFY_CONFIG: VerifyConfigContent = {
  channels: [{ channel: "sms", from: "HELIOG", template: null, waitSeconds: 30 }],
  text: "{code} is your verification code. It is valid for {minutes} minutes.",
  texts: {},
  subject: "Your verification code",
  subjects: {},
  length: 6,
  alphabet: "digits",
  lifeSeconds: 300,
  checks: 5,
  cooldownSeconds: 30,
  sendsPer10Minutes: 5,
  sendsPerDay: 10,
  failuresPerHour: 10,
  failuresPerDay: 30,
  allowedCountries: null,
  appHash: null,
  webOtpDomain: null,
  testNumbers: [],
};
