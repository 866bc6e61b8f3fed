import { SQLITE, type Migration } from "./migration.ts";

/**
 * The index of what is waiting says which states those are one by one. For a list of three, SQLite builds a table of its own for
 * every row that it writes, to look the state up in it: a third of what a move costs.
 */
export const waitingWithoutList: Migration = {
  name: "0016-waiting-without-list",
  statements: (dialect) =>
    dialect === SQLITE
      ? [
          `drop index messages_waiting`,
          `create index messages_waiting on messages (owner, lane, due_at, state)
             where (state = 'accepted' or state = 'scheduled' or state = 'submitting')`,
        ]
      : [],
};
