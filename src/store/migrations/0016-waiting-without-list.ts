import { SQLITE, type Migration } from "./migration.ts";

/**
 * The index of waiting messages compares the states one by one. For a list of three, SQLite builds a lookup table for every row
 * that it writes, which is a third of the cost of a transition.
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
