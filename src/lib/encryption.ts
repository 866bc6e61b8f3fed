import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import { fewRandomBytes } from "./random.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The format, so that it can change later. It is authenticated as additional data. */
const VERSION = "v1.";
const ADDITIONAL_DATA = Buffer.from(VERSION);
const TAG = { authTagLength: TAG_BYTES };

/** Encrypts secrets, so that a copy of the database does not reveal them. */
export interface Encryption {
  encrypt(text: string): string;
  /** Throws when the value has been changed or was encrypted with another key. */
  decrypt(encrypted: string): string;
}

/** AES-256-GCM with a random nonce: equal texts have different ciphertexts. */
export function createEncryption(key: Buffer): Encryption {
  if (key.length !== KEY_BYTES) throw new Error(`an encryption key has ${KEY_BYTES} bytes, not ${key.length}`);
  // Created once: Node would create it for every text, which takes longer than the encryption.
  const secret = createSecretKey(key);
  return {
    encrypt: (text) => {
      const nonce = fewRandomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, secret, nonce, TAG).setAAD(ADDITIONAL_DATA);
      const ciphertext = cipher.update(text, "utf8");
      // GCM is a stream cipher: `final` returns no further bytes.
      cipher.final();
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString("base64url");
    },
    decrypt: (encrypted) => {
      const parts = readEncrypted(encrypted);
      const nonce = parts.subarray(0, NONCE_BYTES);
      const tag = parts.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const ciphertext = parts.subarray(NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv(CIPHER, secret, nonce, TAG);
      decipher.setAAD(ADDITIONAL_DATA).setAuthTag(tag);
      const text = decipher.update(ciphertext);
      try {
        return Buffer.concat([text, decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new Error("an encrypted value cannot be decrypted: it was changed, or encrypted with another key", {
          cause,
        });
      }
    },
  };
}

function readEncrypted(encrypted: string): Buffer {
  const parts = Buffer.from(encrypted.slice(VERSION.length), "base64url");
  // Node decodes base64 leniently; a value must have one form only.
  const isOurs = encrypted.startsWith(VERSION) && VERSION + parts.toString("base64url") === encrypted;
  if (isOurs && parts.length >= NONCE_BYTES + TAG_BYTES) return parts;
  throw new Error("an encrypted value cannot be decrypted: its format is unknown, perhaps of a later release");
}
