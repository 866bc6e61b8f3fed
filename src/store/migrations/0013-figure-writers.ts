import type { Migration } from "./migration.ts";

/**
 * The last batch of each statistics writer. Idempotency: a batch that is sent twice, because a response was lost, counts once.
 */
export const figureWriters: Migration = {
  name: "0013-figure-writers",
  statements: ({ time, clustered }) => [
    `create table figure_writers (
      writer text not null,
      sequence ${time} not null,
      fresh integer not null,
      at ${time} not null,
      primary key (writer)
    )${clustered}`,
  ],
};
