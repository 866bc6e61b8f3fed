import type { Channel } from "./message.ts";
import type { FailureCaps, SendCaps } from "./verification.ts";

export const ALPHABETS = ["digits", "letters and digits"] as const;
export type Alphabet = (typeof ALPHABETS)[number];

/** One way to bring a code to its phone. */
export interface VerifyChannel {
  channel: Channel;
  /** The sender, the bot or the business number. */
  from: string;
  /** Takes the code, or the code and the minutes it is valid; null, on SMS alone, sends the configuration's own text. */
  template: string | null;
  /** Without a delivery within so long, the next channel has its turn. */
  waitSeconds: number;
}

/** How codes are made, brought and tried. Its name, or its id, is the `configId` of requests. */
export interface VerifyConfigContent extends SendCaps, FailureCaps {
  /** In the order they are tried. */
  channels: readonly VerifyChannel[];
  /** What an SMS without a template says; `{code}` and `{minutes}` are filled in. */
  text: string;
  length: number;
  alphabet: Alphabet;
  lifeSeconds: number;
  /** How often a code may be tried. */
  checks: number;
  /** ISO 3166 alpha-2; null means all that the account may send to. */
  allowedCountries: readonly string[] | null;
  /** Eleven characters by which Android gives an SMS to its app. */
  appHash: string | null;
  /** The site whose pages browsers fill the code in on. */
  webOtpDomain: string | null;
  /** Numbers whose code is always the same and is brought by the simulator alone. */
  testNumbers: readonly { number: string; code: string }[];
}

/** What holds unless somebody says otherwise. */
export const DEFAULT_VERIFY_CONFIG: VerifyConfigContent = {
  channels: [{ channel: "sms", from: "HELIOG", template: null, waitSeconds: 30 }],
  text: "{code} is your verification code. It is valid for {minutes} minutes.",
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
