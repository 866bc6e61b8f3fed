import type { Migration } from "./migration.ts";

/** Numbers that sent keywords: how often they were answered lately, and since when their confirmation is awaited. */
export const keywordUsers: Migration = {
  name: "0055-keyword-users",
  worksWith: "0.1.0",
  statements: ({ time, clustered }) => [
    `create table keyword_users (
      account_id integer not null,
      number text not null,
      test integer not null,
      replied_to text,
      replies integer not null,
      window_at ${time} not null,
      asked_at ${time},
      primary key (account_id, number, test)
    )${clustered}`,
  ],
};
