import { createHmac } from "node:crypto";
import { createEncryption, type Encryption } from "../lib/encryption.ts";
import type { User } from "../model/user.ts";
import { deriveKey } from "./master-key.ts";

/** Digests and encryption of users' secrets, so that a stolen database opens no session and no second factor. */
export interface UserSecrets {
  /** Stored in place of the session token. */
  sessionDigest(token: string): string;
  /** CSRF token: a forged request has the cookie but cannot read this token. */
  csrfToken(token: string): string;
  /** Key for counting login attempts, from which neither the e-mail nor the network address can be read. */
  attemptDigest(email: string, from: string): string;
  /** Stored in place of an invitation's token. */
  invitationDigest(token: string): string;
  recoveryDigest(userId: string, code: string): string;
  /** Proof that a browser has logged in before; a new password invalidates it. */
  browserProof(user: Pick<User, "id" | "passwordHash">, browser: string): string;
  /** Encrypts TOTP secrets. */
  totpSeal: Encryption;
  /** Encrypts list cursors that contain phone numbers, for users who may not see numbers. */
  cursorSeal: Encryption;
}

export function createUserSecrets(masterKey: Buffer): UserSecrets {
  const hmac = (purpose: string): ((...parts: readonly string[]) => string) => {
    const key = deriveKey(masterKey, purpose);
    // JSON separates the parts, so that different lists never give the same input.
    return (...parts) => createHmac("sha256", key).update(JSON.stringify(parts)).digest("base64url");
  };
  const browserHmac = hmac("browsers that have logged in");
  return {
    sessionDigest: hmac("sessions"),
    csrfToken: hmac("tokens of pages"),
    attemptDigest: hmac("tries to log in"),
    invitationDigest: hmac("invitations"),
    recoveryDigest: hmac("recovery codes"),
    browserProof: ({ id, passwordHash }, browser) => browserHmac(id, passwordHash, browser),
    totpSeal: createEncryption(deriveKey(masterKey, "secrets of second factors")),
    cursorSeal: createEncryption(deriveKey(masterKey, "places in listings")),
  };
}
