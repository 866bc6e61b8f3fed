import type { Clock } from "../../lib/clock.ts";
import { ROUTE_CLASSES, type Message, type RouteClass } from "../../model/message.ts";
import { UNOWNED, type MessageStore } from "../../store/store.ts";
import type { ClaimYield } from "./claim-yield.ts";
import type { PriorityQueues } from "./priority-queues.ts";
import type { Membership } from "../../cluster/membership.ts";

const CLAIM_AT_ONCE = 1000;
/** While a carrier is down, claims are small: retrying its whole backlog each time would take all of the node's time. */
const CLAIM_LOW_YIELD = 200;
/** Rows from the end of the backlog, which may have another carrier; enough of them to raise the yield if they have. */
const CLAIM_NEWEST = 100;

interface ClaimDeps {
  store: MessageStore;
  queues: PriorityQueues;
  membership: Membership;
  clock: Clock;
  claimYield: ClaimYield;
}

/**
 * Fills the priority queues with due rows that are unowned or belong to a dead node: overflow of acceptance, retries, and
 * rows that a crash left behind. Returns whether another claim at once may find more.
 */
export async function claimDue(deps: ClaimDeps): Promise<boolean> {
  if (!deps.membership.alive) return false;
  let more = false;
  for (const routeClass of ROUTE_CLASSES) {
    for (const from of [UNOWNED, ...deps.membership.dead]) {
      if (await claimFrom(deps, from, routeClass)) more = true;
    }
  }
  return more;
}

/** Claims unowned one-time passwords alone, so that they do not wait behind a claim of promotions. */
export async function claimUrgent(deps: ClaimDeps): Promise<void> {
  if (deps.membership.alive) await claimFrom(deps, UNOWNED, "OTP");
}

/** Next: src/pipeline/dispatch/dispatch.ts */
async function claimFrom(deps: ClaimDeps, from: number, routeClass: RouteClass): Promise<boolean> {
  const { queues, clock, claimYield } = deps;
  // Passwords are few and short-lived: each is tried as soon as it is due.
  const isLowYield = routeClass !== "OTP" && claimYield.wasLow(routeClass);
  const limit = Math.min(isLowYield ? CLAIM_LOW_YIELD : CLAIM_AT_ONCE, queues.freeSlots(routeClass));
  if (limit <= 0) return true;
  const due = { from, routeClass, dueBy: clock.now(), limit };
  const first = await claim(deps, due);
  // Head-of-line blocking: the oldest rows wait for a carrier that is down, and the newest may have another one.
  const last =
    isLowYield && first.length === limit ? await claim(deps, { ...due, limit: CLAIM_NEWEST, lastFirst: true }) : [];
  if (first.length > 0) claimYield.recordClaim(routeClass, [...first, ...last]);
  return first.length === limit && !isLowYield;
}

async function claim(
  { store, queues, membership }: ClaimDeps,
  wanted: Omit<Parameters<MessageStore["claim"]>[0], "node">,
): Promise<readonly Message[]> {
  const { routeClass, limit } = wanted;
  const { node } = membership;
  if (!queues.reserve(routeClass, limit)) return [];
  try {
    const messages = await store.claim({ ...wanted, node });
    // A node that was expired meanwhile has a new id and does not own rows that it claimed under the old one.
    if (membership.node === node) for (const message of messages) queues.push(message);
    return messages;
  } finally {
    queues.releaseSlots(routeClass, limit);
  }
}
