import type { MaySend } from "../../carriers/carrier.ts";
import { messageIdOf, type Message } from "../../model/message.ts";
import type { DispatchDeps } from "./dispatch-deps.ts";
import { noLaterThanFallback } from "./fallback.ts";
import { checkStops, type RecheckResult } from "../policy/recheck.ts";
import { holdUnconfirmed, applyRecheck, deferUnchanged } from "./defer.ts";

/** Returns whether the store's answer "not stopped" is still valid. */
export type SendLease = () => boolean;

/** Attempts to get an answer of the store within a lease; then the message is deferred. */
const RENEWALS_MAX = 5;
const ASK_AGAIN_MS = 1000;
/** Interval at which an unconfirmed message of a paused campaign is looked at. */
const PAUSED_LOOK_MS = 60_000;

/** Asks the store again after the intent took longer than its lease. Null if the message is stopped or the store is too slow. */
export async function renewLease(deps: DispatchDeps, message: Message): Promise<SendLease | null> {
  for (let tries = 0; tries < RENEWALS_MAX; tries += 1) {
    const lease = deps.stopGuard.issueLease(message);
    const stop = await findStop(deps, message);
    if (stop !== null) return null;
    if (lease()) return lease;
  }
  return null;
}

async function findStop(deps: DispatchDeps, message: Message): Promise<RecheckResult | null | "unknown"> {
  try {
    return await checkStops(deps, message, deps.clock.now());
  } catch (error) {
    deps.log.warn({ err: error, messageId: messageIdOf(message) }, "stop check failed, message deferred");
    return "unknown";
  }
}

/** The check that a carrier makes before it writes a message. The first part decides for all: half a message is useless. */
export function createSendCheck(lease: SendLease): MaySend & { isWithdrawn(): boolean } {
  let decided: boolean | null = null;
  return Object.assign((): boolean => (decided ??= lease()), { isWithdrawn: () => decided === false });
}

/** The intent was refused: the message is stopped, or another node owns it and nothing is written. */
export async function handleRefusedIntent(deps: DispatchDeps, message: Message, node: number): Promise<void> {
  const stop = await findStop(deps, message);
  const at = deps.clock.now();
  // Without an answer the check is repeated soon; if the stop was lifted meanwhile, the message continues at once.
  if (stop === "unknown") return deferUnchanged(deps, message, node, at + ASK_AGAIN_MS);
  if (stop === null) return deferUnchanged(deps, message, node, at);
  if (message.state !== "submitting") return applyRecheck(deps, message, node, stop);
  // Unconfirmed: its carrier may have it and send a receipt, but the message is not repeated.
  const dueAt = stop.to === "scheduled" ? Math.min(at + PAUSED_LOOK_MS, message.expiresAt) : message.expiresAt;
  await holdUnconfirmed(
    deps,
    message,
    { ownedBy: node, attemptIs: message.attempts },
    noLaterThanFallback(message, at, dueAt),
  );
}
