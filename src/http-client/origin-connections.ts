import type { Clock } from "../lib/clock.ts";
import { Queue } from "../lib/queue.ts";
import type { Connector } from "./connector.ts";
import { HttpConnection, type ObservedRequest, type RequestObserver } from "./connection.ts";
import type { Target } from "./write-request.ts";

/**
 * Far more than one endpoint ever gets. Many endpoints may share a host, and those that hang must not take the connections
 * of the others. Callers limit their own concurrency.
 */
const CONNECTIONS_PER_ORIGIN = 1024;

export interface OriginConnectionsDeps {
  clock: Clock;
  connector: Connector;
  /** Above this number of open connections, a connection in use is closed after its response and not kept. */
  keptMax: number;
  onIdle(): void;
  onEmpty(origin: OriginConnections): void;
}

/** The connection pool of one origin, with the queue of requests that wait for a connection. */
export class OriginConnections {
  readonly #deps: OriginConnectionsDeps;
  readonly target: Target;
  readonly #open = new Set<HttpConnection>();
  /** Last in, first out: the most recently used connection is the least likely to have expired. */
  #idle: HttpConnection[] = [];
  readonly #waiting = new Queue<ObservedRequest>();
  /** Requests to send, and responses to report, at the end of this event-loop turn. */
  #toSend: [HttpConnection, ObservedRequest][] = [];
  #toReport: [HttpConnection, RequestObserver][] = [];

  constructor(deps: OriginConnectionsDeps, target: Target) {
    this.#deps = deps;
    this.target = target;
  }

  /**
   * Sends on an idle connection at the end of the turn. Unexpected bytes or a close on that connection are seen by then,
   * and the request takes another one. Otherwise the bytes could be mistaken for the response, or the request be lost.
   */
  send(call: ObservedRequest): void {
    const connection = this.#takeIdle();
    if (connection) return this.#sendLater(connection, call);
    if (this.#open.size >= CONNECTIONS_PER_ORIGIN) return this.#waiting.push(call);
    const opened = new HttpConnection(this);
    this.#open.add(opened);
    opened.open(this.#deps.connector, this.target, call);
  }

  /** Closes expired connections. Returns the number that stay idle. */
  sweep(now: number): number {
    for (const connection of this.#idle.filter(({ idleUntil }) => idleUntil <= now)) connection.end();
    return this.#idle.length;
  }

  /** Fails all requests and closes all connections. */
  destroy(error: Error): void {
    const calls = this.#toSend.map(([, call]) => call);
    this.#toSend = [];
    for (let call = this.#waiting.shift(); call; call = this.#waiting.shift()) calls.push(call);
    for (const { caller } of calls) caller.onFailure(error);
    for (const connection of this.#open) connection.fail(error);
  }

  mayKeep(): boolean {
    return this.#deps.connector.open <= this.#deps.keptMax;
  }

  /** Reported at the end of the turn: some servers announce keep-alive and close at once, which is seen by then. */
  onAnswered(connection: HttpConnection, caller: RequestObserver): void {
    this.#toReport.push([connection, caller]);
    this.#scheduleTurnEnd();
  }

  onGone(connection: HttpConnection): void {
    this.#open.delete(connection);
    if (connection.idleUntil > 0) this.#idle = this.#idle.filter((other) => other !== connection);
    const next = this.#nextWaiting();
    if (next) this.send(next);
    this.#reportIfEmpty();
  }

  #sendLater(connection: HttpConnection, call: ObservedRequest): void {
    this.#toSend.push([connection, call]);
    this.#scheduleTurnEnd();
  }

  #scheduleTurnEnd(): void {
    if (this.#toSend.length + this.#toReport.length === 1) setImmediate(this.#onTurnEnd);
  }

  readonly #onTurnEnd = (): void => {
    const toSend = this.#toSend;
    const toReport = this.#toReport;
    this.#toSend = [];
    this.#toReport = [];
    for (const [connection, call] of toSend)
      if (connection.isGone) this.send(call);
      else if (!connection.send(call)) this.#release(connection);
    for (const [connection, caller] of toReport) {
      if (!connection.isGone) this.#release(connection);
      caller.onEnd();
    }
    this.#reportIfEmpty();
  };

  #release(connection: HttpConnection): void {
    if (!connection.mayReuse()) return connection.end();
    const next = this.#nextWaiting();
    if (next) return this.#sendLater(connection, next);
    connection.idleUntil = this.#deps.clock.monotonic() + connection.keptMs;
    this.#idle.push(connection);
    this.#deps.onIdle();
  }

  /** Expired connections are left to the sweep. */
  #takeIdle(): HttpConnection | null {
    const now = this.#deps.clock.monotonic();
    const at = this.#idle.findLastIndex(({ idleUntil }) => idleUntil > now);
    const [connection] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (!connection) return null;
    connection.idleUntil = 0;
    if (connection.mayReuse()) return connection;
    connection.end();
    return this.#takeIdle();
  }

  #nextWaiting(): ObservedRequest | null {
    for (let call = this.#waiting.shift(); call; call = this.#waiting.shift()) if (call.caller.isWaiting()) return call;
    return null;
  }

  #reportIfEmpty(): void {
    const used = this.#open.size + this.#waiting.length + this.#toSend.length + this.#toReport.length;
    if (used === 0) this.#deps.onEmpty(this);
  }
}
