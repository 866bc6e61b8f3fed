import { Client, Connection, type QueryResult } from "pg";
import type { StoreFaults } from "./store-gate.ts";
import { inProcess, runningProcess, type SimulatedProcess, type World } from "./world.ts";

const USUAL_MS = [0, 2] as const;
const SLOW_MS = [50, 4000] as const;
/** Beyond the time-outs of the server and of the pool: the caller has given up by then. */
const LANDS_AFTER_MS = [12_000, 60_000] as const;
/** A half-open connection: the process has died, and the server has not noticed. */
const HALF_OPEN_MS = [0, 60_000] as const;
const IDLE_IN_TRANSACTION_MS = 15_000;
/** Real time after which the server is asked whether an unanswered statement waits for a lock. */
const LOOK_MS = 2;
const LOOKED_MS = 10;
const STUCK_MS = 120_000;

interface Statement {
  text: string;
  values?: readonly unknown[];
  name?: string;
}

/** Fields that the driver's client has at run time but its types omit. */
interface DriverClient {
  processID: number;
  _txStatus: string | null;
  on(event: "error", listener: () => void): void;
  connection: { stream: { destroy(): void; destroyed: boolean } };
}

/** A connection of a simulated process. */
interface Line {
  client: DriverClient;
  process: SimulatedProcess;
  /** The simulated time-out of the server; the real one is off. */
  timeoutMs: number;
  /** The server is about to commit, whatever happens to the process and its connection. */
  isCommitting: boolean;
  /** The process has closed it meanwhile. */
  isAbandoned: boolean;
  isDead: boolean;
  /** It has promised to begin a transaction, and sends that with the next statement: alone it has no effect. */
  isToBegin: boolean;
  /** Its transaction has changed or locked rows. */
  holdsRows: boolean;
  stopIdleTimer(): void;
}

/** A statement that the server has not answered. */
interface Open {
  serial: number;
  line: Line;
  text: string;
  answer: Promise<void>;
  outcome: Outcome | null;
  isBlocked: boolean;
  finish(outcome: Outcome): void;
}

type Outcome = { result: QueryResult } | { error: Error };

export interface StatementGateDeps {
  world: World;
  /** A connection of the simulation to the database. */
  monitor: Client;
  tellTime(): Promise<void>;
  faults(process: SimulatedProcess): StoreFaults;
  onFault(kind: string): void;
}

const IS_WRITE =
  /^\s*(with|insert|update|delete)\b[^]*\b(insert into|update|delete from)\b|^\s*(insert|update|delete)\b/i;
