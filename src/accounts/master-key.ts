import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { memoize } from "../lib/memoize.ts";
import { createEncryption, type Encryption } from "../lib/encryption.ts";
import type { RecordStore } from "../store/records.ts";

/** The stored data was encrypted under another master key. */
export class WrongMasterKey extends Error {
  override name = "WrongMasterKey";
}

const MASTER_KEY_MIN = 16;
/** The service value that tells which master key the stored data needs. */
export const FINGERPRINT = "master-key-fingerprint";
/** Error codes of file systems without hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"]);

/** Loads the secret that all others are derived from: the setting, or a file in the data directory that is created once. */
export async function loadMasterKey(
  store: Pick<RecordStore, "settled">,
  setting: string | null,
  dataDir: string,
): Promise<Buffer> {
  if (setting !== null) return Buffer.from(setting, "utf8");
  const file = keyFileOf(dataDir);
  if (!existsSync(file)) {
    // A new key could not decrypt the existing data, and would be mistaken for the lost one.
    if ((await store.settled(FINGERPRINT)) !== null)
      throw new WrongMasterKey(
        `the database was set up under a master key, and ${file} is missing; restore it from a backup, or set HELIOGRAPH_MASTER_KEY`,
      );
    createKeyFile(file);
  }
  return Buffer.from(readKeyFile(file), "utf8");
}

export const keyFileOf = (dataDir: string): string => join(dataDir, "master.key");

function readKeyFile(file: string): string {
  const key = readFileSync(file, "utf8").trim();
  if (key.length < MASTER_KEY_MIN) throw new WrongMasterKey(`${file} holds no key; restore it from a backup`);
  return key;
}

/** The master key of a server that has started before; null where neither the setting nor the file has one. */
export function readMasterKey(setting: string | null, dataDir: string): string | null {
  if (setting !== null) return setting;
  const file = keyFileOf(dataDir);
  return existsSync(file) ? readKeyFile(file) : null;
}

/** Creates the key file atomically: written and synced under another name, then linked, so that no crash leaves half a key. */
function createKeyFile(file: string): void {
  const temporary = `${file}.${process.pid}`;
  const options = { mode: 0o600, flush: true };
  const key = `${randomBytes(32).toString("base64url")}\n`;
  writeFileSync(temporary, key, options);
  try {
    linkSync(temporary, file);
  } catch (error) {
    const { code = "" } = error as { code?: string };
    // Not atomic: a crash here leaves half a key, which the next start refuses.
    if (NO_LINKS.has(code)) writeFileSync(file, key, { ...options, flag: "wx" });
    // Another process that starts at the same time has created it: that key counts.
    else if (code !== "EEXIST") throw error;
  } finally {
    unlinkSync(temporary);
  }
}

/** Derives an independent key for one purpose (HKDF). */
export const deriveKey = (masterKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", masterKey, "heliograph", purpose, 32));

/** Peppers the digests of keys and passwords. */
export const pepperOf = (masterKey: Buffer): Buffer => deriveKey(masterKey, "api keys");

const DECRYPTED_MAX = 10_000;

/** Encrypts the secrets of webhooks and carriers. Each is decrypted once, not for every delivery. */
export function encryptEndpointSecrets(masterKey: Buffer): Encryption {
  const { encrypt, decrypt } = createEncryption(deriveKey(masterKey, "secrets of endpoints"));
  return { encrypt, decrypt: memoize(DECRYPTED_MAX, decrypt) };
}

/** Identifies a master key without revealing it. */
export const fingerprintOf = (masterKey: Buffer): string =>
  createHash("sha256").update(deriveKey(masterKey, "fingerprint")).digest("base64url");

/** Checks that this node has the master key of the database: keys created on one node must be valid on all. */
export async function checkMasterKey(store: RecordStore, masterKey: Buffer): Promise<void> {
  const fingerprint = fingerprintOf(masterKey);
  if ((await store.settle(FINGERPRINT, fingerprint)) !== fingerprint) throw new WrongMasterKey(OTHER_KEY);
}

/** The same without creating a key or recording its fingerprint. Resolves to null in a database without a fingerprint. */
export async function findMasterKey(
  store: Pick<RecordStore, "settled">,
  setting: string | null,
  dataDir: string,
): Promise<Buffer | null> {
  const expected = await store.settled(FINGERPRINT);
  if (expected === null) return null;
  const key = await loadMasterKey(store, setting, dataDir);
  if (fingerprintOf(key) !== expected) throw new WrongMasterKey(OTHER_KEY);
  return key;
}

const OTHER_KEY =
  "this database was set up under another master key; set HELIOGRAPH_MASTER_KEY to that one, or restore master.key in the data directory";
