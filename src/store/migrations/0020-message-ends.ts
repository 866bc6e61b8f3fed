import type { Migration } from "./migration.ts";

/**
 * Messages without a final state some minutes after acceptance, with the time of their next check, and the position up to which
 * each account has been checked. An index over every submitted message would be written twice per message; few messages need a
 * check. Also the requested channel of a message that continued on another channel.
 */
export const messageEnds: Migration = {
  name: "0020-message-ends",
  statements: ({ uuid, time, clustered }) => [
    `create table awaited_receipts (
      account_id integer not null,
      request_id ${uuid} not null,
      n integer not null,
      due_at ${time} not null,
      primary key (account_id, request_id, n)
    )${clustered}`,
    `create index awaited_receipts_due on awaited_receipts (due_at)`,
    `create table receipt_watch (
      account_id integer not null primary key,
      watched_to ${uuid} not null,
      watched_to_n integer not null
    )${clustered}`,
    `alter table messages add column asked_channel text`,
  ],
};
