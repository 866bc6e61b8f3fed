import { sql, type CompiledQuery } from "kysely";
import type { CatalogContents, CatalogKind, CatalogRecord, Origin } from "../model/catalog.ts";
import type { Engine } from "./engine.ts";
import type { CatalogStore } from "./catalog-store.ts";
import type { Tables } from "./tables.ts";

type Row = Tables["catalog"];
type Topic = "records" | "catalog";

/** So few that no request waits long behind the reading of them: a service may have a hundred thousand templates. */
const PAGE = 1000;
/** What is changed between two pages is read anew so often, and then all at once, which nothing can come between. */
const PAGED_TRIES = 3;

/** What people configure about sending: the same queries on both engines. Every change bumps the revision that other nodes watch. */
export function createCatalogQueries({ db, atomically, mergeJson, isAmong, rowsOf }: Engine): CatalogStore {
  const bump = (topic: Topic = "catalog"): CompiledQuery =>
    db
      .updateTable("revisions")
      .set({ revision: sql`revision + 1` })
      .where("topic", "=", topic)
      .compile();

  /** Bumps a revision, and fails with all that stands beside it where it was another: the topic would be there twice. */
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

  /** False, and nothing written, when somebody was quicker. */
  const writeFrom = async (revision: number, write: CompiledQuery): Promise<boolean> => {
    try {
      await atomically([...bumpFrom("catalog", revision), write]);
    } catch (error) {
      if (!(await revisionIs("catalog", revision))) return false;
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
      if (await taken.executeTakeFirst()) return "name taken";
      const insert = db.insertInto("catalog").values(rowOf(record)).compile();
      return (await writeFrom(from, insert)) ? "inserted" : "outdated";
    },

    async changeCatalogRecord(record, from) {
      const { accountId, kind, id, name } = record;
      const taken = find(accountId, kind).where("name", "=", name).where("id", "!=", id);
      if (await taken.executeTakeFirst()) return "name taken";
      if (!(await find(accountId, kind).where("id", "=", id).executeTakeFirst())) return "missing";
      const { origin, content, updated_at } = rowOf(record);
      const update = db
        .updateTable("catalog")
        .set({ name, origin, content, updated_at })
        .where("account_id", "=", accountId)
        .where("kind", "=", kind)
        .where("id", "=", id);
      return (await writeFrom(from, update.compile())) ? "changed" : "outdated";
    },

    async removeCatalogRecord({ accountId, kind, id }, from) {
      if (!(await find(accountId, kind).where("id", "=", id).executeTakeFirst())) return "missing";
      const remove = db
        .deleteFrom("catalog")
        .where("account_id", "=", accountId)
        .where("kind", "=", kind)
        .where("id", "=", id);
      return (await writeFrom(from, remove.compile())) ? "removed" : "outdated";
    },

    async learnCatalogRecords(records) {
      const upserts = records.map((record) =>
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
      await atomically([...upserts, bump()]);
    },

    async changeSetUp({ accountId, from, put, remove, settings }) {
      const statements: CompiledQuery[] = [];
      if (Object.keys(settings).length > 0)
        statements.push(
          ...bumpFrom("records", from.records),
          db
            .updateTable("accounts")
            .set({ settings: mergeJson("settings", JSON.stringify(settings)) })
            .where("id", "=", accountId)
            .compile(),
        );
      if (put.length + remove.length > 0)
        statements.push(...bumpFrom("catalog", from.catalog), ...removals(accountId, remove), upsert(put));
      if (statements.length === 0) return true;
      try {
        await atomically(statements);
      } catch (error) {
        // Somebody was quicker, which is an answer.
        const isSame = (await revisionIs("records", from.records)) && (await revisionIs("catalog", from.catalog));
        if (!isSame) return false;
        throw error;
      }
      return true;
    },
  };

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

  /** One statement for any number of records: thousands of them must not hold up whoever writes next. */
  function upsert(records: readonly CatalogRecord[]): CompiledQuery {
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
    return (
      db
        .insertInto("catalog")
        .columns(["account_id", "kind", "id", "name", "origin", "content", "created_at", "updated_at"])
        // SQLite would take "on conflict" for a condition of a join, were there no "where" before it.
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
        .compile()
    );
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

/** The row of a record; also for those that are made together with their account. */
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
