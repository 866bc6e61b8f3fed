import { createHmac } from "node:crypto";
import { createSeal, type Seal } from "../lib/seal.ts";
import { deriveKey } from "./master-key.ts";

/** What is stored of people's secrets, so that a stolen database opens no session and no second factor. */
export interface PeopleSecrets {
  /** What is stored of a session's token. */
  sessionDigest(token: string): string;
  /** What a page must repeat to show that it is ours; whoever cannot read it has only the cookie. */
  csrfToken(token: string): string;
  /** Under what tries of an address of e-mail from somewhere are counted; neither can be read back. */
  attemptDigest(email: string, from: string): string;
  recoveryDigest(userId: string, code: string): string;
  /** Of the secrets that authenticator apps have too. */
  totpSeal: Seal;
  /** Of places in listings that are phone numbers, for those who do not see them. */
  cursorSeal: Seal;
}

export function createPeopleSecrets(masterKey: Buffer): PeopleSecrets {
  const hmac = (purpose: string): ((...parts: readonly string[]) => string) => {
    const key = deriveKey(masterKey, purpose);
    // With their lengths, so that no two lists of parts look alike.
    return (...parts) => createHmac("sha256", key).update(JSON.stringify(parts)).digest("base64url");
  };
  return {
    sessionDigest: hmac("sessions"),
    csrfToken: hmac("tokens of pages"),
    attemptDigest: hmac("tries to log in"),
    recoveryDigest: hmac("recovery codes"),
    totpSeal: createSeal(deriveKey(masterKey, "secrets of second factors")),
    cursorSeal: createSeal(deriveKey(masterKey, "places in listings")),
  };
}
