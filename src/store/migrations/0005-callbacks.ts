import type { Migration } from "./migration.ts";

/** Webhook callbacks, one row per event and endpoint. Each row is a work item, like a message. */
export const callbacks: Migration = {
  name: "0005-callbacks",
  statements: ({ uuid, time, clustered }) => [
    `create table callbacks (
      account_id integer not null,
      event_id ${uuid} not null,
      endpoint_id ${uuid} not null,
      kind text not null,
      status text,
      request_id ${uuid},
      n integer,
      at ${time} not null,
      error_code text,
      description text,
      carrier text,
      facts text not null,
      state text not null,
      owner integer not null,
      attempts integer not null,
      due_at ${time} not null,
      done_at ${time},
      log text,
      primary key (account_id, event_id, endpoint_id)
    )${clustered}`,
    `create index callbacks_waiting on callbacks (owner, due_at) where state = 'waiting'`,
    // Finds the callbacks to retry after an endpoint was fixed.
    `create index callbacks_failed on callbacks (account_id, endpoint_id, event_id) where state in ('exhausted', 'dropped')`,
    // Finds the callbacks of a message, and those that wait and hold back a later one.
    `create index callbacks_of_message on callbacks (account_id, request_id, n, endpoint_id, state, event_id, due_at, owner)
      where request_id is not null`,
    `create table endpoint_health (
      account_id integer not null,
      endpoint_id ${uuid} not null,
      failing_since ${time},
      last_success_at ${time},
      last_failure_at ${time},
      last_failure text,
      primary key (account_id, endpoint_id)
    )${clustered}`,
  ],
};
