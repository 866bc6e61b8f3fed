import { createHmac, createSecretKey } from "node:crypto";
import { fewRandomBytes } from "../lib/random-bytes.ts";
import type { Alphabet } from "../model/verify-config.ts";

/** No letter or digit that could be read as another one. */
const LETTERS_AND_DIGITS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";

const LETTERS: Record<Alphabet, string> = { digits: "0123456789", "letters and digits": LETTERS_AND_DIGITS };

/** A code that nobody can foresee: every one of its length is as likely as any other. */
export function newOtp(length: number, alphabet: Alphabet): string {
  const letters = LETTERS[alphabet];
  let code = "";
  for (let place = 0; place < length; place += 1) code += letters.charAt(randomBelow(letters.length));
  return code;
}

/** A byte from the end of its range, which does not hold every letter as often as the others, is thrown away. */
function randomBelow(count: number): number {
  const end = 256 - (256 % count);
  for (;;) {
    const [byte = 255] = fewRandomBytes(1);
    if (byte < end) return byte % count;
  }
}

/** How people type what they read: with spaces, with dashes, in small letters. */
const typedOtp = (typed: string): string => typed.replaceAll(/[\s-]/g, "").toUpperCase();

/** Recognises a code without knowing it. */
export type OtpDigest = (accountId: number, verifyId: string, code: string) => string;

/**
 * Digests under a pepper that is not in the database. A digest is of one code in one verification of one account, and a
 * verification is of one configuration, so none is good for another. Comparing two of them takes as long as chance will
 * have it, whatever the code: who does not know the pepper learns nothing from the time.
 */
export function createOtpDigest(pepper: Buffer): OtpDigest {
  // Made once: Node would make it anew for every digest, which takes ten times as long as the digest.
  const key = createSecretKey(pepper);
  return (accountId, verifyId, code) =>
    createHmac("sha256", key)
      .update(`${accountId}\n${verifyId}\n${typedOtp(code)}`)
      .digest("base64url");
}
