import type { Migration } from "./migration.ts";

/**
 * Data from carrier connections: the network of a phone, the number of repeats of a message in doubt, and the message-id format
 * of a carrier. Unmatched receipts of two phones may share an id.
 */
export const lines: Migration = {
  name: "0012-lines",
  statements: ({ time, counter, plain, clustered }) => [
    `alter table messages add column operator text`,
    `alter table messages add column circle text`,
    `alter table messages add column repeats integer not null default 0`,
    `create table id_forms (
      account_id integer not null,
      carrier_id text not null,
      form text not null,
      learned_at ${time} not null,
      primary key (account_id, carrier_id)
    )${clustered}`,
    // Recreated, because SQLite cannot change a unique constraint. A receipt without a phone stores an empty one, so that the
    // constraint detects its repetition.
    `create table parked_receipts_by_phone (
      id ${counter},
      carrier text not null,
      carrier_message_id text not null,
      channel text,
      state text not null,
      error_code text,
      description text,
      at ${time} not null,
      parked_at ${time} not null,
      account_id integer,
      other_ids text,
      recipient text not null,
      operator text,
      circle text,
      unique (carrier, carrier_message_id, state, recipient)
    )${plain}`,
    `insert into parked_receipts_by_phone (carrier, carrier_message_id, channel, state, error_code, description, at, parked_at,
      account_id, other_ids, recipient)
    select carrier, carrier_message_id, channel, state, error_code, description, at, parked_at, account_id, other_ids,
      coalesce(recipient, '') from parked_receipts order by id`,
    `drop table parked_receipts`,
    `alter table parked_receipts_by_phone rename to parked_receipts`,
    `create index parked_receipts_of_account on parked_receipts (account_id, id)`,
    `create index parked_receipts_age on parked_receipts (parked_at)`,
  ],
};
