import { randomBytes } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { SCOPES } from "../model/api-key.ts";
import type { RecordStore } from "../store/store.ts";
import type { Keyring } from "./keyring.ts";
import { mintKey } from "./keys.ts";
import { hashPassword } from "./passwords.ts";

interface Needs {
  store: RecordStore;
  keyring: Keyring;
  clock: Clock;
}

interface Wishes {
  adminEmail: string;
  adminPassword: string | null;
  apiKey: string | null;
  testApiKey: string | null;
}

/** What was made on the first start, for the one time it is shown. */
export interface FirstStart {
  account: string;
  email: string;
  password: string;
  liveKey: string;
  testKey: string;
  phones: readonly { number: string; name: string }[];
}

const ACCOUNT = "default";

/** Numbers reserved for fiction, whose endings script three different fates. */
const SAMPLE_PHONES = [
  { number: "15550100100", name: "Delivered" },
  { number: "15550109001", name: "Never delivered" },
  { number: "15550109005", name: "Delivered after 20 s" },
];

/** Makes the first account with its owner, keys and sample phones; null when that has been done before. */
export async function firstStart(needs: Needs, wishes: Wishes): Promise<FirstStart | null> {
  const { store, keyring, clock } = needs;
  const accounts = await store.listAccounts();
  if (accounts.some((account) => account.name === ACCOUNT)) return null;

  const now = clock.now();
  const password = wishes.adminPassword ?? randomBytes(12).toString("base64url");
  const choices = { scopes: SCOPES, allowedIps: [], requestsPerSecond: null, expiresAt: null };
  const live = mintKey(needs, 0, "live", { name: "First live key", ...choices }, wishes.apiKey ?? undefined);
  const test = mintKey(needs, 0, "test", { name: "First test key", ...choices }, wishes.testApiKey ?? undefined);
  const created = await store.createAccount({
    name: ACCOUNT,
    createdAt: now,
    owner: {
      id: newId(now),
      email: wishes.adminEmail,
      passwordHash: await hashPassword(password),
      role: "owner",
      createdAt: now,
    },
    keys: [live.key, test.key],
    phones: SAMPLE_PHONES,
  });
  if (created === null) return null;
  await keyring.refresh();
  return {
    account: ACCOUNT,
    email: wishes.adminEmail,
    password,
    liveKey: live.secret,
    testKey: test.secret,
    phones: SAMPLE_PHONES,
  };
}
