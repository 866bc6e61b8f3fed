import type { Migration } from "./migration.ts";

/**
 * Real carriers: an id and a result for each part of a long message, the parts of long inbound texts, and the nodes that send.
 * Unmatched receipts have all data that may identify their message.
 */
export const carriers: Migration = {
  name: "0008-carriers",
  statements: ({ time, clustered }) => [
    `alter table submissions add column part integer not null default 1`,
    `alter table submissions add column parts integer not null default 1`,
    `alter table submissions add column whole text`,
    `alter table submissions add column state text`,
    `alter table submissions add column error_code text`,
    `alter table submissions add column description text`,
    `alter table nodes add column sends integer not null default 1`,
    // Receipts stored so far came from the simulator, which all accounts share.
    `alter table parked_receipts add column account_id integer`,
    `alter table parked_receipts add column other_ids text`,
    `alter table parked_receipts add column recipient text`,
    `create index parked_receipts_of_account on parked_receipts (account_id, id)`,
    `create index parked_receipts_age on parked_receipts (parked_at)`,
    // The reference is text: when a phone reuses one, the reference of its earlier text gets a suffix.
    `create table inbound_parts (
      account_id integer not null,
      carrier text not null,
      number text not null,
      sender text not null,
      reference text not null,
      total integer not null,
      part integer not null,
      octets text not null,
      data_coding integer not null,
      alphabet text not null,
      at ${time} not null,
      done_at ${time},
      primary key (account_id, carrier, number, sender, reference, total, part)
    )${clustered}`,
    `create index inbound_parts_age on inbound_parts (at)`,
  ],
};
