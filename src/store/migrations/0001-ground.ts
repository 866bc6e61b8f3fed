import type { Migration } from "./migration.ts";

/**
 * Accounts and keys, running nodes, messages with their receipts, and simulated phones. Every insert pays for every index, so
 * there are few: lists by time use the primary key (ids are time-ordered), and the partial indexes hold only waiting rows.
 */
export const ground: Migration = {
  name: "0001-ground",
  statements: ({ uuid, time, counter, clustered, plain }) => [
    `create table service (name text primary key, value text not null)${plain}`,
    `create table revisions (topic text primary key, revision ${time} not null)${plain}`,
    `insert into revisions (topic, revision) values ('records', 1)`,
    `create table accounts (
      id ${counter},
      name text not null unique,
      suspended integer not null,
      settings text not null,
      created_at ${time} not null
    )${plain}`,
    `create table users (
      account_id integer not null references accounts (id),
      id ${uuid} not null,
      email text not null unique,
      password_hash text not null,
      role text not null,
      created_at ${time} not null,
      primary key (account_id, id)
    )${plain}`,
    `create table api_keys (
      account_id integer not null references accounts (id),
      id ${uuid} not null,
      name text not null,
      mode text not null,
      digest text not null unique,
      hint text not null,
      scopes text not null,
      allowed_ips text not null,
      requests_per_second integer,
      created_at ${time} not null,
      expires_at ${time},
      revoked_at ${time},
      last_used_at ${time},
      primary key (account_id, id)
    )${plain}`,
    `create table nodes (
      id ${counter},
      beat_at ${time} not null,
      dead integer not null default 0
    )${plain}`,
    `create table messages (
      account_id integer not null,
      request_id ${uuid} not null,
      n integer not null,
      channel text not null,
      lane integer not null,
      test integer not null,
      sender text not null,
      recipient text not null,
      content text not null,
      segments integer not null,
      campaign_name text,
      state text not null,
      owner integer not null,
      attempts integer not null default 0,
      carrier text,
      error_code text,
      description text,
      created_at ${time} not null,
      due_at ${time} not null,
      expires_at ${time} not null,
      submitted_at ${time},
      done_at ${time},
      primary key (account_id, request_id, n)
    )${clustered}`,
    `create index messages_waiting on messages (owner, lane, due_at) where state in ('accepted', 'submitting')`,
    `create table submissions (
      carrier text not null,
      carrier_message_id text not null,
      account_id integer not null,
      request_id ${uuid} not null,
      n integer not null,
      primary key (carrier, carrier_message_id)
    )${clustered}`,
    `create table parked_receipts (
      id ${counter},
      carrier text not null,
      carrier_message_id text not null,
      state text not null,
      error_code text,
      description text,
      at ${time} not null,
      parked_at ${time} not null,
      unique (carrier, carrier_message_id, state)
    )${plain}`,
    `create table idempotency (
      account_id integer not null,
      path text not null,
      key text not null,
      body_hash text not null,
      response text not null,
      created_at ${time} not null,
      primary key (account_id, path, key)
    )${clustered}`,
    `create index idempotency_age on idempotency (created_at)`,
    `create table phones (
      account_id integer not null,
      number text not null,
      name text,
      message_count integer not null,
      last_message_at ${time},
      primary key (account_id, number)
    )${clustered}`,
    `create table phone_messages (
      account_id integer not null,
      id ${uuid} not null,
      number text not null,
      sender text not null,
      channel text not null,
      content text not null,
      message_id text not null,
      received_at ${time} not null,
      reports_due_at ${time},
      primary key (account_id, id)
    )${clustered}`,
    `create index phone_messages_by_phone on phone_messages (account_id, number, id)`,
    `create index phone_messages_unreported on phone_messages (reports_due_at) where reports_due_at is not null`,
  ],
};
