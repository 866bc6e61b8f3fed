import { writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Migration } from "../../src/store/migrations/migration.ts";
import { migrate as migratePostgres } from "../../src/store/postgres/migrate.ts";
import { migrate as migrateSqlite } from "../../src/store/sqlite/migrate.ts";

/** Migrates and pauses in the middle of a step, where the test kills it. Arguments: engine, path or URL. */

const [engine, where = ""] = process.argv.slice(2);

const halfWay = (pause: string): Migration => ({
  name: "9999-half-way",
  statements: () => ["create table half_way (id integer)", "insert into half_way (id) values (1)", pause],
});

if (engine === "sqlite") {
  const db = new DatabaseSync(where);
  db.exec("pragma journal_mode = wal");
  db.function("pause", () => {
    writeSync(1, "half way\n");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    return 0;
  });
  migrateSqlite(db, [halfWay("select pause()")]);
} else {
  // PostgreSQL notices the lost client only at the end of the statement.
  await migratePostgres(where, { known: [halfWay("select pg_sleep(2)")] });
}
