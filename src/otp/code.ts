import { createHmac, createSecretKey } from "node:crypto";
import { randomText } from "../lib/random.ts";
import type { CodeAlphabet } from "../model/verify-config.ts";

/** Without characters that are easily confused. */
const LETTERS_AND_DIGITS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";

const LETTERS: Record<CodeAlphabet, string> = { digits: "0123456789", "letters and digits": LETTERS_AND_DIGITS };

/** A random code: all codes of its length are equally likely. */
export const newOtp = (length: number, alphabet: CodeAlphabet): string => randomText(LETTERS[alphabet], length);

/** Normalises typed codes: spaces, dashes and lower case do not matter. */
const typedOtp = (typed: string): string => typed.replaceAll(/[\s-]/g, "").toUpperCase();

/** A keyed digest, which is stored instead of the code. */
export type OtpDigest = (accountId: number, verifyId: string, code: string) => string;

/**
 * HMAC under a pepper that is not in the database. The account and the verification are part of the input, so a digest is valid
 * for one code only. Comparison time reveals nothing without the pepper.
 */
export function createOtpDigest(pepper: Buffer): OtpDigest {
  // Created once: creating the key costs ten times as much as the digest.
  const key = createSecretKey(pepper);
  return (accountId, verifyId, code) =>
    createHmac("sha256", key)
      .update(`${accountId}\n${verifyId}\n${typedOtp(code)}`)
      .digest("base64url");
}
