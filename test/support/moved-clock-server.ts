import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { MessageRef } from "../../src/model/message.ts";
import { parseMessageId } from "../../src/model/message.ts";
import { decodeTimeline, type TimelineEntry } from "../../src/model/timeline.ts";
import type { StoredMessage } from "../../src/store/store.ts";
import type { EngineName } from "./engines.ts";
import { startTestServer, type TestServer } from "./test-server.ts";
import { MovedClock } from "./moved-clock.ts";

/** Step of the clock, and so the maximum delay of due work. */
const STEP_MS = 400_000;
/** Heartbeat time-out. Longer than any step, because within one step the node sends only one heartbeat. */
const SILENT_SECONDS = 60 * 86_400;
/** Interval at which due work is claimed. */
const TICK_MS = 500;
/** Number of polls before the cause of a delay is examined. */
const POLLS_MAX = 20;
const SETTLE_TIMEOUT_MS = 200_000;
/** Real time after which the clock moves although work is in progress: a write that failed is repeated after a pause. */
const STALLED_MS = 15_000;
/** Real time after which, and at which interval, the clock moves while the server stops. */
const SLOW_STOP_MS = 1000;

/** The whole server on a clock that only the test moves. Between two steps all due work is completed. */
export interface MovedClockServer extends TestServer {
  clock: MovedClock;
  /** Reads the database directly. */
  rows<R>(sql: string): Promise<R[]>;
  /** Completes all due work. The clock moves only by the intervals of the jobs involved. */
  settle(): Promise<void>;
  /** Advances the clock in small steps and completes the work that becomes due. */
  travel(ms: number): Promise<void>;
  travelTo(at: number): Promise<void>;
  /** Advances the clock in one step, for periods without work that must happen on time. */
  leap(ms: number): Promise<void>;
  stored(messageId: string): Promise<StoredMessage>;
  timeline(messageId: string): Promise<TimelineEntry[]>;
}

/**
 * A clock that knows its pending timers. A job schedules the same function after every run, so the job is idle exactly
 * while that timer is pending.
 */
class ObservableClock extends MovedClock {
  readonly #pending = new Set<() => void>();
  #onScheduled: () => void = () => {};

  override after(delayMs: number, run: () => void): () => void {
    const cancel = super.after(delayMs, () => {
      this.#pending.delete(run);
      run();
    });
    this.#pending.add(run);
    this.#onScheduled();
    return () => {
      this.#pending.delete(run);
      cancel();
    };
  }

  pending(): (() => void)[] {
    return [...this.#pending];
  }

  /** Resolves when all of these timers are pending; to false if they are not within a real time. */
  untilPending(runs: readonly (() => void)[], withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs, false);
      this.#onScheduled = () => {
        if (!runs.every((run) => this.#pending.has(run))) return;
        clearTimeout(timer);
        resolve(true);
      };
      this.#onScheduled();
    });
  }
}

