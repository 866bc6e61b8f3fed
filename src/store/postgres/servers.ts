import { readDatabaseUrl } from "../../lib/database-url.ts";

const BACKOFF_MIN_MS = 50;
/** Also the longest time that a failover takes longer because of the backoff. */
const BACKOFF_MAX_MS = 250;

interface Server {
  url: string;
  /** Host and port, for messages. */
  name: string;
  lastFault: string;
  /** Connections of this turn or an earlier one are to be closed. */
  retiredAt: number;
}

/** A connection, or the attempt to open one. */
export interface ConnectionAttempt {
  readonly server: Server;
  readonly turn: number;
}

interface ServersOptions {
  random?: () => number;
  now?: () => number;
}

/**
 * The servers of one database URL, of which at most one accepts writes. All pools of a process share this object, so that they
 * agree on the server in use: new connections go to the last one that worked, and to the next one when that fails. After a round
 * over all servers without success, the next attempt waits (exponential backoff with jitter).
 */
export class DatabaseServers {
  readonly #servers: readonly Server[];
  readonly #random: () => number;
  readonly #now: () => number;
  /** Rises with each change of the server in use, which is the turn modulo their number. */
  #turn = 0;
  #failures = 0;
  #retryAt = 0;

  constructor(url: string, { random = Math.random, now = () => performance.now() }: ServersOptions = {}) {
    this.#servers = readDatabaseUrl(url).map((one) => ({
      url: one,
      name: new URL(one).host,
      lastFault: "",
      retiredAt: -1,
    }));
    this.#random = random;
    this.#now = now;
  }

  get count(): number {
    return this.#servers.length;
  }

  get turn(): number {
    return this.#turn;
  }

  begin(): ConnectionAttempt {
    return { server: this.#current, turn: this.#turn };
  }

  succeeded(): void {
    this.#failures = 0;
    this.#retryAt = 0;
  }

  /** The server refused the connection, did not answer, or is read-only. Attempts of the same turn count once. */
  failed({ server, turn }: ConnectionAttempt, fault: Error): void {
    server.lastFault = fault.message;
    if (turn === this.#turn) this.#next();
  }

  /** A server that worked has become read-only or hangs: its other connections are of no use either. */
  retire(attempt: ConnectionAttempt, fault: Error): void {
    const { server } = attempt;
    // A late report of a connection that is retired already says nothing about newer ones.
    if (this.isRetired(attempt)) return;
    server.lastFault = fault.message;
    server.retiredAt = this.#turn;
    if (server === this.#current) this.#next();
  }

  isRetired({ server, turn }: ConnectionAttempt): boolean {
    return turn <= server.retiredAt;
  }

  /** Time until the next attempt, in milliseconds. */
  get backoffMs(): number {
    return Math.max(0, this.#retryAt - this.#now());
  }

  /** Last fault of each server. */
  get faults(): string {
    return this.#servers.map(({ name, lastFault }) => `${name}: ${lastFault}`).join("; ");
  }

  get #current(): Server {
    return this.#servers[this.#turn % this.#servers.length] as Server;
  }

  #next(): void {
    this.#turn += 1;
    this.#failures += 1;
    if (this.#failures % this.#servers.length !== 0) return;
    const rounds = this.#failures / this.#servers.length;
    const longest = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** (rounds - 1));
    this.#retryAt = this.#now() + longest * (0.5 + this.#random() / 2);
  }
}
