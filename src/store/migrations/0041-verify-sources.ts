import type { Migration } from "./migration.ts";

/** Verifications whose code another product made. Few requests bring a code, so `verifications` gets no column for it. */
export const verifySources: Migration = {
  name: "0041-verify-sources",
  statements: ({ uuid, clustered }) => [
    `create table verify_sources (
      account_id integer not null,
      verify_id ${uuid} not null,
      source text not null,
      deliver_only integer not null,
      unreported integer not null,
      primary key (account_id, verify_id)
    )${clustered}`,
  ],
};
