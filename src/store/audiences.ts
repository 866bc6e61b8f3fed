import { sql, type CompiledQuery } from "kysely";
import {
  STORED_FAULTS_MAX,
  type Audience,
  type AudienceFailure,
  type AudienceLayout,
  type AudienceMapping,
  type AudienceRecipient,
  type AudienceState,
  type RowFault,
  type RowFaultCode,
} from "../model/audience.ts";
import type { Engine } from "./engine.ts";
import { pageOf } from "./page-of.ts";
import type { Page } from "./store.ts";
import type { AudienceRow, Tables } from "./tables.ts";

type AudienceRef = Pick<Audience, "accountId" | "id">;

interface AudienceFilter {
  /** Only those of test keys. */
  test?: true;
  state?: AudienceState;
}

/** An audience that a job works on. */
export interface AudienceWork {
  audience: Audience;
  /** Rows so far, with the header and empty ones. */
  lines: number;
  /** Rows of an earlier check are removed first. */
  isCleared: boolean;
  isDeleting: boolean;
  /** Number of the last contact that was read from the segment. */
  position: string | null;
  claim: string;
}

/** The result of a stretch of the file. */
interface CheckedRows {
  /** Offsets in the file: exclusive and inclusive. */
  from: number;
  to: number;
  layout: AudienceLayout;
  /** Numbers of the last row before the stretch, and of its last one. */
  linesBefore: number;
  lines: number;
  /** Rows in it that are not empty. */
  rows: number;
  recipients: readonly AudienceRecipient[];
  faults: readonly RowFault[];
  claimedUntil: number;
  /** Number of the last contact; of a segment only. */
  position?: string;
}

export interface AudienceStore {
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
  /**
   * Stores a part of the file if it continues what was received. The last part ends the upload and starts the check. Returns false
   * if the offset is another one, or the upload has ended.
   */
  addAudiencePart(ref: AudienceRef, part: { offset: number; content: Buffer }): Promise<boolean>;
  renameAudience(ref: AudienceRef, name: string): Promise<void>;
  /** Sets the columns and the sheet. A file that was checked is checked again; false if the file is gone. */
  mapAudience(ref: AudienceRef, columns: Pick<Audience, "mapping" | "sheet">): Promise<boolean>;
  /** Hides it at once; a job removes its rows. False if it is unknown. */
  removeAudience(ref: AudienceRef): Promise<boolean>;
  /** Ordered by row, starting after `after`. */
  listAudienceRecipients(ref: AudienceRef, after: number, limit: number): Promise<Page<AudienceRecipient, number>>;
  listAudienceFaults(ref: AudienceRef, after: number, limit: number): Promise<Page<RowFault, number>>;

  /** Claims the audience that waits longest for a job, or null. The claim lasts until `until`, and is renewed by each step. */
  claimAudience(claim: string, now: number, until: number): Promise<AudienceWork | null>;
  /** Bytes of the uploaded file from an offset, up to the end of the part that holds it. */
  findAudienceBytes(ref: AudienceRef, offset: number): Promise<Buffer | null>;
  /** Removes up to `limit` rows of an earlier check; true once none is left, null if another process has the audience. */
  clearAudience(work: AudienceWork, limit: number, claimedUntil: number): Promise<boolean | null>;
  /** Stores a checked stretch, if the claim still holds. Null if another process has the audience. */
  addCheckedRows(work: AudienceWork, checked: CheckedRows): Promise<{ ms: number } | null>;
  endCheck(
    work: AudienceWork,
    end: { failure: AudienceFailure | null; layout: AudienceLayout | null; at: number },
  ): Promise<void>;
  /** Deletes the row of an audience whose rows were removed. */
  endRemoval(work: AudienceWork): Promise<void>;
  /** Removes files that were checked before a time, and begins to remove uploads that were created before a time. */
  releaseAudienceFiles(checkedBefore: number, startedBefore: number): Promise<void>;

  /** Removes a number from all audiences of an account, with the uploaded files that hold it. */
  eraseFromAudiences(accountId: number, number: string): Promise<number>;
  /** Audiences whose file is not checked yet, so that a number cannot be looked for in them. */
  countUncheckedAudiences(accountId: number): Promise<number>;
}

const KEY_TYPES = { account_id: "integer", audience_id: "uuid", line: "integer" } as const;
const RECIPIENT_TYPES = { ...KEY_TYPES, number: "text", content: "text", opted_out: "integer" } as const;
const RECIPIENT_COLUMNS = ["account_id", "audience_id", "line", "number", "content", "opted_out"] as const;
const FAULT_TYPES = { ...KEY_TYPES, column_name: "text", code: "text" } as const;
const FAULT_COLUMNS = ["account_id", "audience_id", "line", "column_name", "code"] as const;

