import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRecall } from "../lib/recall.ts";
import { createSeal, type Seal } from "../lib/seal.ts";
import type { RecordStore } from "../store/record-store.ts";

/** The stored data was set up under another master key. */
export class WrongMasterKey extends Error {
  override name = "WrongMasterKey";
}

const MASTER_KEY_MIN = 16;

/** The secret that every other secret comes from: the setting, or a file in the data directory that is made once. */
export function loadMasterKey(setting: string | null, dataDir: string): Buffer {
  if (setting !== null) return Buffer.from(setting, "utf8");
  const file = join(dataDir, "master.key");
  if (!existsSync(file)) makeKeyFile(file);
  const key = readFileSync(file, "utf8").trim();
  if (key.length < MASTER_KEY_MIN) throw new WrongMasterKey(`${file} holds no key; restore it from a backup`);
  return Buffer.from(key, "utf8");
}

/** Written whole and synced before it has its name, so that no crash leaves half a key that everything would rest on. */
function makeKeyFile(file: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    // Another process that starts at the same time has made it: theirs counts.
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  } finally {
    unlinkSync(draft);
  }
}

/** A key for one purpose; knowing it tells nothing about the others. */
export const deriveKey = (masterKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", masterKey, "heliograph", purpose, 32));

const OPENED_MAX = 10_000;

/** What the secrets of webhooks and delivery reports are sealed with. Each is opened once, not for every push. */
export function sealEndpoints(masterKey: Buffer): Seal {
  const { seal, open } = createSeal(deriveKey(masterKey, "secrets of endpoints"));
  return { seal, open: createRecall(OPENED_MAX, open) };
}

/** Every node must have the same master key, or keys made on one would not open on another. */
export async function checkMasterKey(store: RecordStore, masterKey: Buffer): Promise<void> {
  const fingerprint = createHash("sha256").update(deriveKey(masterKey, "fingerprint")).digest("base64url");
  if ((await store.settle("master-key-fingerprint", fingerprint)) === fingerprint) return;
  throw new WrongMasterKey(
    "this database was set up under another master key; set HELIOGRAPH_MASTER_KEY to that one, or restore master.key in the data directory",
  );
}
