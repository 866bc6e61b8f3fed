import { createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

export const SCOPES = ["sms", "rcs", "chatapp", "verify", "read", "manage"] as const;
export type Scope = (typeof SCOPES)[number];

/** Messages sent with a test key never leave the simulator. */
export type KeyMode = "live" | "test";

/** A key as the server knows it: never the key itself. */
export interface ApiKey {
  accountId: number;
  id: string;
  name: string;
  mode: KeyMode;
  /** HMAC of the key under the server's secret. */
  digest: string;
  /** The last four characters, so that people can tell their keys apart. */
  hint: string;
  scopes: readonly Scope[];
  /** Networks (CIDR) it may be used from; empty means anywhere. */
  allowedIps: readonly string[];
  requestsPerSecond: number | null;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 33; // 33 base-62 characters hold 196 bits
const CHECKSUM_LENGTH = 6; // enough for 32 bits

/** A new key: prefix, 196 random bits, and a checksum so that scanners and people can spot a mistyped one. */
export function newKeySecret(mode: KeyMode): string {
  const body = `hg_${mode}_${randomBase62(SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** Whether a string is a key as we make them; used to recognise leaked keys, not to let anybody in. */
export function isWellFormedKey(key: string): boolean {
  const body = key.slice(0, -CHECKSUM_LENGTH);
  return /^hg_(live|test)_[0-9A-Za-z]{39}$/.test(key) && checksum(body) === key.slice(-CHECKSUM_LENGTH);
}

/** What is stored of a key. The pepper is not in the database, so a stolen database holds no usable key. */
export const keyDigest = (pepper: Buffer, key: string): string =>
  createHmac("sha256", pepper).update(key).digest("base64url");

export const keyHint = (key: string): string => key.slice(-4);

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function randomBase62(length: number): string {
  let out = "";
  while (out.length < length) {
    // Bytes from 248 on would favour the first letters; they are thrown away.
    for (const byte of randomBytes(length)) if (byte < 248 && out.length < length) out += ALPHABET.charAt(byte % 62);
  }
  return out;
}
