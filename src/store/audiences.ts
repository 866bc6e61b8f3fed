import { sql } from "kysely";
import type { Audience, AudienceRecipient, AudienceState, RowFault, RowFaultCode } from "../model/audience.ts";
import { createAudienceCheck, type AudienceCheckStore } from "./audience-check.ts";
import { createAudienceFiles, removeAudienceFile, type AudienceFileStore } from "./audience-files.ts";
import { audienceOf, audienceRowOf, FILE, type AudienceRef } from "./audience-rows.ts";
import type { Engine } from "./engine.ts";
import { pageOf } from "./page-of.ts";
import type { Page } from "./store.ts";

interface AudienceFilter {
  /** Only those of test keys. */
  test?: true;
  state?: AudienceState;
}

/** Audiences with their recipients. */
export interface AudienceStore extends AudienceFileStore, AudienceCheckStore {
  addAudience(audience: Audience): Promise<void>;
  /** The audiences of an account, and the bytes of the files that it may store for them. */
  countAudiences(accountId: number): Promise<{ count: number; fileBytes: number }>;
  findAudience(ref: AudienceRef): Promise<Audience | null>;
  /** Newest first. */
  listAudiences(
    accountId: number,
    filter: AudienceFilter,
    after: string | null,
    limit: number,
  ): Promise<Page<Audience, string>>;
  renameAudience(ref: AudienceRef, name: string): Promise<void>;
  /** Sets the columns and the sheet. A file that was checked is checked again; false if the file is gone. */
  mapAudience(ref: AudienceRef, columns: Pick<Audience, "mapping" | "sheet">): Promise<boolean>;
  /** Hides it at once; a job removes its rows. False if it is unknown. */
  removeAudience(ref: AudienceRef): Promise<boolean>;
  /** Ordered by row, starting after `after`. */
  listAudienceRecipients(ref: AudienceRef, after: number, limit: number): Promise<Page<AudienceRecipient, number>>;
  listAudienceFaults(ref: AudienceRef, after: number, limit: number): Promise<Page<RowFault, number>>;

  /** Removes a number from all audiences of an account, with the uploaded files that hold it. */
  eraseFromAudiences(accountId: number, number: string): Promise<number>;
  /** Audiences whose file is not checked yet, so that a number cannot be looked for in them. */
  countUncheckedAudiences(accountId: number): Promise<number>;
}

export function createAudiences(engine: Engine): AudienceStore {
  const { db, atomically } = engine;
  const ofRow = ({ accountId, id }: AudienceRef) =>
    db.updateTable("audiences").where("account_id", "=", accountId).where("id", "=", id);
  const inAccount = (accountId: number) =>
    db.selectFrom("audiences").selectAll().where("account_id", "=", accountId).where("state", "!=", "deleting");
  const isOf = ({ accountId, id }: AudienceRef) => sql<boolean>`account_id = ${accountId} and audience_id = ${id}`;

  return {
    ...createAudienceFiles(engine),
    ...createAudienceCheck(engine),

    async addAudience(audience) {
      await db.insertInto("audiences").values(audienceRowOf(audience)).execute();
    },

    async countAudiences(accountId) {
      const { rows } = await sql<{ count: number; bytes: number | null }>`select count(*) as count,
          cast(sum(case when has_file = ${FILE.stored} then size else 0 end) as bigint) as bytes
        from audiences where account_id = ${accountId} and state <> 'deleting'`.execute(db);
      return { count: rows[0]?.count ?? 0, fileBytes: rows[0]?.bytes ?? 0 };
    },

    async findAudience({ accountId, id }) {
      const row = await inAccount(accountId).where("id", "=", id).executeTakeFirst();
      return row ? audienceOf(row) : null;
    },

    async listAudiences(accountId, { test, state }, after, limit) {
      let found = inAccount(accountId);
      if (test) found = found.where("test", "=", 1);
      if (state !== undefined) found = found.where("state", "=", state);
      if (after !== null) found = found.where("id", "<", after);
      const rows = await found
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, audienceOf, ({ id }) => id);
    },

    async renameAudience(ref, name) {
      await ofRow(ref).set({ name }).execute();
    },

    async mapAudience(ref, { mapping, sheet }) {
      const { numUpdatedRows } = await ofRow(ref)
        .set({
          mapping: mapping && JSON.stringify(mapping),
          sheet,
          // An upload in progress is checked when it is complete.
          state: sql`case when state = 'uploading' then state else 'checking' end`,
          checked: sql`case when state = 'uploading' then checked else -1 end`,
          ended_at: null,
          failure: null,
          claim: null,
          claimed_until: 0,
        })
        .where("state", "!=", "deleting")
        .where(sql<boolean>`(has_file = ${FILE.stored} or state = 'uploading')`)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async removeAudience(ref) {
      const { numUpdatedRows } = await ofRow(ref)
        .set({ state: "deleting", checked: -1, claim: null, claimed_until: 0 })
        .where("state", "!=", "deleting")
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async listAudienceRecipients(ref, after, limit) {
      const rows = await db
        .selectFrom("audience_recipients")
        .selectAll()
        .where(isOf(ref))
        .where("line", ">", after)
        .orderBy("line")
        .limit(limit + 1)
        .execute();
      return pageOf(
        rows,
        limit,
        (row) => ({
          row: row.line,
          number: row.number,
          values: JSON.parse(row.content) as string[],
          optedOut: row.opted_out === 1,
        }),
        ({ row }) => row,
      );
    },

    async listAudienceFaults(ref, after, limit) {
      const rows = await db
        .selectFrom("audience_faults")
        .selectAll()
        .where(isOf(ref))
        .where("line", ">", after)
        .orderBy("line")
        .limit(limit + 1)
        .execute();
      return pageOf(
        rows,
        limit,
        (row) => ({
          row: row.line,
          column: row.column_name,
          code: row.code as RowFaultCode,
        }),
        ({ row }) => row,
      );
    },

    async eraseFromAudiences(accountId, number) {
      const found = await db
        .selectFrom("audience_recipients")
        .select("audience_id")
        .where("account_id", "=", accountId)
        .where("number", "=", number)
        .execute();
      const own = sql`select 1 from audience_recipients as own where own.account_id = ${accountId}
        and own.number = ${number} and own.audience_id = audiences.id`;
      const isChecked = sql`account_id = ${accountId} and state in ('ready', 'failed')`;
      await atomically([
        // A row with a fault may hold the number too, so all files that were checked go.
        sql`update audiences set has_file = ${FILE.leaving} where ${isChecked} and has_file = ${FILE.stored}`.compile(
          db,
        ),
        sql`update audiences set row_count = row_count - 1, recipients = recipients - 1,
            opted_out = opted_out - (select own.opted_out from audience_recipients as own
              where own.account_id = ${accountId} and own.number = ${number} and own.audience_id = audiences.id)
          where account_id = ${accountId} and exists (${own})`.compile(db),
        db.deleteFrom("audience_recipients").where("account_id", "=", accountId).where("number", "=", number).compile(),
      ]);
      const files = await inAccount(accountId).where("has_file", "=", FILE.leaving).execute();
      for (const { id } of files) await removeAudienceFile(engine, { accountId, id });
      return found.length;
    },

    async countUncheckedAudiences(accountId) {
      const { rows } = await sql<{ count: number }>`select count(*) as count from audiences
        where account_id = ${accountId} and state in ('uploading', 'checking')`.execute(db);
      return rows[0]?.count ?? 0;
    },
  };
}
