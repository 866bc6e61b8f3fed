import { closeSync, fsyncSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { fillPostgres, fillSqlite } from "./fill-links.ts";

/** Exclusive connection to a store, with the SQL fragments that differ between the engines. */
export interface BareStore {
  run(statement: string): Promise<void>;
  /** Integers in [from, to) as a table with a column `i`. */
  numbers(from: number, to: number): string;
  hex(value: string, digits: number): string;
  uuid(text: string): string;
  fillLinks(links: number): Promise<void>;
  /** Names and definitions of the indexes of a table, without those of its constraints. */
  indexesOf(table: string): Promise<readonly { name: string; definition: string }[]>;
  /** Fills tables without free space on their pages: finished rows are never updated. */
  withFullPages(fill: () => Promise<void>): Promise<void>;
  /** Restores the settings of a running server and closes the connection. */
  close(): Promise<void>;
}

/** Opens SQLite without journal and without syncs: a store that was filled only partly is deleted anyway. */
export function openBareSqlite(path: string): BareStore {
  const open = (): DatabaseSync => {
    // The defensive flag, which is on by default, ignores the pragma and keeps the write-ahead log.
    const opened = new DatabaseSync(path, { defensive: false });
    opened.exec("pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -1000000");
    return opened;
  };
  let db = open();
  return {
    run: async (statement) => db.exec(statement),
    numbers: (from, to) =>
      `(with recursive counted (i) as (values (${from}) union all select i + 1 from counted where i < ${to - 1}) select i from counted)`,
    hex: (value, digits) => `printf('%0${digits}x', ${value})`,
    uuid: (text) => text,
    indexesOf: async (table) =>
      db
        .prepare("select name, sql from sqlite_master where type = 'index' and tbl_name = ? and sql is not null")
        .all(table)
        .map(({ name, sql }) => ({ name: String(name), definition: String(sql) })),
    withFullPages: (fill) => fill(),
    async fillLinks(links) {
      db.close();
      fillSqlite(path, links);
      db = open();
      // The server never runs ANALYZE, and SQLite chooses other plans with statistics than without.
      db.exec("drop table if exists sqlite_stat1; drop table if exists sqlite_stat4");
    },
    async close() {
      db.exec("pragma journal_mode = wal");
      db.close();
      // Flush now: otherwise the first measured commits would pay for these writes.
      const file = openSync(path, "r+");
      fsyncSync(file);
      closeSync(file);
    },
  };
}

/** Opens PostgreSQL. Closing it runs VACUUM ANALYZE, which autovacuum would have done on a store of this age. */
export async function openBarePostgres(url: string): Promise<BareStore> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'");
  return {
    run: async (statement) => void (await client.query(statement)),
    numbers: (from, to) => `generate_series(${from}::bigint, ${to - 1}::bigint) as counted (i)`,
    hex: (value, digits) => `lpad(to_hex((${value})::bigint), ${digits}, '0')`,
    uuid: (text) => `(${text})::uuid`,
    async indexesOf(table) {
      const { rows } = await client.query<{ name: string; definition: string }>(
        `select indexname as name, indexdef as definition from pg_indexes where tablename = $1
           and not exists (select from pg_constraint where conname = indexname)`,
        [table],
      );
      return rows;
    },
    async withFullPages(fill) {
      const { rows } = await client.query<{ name: string; settings: string }>(
        "select relname as name, array_to_string(reloptions, ', ') as settings from pg_class where relkind = 'r' and reloptions is not null",
      );
      for (const { name } of rows) await client.query(`alter table ${name} reset (fillfactor)`);
      await fill();
      for (const { name, settings } of rows) await client.query(`alter table ${name} set (${settings})`);
    },
    fillLinks: (links) => fillPostgres(url, links),
    async close() {
      await client.query("vacuum analyze");
      await client.query("checkpoint");
      await client.end();
    },
  };
}

/** Odd, so that different numbers below 2^48 stay different: spreads the last digits of ids like random ones. */
const SPREAD = 2_654_435_761;

/** SQL for a UUIDv7 with a given timestamp; the number takes the place of its random part. */
export function idOf({ hex, uuid }: BareStore, at: string, number: string, kind = "7000"): string {
  const time = hex(at, 12);
  const rest = hex(`((${number}) * ${SPREAD}) % ${2 ** 48}`, 12);
  return uuid(`substr(${time}, 1, 8) || '-' || substr(${time}, 9) || '-${kind}-8000-' || ${rest}`);
}
