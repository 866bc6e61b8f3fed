import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordStore } from "../store/store.ts";

/** The stored data was set up under another master key. */
export class WrongMasterKey extends Error {
  override name = "WrongMasterKey";
}

/** The secret that every other secret comes from: the setting, or a file in the data directory that is made once. */
export function loadMasterKey(setting: string | null, dataDir: string): Buffer {
  if (setting !== null) return Buffer.from(setting, "utf8");
  const file = join(dataDir, "master.key");
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  return Buffer.from(readFileSync(file, "utf8").trim(), "utf8");
}

/** A key for one purpose; knowing it tells nothing about the others. */
export const deriveKey = (masterKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", masterKey, "heliograph", purpose, 32));

/** Every node must have the same master key, or keys made on one would not open on another. */
export async function checkMasterKey(store: RecordStore, masterKey: Buffer): Promise<void> {
  const fingerprint = createHash("sha256").update(deriveKey(masterKey, "fingerprint")).digest("base64url");
  if ((await store.settle("master-key-fingerprint", fingerprint)) === fingerprint) return;
  throw new WrongMasterKey(
    "this database was set up under another master key; set HELIOGRAPH_MASTER_KEY to that one, or restore master.key in the data directory",
  );
}
