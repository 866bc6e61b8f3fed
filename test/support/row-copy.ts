import { backup, DatabaseSync } from "node:sqlite";
import { Client } from "pg";

/** The rows of a table that were copied, and what became of them. */
export interface ComparedTable {
  table: string;
  rows: number;
  missing: number;
  changed: number;
}

/** The rows of a store at one moment, kept beside it, to be compared with its rows after an upgrade. */
export interface RowCopy {
  /** Compares in the columns that the copy has. A migration may add columns and tables. */
  compare(): Promise<ComparedTable[]>;
  query(sql: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

const FINAL_STATES = "('delivered', 'read', 'undelivered', 'expired', 'rejected', 'cancelled')";

/** The work lists, sums and indexes that running nodes maintain. */
const MAINTAINED = new Set([
  "awaited_receipts",
  "balances",
  "campaign_count_changes",
  "campaign_counts",
  "campaign_figures",
  "endpoint_health",
  "failovers",
  "figure_writers",
  "figures",
  "migration_turn",
  "nodes",
  "receipt_watch",
  "retention",
  "revisions",
  "search_blocks",
  "search_changes",
  "search_numbers",
  "search_zones",
]);

interface Changing {
  /** A condition, which begins with a column. */
  unless?: string;
  columns?: readonly string[];
}

/** Other rows and columns that running nodes change: those of unfinished work, and times of the last use. */
const CHANGING: Readonly<Record<string, Changing>> = {
  api_keys: { columns: ["last_used_at"] },
  callbacks: { unless: "state = 'waiting'" },
  credentials: { columns: ["last_used_at"] },
  messages: { unless: `state not in ${FINAL_STATES}` },
  phone_messages: { columns: ["reports_due_at"] },
  phones: { columns: ["message_count", "last_message_at"] },
  // The readiness check writes this row.
  service: { unless: "name = 'ping'" },
  users: { columns: ["last_login_at"] },
  verifications: { unless: "state = 'pending'" },
};

interface Column {
  name: string;
  isKey: boolean;
}

interface Schemas {
  /** Prefixes of table names. */
  copied: string;
  current: string;
}

/** The statement counts the copied rows, those that are missing, and those that differ in a column. */
function comparison(table: string, columns: readonly Column[], { copied, current }: Schemas): string {
  const { unless, columns: changing = [] } = CHANGING[table] ?? {};
  const same = columns
    .filter(({ isKey }) => isKey)
    .map(({ name }) => `later.${name} = copy.${name}`)
    .join(" and ");
  const different = columns
    .filter(({ name, isKey }) => !isKey && !changing.includes(name))
    .map(({ name }) => `later.${name} is distinct from copy.${name}`);
  const key = columns.find(({ isKey }) => isKey)?.name ?? "";
  const conditions = [
    `later.${key} is not null`,
    different.length > 0 ? `(${different.join(" or ")})` : "false",
    ...(unless === undefined ? [] : [`not (copy.${unless})`]),
  ];
  return `select count(*) as "rows", count(*) - count(later.${key}) as missing,
      coalesce(sum(case when ${conditions.join(" and ")} then 1 else 0 end), 0) as changed
    from ${copied}.${table} as copy left join ${current}.${table} as later on ${same}`;
}

async function compareAll(
  tables: ReadonlyMap<string, readonly Column[]>,
  schemas: Schemas,
  query: RowCopy["query"],
): Promise<ComparedTable[]> {
  const compared: ComparedTable[] = [];
  for (const [table, columns] of tables) {
    if (MAINTAINED.has(table)) continue;
    if (!columns.some(({ isKey }) => isKey))
      throw new Error(`table ${table} has no primary key to compare its rows by`);
    const [row] = await query(comparison(table, columns, schemas));
    const count = (name: string): number => Number(row?.[name]);
    compared.push({ table, rows: count("rows"), missing: count("missing"), changed: count("changed") });
  }
  return compared;
}

/** Copies a SQLite file. The copy lies beside it and stays after `close`. */
export async function copySqliteRows(path: string): Promise<RowCopy> {
  const db = new DatabaseSync(path, { timeout: 10_000 });
  const copy = `${path}.copy`;
  await backup(db, copy, { rate: 10_000 });
  db.exec("pragma query_only = on");
  db.prepare("attach database ? as copied").run(copy);
  const names = db
    .prepare("select name from copied.sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'")
    .all();
  const columnsOf = db.prepare("select name, pk from pragma_table_info(?, 'copied')");
  const tables = new Map<string, Column[]>();
  for (const { name } of names)
    tables.set(
      String(name),
      columnsOf.all(String(name)).map((column) => ({ name: String(column["name"]), isKey: Number(column["pk"]) > 0 })),
    );
  const query = async (sql: string): Promise<Record<string, unknown>[]> => db.prepare(sql).all();
  return {
    query,
    compare: () => compareAll(tables, { copied: "copied", current: "main" }, query),
    close: async () => db.close(),
  };
}

/** Copies all tables of a PostgreSQL database into a schema of it. */
export async function copyPostgresRows(url: string): Promise<RowCopy> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const query = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await client.query<Record<string, unknown>>(sql)).rows;
  const tables = new Map<string, Column[]>();
  const columns = await query(`select relname as "table", attname as name, coalesce(attnum = any(indkey), false) as key
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
      left join pg_index on indrelid = pg_class.oid and indisprimary
    where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname, attnum`);
  for (const column of columns) {
    const table = String(column["table"]);
    tables.set(table, [...(tables.get(table) ?? []), { name: String(column["name"]), isKey: column["key"] === true }]);
  }
  await query("create schema copied");
  for (const table of tables.keys()) await query(`create table copied.${table} as table public.${table}`);
  await query("analyze");
  return {
    query,
    compare: () => compareAll(tables, { copied: "copied", current: "public" }, query),
    close: () => client.end(),
  };
}
