import type { Migration } from "./migration.ts";

/**
 * One-time passwords and their abuse protection: verifications, sends and failed attempts per number, conversion per prefix and
 * country, and blocked prefixes.
 */
export const verify: Migration = {
  name: "0006-verify",
  statements: ({ uuid, time, clustered }) => [
    `create table verifications (
      account_id integer not null,
      id ${uuid} not null,
      mode text not null,
      config text not null,
      number text not null,
      country text not null,
      state text not null,
      digest text not null,
      checks integer not null,
      checks_max integer not null,
      bound integer not null,
      failures_per_hour integer not null,
      failures_per_day integer not null,
      test integer not null,
      created_at ${time} not null,
      expires_at ${time} not null,
      done_at ${time},
      next_at ${time},
      plan text,
      counted text not null,
      pays integer not null,
      followed integer not null,
      primary key (account_id, id)
    )${clustered}`,
    `create index verifications_next on verifications (next_at) where next_at is not null`,
    // Requests that delivered a code by a later channel. The first request has the id of the verification.
    `create table verify_requests (
      account_id integer not null,
      request_id ${uuid} not null,
      verify_id ${uuid} not null,
      primary key (account_id, request_id)
    )${clustered}`,
    `create table verify_numbers (
      account_id integer not null,
      mode text not null,
      number text not null,
      sends text not null,
      noted_sends text not null,
      failures text not null,
      -- The last verification under each configuration: no index has to be kept to find the one that a new code ends.
      latest text not null,
      touched_at ${time} not null,
      verified_at ${time} not null default 0,
      primary key (account_id, mode, number)
    )${clustered}`,
    `create table verify_tallies (
      account_id integer not null,
      kind text not null,
      name text not null,
      bucket integer not null,
      sends integer not null,
      verified integer not null,
      primary key (account_id, kind, name, bucket)
    )${clustered}`,
    `create table verify_prefixes (
      account_id integer not null,
      prefix text not null,
      owed integer not null default 0,
      slot integer not null default 0,
      slot_sends integer not null default 0,
      before_sends integer not null default 0,
      sends integer not null default 0,
      verified integer not null default 0,
      sent_at ${time} not null default 0,
      blocked_at ${time} not null default 0,
      blocked_until ${time} not null default 0,
      strikes integer not null default 0,
      primary key (account_id, prefix)
    )${clustered}`,
    `create table verify_strays (
      account_id integer primary key,
      checks integer not null,
      last_at ${time} not null
    )${clustered}`,
  ],
};
