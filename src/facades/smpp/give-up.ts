import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Account } from "../../model/account.ts";
import type { Callback } from "../../model/callback.ts";
import type { State } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { CallbackStore } from "../../store/callbacks.ts";
import type { SubmittedText } from "../../store/submitted-parts.ts";
import { completeText, isComplete, PARTS_WITHIN_MS, rejectionOf, type SubmitDeps } from "./submit.ts";

export interface WaitingTextDeps extends SubmitDeps {
  store: SubmitDeps["store"] & Pick<CallbackStore, "storeCallbacks">;
  clock: Clock;
  log: Log;
  accountOf(accountId: number): Account | null;
}

/** By then the node that stored the last part has accepted the text, or failed. */
const COMPLETED_WITHIN_MS = 10_000;
const TEXTS_AT_ONCE = 200;

/**
 * Accepts texts whose parts are all there and that no node has accepted, and gives up those whose parts are missing for an hour.
 */
export async function settleWaitingTexts(deps: WaitingTextDeps): Promise<void> {
  const { store, clock, log, accountOf } = deps;
  const now = clock.now();
  const due = { before: now - COMPLETED_WITHIN_MS, expiredBefore: now - PARTS_WITHIN_MS };
  for (const text of await store.listSubmittedTexts(due, TEXTS_AT_ONCE)) {
    const account = accountOf(text.accountId);
    try {
      if (!account) await store.endSubmittedText(text, null, now);
      else if (isComplete(text)) await completeOrGiveUp(deps, account, text);
      else await giveUp(deps, text, "expired", "PARTS_MISSING");
    } catch (error) {
      log.error({ err: error }, "smpp text could not be settled");
    }
  }
}

/** Accepts a complete text. One that is refused for good ends with receipts for the parts that were accepted. */
export async function completeOrGiveUp(deps: WaitingTextDeps, account: Account, text: SubmittedText): Promise<void> {
  try {
    await completeText(deps, account, text);
  } catch (error) {
    // Parts that arrive at once both find the text complete: the other call accepts it, and `settleWaitingTexts` repairs.
    if (error instanceof Problem && error.code === "IDEMPOTENCY_IN_PROGRESS") return;
    if (error instanceof Problem && isPermanent(error)) await giveUp(deps, text, "rejected", error.code);
    throw error;
  }
}

const TOO_MANY = 429;
const SERVER_FAULT = 500;

const isPermanent = ({ status }: Problem): boolean => status < SERVER_FAULT && status !== TOO_MANY;

/** Ends a text without a message. Its receipts are stored first; their id makes a repetition harmless. */
async function giveUp(
  { store, clock, log }: WaitingTextDeps,
  text: SubmittedText,
  state: State,
  errorCode: string,
): Promise<void> {
  const now = clock.now();
  // The message of a repeated part sends the receipts of its id.
  const parts = text.parts.filter(({ repeats }) => repeats === null);
  if (parts.length === 0) return store.endSubmittedText(text, null, now);
  const happening = rejectionOf({ ...text, parts }, { state, errorCode, at: now });
  const callback: Callback = {
    accountId: text.accountId,
    eventId: parts[0]?.id ?? "",
    endpointId: text.credentialId,
    happening,
    attempts: 0,
  };
  if (happening.message.callback?.states.includes(state)) await store.storeCallbacks([callback], now);
  await store.endSubmittedText(text, null, now);
  log.warn({ credential: text.credentialId, errorCode, parts: parts.length }, "smpp text given up");
}
