import type { Migration } from "./migration.ts";

/** Who has written which of its figures last: what comes twice, because an answer was lost, counts once. */
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
