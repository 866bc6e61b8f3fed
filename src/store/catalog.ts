import { sql, type CompiledQuery } from "kysely";
import type { AccountSettings } from "../model/account.ts";
import type { CatalogContents, CatalogKind, CatalogRecord, Origin } from "../model/catalog.ts";
import type { StoredCredential } from "../model/credential.ts";
import { releaseHeld } from "./callbacks.ts";
import { rowOf as rowOfCredential, type CredentialRow } from "./credential-rows.ts";
import type { Engine } from "./engine.ts";
import { isAway } from "./store.ts";
import type { Tables } from "./tables.ts";

/** Configuration records for sending. */
export interface CatalogStore {
  listCatalog(): Promise<CatalogRecord[]>;
  /** Optimistic locking: this and the next two store nothing when the catalog has left the revision `from`. */
  insertCatalogRecord(record: CatalogRecord, from: number): Promise<"inserted" | "name taken" | "outdated">;
  /** `also` is inserted, or replaces the record of the same name, in the same transaction. */
  changeCatalogRecord(
    record: CatalogRecord,
    from: number,
    also?: readonly CatalogRecord[],
  ): Promise<"changed" | "missing" | "name taken" | "outdated">;
  removeCatalogRecord(
    record: Pick<CatalogRecord, "accountId" | "kind" | "id">,
    from: number,
    also?: readonly CatalogRecord[],
  ): Promise<"removed" | "missing" | "outdated">;
  /** Stores learned records; one that was authored meanwhile stays unchanged. */
  learnCatalogRecords(records: readonly CatalogRecord[]): Promise<void>;
  /** Applies the whole change, or nothing and returns false when the affected records or settings have a newer revision. */
  changeSetUp(change: SetUpChange): Promise<boolean>;
}

/** A change of an account's records and settings in one transaction. */
export interface SetUpChange {
  accountId: number;
  /** The revisions that the change is based on. */
  from: { records: number; catalog: number };
  /** Inserted, or replaces the record of the same name. */
  put: readonly CatalogRecord[];
  /** Removes authored records only. */
  remove: readonly Pick<CatalogRecord, "kind" | "name">[];
  settings: Partial<AccountSettings>;
  /** Inserted, or replaces the credential of the same id. */
  credentials?: readonly StoredCredential[];
}

type Row = Tables["catalog"];
type Topic = "records" | "catalog";

/** Rows per query. Small pages keep other requests from waiting: a service may have a hundred thousand templates. */
const PAGE = 1000;
/** A change between two pages restarts the read, this many times; then one query reads everything. */
const PAGED_TRIES = 3;

