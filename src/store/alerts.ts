import { sql } from "kysely";
import type { Alert, AlertKind, AlertState } from "../model/alert.ts";
import type { Callback } from "../model/callback.ts";
import { insertCallbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";
import { pageOf } from "./page-of.ts";
import type { Page } from "./store.ts";
import type { AlertRow } from "./tables.ts";

type AlertRef = Pick<Alert, "accountId" | "id">;
type AlertSubject = Pick<Alert, "accountId" | "rule" | "subject">;

/** Events and e-mails about an alert that opens or resolves, in the same transaction. */
export interface AlertNotice {
  callbacks: readonly Callback[];
  /** E-mail addresses. */
  recipients: readonly string[];
  at: number;
}

/** An e-mail about an alert, claimed until its next attempt is due. */
export interface AlertMail {
  accountId: number;
  alertId: string;
  state: AlertState;
  recipient: string;
  createdAt: number;
  /** With this one. */
  attempts: number;
}

/** Since when a carrier is up or down for all nodes together, in epoch milliseconds. */
export interface CarrierSighting {
  /** The start of the time in which it has been up; null if it never was. */
  upSince: number | null;
  lastUpAt: number;
  /** The last time that any node looked. */
  seenAt: number;
}

export interface AlertStore {
  /** False if an alert of the rule and subject is open already: another node was faster. */
  openAlert(alert: Alert, notice: AlertNotice): Promise<boolean>;
  /** Does nothing, and sends nothing, if the alert is no longer open. */
  resolveAlert(alert: Alert, notice: AlertNotice): Promise<void>;
  /** The open alerts of an account; there are few. */
  listOpenAlerts(accountId: number): Promise<readonly Alert[]>;
  /** Until when alerts of a rule and subject are muted; null if they are not. */
  findMute(subject: AlertSubject, now: number): Promise<number | null>;
  /** Newest first. */
  listAlerts(
    accountId: number,
    filter: { state?: AlertState },
    after: string | null,
    limit: number,
  ): Promise<Page<Alert, string>>;
  findAlert(ref: AlertRef): Promise<Alert | null>;
  /** Keeps the first acknowledgement. */
  acknowledgeAlert(ref: AlertRef, by: string, at: number): Promise<void>;
  /** Mutes it, and later alerts of the same rule and subject. */
  muteAlert(alert: Pick<Alert, "accountId" | "id" | "rule" | "subject">, until: number | null): Promise<void>;

  /** Claims an e-mail that is due: it is not due again before `until`. */
  claimAlertMail(now: number, until: number): Promise<AlertMail | null>;
  endAlertMail(mail: AlertMail): Promise<void>;

  /** Notes which carriers a node sees up or down. */
  noteCarriers(carriers: readonly { carrier: string; isUp: boolean }[], now: number): Promise<void>;
  listCarrierSightings(): Promise<ReadonlyMap<string, CarrierSighting>>;
  /** Endpoints that fail, with the time since. */
  listFailingEndpoints(accountId: number): Promise<ReadonlyMap<string, number>>;
}

/** Longer than any pause between two looks. After a gap no node looked, so the carrier was not down all the time. */
export const SIGHTING_GAP_MS = 30_000;
const OPEN_MAX = 1000;

export function createAlerts({ db, rowsOf, atomically }: Engine): AlertStore {
  const ofRow = ({ accountId, id }: AlertRef) =>
    db.updateTable("alerts").where("account_id", "=", accountId).where("id", "=", id);
  const inAccount = (accountId: number) => db.selectFrom("alerts").selectAll().where("account_id", "=", accountId);
  const lockOf = ({ accountId, rule, subject }: AlertSubject) =>
    sql<boolean>`account_id = ${accountId} and rule = ${rule} and subject = ${subject}`;

  /** The callbacks and e-mails of a change, if the alert is open while they are stored. */
  const noticeOf = (alert: Alert, { callbacks, recipients, at }: AlertNotice) => {
    const isOpen = sql<boolean>`exists (select 1 from open_alerts
      where ${lockOf(alert)} and alert_id = ${alert.id})`;
    const { accountId: account_id, id: alert_id, state } = alert;
    const mails = rowsOf(
      {
        account_id: "integer",
        alert_id: "uuid",
        state: "text",
        recipient: "text",
        created_at: "bigint",
        due_at: "bigint",
        attempts: "integer",
      },
      recipients.map((recipient) => ({
        account_id,
        alert_id,
        state,
        recipient,
        created_at: at,
        due_at: at,
        attempts: 0,
      })),
    );
    const columns = ["account_id", "alert_id", "state", "recipient", "created_at", "due_at", "attempts"] as const;
    return [
      ...(callbacks.length > 0 ? [insertCallbacks({ db, rowsOf }, callbacks, at, isOpen)] : []),
      ...(recipients.length > 0
        ? [
            db
              .insertInto("alert_mails")
              .columns([...columns])
              .expression(
                db
                  .selectFrom(mails.as("mail"))
                  .select([...columns])
                  .where(isOpen),
              )
              .onConflict((conflict) => conflict.doNothing())
              .compile(),
          ]
        : []),
    ];
  };

  const listOpen = async (accountId: number): Promise<readonly Alert[]> => {
    const rows = await db
      .selectFrom("open_alerts")
      .innerJoin("alerts", (join) =>
        join.onRef("alerts.account_id", "=", "open_alerts.account_id").onRef("alerts.id", "=", "open_alerts.alert_id"),
      )
      .selectAll("alerts")
      .where("open_alerts.account_id", "=", accountId)
      .orderBy("alerts.id", "desc")
      .limit(OPEN_MAX)
      .execute();
    return rows.map(alertOf);
  };

  return {
    async openAlert(alert, notice) {
      const { accountId: account_id, id: alert_id, rule, subject } = alert;
      try {
        await atomically([
          db.insertInto("open_alerts").values({ account_id, rule, subject, alert_id }).compile(),
          db.insertInto("alerts").values(rowOf(alert)).compile(),
          ...noticeOf(alert, notice),
        ]);
        return true;
      } catch (error) {
        const open = await db.selectFrom("open_alerts").select("alert_id").where(lockOf(alert)).executeTakeFirst();
        // The key refused a second one. After a lost response, the first one may be this.
        if (open) return open.alert_id === alert_id;
        throw error;
      }
    },

    async resolveAlert(alert, notice) {
      await atomically([
        // Locks the row, so that of two nodes the second finds no open alert.
        ofRow(alert).set({ state: "resolved", resolved_at: alert.resolvedAt }).where("state", "=", "open").compile(),
        ...noticeOf(alert, notice),
        db.deleteFrom("open_alerts").where(lockOf(alert)).where("alert_id", "=", alert.id).compile(),
      ]);
    },

    listOpenAlerts: listOpen,

    async findMute({ accountId, rule, subject }, now) {
      const row = await db
        .selectFrom("alerts")
        .select("muted_until")
        .where("account_id", "=", accountId)
        .where("rule", "=", rule)
        .where("subject", "=", subject)
        .orderBy("id", "desc")
        .limit(1)
        .executeTakeFirst();
      const until = row?.muted_until ?? null;
      return until !== null && until > now ? until : null;
    },

    async listAlerts(accountId, { state }, after, limit) {
      if (state === "open") {
        const open = (await listOpen(accountId)).filter(({ id }) => after === null || id < after);
        const rows = open.slice(0, limit);
        return { rows, next: open.length > limit ? (rows.at(-1)?.id ?? null) : null };
      }
      let found = inAccount(accountId);
      if (state !== undefined) found = found.where("state", "=", state);
      if (after !== null) found = found.where("id", "<", after);
      const rows = await found
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, alertOf, ({ id }) => id);
    },

    async findAlert({ accountId, id }) {
      const row = await inAccount(accountId).where("id", "=", id).executeTakeFirst();
      return row ? alertOf(row) : null;
    },

    async acknowledgeAlert(ref, by, at) {
      await ofRow(ref).set({ acknowledged_at: at, acknowledged_by: by }).where("acknowledged_at", "is", null).execute();
    },

    async muteAlert(alert, until) {
      await db
        .updateTable("alerts")
        .set({ muted_until: until })
        .where(lockOf(alert))
        .where("id", ">=", alert.id)
        .execute();
    },

    async claimAlertMail(now, until) {
      const next = await db
        .selectFrom("alert_mails")
        .selectAll()
        .where("due_at", "<=", now)
        .orderBy("due_at")
        .limit(1)
        .executeTakeFirst();
      if (!next) return null;
      const { account_id, alert_id, state, recipient, created_at, due_at, attempts } = next;
      const { numUpdatedRows } = await db
        .updateTable("alert_mails")
        .set({ due_at: until, attempts: attempts + 1 })
        .where("account_id", "=", account_id)
        .where("alert_id", "=", alert_id)
        .where("state", "=", state)
        .where("recipient", "=", recipient)
        // Another node that read the same row has moved it.
        .where("due_at", "=", due_at)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return null;
      return {
        accountId: account_id,
        alertId: alert_id,
        state: state as AlertState,
        recipient,
        createdAt: created_at,
        attempts: attempts + 1,
      };
    },

    async endAlertMail({ accountId, alertId, state, recipient }) {
      await db
        .deleteFrom("alert_mails")
        .where("account_id", "=", accountId)
        .where("alert_id", "=", alertId)
        .where("state", "=", state)
        .where("recipient", "=", recipient)
        .execute();
    },

    async noteCarriers(carriers, now) {
      const rows = rowsOf(
        { carrier: "text", is_up: "integer" },
        // In one order, so that nodes that note the same carriers do not block each other.
        carriers
          .toSorted((one, other) => (one.carrier < other.carrier ? -1 : 1))
          .map(({ carrier, isUp }) => ({ carrier, is_up: isUp ? 1 : 0 })),
      );
      const isUp = sql`excluded.up_since is not null`;
      const wasUp = sql`carrier_states.last_up_at >= ${now - SIGHTING_GAP_MS}`;
      await sql`insert into carrier_states (carrier, up_since, last_up_at, seen_at)
        select carrier, case when is_up = 1 then cast(${now} as bigint) end,
          cast(${now} as bigint), cast(${now} as bigint) from ${rows} as seen where true
        on conflict (carrier) do update set
          up_since = case when not (${isUp}) then carrier_states.up_since
            when ${wasUp} then coalesce(carrier_states.up_since, excluded.up_since) else excluded.up_since end,
          last_up_at = case when ${isUp} then excluded.last_up_at
            when carrier_states.seen_at < ${now - SIGHTING_GAP_MS}
              then carrier_states.last_up_at + (excluded.seen_at - carrier_states.seen_at)
            else carrier_states.last_up_at end,
          seen_at = excluded.seen_at`.execute(db);
    },

    async listCarrierSightings() {
      const rows = await db.selectFrom("carrier_states").selectAll().execute();
      return new Map(
        rows.map(({ carrier, up_since: upSince, last_up_at: lastUpAt, seen_at: seenAt }) => [
          carrier,
          { upSince, lastUpAt, seenAt },
        ]),
      );
    },

    async listFailingEndpoints(accountId) {
      const rows = await db
        .selectFrom("endpoint_health")
        .select(["endpoint_id", "failing_since"])
        .where("account_id", "=", accountId)
        .where("failing_since", "is not", null)
        .execute();
      return new Map(rows.map((row) => [row.endpoint_id, row.failing_since ?? 0]));
    },
  };
}

const rowOf = (alert: Alert): AlertRow => ({
  account_id: alert.accountId,
  id: alert.id,
  rule: alert.rule,
  rule_name: alert.ruleName,
  kind: alert.alert,
  subject: alert.subject,
  subject_name: alert.subjectName,
  state: alert.state,
  value: alert.value,
  threshold: alert.threshold,
  opened_at: alert.openedAt,
  resolved_at: alert.resolvedAt,
  acknowledged_at: alert.acknowledgedAt,
  acknowledged_by: alert.acknowledgedBy,
  muted_until: alert.mutedUntil,
});

const alertOf = (row: AlertRow): Alert => ({
  accountId: row.account_id,
  id: row.id,
  rule: row.rule,
  ruleName: row.rule_name,
  alert: row.kind as AlertKind,
  subject: row.subject,
  subjectName: row.subject_name,
  state: row.state as AlertState,
  value: row.value,
  threshold: row.threshold,
  openedAt: row.opened_at,
  resolvedAt: row.resolved_at,
  acknowledgedAt: row.acknowledged_at,
  acknowledgedBy: row.acknowledged_by,
  mutedUntil: row.muted_until,
});
