import { randomBytes } from "node:crypto";
import { sampleRecords } from "../records/sample-data.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { SCOPES, TEST_KEY_SCOPES } from "../model/api-key.ts";
import { readEmail } from "../model/user.ts";
import type { RecordStore } from "../store/records.ts";
import type { Keyring } from "./keyring.ts";
import { generateKey } from "./keys.ts";
import { hashPassword } from "./passwords.ts";

export interface CreateAccountDeps {
  store: RecordStore;
  keyring: Keyring;
  clock: Clock;
}

interface NewAccount {
  name: string;
  adminEmail: string;
  /** Generated if null. */
  adminPassword: string | null;
  apiKey: string | null;
  testApiKey: string | null;
}

/** A new account with its secrets, which are shown once. */
export interface CreatedAccount {
  name: string;
  email: string;
  password: string;
  liveKey: string;
  testKey: string;
  phones: readonly { number: string; name: string }[];
  /** Secrets that the settings gave; the others are generated. */
  given: { password: boolean; liveKey: boolean; testKey: boolean };
}

/** Fictional numbers (555-01xx). The simulator derives their outcome from the last digits. */
const SAMPLE_PHONES = [
  { number: "15550100100", name: "Delivered" },
  { number: "15550109001", name: "Never delivered" },
  { number: "15550109005", name: "Delivered after 20 s" },
];

/** Creates an account with its owner, a live and a test key, and sample phones; null if the name is taken. */
export async function createAccount(deps: CreateAccountDeps, wanted: NewAccount): Promise<CreatedAccount | null> {
  const { store, keyring, clock } = deps;
  const { name, adminEmail } = wanted;
  const email = readEmail(adminEmail) ?? adminEmail;
  const now = clock.now();
  const password = wanted.adminPassword ?? randomBytes(12).toString("base64url");
  const common = { allowedIps: [], requestsPerSecond: null, expiresAt: null };
  const liveSettings = { name: "First live key", scopes: SCOPES, ...common };
  const testSettings = { name: "First test key", scopes: TEST_KEY_SCOPES, ...common };
  const live = generateKey(deps, 0, "live", liveSettings, wanted.apiKey ?? undefined);
  const test = generateKey(deps, 0, "test", testSettings, wanted.testApiKey ?? undefined);
  const created = await store.createAccount({
    name,
    createdAt: now,
    owner: { id: newId(now), email, passwordHash: await hashPassword(password), role: "owner", createdAt: now },
    keys: [live.key, test.key],
    phones: SAMPLE_PHONES,
    catalog: sampleRecords(now),
  });
  // Even if another node created the account first: this node must accept its keys from the first request on.
  await keyring.refresh();
  if (created === null) return null;
  const given = {
    password: wanted.adminPassword !== null,
    liveKey: wanted.apiKey !== null,
    testKey: wanted.testApiKey !== null,
  };
  return { name, email, password, liveKey: live.secret, testKey: test.secret, phones: SAMPLE_PHONES, given };
}
