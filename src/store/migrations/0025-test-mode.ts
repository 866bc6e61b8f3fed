import type { Migration } from "./migration.ts";

/**
 * Marks the messages that simulated phones received and sent as test or live, and adds an opt-out list for test traffic. A test
 * key then neither sees nor changes live data. Existing rows count as live.
 */
export const testMode: Migration = {
  name: "0025-test-mode",
  statements: ({ time, clustered }) => [
    `alter table phone_messages add column test integer not null default 0`,
    `create index phone_messages_of_tests on phone_messages (account_id, number, id, received_at) where test = 1`,
    `alter table inbound add column test integer not null default 0`,
    // Includes the mode, so that SQLite finds the last message of a conversation in the index alone.
    `drop index inbound_of_conversation`,
    `create index inbound_of_conversation on inbound (account_id, channel, number, sender, id, test)`,
    `create table test_optouts (
      account_id integer not null,
      number text not null,
      source text not null,
      note text,
      created_at ${time} not null,
      primary key (account_id, number)
    )${clustered}`,
  ],
};
