import type { Migration } from "./migration.ts";

/**
 * Short links: the targets of a request, a code per recipient and target, and the clicks. The code is the primary key, so a
 * redirect costs the same with ten million links as with ten.
 */
export const links: Migration = {
  name: "0003-links",
  statements: ({ uuid, time, clustered }) => [
    `create table link_targets (
      account_id integer not null,
      request_id ${uuid} not null,
      k integer not null,
      url text not null,
      created_at ${time} not null,
      expires_at ${time} not null,
      primary key (account_id, request_id, k)
    )${clustered}`,
    `create table links (
      code text primary key,
      account_id integer not null,
      request_id ${uuid} not null,
      n integer not null,
      k integer not null
    )${clustered}`,
    // Includes the target, so that the recipients of one target are counted in the index alone.
    `create index links_of_message on links (account_id, request_id, n, k)`,
    `create table clicks (
      account_id integer not null,
      code text not null,
      id ${uuid} not null,
      agent text not null,
      at ${time} not null,
      primary key (account_id, code, id)
    )${clustered}`,
  ],
};
