import type { Clock } from "../lib/clock.ts";
import { ROUTE_CLASSES, type RouteClass } from "../model/message.ts";
import { NOBODY, type MessageStore } from "../store/store.ts";
import type { Lanes } from "./lanes.ts";
import type { Membership } from "./membership.ts";

const CLAIM_AT_ONCE = 1000;

interface Needs {
  store: MessageStore;
  lanes: Lanes;
  membership: Membership;
  clock: Clock;
}

/**
 * Fills the lanes with rows that are due and nobody's, or a dead node's: what did not fit when it was accepted,
 * what waits for another try, what a crash left behind. Says whether there may be more.
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
async function claimFrom(
  { store, lanes, membership, clock }: Needs,
  from: number,
  routeClass: RouteClass,
): Promise<boolean> {
  const limit = Math.min(CLAIM_AT_ONCE, lanes.room(routeClass));
  if (limit <= 0) return true;
  const { node } = membership;
  lanes.reserve(routeClass, limit);
  try {
    const messages = await store.claim({ node, from, routeClass, dueBy: clock.now(), limit });
    // A node that was declared dead meanwhile has a new id and no right to what the old one claimed.
    if (membership.node === node) for (const message of messages) lanes.push(message);
    return messages.length === limit;
  } finally {
    lanes.giveBack(routeClass, limit);
  }
}
