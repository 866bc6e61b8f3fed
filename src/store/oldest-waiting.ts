import { sql } from "kysely";
import { ROUTE_CLASSES, type RouteClass } from "../model/message.ts";
import { decodeTimeline } from "../model/timeline.ts";
import type { Engine } from "./engine.ts";
import { HELD } from "./callbacks.ts";
import { IS_WAITING, laneOf } from "./rows.ts";
import { UNOWNED } from "./store.ts";
import type { MessageRow } from "./tables.ts";

export interface OldestWaitingStore {
  /**
   * Since when the oldest message of each class waits to be sent, in epoch milliseconds; classes without one are absent. It
   * looks at the messages of each owner that are due next, so a longer queue may have an older one.
   */
  listOldestWaiting(now: number): Promise<Partial<Record<RouteClass, number>>>;
  /** The time of the oldest event whose callback waits, found in the same way; null without one. */
  findOldestCallback(): Promise<number | null>;
}

/** Rows of one owner and class. A queue that long takes its time, and its first rows are old. */
const ROWS_MAX = 200;
/** A message that a carrier did not take comes again within this time. */
const RETRY_WITHIN_MS = 400_000;

type WaitingRow = Pick<MessageRow, "state" | "due_at" | "trail">;

/** Reads the head of each queue by the indexes of waiting rows, which begin with the owner. */
export function createOldestWaiting({ db }: Pick<Engine, "db">): OldestWaitingStore {
  const ownersWith = async (rows: string): Promise<number[]> => {
    const nodes = await db
      .selectFrom("nodes")
      .select("id")
      // Not `exists`, which PostgreSQL turns into a join that reads the whole index.
      .where(sql<boolean>`(select 1 from ${sql.raw(rows)} limit 1) is not null`)
      .execute();
    return [UNOWNED, ...nodes.map(({ id }) => id)];
  };
  return {
    async listOldestWaiting(now) {
      const oldest: Partial<Record<RouteClass, number>> = {};
      const owners = await ownersWith(`messages where owner = nodes.id and ${IS_WAITING}`);
      for (const owner of owners)
        for (const routeClass of ROUTE_CLASSES) {
          const rows: WaitingRow[] = await db
            .selectFrom("messages")
            .select(["state", "due_at", sql<string | null>`case when attempts > 0 then trail end`.as("trail")])
            .where("owner", "=", owner)
            .where("lane", "=", laneOf(routeClass))
            .where("due_at", "<=", now + RETRY_WITHIN_MS)
            .where(sql<boolean>`${sql.raw(IS_WAITING)}`)
            .orderBy("due_at")
            .limit(ROWS_MAX)
            .execute();
          for (const row of rows) {
            const since = waitsSince(row, now);
            if (since !== null && since < (oldest[routeClass] ?? Infinity)) oldest[routeClass] = since;
          }
        }
      return oldest;
    },

    async findOldestCallback() {
      let oldest: number | null = null;
      for (const owner of await ownersWith("callbacks where owner = nodes.id and state = 'waiting'")) {
        const rows = await db
          .selectFrom("callbacks")
          .select("at")
          .where("owner", "=", owner)
          // Those of SMPP clients that are not connected wait for the client.
          .where("due_at", "<", HELD)
          .where("state", "=", sql.lit("waiting"))
          .orderBy("due_at")
          .limit(ROWS_MAX)
          .execute();
        for (const { at } of rows) oldest = Math.min(oldest ?? at, at);
      }
      return oldest;
    },
  };
}

/**
 * Null for a message of a later time. A repeated one waits since its first attempt: each attempt moves its due time, and its
 * creation may be days before the time for which it was scheduled.
 */
function waitsSince({ state, due_at: dueAt, trail }: WaitingRow, now: number): number | null {
  // An unconfirmed message was probably sent, and waits for its receipt.
  if (state !== "accepted" && dueAt > now) return null;
  let since: number | null = null;
  for (const entry of decodeTimeline(trail)) {
    if (entry.step === "attempt") since ??= entry.at;
    // Quiet hours or the pause of a campaign stopped it meanwhile.
    else if (entry.step === "changed" || (entry.step === "policy" && entry.verdict === "held")) since = null;
  }
  return Math.min(since ?? dueAt, dueAt, now);
}
