import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { MessageRef } from "../../src/model/message.ts";
import { parseMessageId } from "../../src/model/message.ts";
import { readTrail, type TrailEntry } from "../../src/model/trail.ts";
import type { StoredMessage } from "../../src/store/store.ts";
import type { EngineName } from "./engines.ts";
import { openHouse, type House } from "./house.ts";
import { MovedClock } from "./moved-clock.ts";

/** What falls due on the way happens this late at the most. */
const STEP_MS = 400_000;
/** In one step, however long, the node speaks only once: after a third of this silence. */
const SILENT_SECONDS = 60 * 86_400;
/** What is due is claimed this often. */
const TICK_MS = 500;
/** How often to look before asking why something takes so long. */
const PATIENCE = 20;
const GIVE_UP_MS = 60_000;

/** The whole service on a clock that only the test moves. Between two moments everything that was due has happened. */
export interface MovedHouse extends House {
  clock: MovedClock;
  /** Reads the database behind the service's back. */
  rows<R>(sql: string): Promise<R[]>;
  /** Lets everything happen that is due by now; the clock moves only by the ticks of the jobs that it takes. */
  settle(): Promise<void>;
  /** Moves time on, and everything happens that falls due on the way. */
  travel(ms: number): Promise<void>;
  travelTo(at: number): Promise<void>;
  /** Moves time on in one step, where nothing falls due on the way that would have to happen in time. */
  leap(ms: number): Promise<void>;
  stored(messageId: string): Promise<StoredMessage>;
  trail(messageId: string): Promise<TrailEntry[]>;
}

/** Knows which of its timers wait. A job arms the same function after every run, so it rests exactly while that one waits. */
class WatchedClock extends MovedClock {
  readonly #waiting = new Set<() => void>();
  #onArmed: () => void = () => {};

  override after(delayMs: number, run: () => void): () => void {
    const cancel = super.after(delayMs, () => {
      this.#waiting.delete(run);
      run();
    });
    this.#waiting.add(run);
    this.#onArmed();
    return () => {
      this.#waiting.delete(run);
      cancel();
    };
  }

  waiting(): (() => void)[] {
    return [...this.#waiting];
  }

  /** Resolves when all of these wait. */
  untilWaiting(runs: readonly (() => void)[]): Promise<void> {
    return new Promise((resolve) => {
      this.#onArmed = () => {
        if (runs.every((run) => this.#waiting.has(run))) resolve();
      };
      this.#onArmed();
    });
  }
}

export async function openMovedHouse(
  engine: EngineName,
  given: { now?: number; env?: Record<string, string> } = {},
): Promise<MovedHouse> {
  const clock = new WatchedClock(given.now);
  const house = await openHouse(engine, {
    clock,
    ...(given.env ? { env: given.env } : {}),
    beyond: { nodeSilentSeconds: SILENT_SECONDS },
  });
  const jobs = clock.waiting();
  const database = await openDatabase(house);

  /** What somebody is working on, reports that are late, and what nobody has begun although it is due. */
  async function look(): Promise<{ owned: number; late: number; due: number }> {
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

  /** Whether nothing is under way: what is still owned waits for the contracted speed of its carrier. */
  async function waitsForTime(): Promise<boolean> {
    const metrics = await (await fetch(`${house.url}/metrics`)).text();
    const read = (name: string): number => Number(new RegExp(`^heliograph_${name} (\\S+)`, "m").exec(metrics)?.[1]);
    return read("lane_messages") === 0 && read("dispatch_in_flight") === 0 && read("accept_backlog") === 0;
  }

  async function settle(): Promise<void> {
    const giveUpAt = performance.now() + GIVE_UP_MS;
    for (let patience = PATIENCE; performance.now() < giveUpAt;) {
      await clock.untilWaiting(jobs);
      const { owned, late, due } = await look();
      if (owned + late + due === 0) return;
      if (owned + late > 0) {
        // What is being worked on comes to its end by itself.
        await sleep(2);
        patience -= 1;
        if (patience > 0 || !(await waitsForTime())) continue;
        if (late + due === 0) return;
      }
      patience = PATIENCE;
      clock.advance(TICK_MS);
    }
    const messages = await database.rows(
      "select * from messages where state in ('accepted', 'scheduled', 'submitting') limit 3",
    );
    const failovers = await database.rows(`select * from failovers where due_at <= ${clock.now()} limit 3`);
    const found = { now: clock.now(), ...(await look()), messages, failovers };
    throw new Error(`the house does not come to rest: ${JSON.stringify(found)}`);
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
    const message = await house.app.store.findMessage(refOf(messageId));
    if (!message) throw new Error("the message is gone");
    return message;
  }

  return {
    ...house,
    clock,
    rows: database.rows,
    settle,
    travel,
    travelTo: (at) => travel(at - clock.now()),
    leap,
    stored,
    trail: async (messageId) => readTrail((await stored(messageId)).trail),
    async close() {
      await database.close();
      await house.close();
    },
  };
}

/** The house has one account, which is the first. */
function refOf(messageId: string): MessageRef {
  const id = parseMessageId(messageId);
  if (!id) throw new Error(`${messageId} is no message id`);
  return { accountId: 1, ...id };
}

async function openDatabase({ env }: House): Promise<Pick<MovedHouse, "rows" | "close">> {
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
