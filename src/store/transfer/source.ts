import type { DatabaseSync } from "node:sqlite";
import { HOLD, readHold, type Hold } from "../../model/hold.ts";
import { openDatabase } from "../sqlite/open.ts";
import { migrate } from "../sqlite/migrate.ts";
import { UNOWNED } from "../store.ts";
import type { Value } from "./checksum.ts";

/** Nodes are processes of the source, and the target records its own migrations. */
const NOT_COPIED = new Set(["migrations", "nodes"]);

const MOVED = "moved";

/** Rows refer to the rows of this table. */
const FIRST = "accounts";

/** A batch ends at the first of these limits. */
const ROWS_MAX = 2000;
const CHARACTERS_MAX = 4_000_000;

export interface SourceTable {
  name: string;
  columns: readonly string[];
  rows: number;
}

/** Messages that have not ended. `inDoubt`: they were being submitted. */
export interface Unsent {
  waiting: number;
  inDoubt: number;
}

/** The SQLite file of a stopped server. */
export class TransferSource {
  readonly #db: DatabaseSync;

  constructor(path: string) {
    this.#db = openDatabase(path);
  }

  /** Applies the pending migrations, as a start of this release would. */
  migrate(): void {
    migrate(this.#db);
  }

  /** Keeps other processes from writing until `markMoved`. */
  lock(): void {
    this.#db.exec("begin immediate");
  }

  listTables(): SourceTable[] {
    const tables = this.#db
      .prepare(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
      )
      .all() as { name: string }[];
    return tables
      .map(({ name }) => name)
      .filter((name) => !NOT_COPIED.has(name))
      .toSorted((a, b) => Number(b === FIRST) - Number(a === FIRST))
      .map((name) => {
        const columns = this.#db.prepare(`pragma table_info("${name}")`).all() as { name: string }[];
        const row = this.#db.prepare(`select count(*) as count from ${this.#rowsOf(name)}`).get();
        return { name, columns: columns.map((column) => column.name), rows: Number(row?.["count"]) };
      });
  }

  /**
   * The rows of a table in batches, without owners: the nodes that own them are processes of the source. An unowned row goes to
   * the node that claims it, as after a restart.
   */
  *readRows({ name, columns }: Pick<SourceTable, "name" | "columns">): Generator<Value[][]> {
    const list = columns.map((column) => (column === "owner" ? `${UNOWNED} as owner` : `"${column}"`)).join(", ");
    const reading = this.#db.prepare(`select ${list} from ${this.#rowsOf(name)}`);
    reading.setReturnArrays(true);
    let batch: Value[][] = [];
    let characters = 0;
    for (const row of reading.iterate() as Iterable<unknown> as Iterable<Value[]>) {
      batch.push(row);
      for (const value of row) characters += typeof value === "string" ? value.length : 0;
      if (batch.length < ROWS_MAX && characters < CHARACTERS_MAX) continue;
      yield batch;
      batch = [];
      characters = 0;
    }
    if (batch.length > 0) yield batch;
  }

  /** Without the hold of an earlier, interrupted copy: it concerns the source alone. */
  #rowsOf(table: string): string {
    return table === "service" && this.movedTo !== null ? `service where name <> '${HOLD}'` : `"${table}"`;
  }

  /** The last id that each counter has given out; ids are never used again, also those of deleted rows. */
  listCounters(): { table: string; last: number }[] {
    const rows = this.#db.prepare("select name, seq from sqlite_sequence where seq > 0").all() as {
      name: string;
      seq: number;
    }[];
    return rows.map(({ name, seq }) => ({ table: name, last: seq }));
  }

  countUnsent(): Unsent {
    const count = (states: string): number => {
      const row = this.#db.prepare(`select count(*) as count from messages where state in (${states})`).get();
      return Number(row?.["count"]);
    };
    return { waiting: count("'accepted', 'scheduled'"), inDoubt: count("'submitting'") };
  }

  /** The id of the copy that this database was moved to; null if it was not. */
  get movedTo(): string | null {
    const hold = this.#hold;
    return hold?.reason === MOVED ? (hold.copyId ?? null) : null;
  }

  /** Holds this database, so that it never sends beside its copy. A hold of another reason stays, and does the same. */
  markMoved(copyId: string, at: number): void {
    if (this.movedTo !== null || this.#hold === null) {
      const moved: Hold = { since: at, reason: MOVED, snapshotAt: null, resume: null, copyId };
      this.#db
        .prepare(
          "insert into service (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
        )
        .run(HOLD, JSON.stringify(moved));
    }
    this.#db.exec("commit");
  }

  get #hold(): Hold | null {
    const hasTable = this.#db.prepare("select 1 from sqlite_schema where name = 'service'").get();
    if (!hasTable) return null;
    const row = this.#db.prepare("select value from service where name = ?").get(HOLD);
    return readHold((row?.["value"] as string | undefined) ?? null);
  }

  close(): void {
    this.#db.close();
  }
}
