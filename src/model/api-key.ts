import { createHmac } from "node:crypto";
import { crc32 } from "node:zlib";
import { randomText } from "../lib/random.ts";
import type { AgentLimits } from "./agent.ts";

/** `verify:custom` delivers codes that the caller chose. */
export const SCOPES = ["sms", "rcs", "chatapp", "verify", "verify:custom", "read", "manage"] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of test keys. `manage` is not among them, because the configuration is live. */
export const TEST_KEY_SCOPES = SCOPES.filter((scope) => scope !== "manage");

/** Messages sent with a test key never leave the simulator. */
export type KeyMode = "live" | "test";

/** A stored API key. The key itself is not stored. */
export interface ApiKey {
  accountId: number;
  id: string;
  name: string;
  mode: KeyMode;
  /** HMAC of the key under the server's secret. */
  digest: string;
  /** The last four characters, by which people recognise a key. */
  hint: string;
  scopes: readonly Scope[];
  /** Allowed client networks (CIDR); empty means all. */
  allowedIps: readonly string[];
  requestsPerSecond: number | null;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
  /** Limits of a key that an agent uses; null of an ordinary key. */
  agent: AgentLimits | null;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 33; // 33 base-62 characters hold 196 bits
const CHECKSUM_LENGTH = 6; // enough for 32 bits

/** A new key: prefix, 196 random bits, and a checksum by which secret scanners recognise keys. */
export function newKeySecret(mode: KeyMode): string {
  const body = `hg_${mode}_${randomText(ALPHABET, SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** True for a string with the form and checksum of a key. It recognises leaked keys and grants nothing. */
export function isWellFormedKey(key: string): boolean {
  const body = key.slice(0, -CHECKSUM_LENGTH);
  return /^hg_(live|test)_[0-9A-Za-z]{39}$/.test(key) && checksum(body) === key.slice(-CHECKSUM_LENGTH);
}

/** The stored HMAC of a key. The pepper is not in the database, so a stolen database reveals no key. */
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
