import type { Clock } from "../lib/clock.ts";
import { ROUTE_CLASSES, type Message, type RouteClass } from "../model/message.ts";
import { NOBODY, type MessageStore } from "../store/store.ts";
import type { DownLines } from "./down-lines.ts";
import type { Lanes } from "./lanes.ts";
import type { Membership } from "./membership.ts";

const CLAIM_AT_ONCE = 1000;
/** Where a line is down the next claim is likely to be in vain too, and what is behind it can wait a little. */
const CLAIM_IN_VAIN = 250;

interface Needs {
  store: MessageStore;
  lanes: Lanes;
  membership: Membership;
  clock: Clock;
  downLines: DownLines;
}

/**
 * Fills the lanes with rows that are due and nobody's, or a dead node's: what did not fit when it was accepted,
 * what waits for another try, what a crash left behind. Says whether there may be more that is worth fetching at once.
 */
export async function claimDue(needs: Needs): Promise<boolean> {
  if (!needs.membership.alive) return false;
  let more = false;
  for (const routeClass of ROUTE_CLASSES) {
    for (const from of [NOBODY, ...needs.membership.dead]) {
      if (await claimFrom(needs, from, routeClass)) more = true;
    }
    if (await claimEarly(needs, routeClass)) more = true;
  }
  return more;
}

/** Next: src/messages/dispatch.ts */
async function claimFrom(needs: Needs, from: number, routeClass: RouteClass): Promise<boolean> {
  const { lanes, clock, downLines } = needs;
  const isInVain = downLines.wasInVain(routeClass);
  const limit = Math.min(isInVain ? CLAIM_IN_VAIN : CLAIM_AT_ONCE, lanes.room(routeClass));
  if (limit <= 0) return true;
  const due = { from, routeClass, dueBy: clock.now(), limit };
  const claimed = (await claim(needs, due)).length;
  // Those in front wait for a line that is down. What has come last may have another: it does not wait behind them.
  const last = isInVain && claimed === limit ? (await claim(needs, { ...due, lastFirst: true })).length : 0;
  if (claimed > 0) downLines.noteClaim(routeClass, claimed + last);
  return claimed === limit && !isInVain;
}

/** A line is back: what was put off for it comes before its time, into half of the room that is left. */
async function claimEarly(needs: Needs, routeClass: RouteClass): Promise<boolean> {
  const { lanes, downLines } = needs;
  const early = downLines.earlyOf(routeClass);
  if (!early) return false;
  const limit = Math.min(CLAIM_AT_ONCE, Math.ceil(lanes.room(routeClass) / 2));
  if (limit <= 0) return true;
  const range = { putOffAfter: early.after, dueBy: early.by };
  const messages = await claim(needs, { from: NOBODY, routeClass, ...range, limit });
  const last = messages.length === limit ? messages.at(-1) : undefined;
  downLines.wentOn(routeClass, last?.dueAt ?? null);
  return last !== undefined;
}

async function claim(
  { store, lanes, membership }: Needs,
  wanted: Omit<Parameters<MessageStore["claim"]>[0], "node">,
): Promise<readonly Message[]> {
  const { routeClass, limit } = wanted;
  const { node } = membership;
  if (!lanes.reserve(routeClass, limit)) return [];
  try {
    const messages = await store.claim({ ...wanted, node });
    // A node that was declared dead meanwhile has a new id and no right to what the old one claimed.
    if (membership.node === node) for (const message of messages) lanes.push(message);
    return messages;
  } finally {
    lanes.giveBack(routeClass, limit);
  }
}
