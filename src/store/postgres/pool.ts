import { setTimeout as sleep } from "node:timers/promises";
import { Client, Pool, TypeOverrides, type ClientConfig, type PoolClient } from "pg";
import { StorageUnavailable } from "../store.ts";
import { cancelStatement } from "./cancel.ts";
import { isOutdone, isReadOnly, readConnectFault, readFault } from "./faults.ts";
import { DatabaseServers, type ConnectionAttempt } from "./servers.ts";
import { beginText, prepareSession, type Pooler } from "./session.ts";

const STATEMENT_TIMEOUT_MS = 10_000;
/**
 * The server ends a slow statement itself, but not a commit that waits for a standby. The pool cancels that after this extra
 * time.
 */
const CANCEL_AFTER_MS = 1000;
/** Time for a cancelled statement to end, before its caller gets an error with an unknown outcome. */
const CANCELLED_WITHIN_MS = 2000;
/** A connection whose statement ignores the cancel is abandoned. It counts as open on the server for this time. */
const GIVEN_UP_MS = 300_000;
export const CONNECT_TIMEOUT_MS = 3_000;
const IDLE_TIMEOUT_MS = 60_000;
const TRIES_MAX = 8;
const INT8 = 20;

export interface Statement {
  text: string;
  values?: readonly unknown[];
  /** The server parses and plans a named statement once per connection. A pooler may not keep it; then the name is not sent. */
  name?: string;
}

export interface PoolOptions {
  connections: number;
  /**
   * Keeps idle connections open, for callers that must not wait for a new connection. Otherwise they close after 60 seconds.
   */
  keepsIdle?: boolean;
  statementTimeoutMs?: number;
  /** For each server of the URL. */
  connectTimeoutMs?: number;
  pooler?: Pooler;
  /** Uses standbys, too. */
  onlyReads?: boolean;
}

export interface Rows<R> {
  rows: R[];
  count: number;
}

/** Runs one statement; outside a transaction it commits by itself. */
export type Query = <R>(statement: Statement) => Promise<Rows<R>>;

/** A statement that did not respond in time and was cancelled. Its outcome is unknown. */
class StatementHung extends StorageUnavailable {
  /** Resolves when the server has responded after all, or the connection has broken. */
  readonly ended: Promise<void>;

  constructor(ended: Promise<void>) {
    super("the database does not answer");
    this.ended = ended;
  }
}

/**
 * The connection pool of one process. A broken connection is discarded and the next caller gets a new one, so a restart of
 * PostgreSQL costs only the writes in flight. A statement that hangs is cancelled. Its connection keeps its place in the pool
 * until the server releases it; otherwise a server whose commits hang would accumulate connections. Where the URL has several
 * servers, connections go to the one that accepts writes.
 */
export class ConnectionPool {
  readonly #pool: Pool;
  readonly #servers: DatabaseServers;
  readonly #answersWithinMs: number;
  readonly #isPooled: boolean;
  readonly #sendsNames: boolean;
  readonly #begin: string;
  #ended: Promise<void> | null = null;
  /** Abandoned connections that the server may still hold. */
  #givenUp = 0;

