import type { Clock } from "../../lib/clock.ts";
import type { Account } from "../../model/account.ts";
import { carrierKey } from "../../model/catalog.ts";
import { customerStatus, isErased, isFinal, isEncrypted } from "../../model/message.ts";
import { decodeTimeline, encodeTimeline, type TimelineEntry } from "../../model/timeline.ts";
import { UNOWNED, type MessageStore, type StoredMessage } from "../../store/store.ts";
import type { Ended } from "../../store/transition.ts";
import type { GroupCommit } from "../group-commit.ts";
import { candidatesFor, routesFor, type ChooseRouteDeps } from "./choose-route.ts";
import { fallbackOf, type Fallback } from "../../model/fallback.ts";
import { fallbackTransition, findFallback, findReasonToStay, revokeFromCarrier } from "./fallback.ts";

export interface FailOverDeps extends ChooseRouteDeps {
  store: Pick<MessageStore, "listFailovers" | "dropFailover" | "replanFailover" | "eraseSealed">;
  commits: GroupCommit;
  clock: Clock;
  accountOf(accountId: number): Account | null;
}

const AT_ONCE = 500;
const LOOK_AGAIN_MS = 60_000;
/** Poll interval of a carrier that is down. The job runs on every node, and each node has its own connections. */
const DOWN_AGAIN_MS = 2000;

/**
 * Failover: moves messages without a delivery in time to their next route. Credits are spent once. A late delivery by the
 * first route still counts. Next: src/pipeline/dispatch/claim.ts
 */
export async function failOver(deps: FailOverDeps): Promise<void> {
  const messages = await deps.store.listFailovers(deps.clock.now(), AT_ONCE);
  await Promise.all(messages.map((message) => failOverMessage(deps, message)));
}

async function failOverMessage(deps: FailOverDeps, message: StoredMessage): Promise<void> {
  const { commits, clock } = deps;
  const { accountId, requestId, n, carrier } = message;
  const at = clock.now();
  // The failover was planned at the moment at which the message ended.
  if (isFinal(message.state)) return deps.store.dropFailover(message);
  const fallback = at < message.expiresAt ? await findFallback(deps, message) : null;
  if (fallback) return fallBack(deps, message, fallback, at);
  if (fallbackOf(message)) return endFailover(deps, message, at);
  const reasonToStay = await findReasonToStay(deps, message);
  if (reasonToStay !== null) return endFailover(deps, message, at, reasonToStay);
  // The carrier too: its route may be disabled or deleted now, and enabled or made again before the message is sent.
  const tried = [...message.tried, ...routesUsed(deps, message), ...(carrier === null ? [] : [carrier])];
  const { usable, isFirstElsewhere: elsewhere, isAnyDown } = candidatesFor(deps, { ...message, tried });
  // A connection of another node counts too: the message becomes unowned, and that node claims it.
  const isOpen = usable.length > 0 || elsewhere;
  if (at >= message.expiresAt || isErased(message.content) || (!isOpen && !isAnyDown))
    return endFailover(deps, message, at);
  if (!isOpen) return waitForCarrier(deps, message, at);
  const timeline = encodeTimeline({ at, step: "failover", carrier: carrier ?? "", reason: "No delivery in time" });
  await commits.move.add({
    accountId,
    requestId,
    n,
    kind: "rerouted",
    at,
    owner: UNOWNED,
    // From now on only a delivery by this carrier counts, and no other node reroutes the message once more.
    carriedBy: carrier ?? "",
    dueAt: at,
    tried,
    timeline,
  });
}

/**
 * The next carrier is down: the message stays with the first one, which may still deliver it, until the next carrier is up or
 * the validity ends. A failure receipt takes effect only if no other carrier could take the message in time.
 */
async function waitForCarrier({ store }: FailOverDeps, message: StoredMessage, at: number): Promise<void> {
  await store.replanFailover(message, message.carrier ?? "", Math.min(at + DOWN_AGAIN_MS, message.expiresAt));
}

/** A fallback goes before any other route. */
async function fallBack(deps: FailOverDeps, message: StoredMessage, fallback: Fallback, at: number): Promise<void> {
  const receipt = lastFailureReceipt(message);
  const reason = (receipt?.step === "receipt" ? receipt.description : null) ?? "No delivery in time";
  const { moved } = await deps.commits.move.add({
    ...fallbackTransition(message, fallback, at, reason),
    carriedBy: message.carrier ?? "",
  });
  if (moved) revokeFromCarrier(deps, message);
}

/**
 * The message goes no other way. A failure receipt that was held back ends the message now. Without one the message stays open, and
 * is looked at again after as long as the carrier has been silent (exponential back-off).
 */
async function endFailover(
  deps: FailOverDeps,
  message: StoredMessage,
  at: number,
  why = "no other route to try",
): Promise<void> {
  const reason = `No delivery in time, and ${why}`;
  const { commits, store } = deps;
  const { accountId, requestId, n, submittedAt } = message;
  const carrier = message.carrier ?? "";
  const entries = decodeTimeline(message.timeline);
  const isNoted = entries.some((entry) => entry.step === "failover" && entry.reason === reason);
  const timeline = isNoted ? "" : encodeTimeline({ at, step: "failover", carrier, reason });
  if (!(await endByHeldReceipt(deps, message, at, timeline))) {
    // The text is not needed any more: nothing will be sent again.
    if (isEncrypted(message.content)) await store.eraseSealed(message);
    await store.replanFailover(message, carrier, at + Math.max(LOOK_AGAIN_MS, at - (submittedAt ?? at)));
    if (!isNoted) await commits.move.add({ accountId, requestId, n, at, timeline, kind: "timeline" });
  }
}

/** Ends a message by the failure receipt that was held back for its failover; false if there is none. */
export async function endByHeldReceipt(
  { commits, accountOf }: Pick<FailOverDeps, "commits" | "accountOf">,
  message: StoredMessage,
  at: number,
  timeline: string,
): Promise<boolean> {
  const { accountId, requestId, n } = message;
  const receipt = lastFailureReceipt(message);
  if (receipt?.step !== "receipt") return false;
  await commits.move.add({
    accountId,
    requestId,
    n,
    at,
    timeline,
    kind: "ended",
    to: receipt.state as Ended["to"],
    owner: UNOWNED,
    carriedBy: message.carrier ?? "",
    errorCode: receipt.code,
    description: receipt.description,
    failoverAt: null,
    refund: accountOf(accountId)?.settings.refundUndelivered ?? false,
  });
  return true;
}

/** The last failure receipt of the current carrier; receipts from before the fallback concern another channel. */
function lastFailureReceipt(message: StoredMessage): TimelineEntry | undefined {
  const entries = decodeTimeline(message.timeline);
  const switchedAt = entries.findLastIndex((entry) => entry.step === "failover" && entry.becomes !== undefined);
  return entries.slice(switchedAt + 1).findLast((entry) => isFailureReceipt(entry, message.carrier ?? ""));
}

const isFailureReceipt = (entry: TimelineEntry, carrier: string): boolean =>
  entry.step === "receipt" && entry.carrier === carrier && customerStatus(entry.state) === "Failed";

/** The routes that lead to the carrier without a delivery. */
function routesUsed({ catalog }: FailOverDeps, message: StoredMessage): string[] {
  const { accountId, carrier } = message;
  return routesFor(catalog.of(accountId), message)
    .filter(({ content }) => carrierKey(accountId, content.carrier) === carrier)
    .map(({ id }) => id);
}
