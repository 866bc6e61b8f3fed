import type { AccountSettings } from "../model/account.ts";
import type { CatalogRecord } from "../model/catalog.ts";

/** What people configure about sending. */
export interface CatalogStore {
  listCatalog(): Promise<CatalogRecord[]>;
  /** This and the next two store nothing when the catalog is no longer at the revision that they were decided by. */
  insertCatalogRecord(record: CatalogRecord, from: number): Promise<"inserted" | "name taken" | "outdated">;
  changeCatalogRecord(record: CatalogRecord, from: number): Promise<"changed" | "missing" | "name taken" | "outdated">;
  removeCatalogRecord(
    record: Pick<CatalogRecord, "accountId" | "kind" | "id">,
    from: number,
  ): Promise<"removed" | "missing" | "outdated">;
  /** Writes learned records; one that was authored meanwhile stays as it is. */
  learnCatalogRecords(records: readonly CatalogRecord[]): Promise<void>;
  /** All of it, or nothing and false: when records or settings that it touches have changed since the revisions were read. */
  changeSetUp(change: SetUpChange): Promise<boolean>;
}

/** What an account's records and settings become together. */
export interface SetUpChange {
  accountId: number;
  /** The revisions that it was made from. */
  from: { records: number; catalog: number };
  /** Made, or in the place of what has the name now. */
  put: readonly CatalogRecord[];
  /** Only authored ones go. */
  remove: readonly Pick<CatalogRecord, "kind" | "name">[];
  /** Only the settings that change. */
  settings: Partial<AccountSettings>;
}
