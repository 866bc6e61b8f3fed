import type { Migration } from "./migration.ts";

/** Statistics by carrier and by country, and what carriers say about their error codes. */
export const figureGroups: Migration = {
  name: "0043-figure-groups",
  statements: ({ time, clustered }) => [
    // A query reads one range of the key: an account, a dimension, a grain, a time span.
    `create table figure_groups (
      account_id integer not null,
      dimension text not null,
      grain ${time} not null,
      at ${time} not null,
      name text not null,
      what text not null,
      channel text not null,
      code text not null,
      count ${time} not null,
      primary key (account_id, dimension, grain, at, name, what, channel, code)
    )${clustered}`,
    `create table code_texts (
      account_id integer not null,
      carrier text not null,
      code text not null,
      text text not null,
      at ${time} not null,
      primary key (account_id, carrier, code)
    )${clustered}`,
  ],
};
