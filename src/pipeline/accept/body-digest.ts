import { createHash, createHmac, createSecretKey } from "node:crypto";

/** Compares request bodies by a stored digest. */
export interface BodyDigest {
  of(body: unknown): string;
  /** True if a stored digest is that of this body. */
  matches(stored: string, body: unknown): boolean;
}

/**
 * HMAC under a key that is not in the database. A plain hash would reveal the code of a request (brute force), because all other
 * fields are stored beside it.
 */
export function createBodyDigest(pepper: Buffer): BodyDigest {
  const key = createSecretKey(pepper);
  const digestOf = (body: unknown): string => createHmac("sha256", key).update(textOf(body)).digest("base64url");
  return {
    // A part of an SMPP text has no body to hide, and older nodes compare plain hashes.
    of: (body) => (body === null ? plainHash(body) : digestOf(body)),
    // Rows of an earlier version have a plain hash, for the 24 hours of an idempotency key.
    matches: (stored, body) => stored === digestOf(body) || stored === plainHash(body),
  };
}

/** Requests without a body share the digest of the empty text. */
const textOf = (body: unknown): string => JSON.stringify(body) ?? "";

const plainHash = (body: unknown): string => createHash("sha256").update(textOf(body)).digest("base64url");
