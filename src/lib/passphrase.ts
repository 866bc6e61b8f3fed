import { randomBytes, scrypt, type ScryptOptions } from "node:crypto";
import { createEncryption } from "./encryption.ts";

/** A secret encrypted under a passphrase, as a file holds it. */
export interface WrappedSecret {
  kdf: "scrypt";
  /** Parameters of scrypt. */
  N: number;
  r: number;
  p: number;
  /** In base64url. */
  salt: string;
  /** AES-256-GCM: `v1.` and in base64url nonce, tag and ciphertext. */
  sealed: string;
}

/** The passphrase does not open the secret. */
export class WrongPassphrase extends Error {
  override name = "WrongPassphrase";
}

/** One derivation takes 64 MiB and about a fifth of a second, so that guessing is slow. */
const COST = { N: 65_536, r: 8, p: 1 };
/** Bounds what a manipulated file can make this process allocate. */
const MEMORY_MAX = 512 * 1024 * 1024;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

export async function wrapSecret(secret: string, passphrase: string): Promise<WrappedSecret> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(passphrase, salt, COST);
  return { kdf: "scrypt", ...COST, salt: salt.toString("base64url"), sealed: createEncryption(key).encrypt(secret) };
}

/** Throws `WrongPassphrase` where the passphrase is another, or the file was changed. */
export async function unwrapSecret({ N, r, p, salt, sealed }: WrappedSecret, passphrase: string): Promise<string> {
  try {
    const key = await derive(passphrase, Buffer.from(salt, "base64url"), { N, r, p });
    return createEncryption(key).decrypt(sealed);
  } catch (cause) {
    throw new WrongPassphrase("the passphrase is wrong, or the file was changed", { cause });
  }
}

function derive(passphrase: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFC"), salt, KEY_BYTES, { ...cost, maxmem: MEMORY_MAX }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