/** Catalog queries for both engines. Every change bumps the revision that other nodes watch. */
export function createCatalogQueries({ db, atomically, mergeJson, isAmong, rowsOf }: Engine): CatalogStore {
  const bump = (topic: Topic = "catalog"): CompiledQuery =>
    db
      .updateTable("revisions")
      .set({ revision: sql`revision + 1` })
      .where("topic", "=", topic)
      .compile();

  /** Bumps a revision. At any other value it inserts the topic twice, and the key violation rolls the transaction back. */
  const bumpFrom = (topic: Topic, revision: number): CompiledQuery[] => [
    bump(topic),
    db
      .insertInto("revisions")
      .columns(["topic", "revision"])
      .expression(
        db
          .selectFrom("revisions")
          .select(["topic", "revision"])
          .where("topic", "=", topic)
          .where("revision", "!=", revision + 1),
      )
      .compile(),
  ];

  const revisionIs = async (topic: Topic, revision: number): Promise<boolean> => {
    const row = db.selectFrom("revisions").select("topic").where("topic", "=", topic);
    return (await row.where("revision", "=", revision).executeTakeFirst()) !== undefined;
  };

  /** A refusal counts only if the catalog is still at the revision that the change was based on. */
  const refusedFrom = async <R>(revision: number, reason: R): Promise<R | "outdated"> =>
    (await revisionIs("catalog", revision)) ? reason : "outdated";

  /** Returns false, and writes nothing, when another change was committed first. */
  const writeFrom = async (revision: number, ...writes: readonly CompiledQuery[]): Promise<boolean> => {
    try {
      await atomically([...bumpFrom("catalog", revision), ...writes]);
    } catch (error) {
      // If the commit response was lost, the new revision may come from this very change.
      if (!isAway(error) && !(await revisionIs("catalog", revision))) return false;
      throw error;
    }
    return true;
  };

  const find = (accountId: number, kind: CatalogKind) =>
    db.selectFrom("catalog").select("id").where("account_id", "=", accountId).where("kind", "=", kind);

  const inOrder = db.selectFrom("catalog").selectAll().orderBy("account_id").orderBy("kind").orderBy("id");

  const readPages = async (): Promise<{ records: CatalogRecord[]; pages: number }> => {
    const records: CatalogRecord[] = [];
    for (let pages = 1; ; pages += 1) {
      const last = records.at(-1);
      const rest = last
        ? inOrder.where(sql<boolean>`(account_id, kind, id) > (${last.accountId}, ${last.kind}, ${last.id})`)
        : inOrder;
      const rows = await rest.limit(PAGE).execute();
      for (const row of rows) records.push(recordOf(row));
      if (rows.length < PAGE) return { records, pages };
    }
  };

  const catalogRevision = async (): Promise<number | undefined> => {
    const row = db.selectFrom("revisions").select("revision").where("topic", "=", "catalog");
    return (await row.executeTakeFirst())?.revision;
  };

  return {
    async listCatalog() {
      for (let tries = 0; tries < PAGED_TRIES; tries += 1) {
        const revision = await catalogRevision();
        const { records, pages } = await readPages();
        if (pages === 1 || revision === (await catalogRevision())) return records;
      }
      return (await inOrder.execute()).map(recordOf);
    },

    async insertCatalogRecord(record, from) {
      const taken = find(record.accountId, record.kind).where("name", "=", record.name);
      if (await taken.executeTakeFirst()) return refusedFrom(from, "name taken");
      const insert = db.insertInto("catalog").values(rowOf(record)).compile();
      return (await writeFrom(from, insert)) ? "inserted" : "outdated";
    },

    async changeCatalogRecord(record, from, also = []) {
      const { accountId, kind, id, name } = record;
      const taken = find(accountId, kind).where("name", "=", name).where("id", "!=", id);
      if (await taken.executeTakeFirst()) return refusedFrom(from, "name taken");
      if (!(await find(accountId, kind).where("id", "=", id).executeTakeFirst())) return refusedFrom(from, "missing");
      const { origin, content, updated_at } = rowOf(record);
      const update = db
        .updateTable("catalog")
        .set({ name, origin, content, updated_at })
        .where("account_id", "=", accountId)
        .where("kind", "=", kind)
        .where("id", "=", id);
      return (await writeFrom(from, update.compile(), ...releaseFor(record), ...upserts(also)))
        ? "changed"
        : "outdated";
    },

    async removeCatalogRecord({ accountId, kind, id }, from, also = []) {
      if (!(await find(accountId, kind).where("id", "=", id).executeTakeFirst())) return refusedFrom(from, "missing");
      const remove = db
        .deleteFrom("catalog")
        .where("account_id", "=", accountId)
        .where("kind", "=", kind)
        .where("id", "=", id);
      // Held callbacks become due; their next attempt drops them and logs the reason.
      const release = isEndpoint(kind) ? [releaseHeld({ db }, accountId, id, 0)] : [];
      return (await writeFrom(from, remove.compile(), ...release, ...upserts(also))) ? "removed" : "outdated";
    },

    async learnCatalogRecords(records) {
      const learned = records.map((record) =>
        db
          .insertInto("catalog")
          .values(rowOf(record))
          .onConflict((conflict) =>
            conflict
              .columns(["account_id", "kind", "name"])
              .doUpdateSet((row) => ({
                content: row.ref("excluded.content"),
                updated_at: row.ref("excluded.updated_at"),
              }))
              .where("catalog.origin", "=", "learned"),
          )
          .compile(),
      );
      await atomically([...learned, bump()]);
    },

    async changeSetUp({ accountId, from, put, remove, settings, credentials = [] }) {
      const statements: CompiledQuery[] = [];
      const hasSettings = Object.keys(settings).length > 0;
      if (hasSettings || credentials.length > 0) statements.push(...bumpFrom("records", from.records));
      if (credentials.length > 0) statements.push(putCredentials(credentials));
      if (hasSettings)
        statements.push(
          db
            .updateTable("accounts")
            .set({ settings: mergeJson("settings", JSON.stringify(settings)) })
            .where("id", "=", accountId)
            .compile(),
        );
      if (put.length + remove.length > 0)
        statements.push(...bumpFrom("catalog", from.catalog), ...removals(accountId, remove), ...upserts(put));
      if ([...put, ...remove].some(({ kind }) => isEndpoint(kind)))
        statements.push(releaseHeld({ db }, accountId, null, 0));
      if (statements.length === 0) return true;
      try {
        await atomically(statements);
      } catch (error) {
        if (isAway(error)) throw error;
        // Optimistic locking: another change was first, and the result says so.
        const isSame = (await revisionIs("records", from.records)) && (await revisionIs("catalog", from.catalog));
        if (!isSame) return false;
        throw error;
      }
      return true;
    },
  };

  /** Enabling an endpoint releases its held callbacks in the same transaction. */
  function releaseFor({ accountId, kind, id, content, updatedAt }: CatalogRecord): CompiledQuery[] {
    return isEndpoint(kind) && "enabled" in content && content.enabled
      ? [releaseHeld({ db }, accountId, id, updatedAt)]
      : [];
  }

  function removals(accountId: number, records: readonly Pick<CatalogRecord, "kind" | "name">[]): CompiledQuery[] {
    const byKind = Object.entries(Object.groupBy(records, ({ kind }) => kind));
    return byKind.map(([kind, gone]) =>
      db
        .deleteFrom("catalog")
        .where("account_id", "=", accountId)
        .where("kind", "=", kind)
        .where("origin", "=", "authored")
        .where(
          isAmong(
            "name",
            gone.map(({ name }) => name),
          ),
        )
        .compile(),
    );
  }

  /** A credential keeps its username, its mode and its times. */
  function putCredentials(credentials: readonly StoredCredential[]): CompiledQuery {
    const rows = rowsOf<CredentialRow>(
      {
        account_id: "integer",
        id: "uuid",
        kind: "text",
        username: "text",
        digest: "text",
        sealed: "text",
        name: "text",
        mode: "text",
        scopes: "text",
        allowed_ips: "text",
        requests_per_second: "integer",
        settings: "text",
        created_at: "bigint",
        expires_at: "bigint",
        revoked_at: "bigint",
        last_used_at: "bigint",
      },
      credentials.map(rowOfCredential),
    );
    return db
      .insertInto("credentials")
      .columns([
        "account_id",
        "id",
        "kind",
        "username",
        "digest",
        "sealed",
        "name",
        "mode",
        "scopes",
        "allowed_ips",
        "requests_per_second",
        "settings",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
      ]) // prettier-ignore
      .expression(
        db
          .selectFrom(rows.as("batch"))
          .selectAll()
          .where(sql<boolean>`true`),
      )
      .onConflict((conflict) =>
        conflict.columns(["account_id", "id"]).doUpdateSet((row) => ({
          digest: row.ref("excluded.digest"),
          name: row.ref("excluded.name"),
          scopes: row.ref("excluded.scopes"),
          allowed_ips: row.ref("excluded.allowed_ips"),
          settings: row.ref("excluded.settings"),
          expires_at: row.ref("excluded.expires_at"),
          revoked_at: row.ref("excluded.revoked_at"),
        })),
      )
      .compile();
  }

  /** One statement for any number of records, so that thousands of them do not block the next write. */
  function upserts(records: readonly CatalogRecord[]): CompiledQuery[] {
    if (records.length === 0) return [];
    const rows = rowsOf<Row>(
      {
        account_id: "integer",
        kind: "text",
        id: "uuid",
        name: "text",
        origin: "text",
        content: "text",
        created_at: "bigint",
        updated_at: "bigint",
      },
      records.map(rowOf),
    );
    return [
      db
        .insertInto("catalog")
        .columns(["account_id", "kind", "id", "name", "origin", "content", "created_at", "updated_at"])
        // SQLite parses "on conflict" after a select as part of a join, unless a where clause stands between them.
        .expression(
          db
            .selectFrom(rows.as("batch"))
            .selectAll()
            .where(sql<boolean>`true`),
        )
        .onConflict((conflict) =>
          conflict.columns(["account_id", "kind", "name"]).doUpdateSet((row) => ({
            origin: row.ref("excluded.origin"),
            content: row.ref("excluded.content"),
            updated_at: row.ref("excluded.updated_at"),
          })),
        )
        .compile(),
    ];
  }
}

const recordOf = (row: Row): CatalogRecord => ({
  accountId: row.account_id,
  kind: row.kind as CatalogKind,
  id: row.id,
  name: row.name,
  origin: row.origin as Origin,
  content: JSON.parse(row.content) as CatalogContents[CatalogKind],
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** Also used for records that are created together with their account. */
export const rowOf = (record: CatalogRecord): Row => ({
  account_id: record.accountId,
  kind: record.kind,
  id: record.id,
  name: record.name,
  origin: record.origin,
  content: JSON.stringify(record.content),
  created_at: record.createdAt,
  updated_at: record.updatedAt,
});

const isEndpoint = (kind: CatalogKind): boolean => kind === "webhook" || kind === "dlrConfig";