/** Values of `has_file`. A file leaves in several transactions; after a crash, housekeeping removes the rest. */
const FILE = { none: 0, stored: 1, leaving: 2 } as const;

/** A part is stored in pieces, so that the check has no more than one in memory. */
const PIECE_BYTES = 196_608;
/** Pieces that a transaction removes. SQLite has one writer, and reads all pages of a long value to free them. */
const REMOVED_PIECES = 16;

export function createAudiences({ db, rowsOf, atomically, inBackground }: Engine): AudienceStore {
  const ofRow = ({ accountId, id }: AudienceRef) =>
    db.updateTable("audiences").where("account_id", "=", accountId).where("id", "=", id);
  const inAccount = (accountId: number) =>
    db.selectFrom("audiences").selectAll().where("account_id", "=", accountId).where("state", "!=", "deleting");
  const isOf = ({ accountId, id }: AudienceRef) => sql<boolean>`account_id = ${accountId} and audience_id = ${id}`;
  const ofClaim = ({ audience, claim }: AudienceWork) => ofRow(audience).where("claim", "=", claim);

  /** Removes a file that is no longer wanted, in short transactions: a send waits for the end of each. */
  async function removeFile(ref: AudienceRef): Promise<void> {
    const isUnwanted = sql<boolean>`exists (select 1 from audiences
      where audiences.account_id = ${ref.accountId} and id = ${ref.id} and (has_file <> ${FILE.stored} or state = 'deleting'))`;
    const last = sql<number>`(select max(at) from (select at from audience_parts
      where ${isOf(ref)} order by at limit ${REMOVED_PIECES}) as first)`;
    const some = db.deleteFrom("audience_parts").where(isOf(ref)).where(isUnwanted).where("at", "<=", last).compile();
    for (let removed = REMOVED_PIECES; removed >= REMOVED_PIECES;) {
      const { changes } = await inBackground([some]);
      removed = changes[0] ?? 0;
    }
    await ofRow(ref).set({ has_file: FILE.none }).where("has_file", "=", FILE.leaving).execute();
  }

  return {
    async addAudience(audience) {
      await db.insertInto("audiences").values(rowOf(audience)).execute();
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

    async addAudiencePart(ref, { offset, content }) {
      const end = offset + content.length;
      const continues = sql<boolean>`state = 'uploading' and received = ${offset}`;
      const pieces: Tables["audience_parts"][] = [];
      for (let at = 0; at < content.length; at += PIECE_BYTES) {
        const piece = content.subarray(at, at + PIECE_BYTES);
        const { accountId: account_id, id: audience_id } = ref;
        pieces.push({
          account_id,
          audience_id,
          at: offset + at,
          bytes: piece.length,
          content: piece.toString("base64"),
        });
      }
      const types = {
        account_id: "integer",
        audience_id: "uuid",
        at: "bigint",
        bytes: "integer",
        content: "text",
      } as const;
      const columns = ["account_id", "audience_id", "at", "bytes", "content"] as const;
      await atomically([
        // Locks the row, so that of two equal parts one is stored.
        ofRow(ref)
          .set({ received: sql`received` })
          .where(continues)
          .compile(),
        db
          .insertInto("audience_parts")
          .columns([...columns])
          .expression(
            db
              .selectFrom(rowsOf<Tables["audience_parts"]>(types, pieces).as("part"))
              .select([...columns])
              .where(
                sql<boolean>`exists (select 1 from audiences where audiences.account_id = ${ref.accountId} and id = ${ref.id} and ${continues})`,
              ),
          )
          .onConflict((conflict) => conflict.doNothing())
          .compile(),
        ofRow(ref)
          .set({
            received: end,
            state: sql`case when size <= ${end} then 'checking' else state end`,
          })
          .where(continues)
          .compile(),
      ]);
      const row = await inAccount(ref.accountId).where("id", "=", ref.id).executeTakeFirst();
      return row !== undefined && row.received >= end;
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

    async claimAudience(claim, now, until) {
      // Literal states, so that the partial index serves both statements.
      const waits = sql<boolean>`state in ('checking', 'deleting') and (claimed_until < ${now} or claim = ${claim})`;
      const next = await db
        .selectFrom("audiences")
        .select(["account_id", "id"])
        .where(waits)
        .orderBy("claimed_until")
        .limit(1)
        .executeTakeFirst();
      if (!next) return null;
      const ref = { accountId: next.account_id, id: next.id };
      await ofRow(ref).set({ claim, claimed_until: until }).where(waits).execute();
      const row = await db
        .selectFrom("audiences")
        .selectAll()
        .where("account_id", "=", ref.accountId)
        .where("id", "=", ref.id)
        .where("claim", "=", claim)
        .executeTakeFirst();
      if (!row || (row.state !== "checking" && row.state !== "deleting")) return null;
      return {
        audience: audienceOf(row),
        lines: row.lines,
        isCleared: row.checked >= 0,
        isDeleting: row.state === "deleting",
        position: row.segment_position,
        claim,
      };
    },

    async findAudienceBytes(ref, offset) {
      const part = await db
        .selectFrom("audience_parts")
        .selectAll()
        .where(isOf(ref))
        .where("at", "<=", offset)
        .orderBy("at", "desc")
        .limit(1)
        .executeTakeFirst();
      if (!part || offset >= part.at + part.bytes) return null;
      return Buffer.from(part.content, "base64").subarray(offset - part.at);
    },

    async clearAudience(work, limit, claimedUntil) {
      const { audience: ref, claim } = work;
      const isUncleared = sql<boolean>`claim = ${claim} and (checked < 0 or state = 'deleting')`;
      // Without the claim, another process may have begun the next check, whose rows stay.
      const isOurs = sql<boolean>`exists (select 1 from audiences
        where audiences.account_id = ${ref.accountId} and id = ${ref.id} and ${isUncleared})`;
      const some = (table: "audience_recipients" | "audience_faults"): CompiledQuery =>
        db
          .deleteFrom(table)
          .where(isOf(ref))
          .where(isOurs)
          .where(
            "line",
            "<=",
            sql<number>`(select max(line) from (select line from ${sql.table(table)}
            where ${isOf(ref)} order by line limit ${limit}) as first)`,
          )
          .compile();
      const { changes } = await inBackground([
        ofRow(ref).set({ claimed_until: claimedUntil }).where(isUncleared).compile(),
        some("audience_recipients"),
        some("audience_faults"),
      ]);
      if (changes[0] === 0) return null;
      if ((changes[1] ?? 0) > 0 || (changes[2] ?? 0) > 0) return false;
      await ofClaim(work)
        .set({ checked: 0, lines: 0, row_count: 0, recipients: 0, faults: 0, opted_out: 0, layout: null })
        .where("checked", "<", 0)
        .execute();
      return true;
    },

    async addCheckedRows(
      work,
      { from, to, layout, linesBefore, lines, rows, recipients, faults, claimedUntil, position },
    ) {
      const { audience, claim } = work;
      const { accountId: account_id, id: audience_id } = audience;
      const key = { account_id, audience_id };
      const isCurrent = sql<boolean>`claim = ${claim} and state = 'checking' and checked = ${from}`;
      const isOurs = sql<boolean>`exists (select 1 from audiences as ours where ours.account_id = ${account_id}
        and ours.id = ${audience_id} and ours.claim = ${claim} and ours.state = 'checking' and ours.checked = ${from})`;
      const counted = (condition: string) => sql<number>`(select count(*) from audience_recipients
        where account_id = ${account_id} and audience_id = ${audience_id}
          and line > ${linesBefore} and line <= ${lines} ${sql.raw(condition)})`;
      const recipientRows = recipients.map(({ row, number, values, optedOut }) => ({
        ...key,
        line: row,
        number,
        content: JSON.stringify(values),
        opted_out: optedOut ? 1 : 0,
      }));
      const faultRows = faults
        .slice(0, Math.max(0, STORED_FAULTS_MAX - audience.faults))
        .map(({ row, column, code }) => ({ ...key, line: row, column_name: column, code }));
      const { changes, ms } = await inBackground([
        // Locks the row: a claim or a new mapping by others waits for the end of this transaction.
        ofRow(audience).set({ claimed_until: claimedUntil }).where(isCurrent).compile(),
        db
          .insertInto("audience_recipients")
          .columns([...RECIPIENT_COLUMNS])
          .expression(
            db
              .selectFrom(rowsOf<Tables["audience_recipients"]>(RECIPIENT_TYPES, recipientRows).as("batch"))
              .select([...RECIPIENT_COLUMNS])
              .where(isOurs)
              .orderBy("line"),
          )
          .onConflict((conflict) => conflict.doNothing())
          .compile(),
        db
          .insertInto("audience_faults")
          .columns([...FAULT_COLUMNS])
          .expression(
            db
              .selectFrom(rowsOf<Tables["audience_faults"]>(FAULT_TYPES, faultRows).as("batch"))
              .select([...FAULT_COLUMNS])
              .where(isOurs),
          )
          .onConflict((conflict) => conflict.doNothing())
          .compile(),
        ofRow(audience)
          .set({
            checked: to,
            lines,
            layout: JSON.stringify(layout),
            row_count: sql`row_count + ${rows}`,
            recipients: sql`recipients + ${counted("")}`,
            opted_out: sql`opted_out + ${counted("and opted_out = 1")}`,
            faults: sql`faults + ${faults.length}`,
            ...(position !== undefined && { segment_position: position }),
          })
          .where(isCurrent)
          .compile(),
      ]);
      return changes[3] === 1 ? { ms } : null;
    },

    async endCheck(work, { failure, layout, at }) {
      await ofClaim(work)
        .set({
          state: failure === null ? "ready" : "failed",
          failure,
          ended_at: at,
          claim: null,
          segment_position: null,
          ...(layout && { layout: JSON.stringify(layout) }),
        })
        .where("state", "=", "checking")
        .execute();
    },

    async endRemoval(work) {
      const { accountId, id } = work.audience;
      await removeFile(work.audience);
      await db
        .deleteFrom("audiences")
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("state", "=", "deleting")
        .execute();
    },

    async releaseAudienceFiles(checkedBefore, startedBefore) {
      // Literals of states and files, so that partial indexes serve these statements.
      await db
        .updateTable("audiences")
        .set({ state: "deleting", checked: -1 })
        .where(sql<boolean>`state = 'uploading'`)
        .where("created_at", "<", startedBefore)
        .execute();
      const refs = () => db.selectFrom("audiences").select(["account_id", "id"]).limit(20);
      const old = await refs()
        .where(sql<boolean>`has_file = 1`)
        .where("ended_at", "<", checkedBefore)
        .execute();
      for (const { account_id: accountId, id } of old)
        await ofRow({ accountId, id })
          .set({ has_file: FILE.leaving })
          .where("has_file", "=", FILE.stored)
          .where("ended_at", "<", checkedBefore)
          .execute();
      const leaving = await refs()
        .where(sql<boolean>`has_file = 2`)
        .execute();
      for (const { account_id: accountId, id } of leaving) await removeFile({ accountId, id });
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
      for (const { id } of files) await removeFile({ accountId, id });
      return found.length;
    },

    async countUncheckedAudiences(accountId) {
      const { rows } = await sql<{ count: number }>`select count(*) as count from audiences
        where account_id = ${accountId} and state in ('uploading', 'checking')`.execute(db);
      return rows[0]?.count ?? 0;
    },
  };
}

const rowOf = (audience: Audience): AudienceRow => ({
  account_id: audience.accountId,
  id: audience.id,
  test: audience.test ? 1 : 0,
  name: audience.name,
  state: audience.state,
  size: audience.size,
  received: audience.received,
  checked: audience.checked,
  lines: 0,
  sheet: audience.sheet,
  mapping: audience.mapping && JSON.stringify(audience.mapping),
  layout: audience.layout && JSON.stringify(audience.layout),
  row_count: audience.rows,
  recipients: audience.recipients,
  faults: audience.faults,
  opted_out: audience.optedOut,
  failure: audience.failure,
  created_at: audience.createdAt,
  ended_at: audience.endedAt,
  has_file: audience.hasFile ? FILE.stored : FILE.none,
  claim: null,
  claimed_until: 0,
  segment: audience.segment && JSON.stringify(audience.segment),
  segment_position: null,
});

const audienceOf = (row: AudienceRow): Audience => ({
  accountId: row.account_id,
  id: row.id,
  test: row.test === 1,
  name: row.name,
  state: row.state as AudienceState,
  size: row.size,
  received: row.received,
  checked: Math.max(0, row.checked),
  sheet: row.sheet,
  mapping: row.mapping === null ? null : (JSON.parse(row.mapping) as AudienceMapping),
  layout: row.layout === null ? null : (JSON.parse(row.layout) as AudienceLayout),
  rows: row.row_count,
  recipients: row.recipients,
  faults: row.faults,
  optedOut: row.opted_out,
  failure: row.failure as AudienceFailure | null,
  createdAt: row.created_at,
  endedAt: row.ended_at,
  hasFile: row.has_file === FILE.stored,
  segment: row.segment === null ? null : (JSON.parse(row.segment) as Audience["segment"]),
});
