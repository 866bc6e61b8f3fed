import { POSTGRES, type Migration } from "./migration.ts";

/**
 * Leaves room beside rows for what they become. A message is written when it is accepted and grows twice or three times until its
 * end; without room each version goes to another page. And PostgreSQL puts new rows wherever old pages have room for one: in a
 * large store every message wrote to an old page of its own, which was read first and went into the log as a whole, 35 KB for
 * a message instead of 4. Pages whose rows have grown have no room left by this measure.
 */
export const roomToGrow: Migration = {
  name: "0017-room-to-grow",
  statements: (dialect) =>
    dialect === POSTGRES
      ? ["alter table messages set (fillfactor = 60)", "alter table callbacks set (fillfactor = 60)"]
      : [],
};
