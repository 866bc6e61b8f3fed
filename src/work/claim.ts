import type { Clock } from "../lib/clock.ts";
import { ROUTE_CLASSES, type Message, type RouteClass } from "../model/message.ts";
import { NOBODY, type MessageStore } from "../store/store.ts";
import type { Lanes } from "./lanes.ts";
import type { Membership } from "./membership.ts";

const CLAIM_AT_ONCE = 1000;
const CLAIM_WHILE_FILLING = 50;

interface Needs {
  store: MessageStore;
  lanes: Lanes;
  membership: Membership;
  clock: Clock;
  sidings?: Sidings;
}

/** What waits aside in the store. */
interface Sidings {
  list(): readonly PutAside[];
  /** Whether nearly all that is nobody's in a lane would only be put aside. */
  isFilling(routeClass: RouteClass): boolean;
}

/** Rows that nobody could send when they were last looked at. */
export interface PutAside {
  owner: number;
  /** Whether they may go now; if not, only those are taken whose time is over. */
  mayGo: boolean;
  /** How many of a lane are taken at once. */
  limit: number;
  /** What was taken, and whether it was all that there was. */
  onClaimed(messages: readonly Message[], wasAll: boolean): void;
}

/** Whose rows are claimed, and which of them. */
interface Source {
  from: number;
  dueBy: number;
  most: number;
  fromBehind?: boolean;
}

/**
 * Fills the lanes with rows that are due and nobody's, or a dead node's: what did not fit when it was accepted,
 * what waits for another try, what a crash left behind. Says whether there may be more.
 */
export async function claimDue(needs: Needs): Promise<boolean> {
  const { membership, clock, sidings } = needs;
  if (!membership.alive) return false;
  let more = false;
  const seen = (sidings?.list() ?? []).map((each) => ({ ...each, messages: [] as Message[], wasAll: true }));
  for (const routeClass of ROUTE_CLASSES) {
    const isFilling = sidings?.isFilling(routeClass) ?? false;
    const most = isFilling ? CLAIM_WHILE_FILLING : CLAIM_AT_ONCE;
    for (const from of [NOBODY, ...membership.dead]) {
      const { isFull } = await claimFrom(needs, { from, dueBy: clock.now(), most }, routeClass);
      if (isFull) more = true;
      // What came last may well have a line that is up, and must not wait until all before it is put aside.
      if (isFull && isFilling) await claimFrom(needs, { from, dueBy: clock.now(), most, fromBehind: true }, routeClass);
    }
    for (const each of seen) {
      const dueBy = each.mayGo ? Number.MAX_SAFE_INTEGER : clock.now();
      const { messages, isFull } = await claimFrom(needs, { from: each.owner, dueBy, most: each.limit }, routeClass);
      each.messages.push(...messages);
      if (isFull) each.wasAll = false;
    }
  }
  for (const { messages, wasAll, onClaimed } of seen) {
    onClaimed(messages, wasAll);
    if (!wasAll) more = true;
  }
  return more;
}

/** Next: src/messages/dispatch.ts */
async function claimFrom(
  { store, lanes, membership, clock }: Needs,
  { from, dueBy, most, fromBehind = false }: Source,
  routeClass: RouteClass,
): Promise<{ messages: readonly Message[]; isFull: boolean }> {
  const limit = Math.min(most, lanes.room(routeClass));
  if (limit <= 0) return { messages: [], isFull: true };
  const { node } = membership;
  lanes.reserve(routeClass, limit);
  try {
    const messages = await store.claim({ node, from, routeClass, dueBy, limit, at: clock.now(), fromBehind });
    // A node that was declared dead meanwhile has a new id and no right to what the old one claimed.
    if (membership.node === node) for (const message of messages) lanes.push(message);
    return { messages, isFull: messages.length === limit };
  } finally {
    lanes.giveBack(routeClass, limit);
  }
}
