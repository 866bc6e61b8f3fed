import type { Account } from "../model/account.ts";
import type { CatalogKind, CatalogRecord } from "../model/catalog.ts";
import type { CatalogStore, SetUpChange } from "../store/catalog.ts";
import type { RecordStore } from "../store/records.ts";
import { AccountCatalog } from "./catalog.ts";
import { toFileRecord } from "./record-type.ts";
import { pickSettings } from "./settings.ts";
import { RECORD_TYPES } from "./record-types.ts";

/** Consistent snapshot of an account and its configuration. */
export interface CurrentConfig {
  account: Account;
  catalog: AccountCatalog;
  /** Versions for optimistic locking. */
  from: SetUpChange["from"];
}

export type ConfigStore = Pick<RecordStore, "revision" | "listAccounts"> &
  Pick<CatalogStore, "listCatalog" | "changeSetUp">;

/** Reads the stored account; null if it does not exist. */
export async function readCurrentConfig(
  store: ConfigStore,
  isMeant: (account: Account) => boolean,
): Promise<CurrentConfig | null> {
  // Versions are read first: a change in between makes the snapshot outdated, never wrongly current.
  const from = { records: await store.revision("records"), catalog: await store.revision("catalog") };
  const account = (await store.listAccounts()).find(isMeant);
  if (!account) return null;
  const catalog = new AccountCatalog();
  for (const record of await store.listCatalog()) if (record.accountId === account.id) catalog.put(record);
  return { account, catalog, from };
}

/**
 * Configuration file of an account: settings and authored records, without ids and timestamps and in a stable order, so
 * that two versions can be compared line by line.
 */
export function configFileOf({ account, catalog }: Pick<CurrentConfig, "account" | "catalog">): object {
  const parts = RECORD_TYPES.map(({ plural, definitions }): [string, object[]] => [
    plural,
    definitions.flatMap((kind) => authoredRecords(catalog, kind.kind).map((record) => toFileRecord(kind, record))),
  ]);
  return { settings: pickSettings(account.settings), ...Object.fromEntries(parts) };
}

/** Authored records of a kind, sorted by name. */
export const authoredRecords = (catalog: AccountCatalog, kind: CatalogKind): CatalogRecord[] =>
  [...catalog.named(kind).values()]
    .filter(({ origin }) => origin === "authored")
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
