import { Pool, TypeOverrides, type PoolClient } from "pg";
import { StorageUnavailable } from "../store.ts";
import { isOutdone, readConnectFault, readFault } from "./faults.ts";
import { prepareSession } from "./session.ts";

const STATEMENT_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 3_000;
const IDLE_TIMEOUT_MS = 60_000;
const TRIES_MAX = 8;
const INT8 = 20;

export interface Statement {
  text: string;
  values?: readonly unknown[];
  /** Under a name, the server parses and plans the statement once per connection. */
  name?: string;
}

export interface Rows<R> {
  rows: R[];
  count: number;
}

/** Runs one statement; alone it is its own transaction. */
export type Query = <R>(statement: Statement) => Promise<Rows<R>>;

/**
 * The connections of one process. A connection that broke is thrown away and the next caller gets a new one,
 * so a restart of PostgreSQL costs the writes that were under way and nothing else.
 */
export class ConnectionPool {
  readonly #pool: Pool;
  #ended: Promise<void> | null = null;

  /** Idle connections are closed after a while, unless whoever comes next must not wait for one. */
  constructor(url: string, connections: number, { keepsIdle = false } = {}) {
    // Times and counters outgrow 32 bits but not a double.
    const types = new TypeOverrides();
    types.setTypeParser(INT8, Number);
    this.#pool = new Pool({
      connectionString: url,
      application_name: "heliograph",
      max: connections,
      types,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: keepsIdle ? 0 : IDLE_TIMEOUT_MS,
      // The server ends a slow statement; this ends the wait for a server that no longer answers.
      query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for the promise, though its types do not say so
      onConnect: (client) => prepareSession(client, STATEMENT_TIMEOUT_MS),
    });
    // A connection that breaks tells whoever is using it through the query; nobody needs to hear it a second time.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** Whether whoever comes next has to wait for a connection. */
  get isFull(): boolean {
    return this.#pool.idleCount === 0 && this.#pool.totalCount >= this.#pool.options.max;
  }

  query: Query = (statement) => this.#again(() => this.#withClient((client) => queryOn(client, statement)));

  /** All or nothing. The work may run more than once. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#again(() =>
      this.#withClient(async (client) => {
        await queryOn(client, { text: "begin" });
        try {
          const result = await work((statement) => queryOn(client, statement));
          await queryOn(client, { text: "commit" });
          return result;
        } catch (error) {
          // On a broken connection there is nothing left to undo; the first failure is the one to tell.
          if (!(error instanceof StorageUnavailable)) await queryOn(client, { text: "rollback" });
          throw error;
        }
      }),
    );
  }

  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    return this.#ended;
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw readConnectFault(error);
    });
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(error instanceof StorageUnavailable);
      throw error;
    }
  }

  async #again<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (tries === TRIES_MAX || !isOutdone((error as Error).cause)) throw error;
      }
    }
  }
}

async function queryOn<R>(client: PoolClient, { name, text, values }: Statement): Promise<Rows<R>> {
  try {
    const { rows, rowCount } = await client.query({ ...(name ? { name } : {}), text, values: [...(values ?? [])] });
    return { rows: rows as R[], count: rowCount ?? 0 };
  } catch (error) {
    throw readFault(error);
  }
}
