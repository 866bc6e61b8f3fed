import { randomBytes } from "node:crypto";
import { sampleRecords } from "../catalog/samples.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { SCOPES } from "../model/api-key.ts";
import { readEmail } from "../model/user.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { Keyring } from "./keyring.ts";
import { mintKey } from "./keys.ts";
import { hashPassword } from "./passwords.ts";

export interface CreateNeeds {
  store: RecordStore;
  keyring: Keyring;
  clock: Clock;
}

interface Wishes {
  name: string;
  adminEmail: string;
  /** Made up where null. */
  adminPassword: string | null;
  apiKey: string | null;
  testApiKey: string | null;
}

/** A new account with its secrets, for the one time they are shown. */
export interface CreatedAccount {
  name: string;
  email: string;
  password: string;
  liveKey: string;
  testKey: string;
  phones: readonly { number: string; name: string }[];
}

/** Numbers reserved for fiction, whose endings script three different fates. */
const SAMPLE_PHONES = [
  { number: "15550100100", name: "Delivered" },
  { number: "15550109001", name: "Never delivered" },
  { number: "15550109005", name: "Delivered after 20 s" },
];

/** Makes an account with its owner, a live and a test key, and sample phones; null when the name is taken. */
export async function createAccount(needs: CreateNeeds, wishes: Wishes): Promise<CreatedAccount | null> {
  const { store, keyring, clock } = needs;
  const { name, adminEmail } = wishes;
  const email = readEmail(adminEmail) ?? adminEmail;
  const now = clock.now();
  const password = wishes.adminPassword ?? randomBytes(12).toString("base64url");
  const choices = { scopes: SCOPES, allowedIps: [], requestsPerSecond: null, expiresAt: null };
  const live = mintKey(needs, 0, "live", { name: "First live key", ...choices }, wishes.apiKey ?? undefined);
  const test = mintKey(needs, 0, "test", { name: "First test key", ...choices }, wishes.testApiKey ?? undefined);
  const created = await store.createAccount({
    name,
    createdAt: now,
    owner: { id: newId(now), email, passwordHash: await hashPassword(password), role: "owner", createdAt: now },
    keys: [live.key, test.key],
    phones: SAMPLE_PHONES,
    catalog: sampleRecords(now),
  });
  // Also when another node was quicker: its keys must open here from the first request on.
  await keyring.refresh();
  if (created === null) return null;
  return { name, email, password, liveKey: live.secret, testKey: test.secret, phones: SAMPLE_PHONES };
}