export async function startMovedClockServer(
  engine: EngineName,
  given: { now?: number; env?: Record<string, string> } = {},
): Promise<MovedClockServer> {
  const clock = new ObservableClock(given.now);
  const server = await startTestServer(engine, {
    clock,
    ...(given.env ? { env: given.env } : {}),
    beyond: { nodeSilentSeconds: SILENT_SECONDS },
  });
  const jobs = clock.pending();
  const database = await openDatabase(server);

  /** Counts owned messages, late reports, and due messages that no node has claimed. */
  async function countPending(): Promise<{ owned: number; late: number; due: number }> {
    const now = clock.now();
    const waits = "state in ('accepted', 'scheduled', 'submitting')";
    const [row] = await database.rows<Record<"owned" | "late" | "due" | "failovers", number | string>>(`select
      (select count(*) from messages where owner > 0 and ${waits}) as owned,
      (select count(*) from phone_messages where reports_due_at <= ${now}) as late,
      (select count(*) from messages where owner = 0 and due_at <= ${now} and ${waits}) as due,
      (select count(*) from failovers where due_at <= ${now}) as failovers`);
    const { owned = 0, late = 0, due = 0, failovers = 0 } = row ?? {};
    return { owned: Number(owned), late: Number(late), due: Number(due) + Number(failovers) };
  }

  /** True if the owned messages only wait for the rate limit of their carrier. */
  async function waitsForTime(): Promise<boolean> {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const read = (name: string): number => Number(new RegExp(`^heliograph_${name} (\\S+)`, "m").exec(metrics)?.[1]);
    return read("lane_messages") === 0 && read("dispatch_in_flight") === 0 && read("accept_backlog") === 0;
  }

  async function settle(): Promise<void> {
    const deadline = performance.now() + SETTLE_TIMEOUT_MS;
    let movedAt = performance.now();
    for (let polls = POLLS_MAX; performance.now() < deadline;) {
      const areIdle = await clock.untilPending(jobs, STALLED_MS);
      const { owned, late, due } = await countPending();
      if (areIdle && owned + late + due === 0) return;
      if (owned + late > 0 && performance.now() - movedAt < STALLED_MS) {
        // Work in progress ends without moving the clock.
        await sleep(2);
        polls -= 1;
        if (polls > 0 || !(await waitsForTime())) continue;
        if (late + due === 0) return;
      }
      polls = POLLS_MAX;
      movedAt = performance.now();
      clock.advance(TICK_MS);
    }
    const messages = await database.rows(
      "select * from messages where state in ('accepted', 'scheduled', 'submitting') limit 3",
    );
    const failovers = await database.rows(`select * from failovers where due_at <= ${clock.now()} limit 3`);
    const found = { now: clock.now(), ...(await countPending()), messages, failovers };
    throw new Error(`the server does not settle: ${JSON.stringify(found)}`);
  }

  async function travel(ms: number): Promise<void> {
    const target = clock.now() + ms;
    await settle();
    while (clock.now() < target) {
      clock.advance(Math.min(STEP_MS, target - clock.now()));
      await settle();
    }
  }

  async function leap(ms: number): Promise<void> {
    await settle();
    clock.advance(ms);
    await settle();
  }

  async function stored(messageId: string): Promise<StoredMessage> {
    const message = await server.app.store.findMessage(refOf(messageId));
    if (!message) throw new Error("message not found");
    return message;
  }

  return {
    ...server,
    clock,
    rows: database.rows,
    settle,
    travel,
    travelTo: (at) => travel(at - clock.now()),
    leap,
    stored,
    timeline: async (messageId) => decodeTimeline((await stored(messageId)).timeline),
    async close() {
      await database.close();
      // A stop waits for writes that are repeated after a pause.
      const moving = setInterval(() => clock.advance(TICK_MS), SLOW_STOP_MS);
      await server.close().finally(() => clearInterval(moving));
    },
  };
}

/** The server has a single account, number 1. */
function refOf(messageId: string): MessageRef {
  const id = parseMessageId(messageId);
  if (!id) throw new Error(`invalid message id ${messageId}`);
  return { accountId: 1, ...id };
}

async function openDatabase({ env }: TestServer): Promise<Pick<MovedClockServer, "rows" | "close">> {
  if (env["HELIOGRAPH_DATABASE_URL"] === undefined) {
    const file = new DatabaseSync(join(env["HELIOGRAPH_DATA_DIR"] ?? "", "heliograph.db"), { timeout: 10_000 });
    return {
      rows: async <R>(sql: string) => file.prepare(sql).all() as R[],
      close: async () => file.close(),
    };
  }
  const client = new Client({ connectionString: env["HELIOGRAPH_DATABASE_URL"] });
  await client.connect();
  return {
    rows: async <R>(sql: string) => (await client.query(sql)).rows as R[],
    close: () => client.end(),
  };
}
