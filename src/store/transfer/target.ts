import type { Client } from "pg";
import { columns } from "../postgres/columns.ts";
import { readFault } from "../postgres/faults.ts";
import { connectToWritable, migrate } from "../postgres/migrate.ts";
import { DatabaseServers } from "../postgres/servers.ts";
import { beginText, type Pooler } from "../postgres/session.ts";
import { StorageUnavailable } from "../store.ts";
import { TableChecksum, type TableSum, type Value } from "./checksum.ts";

/** The migrations fill these. */
const FILLED = new Set(["migrations", "migration_turn", "revisions"]);

/** The name of the service value that identifies the copy. */
const COPY = "copied-from-sqlite";

const FETCHED = 5000;

/** The target has rows, so it is not the database to copy into. */
export class TargetInUse extends Error {
  override name = "TargetInUse";
}

/** A row that SQLite holds and PostgreSQL cannot, such as a text with a zero byte. */
export class CopyRefused extends Error {
  override name = "CopyRefused";
}

export interface TargetOptions {
  connectTimeoutMs: number;
  pooler: Pooler;
}

interface TargetColumn {
  name: string;
  type: string;
}

/**
 * An empty PostgreSQL database that is being filled. All of it is one transaction: until its commit, other sessions see an empty
 * database, and a failure leaves one.
 */
export class TransferTarget {
  readonly #client: Client;
  readonly #columns = new Map<string, TargetColumn[]>();

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Creates the schema and begins the transaction. Nodes that start meanwhile wait for its end. */
  static async open(url: string, { connectTimeoutMs, pooler }: TargetOptions): Promise<TransferTarget> {
    const servers = new DatabaseServers(url);
    await migrate(servers, { connectTimeoutMs, pooler });
    const client = await connectToWritable(servers, connectTimeoutMs, pooler);
    const target = new TransferTarget(client);
    try {
      await target.#run(beginText(pooler, 0));
      await target.#run("select 1 from migration_turn for update");
      // Reading the source, and then every row of the copy, is not what the settings of a server are for.
      await target.#run("set local idle_in_transaction_session_timeout = 0");
      await target.#run("set local enable_seqscan = on");
      await target.#readColumns();
    } catch (error) {
      await client.end();
      throw error;
    }
    return target;
  }

  /** The copy that this database holds; null if it holds none. */
  async findCopy(): Promise<string | null> {
    const rows = await this.#run<{ value: string }>("select value from service where name = $1", [COPY]);
    return rows[0]?.value ?? null;
  }

  async refuseUnlessEmpty(): Promise<void> {
    for (const table of this.#columns.keys()) {
      if (FILLED.has(table)) continue;
      const rows = await this.#run(`select 1 from "${table}" limit 1`);
      if (rows.length > 0) throw new TargetInUse(`the PostgreSQL database is not empty: it has rows in ${table}`);
    }
    await this.#run("delete from revisions");
  }

  /** Inserts a batch of rows. Columns that only this engine has keep their defaults. */
  async insert(table: string, names: readonly string[], batch: readonly (readonly Value[])[]): Promise<void> {
    const types = Object.fromEntries(names.map((name) => [name, this.#typeOf(table, name)]));
    const { rows, values } = columns(types);
    const list = names.map((name) => `"${name}"`).join(", ");
    const objects = batch.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])));
    const text = `insert into "${table}" (${list}) overriding system value select ${list} from ${rows}`;
    try {
      await this.#run(text, values(objects));
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      throw new CopyRefused(`PostgreSQL refuses a row of ${table}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Reads all rows back, as the store would. */
  async sumRows(table: string, names: readonly string[]): Promise<TableSum> {
    const sum = new TableChecksum();
    const list = names.map((name) => `"${name}"`).join(", ");
    await this.#run(`declare copied no scroll cursor for select ${list} from "${table}"`);
    const isTime = names.map((name) => this.#typeOf(table, name) === "bigint");
    for (;;) {
      const { rows } = await this.#client.query<Value[]>({ text: `fetch ${FETCHED} from copied`, rowMode: "array" });
      for (const row of rows)
        sum.add(row.map((value, index) => (isTime[index] && value !== null ? Number(value) : value)));
      if (rows.length < FETCHED) break;
    }
    await this.#run("close copied");
    return sum.result;
  }

  /** New rows get ids after this one. */
  async continueCounter(table: string, last: number): Promise<void> {
    await this.#run("select setval(pg_get_serial_sequence($1, 'id'), $2)", [`"${table}"`, last]);
  }

  async noteCopy(id: string): Promise<void> {
    await this.#run("insert into service (name, value) values ($1, $2)", [COPY, id]);
  }

  async commit(): Promise<void> {
    await this.#run("commit");
    // Best effort: autovacuum does the same within minutes.
    await this.#run("analyze").catch(() => {});
  }

  /** Rolls back whatever was not committed. */
  async close(): Promise<void> {
    await this.#client.end();
  }

  #typeOf(table: string, column: string): string {
    const found = this.#columns.get(table)?.find(({ name }) => name === column);
    if (!found) throw new Error(`PostgreSQL has no column ${table}.${column}`);
    return found.type;
  }

  async #readColumns(): Promise<void> {
    const rows = await this.#run<{ table: string; name: string; type: string }>(
      `select columns.table_name as table, column_name as name, data_type as type
       from information_schema.columns join information_schema.tables using (table_schema, table_name)
       where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1, ordinal_position`,
    );
    for (const { table, name, type } of rows)
      this.#columns.set(table, [...(this.#columns.get(table) ?? []), { name, type }]);
  }

  async #run<R extends object>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    try {
      return (await this.#client.query<R>(text, [...values])).rows;
    } catch (error) {
      throw readFault(error);
    }
  }
}
