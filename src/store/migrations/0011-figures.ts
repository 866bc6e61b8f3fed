import type { Migration } from "./migration.ts";

/** Statistics, counted as events happen, and the roles and start times of nodes. */
export const figures: Migration = {
  name: "0011-figures",
  statements: ({ time, clustered }) => [
    // A query reads one range of the key: an account, a grain, a time span.
    `create table figures (
      account_id integer not null,
      grain ${time} not null,
      at ${time} not null,
      what text not null,
      channel text not null,
      route_class text not null,
      code text not null,
      count ${time} not null,
      primary key (account_id, grain, at, what, channel, route_class, code)
    )${clustered}`,
    `alter table nodes add column roles text not null default ''`,
    `alter table nodes add column started_at ${time} not null default 0`,
  ],
};
