import type { Account } from "../model/account.ts";
import type { CatalogKind, CatalogRecord } from "../model/catalog.ts";
import type { StoredCredential } from "../model/credential.ts";
import type { CatalogStore, SetUpChange } from "../store/catalog.ts";
import type { CredentialStore } from "../store/credentials.ts";
import type { RecordStore } from "../store/records.ts";
import { AccountCatalog } from "./catalog.ts";
import { toFileRecord } from "./record-type.ts";
import { pickSettings } from "./settings.ts";
import { RECORD_TYPES } from "./record-types.ts";
import { SYSTEM_IDS, toFileSystemId } from "./types/system-id.ts";

/** System ids of the SMPP server, which are unique on the server. */
export interface CurrentSystemIds {
  /** Those of the account, including revoked ones. */
  own: readonly StoredCredential[];
  /** Those of other accounts. */
  taken: ReadonlySet<string>;
}

/** Consistent snapshot of an account and its configuration. */
export interface CurrentConfig {
  account: Account;
  catalog: AccountCatalog;
  systemIds: CurrentSystemIds;
  /** Versions for optimistic locking. */
  from: SetUpChange["from"];
}

export type ConfigStore = Pick<RecordStore, "revision" | "listAccounts"> &
  Pick<CatalogStore, "listCatalog" | "changeSetUp"> &
  Pick<CredentialStore, "listCredentials">;

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
  const bySystemId = (await store.listCredentials()).filter(({ kind }) => kind === "smpp");
  const own = bySystemId.filter(({ accountId }) => accountId === account.id);
  const others = bySystemId.filter(({ accountId }) => accountId !== account.id);
  return { account, catalog, systemIds: { own, taken: new Set(others.map(({ username }) => username)) }, from };
}

/**
 * Configuration file of an account: settings and authored records, without ids and timestamps and in a stable order, so
 * that two versions can be compared line by line.
 */
export function configFileOf({ account, catalog, systemIds }: Omit<CurrentConfig, "from">): object {
  const parts = RECORD_TYPES.map(({ plural, definitions }): [string, object[]] => [
    plural,
    definitions.flatMap((kind) => authoredRecords(catalog, kind.kind).map((record) => toFileRecord(kind, record))),
  ]);
  const valid = systemIds.own.filter(({ revokedAt }) => revokedAt === null);
  const sorted = valid.toSorted((a, b) => (a.username < b.username ? -1 : 1));
  return {
    settings: pickSettings(account.settings),
    ...Object.fromEntries(parts),
    [SYSTEM_IDS]: sorted.map((credential) => toFileSystemId(credential)),
  };
}

/** Authored records of a kind, sorted by name. */
export const authoredRecords = (catalog: AccountCatalog, kind: CatalogKind): CatalogRecord[] =>
  [...catalog.named(kind).values()]
    .filter(({ origin }) => origin === "authored")
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
