import { POSTGRES, type Migration } from "./migration.ts";

/**
 * Fillfactor 60 reserves space on each page for updated rows. A message grows two or three times after its insert; without free
 * space, each version goes to another page. PostgreSQL also puts new rows into any old page with space for one. In a large
 * store, every message then wrote to a different old page, which was read first and logged as a whole: 35 KB of WAL per message
 * instead of 4 KB. With this fillfactor, pages whose rows have grown count as full.
 */
export const roomToGrow: Migration = {
  name: "0017-room-to-grow",
  statements: (dialect) =>
    dialect === POSTGRES
      ? ["alter table messages set (fillfactor = 60)", "alter table callbacks set (fillfactor = 60)"]
      : [],
};
