import type { Migration } from "./migration.ts";

/**
 * Conversations with the phones that have written. The statement that stores an inbound message also changes its conversation.
 * A conversation begins with the first message after this migration.
 */
export const conversations: Migration = {
  name: "0061-conversations",
  worksWith: "0.1.0",
  statements: ({ uuid, time, clustered }) => [
    `create table conversations (
      account_id integer not null,
      id ${uuid} not null,
      test integer not null,
      channel text not null,
      number text not null,
      sender text not null,
      state text not null,
      unread integer not null,
      is_unread integer not null,
      last_at ${time} not null,
      assigned_to ${uuid},
      primary key (account_id, id)
    )${clustered}`,
    // The order of the inbox: unread first, then the newest.
    `create index conversations_in_order on conversations (account_id, test, is_unread, last_at, id)`,
    `create index conversations_of_state on conversations (account_id, test, state, is_unread, last_at, id)`,
    `create index conversations_of_number on conversations (account_id, number)`,
    `create index conversations_by_age on conversations (account_id, last_at)`,
  ],
};
