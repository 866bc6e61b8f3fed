import type { Account } from "../model/account.ts";
import type { CatalogKind, CatalogRecord } from "../model/catalog.ts";
import type { CatalogStore, SetUpChange } from "../store/catalog-store.ts";
import type { RecordStore } from "../store/record-store.ts";
import { AccountCatalog } from "./catalog.ts";
import { writtenRecord } from "./record-kind.ts";
import { pickSettings } from "./settings.ts";
import { SHELVES } from "./shelves.ts";

/** An account with all that is configured in it, as it was stored at one moment. */
export interface Standing {
  account: Account;
  catalog: AccountCatalog;
  /** Whether it still stands like that, these tell. */
  from: SetUpChange["from"];
}

export type SetUpStore = Pick<RecordStore, "revision" | "listAccounts"> &
  Pick<CatalogStore, "listCatalog" | "changeSetUp">;

/** Reads an account as it is stored; null when it is not there. */
export async function readStanding(
  store: SetUpStore,
  isMeant: (account: Account) => boolean,
): Promise<Standing | null> {
  // Before what they are about: what changes in between makes the standing look old, and never new.
  const from = { records: await store.revision("records"), catalog: await store.revision("catalog") };
  const account = (await store.listAccounts()).find(isMeant);
  if (!account) return null;
  const catalog = new AccountCatalog();
  for (const record of await store.listCatalog()) if (record.accountId === account.id) catalog.put(record);
  return { account, catalog, from };
}

/**
 * The set-up of an account as a file holds it: its settings and all that somebody authored, without what differs between
 * two accounts that are set up alike, and always in the same order, so that two versions can be compared line by line.
 */
export function writtenSetUp({ account, catalog }: Pick<Standing, "account" | "catalog">): object {
  const parts = SHELVES.map(({ many, kinds }): [string, object[]] => [
    many,
    kinds.flatMap((kind) => authored(catalog, kind.kind).map((record) => writtenRecord(kind, record))),
  ]);
  return { settings: pickSettings(account.settings), ...Object.fromEntries(parts) };
}

/** The records of a kind that somebody made, by name. */
export const authored = (catalog: AccountCatalog, kind: CatalogKind): CatalogRecord[] =>
  [...catalog.named(kind).values()]
    .filter(({ origin }) => origin === "authored")
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
