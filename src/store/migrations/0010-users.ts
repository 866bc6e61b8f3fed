import type { Migration } from "./migration.ts";

/** Users and their sessions, brute-force protection, and the audit log. */
export const users: Migration = {
  name: "0010-users",
  statements: ({ uuid, time, clustered }) => [
    // Addresses are looked up in lower case. Two that differ only in case stay unchanged; one with capitals cannot log in.
    `update users set email = lower(trim(email)) where not exists (
      select 1 from users as other where other.id <> users.id and lower(trim(other.email)) = lower(trim(users.email)))`,
    `alter table users add column name text not null default ''`,
    `alter table users add column disabled integer not null default 0`,
    `alter table users add column password_due integer not null default 0`,
    `alter table users add column last_login_at ${time}`,
    `alter table users add column totp_secret text`,
    `alter table users add column totp_next text`,
    `alter table users add column totp_step ${time}`,
    `create table recovery_codes (
      account_id integer not null,
      user_id ${uuid} not null,
      digest text not null,
      primary key (account_id, user_id, digest)
    )${clustered}`,
    `create table sessions (
      digest text primary key,
      account_id integer not null,
      user_id ${uuid} not null,
      created_at ${time} not null,
      seen_at ${time} not null
    )${clustered}`,
    `create index sessions_of_user on sessions (account_id, user_id)`,
    `create table login_failures (
      digest text primary key,
      failures integer not null,
      last_at ${time} not null,
      locked_until ${time} not null
    )${clustered}`,
    `create index login_failures_age on login_failures (last_at)`,
    `create table audit (
      account_id integer not null,
      id ${uuid} not null,
      actor_kind text not null,
      actor_id text,
      actor_name text,
      action text not null,
      kind text not null,
      record_id text,
      record_name text,
      fields text not null,
      address text not null,
      primary key (account_id, id)
    )${clustered}`,
  ],
};
