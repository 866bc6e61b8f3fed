import type { Migration } from "./migration.ts";

/** Usernames and passwords for the APIs of other products. Settings of a kind are JSON, so that a new kind needs no column. */
export const credentials: Migration = {
  name: "0033-credentials",
  statements: ({ uuid, time, plain }) => [
    `create table credentials (
      account_id integer not null references accounts (id),
      id ${uuid} not null,
      kind text not null,
      username text not null,
      digest text not null unique,
      sealed text,
      name text not null,
      mode text not null,
      scopes text not null,
      allowed_ips text not null,
      requests_per_second integer,
      settings text not null,
      created_at ${time} not null,
      expires_at ${time},
      revoked_at ${time},
      last_used_at ${time},
      primary key (account_id, id)
    )${plain}`,
  ],
};
