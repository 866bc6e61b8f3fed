import type { Migration } from "./migration.ts";

/**
 * Numbers that are being erased, and keyed hashes of opted-out numbers that were erased, so that their opt-outs still hold. A
 * finished erasure has no number.
 */
export const erasures: Migration = {
  name: "0062-erasures",
  worksWith: "0.1.0",
  statements: ({ uuid, time, clustered }) => [
    `create table erasures (
      account_id integer not null,
      id ${uuid} not null,
      number text,
      state text not null,
      step integer not null,
      position text not null,
      found integer not null,
      erased integer not null,
      requested_at ${time} not null,
      ended_at ${time},
      next_at ${time} not null,
      claim text,
      claimed_until ${time} not null,
      primary key (account_id, id)
    )${clustered}`,
    `create index erasures_at_work on erasures (next_at) where state = 'running'`,
    `create table erased_optouts (
      account_id integer not null,
      test integer not null,
      digest text not null,
      created_at ${time} not null,
      primary key (account_id, test, digest)
    )${clustered}`,
  ],
};
