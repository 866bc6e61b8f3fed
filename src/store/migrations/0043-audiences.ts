import type { Migration } from "./migration.ts";

/** Recipients that are uploaded as a file: the file in parts, its rows, and the rows with faults. */
export const audiences: Migration = {
  name: "0043-audiences",
  statements: ({ uuid, time, clustered }) => [
    `create table audiences (
      account_id integer not null,
      id ${uuid} not null,
      test integer not null,
      name text not null,
      state text not null,
      size ${time} not null,
      received ${time} not null,
      checked ${time} not null,
      lines integer not null,
      mapping text,
      layout text,
      row_count integer not null,
      recipients integer not null,
      faults integer not null,
      opted_out integer not null,
      failure text,
      created_at ${time} not null,
      ended_at ${time},
      has_file integer not null,
      claim text,
      claimed_until ${time} not null,
      primary key (account_id, id)
    )${clustered}`,
    `create index audiences_at_work on audiences (claimed_until) where state in ('checking', 'deleting')`,
    `create index audiences_uploading on audiences (created_at) where state = 'uploading'`,
    `create index audiences_with_file on audiences (ended_at) where has_file = 1`,
    `create index audiences_leaving_file on audiences (account_id) where has_file = 2`,
    `create table audience_parts (
      account_id integer not null,
      audience_id ${uuid} not null,
      at ${time} not null,
      bytes integer not null,
      content text not null,
      primary key (account_id, audience_id, at)
    )${clustered}`,
    `create table audience_recipients (
      account_id integer not null,
      audience_id ${uuid} not null,
      line integer not null,
      number text not null,
      content text not null,
      opted_out integer not null,
      primary key (account_id, audience_id, line)
    )${clustered}`,
    // One message per number, whatever the file repeats. It also finds a number that is to be erased.
    `create unique index audience_recipients_by_number on audience_recipients (account_id, number, audience_id)`,
    `create table audience_faults (
      account_id integer not null,
      audience_id ${uuid} not null,
      line integer not null,
      column_name text,
      code text not null,
      primary key (account_id, audience_id, line)
    )${clustered}`,
  ],
};
