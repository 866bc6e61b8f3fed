import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import { fewRandomBytes } from "./random-bytes.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Names the way in which it was sealed, so that another can follow one day; it is sealed in as well. */
const VERSION = "v1.";
const SEALED_IN = Buffer.from(VERSION);
const TAG = { authTagLength: TAG_BYTES };

/** Makes secrets unreadable for whoever has only the store. */
export interface Seal {
  seal(text: string): string;
  /** Throws for what was changed since, or was sealed with another key. */
  open(sealed: string): string;
}

/** A seal with a key of 32 bytes; the same text is sealed differently every time. */
export function createSeal(key: Buffer): Seal {
  if (key.length !== KEY_BYTES) throw new Error(`a key to seal with has ${KEY_BYTES} bytes, not ${key.length}`);
  // Made once: Node would make it anew for every text, which takes longer than to seal it.
  const secret = createSecretKey(key);
  return {
    seal: (text) => {
      const nonce = fewRandomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, secret, nonce, TAG).setAAD(SEALED_IN);
      const hidden = cipher.update(text, "utf8");
      // A stream cipher has nothing left to give at its end.
      cipher.final();
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString("base64url");
    },
    open: (sealed) => {
      const parts = readSealed(sealed);
      const nonce = parts.subarray(0, NONCE_BYTES);
      const tag = parts.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const hidden = parts.subarray(NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv(CIPHER, secret, nonce, TAG);
      decipher.setAAD(SEALED_IN).setAuthTag(tag);
      const text = decipher.update(hidden);
      try {
        return Buffer.concat([text, decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new Error("a sealed value does not open: it was changed, or sealed with another key", { cause });
      }
    },
  };
}

function readSealed(sealed: string): Buffer {
  const parts = Buffer.from(sealed.slice(VERSION.length), "base64url");
  // Base64 is read leniently, and one value must not have two spellings.
  const isOurs = sealed.startsWith(VERSION) && VERSION + parts.toString("base64url") === sealed;
  if (isOurs && parts.length >= NONCE_BYTES + TAG_BYTES) return parts;
  throw new Error("a sealed value does not open: it is not one, or a later release sealed it");
}
