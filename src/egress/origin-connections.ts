import type { Clock } from "../lib/clock.ts";
import { Queue } from "../lib/queue.ts";
import type { GuardedConnect } from "./guarded-connect.ts";
import { HttpConnection, type Call, type Caller } from "./http-connection.ts";
import { CONNECTIONS_PER_ORIGIN } from "./limits.ts";
import type { Target } from "./write-request.ts";

export interface OriginNeeds {
  clock: Clock;
  wayOut: GuardedConnect;
  /** While so many connections are open, those in use are closed behind their request rather than kept for the next. */
  keptMax: number;
  onIdle(): void;
  onEmpty(origin: OriginConnections): void;
}

/** The connections to one origin, and the requests that wait for one. */
export class OriginConnections {
  readonly #needs: OriginNeeds;
  readonly target: Target;
  readonly #open = new Set<HttpConnection>();
  /** The one that was used last is used first. */
  #idle: HttpConnection[] = [];
  readonly #waiting = new Queue<Call>();
  /** What happens at the end of this turn. */
  #leaving: [HttpConnection, Call][] = [];
  #answered: [HttpConnection, Caller][] = [];

  constructor(needs: OriginNeeds, target: Target) {
    this.#needs = needs;
    this.target = target;
  }

  /**
   * What has come unasked on a connection that waited is seen before the end of the turn, and then the request takes
   * another one: else it might be taken for the answer, or the request be lost with the connection.
   */
  send(call: Call): void {
    const connection = this.#takeIdle();
    if (connection) return this.#leave(connection, call);
    if (this.#open.size >= CONNECTIONS_PER_ORIGIN) return this.#waiting.push(call);
    const opened = new HttpConnection(this);
    this.#open.add(opened);
    opened.open(this.#needs.wayOut, this.target, call);
  }

  /** Ends connections that have waited too long; says how many wait on. */
  sweep(now: number): number {
    for (const connection of this.#idle.filter(({ idleUntil }) => idleUntil <= now)) connection.end();
    return this.#idle.length;
  }

  /** Calls off everything. */
  destroy(error: Error): void {
    const calls = this.#leaving.map(([, call]) => call);
    this.#leaving = [];
    for (let call = this.#waiting.shift(); call; call = this.#waiting.shift()) calls.push(call);
    for (const { caller } of calls) caller.onFailure(error);
    for (const connection of this.#open) connection.fail(error);
  }

  mayKeep(): boolean {
    return this.#needs.wayOut.open <= this.#needs.keptMax;
  }

  /** Told at the end of the turn: some servers say that they keep a connection and close it, which is seen by then. */
  onAnswered(connection: HttpConnection, caller: Caller): void {
    this.#answered.push([connection, caller]);
    this.#endTurn();
  }

  onGone(connection: HttpConnection): void {
    this.#open.delete(connection);
    if (connection.idleUntil > 0) this.#idle = this.#idle.filter((other) => other !== connection);
    const next = this.#nextWaiting();
    if (next) this.send(next);
    this.#leaveIfEmpty();
  }

  #leave(connection: HttpConnection, call: Call): void {
    this.#leaving.push([connection, call]);
    this.#endTurn();
  }

  #endTurn(): void {
    if (this.#leaving.length + this.#answered.length === 1) setImmediate(this.#onTurnEnd);
  }

  readonly #onTurnEnd = (): void => {
    const leaving = this.#leaving;
    const answered = this.#answered;
    this.#leaving = [];
    this.#answered = [];
    for (const [connection, call] of leaving)
      if (connection.isGone) this.send(call);
      else if (!connection.send(call)) this.#free(connection);
    for (const [connection, caller] of answered) {
      if (!connection.isGone) this.#free(connection);
      caller.onEnd();
    }
    this.#leaveIfEmpty();
  };

  #free(connection: HttpConnection): void {
    const next = this.#nextWaiting();
    if (next) return this.#leave(connection, next);
    connection.idleUntil = this.#needs.clock.monotonic() + connection.keptMs;
    this.#idle.push(connection);
    this.#needs.onIdle();
  }

  /** What has waited too long is left to the sweep. */
  #takeIdle(): HttpConnection | null {
    const now = this.#needs.clock.monotonic();
    const at = this.#idle.findLastIndex(({ idleUntil }) => idleUntil > now);
    const [connection] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (!connection) return null;
    connection.idleUntil = 0;
    return connection;
  }

  #nextWaiting(): Call | null {
    for (let call = this.#waiting.shift(); call; call = this.#waiting.shift()) if (call.caller.isWaiting()) return call;
    return null;
  }

  #leaveIfEmpty(): void {
    const left = this.#open.size + this.#waiting.length + this.#leaving.length + this.#answered.length;
    if (left === 0) this.#needs.onEmpty(this);
  }
}
