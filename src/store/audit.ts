import { idFloor } from "../lib/ids.ts";
import type { Actor, AuditEntry, AuditChange } from "../model/audit.ts";
import { listWindows, LOOK_AT_MOST } from "./bounded-window.ts";
import type { ReportingBudget } from "./collect-page.ts";
import type { Engine } from "./engine.ts";
import type { AuditRow } from "./tables.ts";

interface AuditFilter {
  /** The id or the name of the actor. */
  who?: string;
  /** A kind of record, or an action. */
  what?: string;
  /** Epoch ms, inclusive. */
  from?: number;
  /** Epoch ms, exclusive. */
  to?: number;
}

/** The audit log. Entries are never changed; only retention removes them. */
export interface AuditStore {
  writeAudit(entry: AuditEntry): Promise<void>;
  /** Newest first. A page may be short before the end, if the filter matches few entries. */
  listAudit(
    accountId: number,
    filter: AuditFilter,
    after: string | null,
    limit: number,
  ): Promise<{ rows: AuditEntry[]; next: string | null }>;
}

/** Audit log queries for both engines. Ids are ordered by time, so the primary key is the only index. */
export function createAudit({ db }: Engine, budget: ReportingBudget | null): AuditStore {
  const ofAccount = (accountId: number) => db.selectFrom("audit").where("account_id", "=", accountId);

  return {
    async writeAudit(entry) {
      await db
        .insertInto("audit")
        .values(rowOf(entry))
        .onConflict((conflict) => conflict.columns(["account_id", "id"]).doNothing())
        .execute();
    },

    async listAudit(accountId, { who, what, from, to }, after, limit) {
      const { rows, next } = await listWindows(
        {
          windowBelow(position) {
            let window = ofAccount(accountId).selectAll();
            if (from !== undefined) window = window.where("id", ">=", idFloor(from));
            if (to !== undefined) window = window.where("id", "<", idFloor(to));
            if (position !== null) window = window.where("id", "<", position);
            return window.orderBy("id", "desc").limit(LOOK_AT_MOST);
          },
          matchesIn(window, most) {
            let found = db.selectFrom(window.as("seen")).selectAll();
            if (who !== undefined)
              found = found.where((is) => is.or([is("actor_id", "=", who), is("actor_name", "=", who)]));
            if (what !== undefined)
              found = found.where((is) => is.or([is("kind", "=", what), is("action", "=", what)]));
            return found.orderBy("id", "desc").limit(most).execute();
          },
          key: ["id"],
          positionOf: ({ id }: Pick<AuditRow, "id">) => id,
        },
        { after, limit, budget },
      );
      return { rows: rows.map(entryOf), next };
    },
  };
}

const rowOf = (entry: AuditEntry): AuditRow => ({
  account_id: entry.accountId,
  id: entry.id,
  actor_kind: entry.actor.kind,
  actor_id: entry.actor.id,
  actor_name: entry.actor.name,
  action: entry.action,
  kind: entry.kind,
  record_id: entry.recordId,
  record_name: entry.recordName,
  fields: JSON.stringify(entry.fields),
  address: entry.address,
  changes: entry.changes && entry.changes.length > 0 ? JSON.stringify(entry.changes) : null,
});

const entryOf = (row: AuditRow): AuditEntry => ({
  accountId: row.account_id,
  id: row.id,
  actor: { kind: row.actor_kind as Actor["kind"], id: row.actor_id, name: row.actor_name },
  action: row.action,
  kind: row.kind,
  recordId: row.record_id,
  recordName: row.record_name,
  fields: JSON.parse(row.fields) as string[],
  address: row.address,
  ...(row.changes !== null && { changes: JSON.parse(row.changes) as AuditChange[] }),
});