  constructor(
    database: string | DatabaseServers,
    {
      connections,
      keepsIdle = false,
      statementTimeoutMs = STATEMENT_TIMEOUT_MS,
      connectTimeoutMs = CONNECT_TIMEOUT_MS,
      pooler = "none",
      onlyReads = false,
    }: PoolOptions,
  ) {
    const servers = typeof database === "string" ? new DatabaseServers(database) : database;
    this.#servers = servers;
    this.#answersWithinMs = statementTimeoutMs + CANCEL_AFTER_MS;
    this.#isPooled = pooler !== "none";
    this.#sendsNames = pooler !== "transaction";
    this.#begin = beginText(pooler, statementTimeoutMs);
    // Times and counters exceed 32 bits but fit a double.
    const types = new TypeOverrides();
    types.setTypeParser(INT8, Number);
    this.#pool = new Pool({
      Client: clientOf(servers, connectTimeoutMs),
      application_name: "heliograph",
      max: connections,
      types,
      keepAlive: true,
      // The wait for a connection that is in use or being opened, which may have to try every server.
      connectionTimeoutMillis: connectTimeoutMs * servers.count,
      idleTimeoutMillis: keepsIdle ? 0 : IDLE_TIMEOUT_MS,
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for the promise, though its types do not say so
      onConnect: async (client) => {
        try {
          await prepareSession(client, statementTimeoutMs, pooler, onlyReads);
        } catch (error) {
          servers.failed(attemptOf(client), error as Error);
          throw error;
        }
        servers.succeeded();
      },
    });
    // The running query reports a broken connection; an error event without a listener would also end the process.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** Every connection is in use, and the pool opens no more. */
  get isFull(): boolean {
    return this.#pool.idleCount === 0 && this.#pool.totalCount >= this.#pool.options.max;
  }

  query: Query = (statement) =>
    this.#isPooled
      ? this.transaction((query) => query(statement))
      : this.#again(() => this.#withClient((client) => this.#queryOn(client, statement)));

  /** The same, cancelled on the server when the signal aborts. */
  queryUntil<R>(statement: Statement, signal: AbortSignal | null): Promise<Rows<R>> {
    return this.#withClient(async (client) => {
      const cancelled: Promise<void>[] = [];
      const cancel = (): void => void cancelled.push(cancelStatement(client));
      if (signal?.aborted) throw new StorageUnavailable("the statement was cancelled before it ran");
      signal?.addEventListener("abort", cancel);
      try {
        if (!this.#isPooled) return await this.#queryOn(client, statement);
        return await this.#transactionOn(client, (query) => query(statement));
      } finally {
        signal?.removeEventListener("abort", cancel);
        // A request that arrived late would cancel the next statement of this connection.
        await Promise.all(cancelled);
      }
    });
  }

  /** Runs the work as one transaction. After a deadlock or serialization failure the work runs again. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#again(() => this.#withClient((client) => this.#transactionOn(client, work)));
  }

  async #transactionOn<T>(client: PoolClient, work: (query: Query) => Promise<T>): Promise<T> {
    await this.#queryOn(client, { text: this.#begin });
    try {
      const result = await work((statement) => this.#queryOn(client, statement));
      await this.#queryOn(client, { text: "commit" });
      return result;
    } catch (error) {
      // A broken connection needs no rollback; the first failure is the one to report.
      if (!(error instanceof StorageUnavailable)) await this.#queryOn(client, { text: "rollback" });
      throw error;
    }
  }

  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    return this.#ended;
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // A former primary still commits, but hangs without its standbys. So a server that hangs is left for the others, too.
      const isHung = error instanceof StatementHung && this.#servers.count > 1;
      if (isHung || isReadOnly(error)) this.#servers.retire(attemptOf(client), error as Error);
      if (error instanceof StatementHung) void this.#letGo(client, error.ended);
      else client.release(error instanceof StorageUnavailable);
      throw error;
    }
  }

  /** A connection to the server in use. Each server is tried once; if none accepts writes, the caller gets an error. */
  async #connect(): Promise<PoolClient> {
    for (let tries = 1; ;) {
      const opens = this.#pool.idleCount === 0 && this.#pool.totalCount < this.#pool.options.max;
      if (opens && this.#servers.backoffMs > 0) await sleep(this.#servers.backoffMs);
      const { turn } = this.#servers;
      try {
        const client = await this.#pool.connect();
        if (!this.#servers.isRetired(attemptOf(client))) return client;
        client.release(true);
      } catch (error) {
        const fault = readConnectFault(error);
        const isUnavailable = fault instanceof StorageUnavailable;
        // If every server is as before, the time passed in the queue of a full pool.
        if (!isUnavailable || this.#servers.count === 1 || turn === this.#servers.turn) throw fault;
        if (tries === this.#servers.count)
          throw new StorageUnavailable(`no database server accepts writes (${this.#servers.faults})`, {
            cause: fault.cause,
          });
        tries += 1;
      }
    }
  }

  async #queryOn<R>(client: PoolClient, { name, text, values }: Statement): Promise<Rows<R>> {
    const answer = client.query({ ...(name && this.#sendsNames ? { name } : {}), text, values: [...(values ?? [])] });
    const hung = Promise.withResolvers<null>();
    const timer = setTimeout(hung.resolve, this.#answersWithinMs, null);
    try {
      const result = await Promise.race([answer, hung.promise]);
      if (result) return { rows: result.rows as R[], count: result.rowCount ?? 0 };
    } catch (error) {
      throw readFault(error);
    } finally {
      clearTimeout(timer);
    }
    const ended = answer.then(nothing, nothing);
    void cancelStatement(client);
    await Promise.race([ended, pause(CANCELLED_WITHIN_MS)]);
    throw new StatementHung(ended);
  }

  /** The pool abandons at most its own size in connections within 5 minutes, so the server holds at most twice that number. */
  async #letGo(client: PoolClient, ended: Promise<void>): Promise<void> {
    const hasEnded = await Promise.race([ended.then(() => true), pause(0).then(() => false)]);
    if (!hasEnded && this.#givenUp >= this.#pool.options.max) await Promise.race([ended, pause(GIVEN_UP_MS)]);
    else if (!hasEnded) {
      this.#givenUp += 1;
      setTimeout(() => (this.#givenUp -= 1), GIVEN_UP_MS).unref();
    }
    client.release(true);
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

const ATTEMPT = Symbol("attempt");

const attemptOf = (client: object): ConnectionAttempt => (client as { [ATTEMPT]: ConnectionAttempt })[ATTEMPT];

/** The class of a pool's clients: each connects to the server in use at that moment, and reports it if that fails. */
function clientOf(servers: DatabaseServers, connectTimeoutMs: number): new () => Client {
  class ServerClient extends Client {
    readonly [ATTEMPT]: ConnectionAttempt;

    constructor(options?: ClientConfig) {
      const attempt = servers.begin();
      super({ ...options, connectionString: attempt.server.url, connectionTimeoutMillis: connectTimeoutMs });
      this[ATTEMPT] = attempt;
    }

    override connect(): Promise<Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<Client> | void {
      if (!callback) return super.connect();
      super.connect((error: Error | null) => {
        if (error) servers.failed(this[ATTEMPT], error);
        callback(error as Error);
      });
    }
  }
  return ServerClient;
}

const nothing = (): void => {};

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
