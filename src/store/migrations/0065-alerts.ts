import type { Migration } from "./migration.ts";

/** Alerts and their notifications, and since when each carrier is up or down. */
export const alerts: Migration = {
  name: "0065-alerts",
  worksWith: "0.1.0",
  statements: ({ uuid, time, clustered }) => [
    `create table alerts (
      account_id integer not null,
      id ${uuid} not null,
      rule text not null,
      rule_name text not null,
      kind text not null,
      subject text not null,
      subject_name text not null,
      state text not null,
      value ${time} not null,
      threshold ${time} not null,
      opened_at ${time} not null,
      resolved_at ${time},
      acknowledged_at ${time},
      acknowledged_by text,
      muted_until ${time},
      primary key (account_id, id)
    )${clustered}`,
    `create index alerts_of_subject on alerts (account_id, rule, subject, id)`,
    // Its key is the lock: of several nodes that open the same alert, one succeeds.
    `create table open_alerts (
      account_id integer not null,
      rule text not null,
      subject text not null,
      alert_id ${uuid} not null,
      primary key (account_id, rule, subject)
    )${clustered}`,
    `create table alert_mails (
      account_id integer not null,
      alert_id ${uuid} not null,
      state text not null,
      recipient text not null,
      created_at ${time} not null,
      due_at ${time} not null,
      attempts integer not null,
      primary key (account_id, alert_id, state, recipient)
    )${clustered}`,
    `create index alert_mails_due on alert_mails (due_at)`,
    // One row per carrier: every node that is connected to it renews the time at which it was up.
    `create table carrier_states (
      carrier text not null,
      up_since ${time},
      last_up_at ${time} not null,
      seen_at ${time} not null,
      primary key (carrier)
    )${clustered}`,
  ],
};
