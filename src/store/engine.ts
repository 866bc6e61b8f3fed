import type { CompiledQuery, DatabaseConnection, Driver, Kysely, QueryResult, RawBuilder, SqlBool } from "kysely";
import { IS_WAITING } from "./rows.ts";
import type { Tables } from "./tables.ts";

type ColumnType = "integer" | "bigint" | "text" | "uuid";

/** What the shared queries need of an engine: single statements through Kysely, and several as one transaction. */
export interface Engine {
  db: Kysely<Tables>;
  /** A JSON object with the fields of another laid over it. */
  mergeJson(column: string, change: string): RawBuilder<string>;
  /** Whether a column of text holds one of many values; the statement has the same text for any number of them. */
  isAmong(column: string, values: readonly string[]): RawBuilder<SqlBool>;
  /** Whether a column of text has a text somewhere in it, spelled exactly so. */
  holds(column: string, text: string): RawBuilder<SqlBool>;
  /** A batch as rows to select from, so that one statement text serves every size of batch. */
  rowsOf<R extends object>(types: Readonly<Record<keyof R, ColumnType>>, batch: readonly R[]): RawBuilder<R>;
  /** All or nothing. There are no interactive transactions: a decision belongs into a statement's own condition. */
  atomically: (queries: readonly CompiledQuery[]) => Promise<void>;
}

/** Writes something that was not there before: only that shows that the store can be written. */
export const PING = `
  insert into service (name, value) values ('ping', '1')
  on conflict (name) do update set value = cast(cast(service.value as integer) + 1 as text)`;

/** Whether a node has left something behind that waits: a message, or a customer who is to be told something. */
export const HAS_WORK = `(exists (select 1 from messages where owner = nodes.id and ${IS_WAITING})
  or exists (select 1 from callbacks where owner = nodes.id and state = 'waiting'))`;

/** The living nodes that send, and those of them that joined before one. */
export const PLACE = `select count(*) as count, coalesce(sum(case when id < ? then 1 else 0 end), 0) as rank
  from nodes where dead = 0 and sends = 1`;

/** How long a dead node is remembered in which nothing waits any more; a process that was only asleep wakes before that. */
export const DEAD_NODE_KEPT_MS = 86_400_000;

/** Lets Kysely run a query by handing its text and values to a function. */
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
