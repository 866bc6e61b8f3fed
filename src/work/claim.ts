import type { Clock } from "../lib/clock.ts";
import { ROUTE_CLASSES, type Message, type RouteClass } from "../model/message.ts";
import { NOBODY, type MessageStore } from "../store/store.ts";
import type { Claimed } from "./claimed.ts";
import type { Lanes } from "./lanes.ts";
import type { Membership } from "./membership.ts";

const CLAIM_AT_ONCE = 1000;
/** Where a line is down, its queue is only looked at now and then: to try each of them again and again would be all that a node does. */
const CLAIM_IN_VAIN = 200;
/** And those at its end, of which some may have another line: enough of them for a claim not to be in vain if they have. */
const CLAIM_LAST = 100;

interface Needs {
  store: MessageStore;
  lanes: Lanes;
  membership: Membership;
  clock: Clock;
  claimed: Claimed;
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
  }
  return more;
}

/** Next: src/messages/dispatch.ts */
async function claimFrom(needs: Needs, from: number, routeClass: RouteClass): Promise<boolean> {
  const { lanes, clock, claimed } = needs;
  // Passwords are few and short-lived: each is tried as soon as it is due.
  const isInVain = routeClass !== "OTP" && claimed.wasInVain(routeClass);
  const limit = Math.min(isInVain ? CLAIM_IN_VAIN : CLAIM_AT_ONCE, lanes.room(routeClass));
  if (limit <= 0) return true;
  const due = { from, routeClass, dueBy: clock.now(), limit };
  const first = await claim(needs, due);
  // Those in front wait for a line that is down. What has come last may have another: it does not wait behind all of them.
  const last =
    isInVain && first.length === limit ? await claim(needs, { ...due, limit: CLAIM_LAST, lastFirst: true }) : [];
  if (first.length > 0) claimed.note(routeClass, [...first, ...last]);
  return first.length === limit && !isInVain;
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