const IS_LOCK = /\b(insert into|update|delete from|for share)\b/i;
const NO_ROWS: QueryResult = { command: "", rowCount: null, oid: 0, rows: [], fields: [] };
/** Disk full, read-only standby. */
const CANNOT_WRITE = ["53100", "25006"];
const USES_CLOCK = /clock_timestamp/;
const STATEMENT_TIMEOUT = /(set_config\('statement_timeout', ')(\d+)'/;
const IDLE_TIMEOUT = /(set_config\('idle_in_transaction_session_timeout', ')(\d+)'/;

type OnConnected = (error?: Error | null) => void;

const original = {
  connect: Client.prototype.connect as (callback?: OnConnected) => unknown,
  query: Client.prototype.query as (statement: Statement) => Promise<QueryResult>,
  end: Client.prototype.end as (callback?: () => void) => unknown,
  dial: (Connection.prototype as unknown as Dial).connect,
};

interface Dial {
  connect(...args: unknown[]): void;
  cancel(pid: number, secret: number): void;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/**
 * Stands between the driver of PostgreSQL and the server. The seed decides when a statement of a simulated process leaves, when
 * its transaction commits, when its answer arrives, and what goes wrong. The server executes one statement at a time; one that
 * waits for a row lock stays open until another transaction ends.
 */
export class StatementGate {
  readonly #deps: StatementGateDeps;
  readonly #lines = new Map<object, Line>();
  readonly #open = new Set<Open>();
  #serial = 0;
  #isDialling = false;

  constructor(deps: StatementGateDeps) {
    this.#deps = deps;
    this.#install();
  }

  /** The process has died: its connections end now, or when the server notices. */
  disconnect(process: SimulatedProcess): void {
    const { world } = this.#deps;
    const isNoticed = world.random.chance(0.5);
    for (const line of this.#lines.values())
      if (line.process === process)
        world.plan(isNoticed ? 0 : this.#between(HALF_OPEN_MS), null, () => this.#abandon(line));
  }

  close(): void {
    for (const { client } of this.#lines.values()) client.connection.stream.destroy();
    this.#lines.clear();
  }

  /** Takes the place of the driver for code of simulated processes. */
  #install(): void {
    const lineOf = (client: object): Line | undefined => (runningProcess() ? this.#lines.get(client) : undefined);
    const dial = (connection: Dial & Connection, args: unknown[]): void => {
      const process = runningProcess();
      if (!process || this.#isDialling) return Reflect.apply(original.dial, connection, args);
      // The request to cancel a statement has a connection of its own.
      connection.cancel = (pid) => this.#cancel(process, pid, () => connection.emit("end"));
      this.#deps.world.plan(this.#between(USUAL_MS), process, () => void connection.emit("connect"));
    };
    const connectClient = (client: DriverClient, callback: OnConnected): void => {
      const process = runningProcess();
      if (process) this.#connect(client, process, callback);
      else Reflect.apply(original.connect, client, [callback]);
    };
    const run = (line: Line, statement: Statement): Promise<QueryResult> => this.#run(line, statement);
    const endLine = (line: Line, callback?: () => void): Promise<void> => this.#end(line, callback);
    Object.assign(Client.prototype, {
      connect(this: DriverClient, callback?: OnConnected): unknown {
        if (callback) return connectClient(this, callback);
        return Reflect.apply(original.connect, this, []);
      },
      query(this: DriverClient, ...args: [Statement]): unknown {
        const line = lineOf(this);
        return line ? run(line, args[0]) : Reflect.apply(original.query, this, args);
      },
      end(this: DriverClient, ...args: [(() => void)?]): unknown {
        const line = lineOf(this);
        return line ? endLine(line, args[0]) : Reflect.apply(original.end, this, args);
      },
    });
    Object.assign(Connection.prototype, {
      connect(this: Dial & Connection, ...args: unknown[]): void {
        dial(this, args);
      },
    });
  }

  #between([least, most]: readonly [number, number]): number {
    return this.#deps.world.random.between(least, most);
  }

  #delay(process: SimulatedProcess): number {
    return this.#between(this.#deps.world.random.chance(this.#deps.faults(process).slow) ? SLOW_MS : USUAL_MS);
  }

  /** Runs outside the process once the process runs; never if it is dead. */
  #leave(process: SimulatedProcess, delayMs: number, run: () => Promise<void>): void {
    const { world } = this.#deps;
    const leave = async (): Promise<void> => {
      if (process.isDead) return;
      if (process.pausedUntil > world.now) this.#leave(process, process.pausedUntil - world.now, run);
      else await run();
    };
    world.plan(delayMs, null, leave, process);
  }

  #connect(client: DriverClient, process: SimulatedProcess, callback: OnConnected): void {
    const { world, faults, onFault } = this.#deps;
    const finish = (error: Error | null): void => void world.plan(this.#delay(process), process, () => callback(error));
    this.#leave(process, this.#delay(process), async () => {
      if (client.connection.stream.destroyed) return finish(new Error("Connection terminated unexpectedly"));
      if (world.random.chance(faults(process).refused)) {
        onFault("connection refused");
        return finish(new Error("connect ECONNREFUSED"));
      }
      // A process that dies meanwhile has no listener yet.
      client.on("error", () => {});
      const error = await new Promise<Error | null>((resolve) =>
        inProcess(process, () => {
          this.#isDialling = true;
          Reflect.apply(original.connect, client, [(failed?: Error | null) => resolve(failed ?? null)]);
          this.#isDialling = false;
        }),
      );
      if (!error)
        this.#lines.set(client, {
          client,
          process,
          timeoutMs: Number.POSITIVE_INFINITY,
          isCommitting: false,
          isAbandoned: false,
          isDead: false,
          isToBegin: false,
          holdsRows: false,
          stopIdleTimer: () => {},
        });
      finish(error);
    });
  }

  #end(line: Line, callback: () => void = () => {}): Promise<void> {
    const { world } = this.#deps;
    return new Promise((resolve) => {
      this.#leave(line.process, this.#between(USUAL_MS), async () => {
        await this.#abandon(line);
        world.plan(0, line.process, () => {
          callback();
          resolve();
        });
      });
    });
  }

  #cancel(process: SimulatedProcess, pid: number, onDone: () => void): void {
    const { world } = this.#deps;
    this.#leave(process, this.#between(USUAL_MS), async () => {
      const open = [...this.#open].find(({ line }) => line.client.processID === pid);
      if (open) await this.#cancelStatement(open);
      await this.#settle(true);
      world.plan(this.#between(USUAL_MS), process, onDone);
    });
  }

  /** One statement of a process. */
  #run(line: Line, statement: Statement): Promise<QueryResult> {
    const { world, faults, onFault } = this.#deps;
    const { process, client } = line;
    if (statement.text === "begin") {
      line.isToBegin = true;
      line.holdsRows = false;
      return Promise.resolve(NO_ROWS);
    }
    const label = statement.name ?? statement.text.replaceAll(/\s+/g, " ").slice(0, 60);
    const begunAt = world.now;
    return new Promise((resolve, reject) => {
      const answer = (outcome: Outcome): void => {
        const what = "error" in outcome ? describeError(outcome.error) : `${outcome.result.rowCount} rows`;
        world.note(`${process.name} hears ${what} of ${label}`);
        world.plan(this.#delay(process), process, () =>
          "error" in outcome ? reject(outcome.error) : resolve(outcome.result),
        );
      };
      const lose = async (kind: string): Promise<void> => {
        onFault(kind);
        await this.#hangUp(line);
        answer({ error: new Error("Connection terminated unexpectedly") });
      };
      line.stopIdleTimer();
      this.#leave(process, this.#delay(process), async () => {
        const { random } = world;
        const { refused, answerLost, landsLater, readOnly } = faults(process);
        const isCommit = statement.text === "commit";
        const isAlone = client._txStatus === "I" && !line.isToBegin && IS_WRITE.test(statement.text);
        world.note(`${process.name} sends ${label}`);
        if (line.isDead) return answer({ error: new Error("Connection terminated unexpectedly") });
        if (random.chance(refused)) return lose("connection died");
        if (IS_LOCK.test(statement.text) && random.chance(readOnly)) {
          onFault("write refused");
          const text = `do $$ begin raise exception 'simulated' using errcode = '${random.pick(CANNOT_WRITE)}'; end $$`;
          return this.#send(line, { text }, answer);
        }
        const isLost = random.chance(answerLost);
        const finish = (outcome: Outcome): void => {
          if (isLost)
            world.plan(0, null, () => lose(`answer lost of a ${isCommit || isAlone ? "commit" : "statement"}`));
          else answer(outcome);
        };
        const commit = (outcome: Outcome): void => {
          line.isCommitting = true;
          const hangs = random.chance(landsLater);
          if (hangs) onFault("commit landed later");
          const afterMs = hangs ? this.#between(LANDS_AFTER_MS) : this.#delay(process);
          if (hangs) process.hadTrouble("store", begunAt, begunAt + afterMs);
          const land = (): Promise<void> =>
            this.#send(line, { text: "commit" }, (committed) => {
              line.isCommitting = false;
              if (line.isAbandoned) world.plan(0, null, () => this.#hangUp(line));
              finish("error" in committed || isCommit ? committed : outcome);
            });
          world.plan(afterMs, null, land, process);
        };
        if (isCommit && line.holdsRows) return commit({ result: NO_ROWS });
        if (!isAlone) return this.#send(line, statement, finish);
        // The server executes and commits a statement outside a transaction in two steps; others may come between these.
        line.isToBegin = true;
        await this.#send(line, statement, (outcome) => {
          if (!("error" in outcome)) {
            if (outcome.result.rowCount !== 0) return commit(outcome);
            return void world.plan(0, null, () => this.#send(line, { text: "commit" }, () => finish(outcome)));
          }
          world.plan(0, null, () => this.#send(line, { text: "rollback" }, () => finish(outcome)));
        });
      });
    });
  }

  /** Sends a statement to the server. The promise resolves when the server is idle, or waits for a lock. */
  async #send(line: Line, { text, values, name }: Statement, finish: (outcome: Outcome) => void): Promise<void> {
    const { world, tellTime } = this.#deps;
    if (line.isDead) return finish({ error: new Error("Connection terminated unexpectedly") });
    line.stopIdleTimer();
    if (USES_CLOCK.test(text) || [...this.#open].some((each) => USES_CLOCK.test(each.text))) await tellTime();
    this.#serial += 1;
    const open: Open = {
      serial: this.#serial,
      line,
      text,
      outcome: null,
      isBlocked: false,
      finish: (outcome) => {
        if (IS_LOCK.test(text) && !("error" in outcome) && outcome.result.rowCount !== 0) line.holdsRows = true;
        this.#watchIdle(line);
        finish(outcome);
      },
      answer: Promise.resolve(),
    };
    if (line.isToBegin) void Reflect.apply(original.query, line.client, [{ text: "begin" }]).catch(() => undefined);
    line.isToBegin = false;
    const sent = { text: withoutTimeouts(text, line), ...(values ? { values } : {}), ...(name ? { name } : {}) };
    open.answer = Reflect.apply(original.query, line.client, [sent]).then(
      (result) => void (open.outcome = { result }),
      (error: Error) => void (open.outcome = { error }),
    );
    this.#open.add(open);
    await this.#settle(text === "commit" || text === "rollback");
    if (!open.outcome && Number.isFinite(line.timeoutMs))
      world.plan(line.timeoutMs, null, async () => {
        if (open.outcome || line.isDead) return;
        this.#deps.onFault("statement timed out");
        await this.#cancelStatement(open);
        await this.#settle(true);
      });
  }

  /** Until its server process has handled the signal, a cancelled statement still counts as waiting for its lock. */
  async #cancelStatement({ line, answer }: Open): Promise<void> {
    await this.#signal("pg_cancel_backend", line.client.processID);
    await answer;
  }

  /** The server ends a transaction whose process sends nothing. */
  #watchIdle(line: Line): void {
    const { world, onFault } = this.#deps;
    line.stopIdleTimer();
    if (line.isDead || line.isCommitting || line.client._txStatus === "I") return;
    line.stopIdleTimer = world.plan(IDLE_IN_TRANSACTION_MS, null, async () => {
      if (line.isDead || line.isCommitting) return;
      onFault("idle transaction ended");
      await this.#hangUp(line);
    });
  }

  async #abandon(line: Line): Promise<void> {
    line.isAbandoned = true;
    if (!line.isCommitting) await this.#hangUp(line);
  }

  /** Ends a connection on both sides. Its transaction is rolled back when this resolves. */
  async #hangUp(line: Line): Promise<void> {
    if (line.isDead) return;
    line.isDead = true;
    line.stopIdleTimer();
    const { client, process } = line;
    const pid = client.processID;
    inProcess(process, () => client.connection.stream.destroy());
    await this.#signal("pg_terminate_backend", pid);
    const { monitor } = this.#deps;
    const isGone = { name: "is gone", text: "select from pg_stat_activity where pid = $1", values: [pid] };
    while ((await monitor.query(isGone)).rowCount !== 0) await sleep(1);
    this.#lines.delete(client);
    await this.#settle(true);
  }

  async #signal(kind: "pg_cancel_backend" | "pg_terminate_backend", pid: number): Promise<void> {
    await this.#deps.monitor.query({ name: kind, text: `select ${kind}($1)`, values: [pid] });
  }

  /**
   * Waits until the server has answered every statement or it waits for a lock. Only the end of a transaction can end such a
   * wait.
   */
  async #settle(isReleasing: boolean): Promise<void> {
    await this.#wait(isReleasing);
    // A failed statement ends its transaction.
    if ([...this.#open].some(({ outcome }) => outcome && "error" in outcome)) await this.#wait(true);
    const answered = [...this.#open].filter(({ outcome }) => outcome).toSorted((a, b) => a.serial - b.serial);
    for (const open of answered) this.#open.delete(open);
    for (const { outcome, finish } of answered) if (outcome) finish(outcome);
  }

  async #wait(mayRelease: boolean): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      const left = [...this.#open].filter(({ outcome, isBlocked }) => !outcome && (mayRelease || !isBlocked));
      if (left.length === 0) return;
      await Promise.race([Promise.all(left.map(({ answer }) => answer)), sleep(LOOK_MS)]);
      const unanswered = left.filter(({ outcome }) => !outcome);
      if (unanswered.length === 0) continue;
      const blockers = await this.#blockers();
      const isWaiting = unanswered.every(
        ({ outcome, line }) => !outcome && (blockers.get(line.client.processID)?.length ?? 0) > 0,
      );
      // The server ends a deadlock by itself.
      if (!isWaiting || hasCycle(blockers)) {
        if (performance.now() - startedAt > STUCK_MS) throw new Error(`no answer to ${unanswered[0]?.text}`);
        continue;
      }
      // Each waiting statement looks once for a deadlock, after a millisecond. The one that completes it should be the one to find it.
      if (unanswered.some(({ isBlocked }) => !isBlocked)) await sleep(LOOKED_MS);
      for (const open of unanswered) {
        if (!open.isBlocked) this.#deps.onFault("statement waited for a lock");
        open.isBlocked = true;
      }
      return;
    }
  }

  /** The sessions that each unanswered statement waits for. */
  async #blockers(): Promise<Map<number, number[]>> {
    const pids = [...this.#open].filter(({ outcome }) => !outcome).map(({ line }) => line.client.processID);
    const { rows } = await this.#deps.monitor.query<{ pid: number; by: number[] }>({
      name: "blockers",
      text: "select pid, pg_blocking_pids(pid) as by from unnest($1::integer[]) as pid",
      values: [pids],
    });
    return new Map(rows.map(({ pid, by }) => [pid, by]));
  }
}

/** The time-outs of the server run on real time. */
function withoutTimeouts(text: string, line: Line): string {
  const timeout = STATEMENT_TIMEOUT.exec(text);
  if (!timeout) return text;
  line.timeoutMs = Number(timeout[2]) || Number.POSITIVE_INFINITY;
  return text.replace(STATEMENT_TIMEOUT, "$10'").replace(IDLE_TIMEOUT, "$10'");
}

function hasCycle(edges: ReadonlyMap<number, readonly number[]>): boolean {
  const reaches = (from: number, wanted: number, seen: Set<number>): boolean =>
    (edges.get(from) ?? []).some((next) => {
      if (next === wanted) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, wanted, seen);
    });
  return [...edges.keys()].some((pid) => reaches(pid, pid, new Set()));
}

const describeError = (error: Error & { code?: string }): string => `error ${error.code ?? error.message}`;
