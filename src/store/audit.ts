import { idFloor } from "../lib/ids.ts";
import type { Actor, AuditEntry } from "../model/audit.ts";
import type { AuditStore } from "./audit-store.ts";
import { edgeOf, LOOK_AT_MOST } from "./bounded-window.ts";
import type { Engine } from "./engine.ts";
import type { AuditRow } from "./tables.ts";

/** Who changed what: the same queries on both engines. Ids are ordered by time, so the key is the only index there is. */
export function createAudit({ db }: Engine): AuditStore {
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
      let window = ofAccount(accountId).selectAll();
      if (from !== undefined) window = window.where("id", ">=", idFloor(from));
      if (to !== undefined) window = window.where("id", "<", idFloor(to));
      if (after !== null) window = window.where("id", "<", after);
      window = window.orderBy("id", "desc").limit(LOOK_AT_MOST);

      let found = db.selectFrom(window.as("seen")).selectAll();
      if (who !== undefined) found = found.where((is) => is.or([is("actor_id", "=", who), is("actor_name", "=", who)]));
      if (what !== undefined) found = found.where((is) => is.or([is("kind", "=", what), is("action", "=", what)]));
      const rows = await found.orderBy("id", "desc").limit(limit).execute();

      const last = rows.at(-1);
      if (last && rows.length === limit) return { rows: rows.map(entryOf), next: last.id };
      const edge = await edgeOf<{ id: string }>(window, ["id"]);
      return { rows: rows.map(entryOf), next: edge?.id ?? null };
    },

    async forgetAudit(accountId, before, limit) {
      const { numDeletedRows } = await db
        .deleteFrom("audit")
        .where("account_id", "=", accountId)
        .where(
          "id",
          "in",
          ofAccount(accountId).select("id").where("id", "<", idFloor(before)).orderBy("id").limit(limit),
        )
        .executeTakeFirst();
      return Number(numDeletedRows);
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
});
