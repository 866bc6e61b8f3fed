import { sql, type CompiledQuery } from "kysely";
import {
  STORED_FAULTS_MAX,
  type Audience,
  type AudienceFailure,
  type AudienceLayout,
  type AudienceRecipient,
  type RowFault,
} from "../model/audience.ts";
import { removeAudienceFile } from "./audience-files.ts";
import { audienceOf, type AudienceRef } from "./audience-rows.ts";
import type { Engine } from "./engine.ts";
import type { Tables } from "./tables.ts";

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

/** The work of the jobs that check audiences and remove them. */
export interface AudienceCheckStore {
  /** Claims the audience that waits longest for a job, or null. The claim lasts until `until`, and is renewed by each step. */
  claimAudience(claim: string, now: number, until: number): Promise<AudienceWork | null>;
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
}

const KEY_TYPES = { account_id: "integer", audience_id: "uuid", line: "integer" } as const;
const RECIPIENT_TYPES = { ...KEY_TYPES, number: "text", content: "text", opted_out: "integer" } as const;
const RECIPIENT_COLUMNS = ["account_id", "audience_id", "line", "number", "content", "opted_out"] as const;
const FAULT_TYPES = { ...KEY_TYPES, column_name: "text", code: "text" } as const;
const FAULT_COLUMNS = ["account_id", "audience_id", "line", "column_name", "code"] as const;

export function createAudienceCheck({ db, rowsOf, inBackground }: Engine): AudienceCheckStore {
  const ofRow = ({ accountId, id }: AudienceRef) =>
    db.updateTable("audiences").where("account_id", "=", accountId).where("id", "=", id);
  const isOf = ({ accountId, id }: AudienceRef) => sql<boolean>`account_id = ${accountId} and audience_id = ${id}`;
  const ofClaim = ({ audience, claim }: AudienceWork) => ofRow(audience).where("claim", "=", claim);

  return {
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
      await removeAudienceFile({ db, inBackground }, work.audience);
      await db
        .deleteFrom("audiences")
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("state", "=", "deleting")
        .execute();
    },
  };
}
