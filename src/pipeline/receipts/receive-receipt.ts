import { carrierNameOf } from "../../model/catalog.ts";
import { customerStatus, type MessageRef } from "../../model/message.ts";
import type { Receipt } from "../../model/receipt.ts";
import {
  UNOWNED,
  type StoredReceipt,
  type Respelled,
  type StoredMessage,
  type SubmittedMessage,
} from "../../store/store.ts";
import { applyReceipt, type ReceiptDeps } from "./apply-receipt.ts";
import { recordSubmitted, refOf, failoverAfterOf } from "../dispatch/record-submitted.ts";

/**
 * Receives a carrier's receipt. Resolves once it is committed: as a transition, as a repeat that changes nothing, or as an
 * unmatched receipt that waits for the submit ack with its message id. Next: src/pipeline/receipts/apply-receipt.ts
 */
export async function receiveReceipt(deps: ReceiptDeps, receipt: Receipt): Promise<void> {
  const { commits, metrics, recentSubmissions } = deps;
  const { ref } = receipt;
  const recent = await recentSubmissions.find(receipt);
  if (recent && (!ref || isSame(recent, ref))) return void (await applyReceipt(deps, recent, receipt));
  // The reference that a platform echoes is nearly always ours, except for test sends, which are not stored.
  if (ref && (await applyInOrder(deps, ref, receipt))) return;
  const known = await commits.find.add(receipt);
  if (known) return void (await applyInOrder(deps, known, receipt));
  // Alternate id formats are matched only after its own submit was answered: one may be the id of another message.
  const { alternateIds, ...unmatched } = receipt;
  const late = await commits.storeUnmatched.add(alternateIds ? { ...unmatched, otherIds: alternateIds() } : unmatched);
  if (late) return void (await applyInOrder(deps, late, receipt));
  // Race of two transactions: the submit ack was committed at the same time, and neither saw the other. Without this look the
  // receipt waits up to 5 s for the job that matches such pairs; the job then finds a repeat and removes it.
  const meanwhile = await recentSubmissions.find(receipt);
  if (meanwhile && !ref) return void (await applyReceipt(deps, meanwhile, receipt));
  metrics.receipts(receipt.carrier, "parked").inc();
}

const isSame = (a: MessageRef, b: MessageRef): boolean => a.requestId === b.requestId && a.n === b.n;

/** Matches stored receipts again, and applies those whose message is known now. */
export function matchUnmatched(
  deps: ReceiptDeps,
  receipts: readonly StoredReceipt[],
): Promise<readonly (MessageRef | null)[]> {
  const { commits } = deps;
  const matches = receipts.map(async ({ id, receipt }) => {
    const known = await commits.find.add(receipt);
    const alternate = known || !receipt.otherIds ? null : await commits.findByAlternateId.add(receipt);
    if (known) await applyInOrder(deps, known, receipt, id);
    if (alternate) await applyAlternate(deps, alternate, receipt, id);
    return known ?? alternate?.submission ?? null;
  });
  return Promise.all(matches);
}

/** The carrier learns the id format, so that its next receipt matches at once. */
function applyAlternate(
  deps: ReceiptDeps,
  { submission, knownAs }: Respelled,
  receipt: Receipt,
  settles?: number,
): Promise<boolean> {
  const carrier = deps.carriers.find(submission.accountId, carrierNameOf(receipt.carrier));
  carrier?.learnIdFormat?.(receipt, knownAs);
  return applyInOrder(deps, submission, { ...receipt, carrierMessageId: knownAs }, settles);
}

/**
 * Applies a receipt to a message whose submit may be unanswered. A receipt that overtakes the answer proves the submit, which
 * is written first: webhooks report "sent" before the rest, and a failure receipt finds the failover plan. Returns whether the
 * message exists.
 */
async function applyInOrder(
  deps: ReceiptDeps,
  ref: SubmittedMessage,
  receipt: Receipt,
  settles?: number,
): Promise<boolean> {
  // Fast path: nearly every submit is answered, and then a receipt that is no failure needs no read.
  const isPlain = customerStatus(receipt.state) !== "Failed" && ref.parts === undefined && settles === undefined;
  if (isPlain && (await applyReceipt(deps, ref, receipt, { onlyAnswered: true }))) return true;
  const message = await deps.store.findMessage(ref);
  if (!message) return false;
  if (message.state === "submitting" && isCarriedBy(message, receipt) && ref.parts === undefined)
    await recordSubmittedByReceipt(deps, message, receipt);
  await applyReceipt(deps, ref, receipt, { settles });
  return true;
}

const isCarriedBy = ({ carrier, channel }: StoredMessage, receipt: Receipt): boolean =>
  carrier === receipt.carrier && (receipt.channel ?? channel) === channel;

/** Writes the submit ack that the receipt has overtaken, with the carrier's message id. */
async function recordSubmittedByReceipt(
  deps: ReceiptDeps,
  message: StoredMessage,
  { carrier, carrierMessageId }: Receipt,
): Promise<void> {
  const step = { ...refOf(message), at: deps.clock.now(), owner: UNOWNED, carrier, channel: message.channel };
  const failoverAfterSeconds = failoverAfterOf(deps, message, carrier);
  await recordSubmitted(deps, message, step, { kind: "taken", carrierMessageId }, { failoverAfterSeconds });
}
