import type { Migration } from "./migration.ts";

/** Links with which users choose a password, and where sessions were opened. */
export const invitations: Migration = {
  name: "0036-invitations",
  statements: ({ uuid, time, clustered }) => [
    `create table invitations (
      digest text primary key,
      account_id integer not null,
      user_id ${uuid} not null,
      expires_at ${time} not null
    )${clustered}`,
    `alter table sessions add column address text not null default ''`,
    `alter table sessions add column agent text not null default ''`,
  ],
};
