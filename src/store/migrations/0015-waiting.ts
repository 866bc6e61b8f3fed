import type { Migration } from "./migration.ts";

/**
 * The state stands in the index of what is waiting: SQLite reads the row of every message that it counts by a column which the
 * index lacks, and with a million waiting everybody else's reads stand behind that for a second. An insert costs the same, and
 * a move at most a twentieth more of its statement, because a change of the state has always changed this index.
 */
export const waiting: Migration = {
  name: "0015-waiting",
  statements: () => [
    `drop index messages_waiting`,
    `create index messages_waiting on messages (owner, lane, due_at, state) where state in ('accepted', 'scheduled', 'submitting')`,
  ],
};
