import type { CompiledQuery, DatabaseConnection, Driver, Kysely, QueryResult, RawBuilder, SqlBool } from "kysely";
import type { Tables } from "./tables.ts";

type ColumnType = "integer" | "bigint" | "text" | "uuid";

/** The part of an engine that the shared queries use: single statements through Kysely, and several as one transaction. */
export interface Engine {
  db: Kysely<Tables>;
  /** Merges the fields of `change` into a JSON column. */
  mergeJson(column: string, change: string): RawBuilder<string>;
  /** True if a text column holds one of the values. The statement text is the same for any number of values. */
  isAmong(column: string, values: readonly string[]): RawBuilder<SqlBool>;
  /** True if a text column contains a text, case-sensitive. */
  holds(column: string, text: string): RawBuilder<SqlBool>;
  /** The same for an expression, with ASCII letters in either case. */
  holdsInAnyCase(value: RawBuilder<unknown>, text: string): RawBuilder<SqlBool>;
  /** A text field of a JSON column; null if it is absent. */
  jsonText(column: string, field: string): RawBuilder<string | null>;
  /** A batch as rows to select from, so that one statement text serves every batch size. */
  rowsOf<R extends object>(types: Readonly<Record<keyof R, ColumnType>>, batch: readonly R[]): RawBuilder<R>;
  /** Deletes messages and subtracts those of campaigns from the kept counts; to be run atomically. */
  deletingMessages(condition: RawBuilder<boolean>): CompiledQuery[];
  /** All or nothing. There are no interactive transactions: each statement carries its own condition. */
  atomically: (queries: readonly CompiledQuery[]) => Promise<void>;
  /** The same for maintenance, which sends go ahead of. */
  inBackground: (queries: readonly CompiledQuery[]) => Promise<BackgroundResult>;
}

export interface BackgroundResult {
  /** Rows that each statement changed. */
  changes: readonly number[];
  /** Duration of the transaction, without the time that it waited. */
  ms: number;
}

const refuse = (): Promise<never> => Promise.reject(new Error("reporting queries do not write"));

/** For an engine that only reads. */
export const NO_WRITES: Pick<Engine, "atomically" | "inBackground"> = { atomically: refuse, inBackground: refuse };

/** Writes a new value, because only a real change proves that the store is writable. */
export const PING = `
  insert into service (name, value) values ('ping', '1')
  on conflict (name) do update set value = cast(cast(service.value as integer) + 1 as text)`;

/** A Kysely driver that passes the text and values of a query to a function. */
export class FunctionDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(run: <R>(query: CompiledQuery) => Promise<QueryResult<R>>) {
    this.#connection = {
      executeQuery: run,
      // oxlint-disable-next-line require-yield -- the interface asks for a generator; nothing here streams
      async *streamQuery() {
        throw new Error("queries are not streamed");
      },
    };
  }

  init(): Promise<void> {
    return Promise.resolve();
  }
  acquireConnection(): Promise<DatabaseConnection> {
    return Promise.resolve(this.#connection);
  }
  beginTransaction(): Promise<void> {
    return Promise.reject(new Error("use Engine.atomically"));
  }
  commitTransaction(): Promise<void> {
    return Promise.reject(new Error("use Engine.atomically"));
  }
  rollbackTransaction(): Promise<void> {
    return Promise.reject(new Error("use Engine.atomically"));
  }
  releaseConnection(): Promise<void> {
    return Promise.resolve();
  }
  destroy(): Promise<void> {
    return Promise.resolve();
  }
}
