import { Keyring } from "../accounts/keyring.ts";
import type { Account } from "../model/account.ts";
import { Catalog } from "../records/catalog.ts";
import type { AppBase } from "./base.ts";
import type { AppSecrets } from "./secrets.ts";
import type { AppStorage } from "./storage.ts";

export interface AppRecords {
  keyring: Keyring;
  catalog: Catalog;
  accountOf(accountId: number): Account | null;
}

/** Reads accounts, API keys and configuration records into memory. Jobs keep them current. */
export async function loadRecords(
  { config, clock }: AppBase,
  { store }: AppStorage,
  { apiKeyPepper }: AppSecrets,
): Promise<AppRecords> {
  const keyring = new Keyring({ store, clock }, apiKeyPepper);
  await keyring.refresh();
  const catalog = new Catalog({ store, clock, isShared: config.databaseUrl !== null });
  await catalog.refresh();
  return { keyring, catalog, accountOf: (accountId) => keyring.account(accountId) };
}
