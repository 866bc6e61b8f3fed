import type { Outcome } from "../../carriers/carrier.ts";
import { carrierKey } from "../../model/catalog.ts";
import { ERASED, isEncrypted, isSimulatorOnly, type Message, type MessageRef } from "../../model/message.ts";
import type { TimelineEntry } from "../../model/timeline.ts";
import type { Deferred, ExpectedRow, NewContent, Submitted } from "../../store/transition.ts";
import type { GroupCommit } from "../group-commit.ts";
import { fallbackOf } from "../../model/fallback.ts";
import { applyUnmatched, type ReceiptDeps } from "../receipts/apply-receipt.ts";
import { routesFor } from "./choose-route.ts";

type Taken = Extract<Outcome, { kind: "taken" }>;

/** A submit response without the ids that the carrier gave the message. */
export type SubmitStep = Omit<Submitted, "kind" | "carrierMessageId">;

/** The receipts to expect from the carrier that took the message. */
interface Expected {
  /** Time without a delivery after which the next route is tried. */
  failoverAfterSeconds: number | null | undefined;
  /** The carrier sends no receipts. */
  sendsNoReceipts?: boolean | undefined;
}

/** Writes the submit ack with the carrier's message ids, and applies receipts that arrived before it. */
export async function recordSubmitted(
  deps: ReceiptDeps,
  message: Message,
  step: SubmitStep,
  { carrierMessageId, partIds }: Taken,
  { failoverAfterSeconds, sendsNoReceipts = false }: Expected,
): Promise<void> {
  const move: Submitted = { ...step, kind: "submitted", carrierMessageId };
  const parted = isParted(partIds) ? partIds : null;
  if (parted) move.partIds = parted;
  const silentMs = (fallbackOf(message)?.afterSeconds ?? failoverAfterSeconds ?? 0) * 1000;
  // A failover needs the text again. It is erased when no route is left, or with the end of the message.
  if (silentMs > 0) move.failoverAt = step.at + silentMs;
  else Object.assign(move, eraseEncrypted(message));
  const write = transitionBatcherFor(deps, message).add(move);
  if (!parted && !sendsNoReceipts)
    deps.recentSubmissions.record(step.carrier, carrierMessageId, message, write, step.expected);
  const { unmatched: parked } = await write;
  if (parked.length === 0) return;
  await applyUnmatched(deps, parted ? { ...refOf(message), parts: parted.length } : message, parked);
}

/** Writes that the carrier may have the message, and applies early receipts if the message id is known. */
export async function recordUnknown(
  deps: ReceiptDeps,
  message: Message,
  step: Omit<Deferred, "kind" | "to">,
  { carrierMessageId }: Extract<Outcome, { kind: "unknown" }>,
): Promise<void> {
  const known = carrierMessageId === undefined ? {} : { carrierMessageId };
  const { unmatched: parked } = await deps.commits.move.add({ ...step, kind: "deferred", to: "submitting", ...known });
  return applyUnmatched(deps, message, parked);
}

/** A carrier that gives all parts the same id reports the message as a whole. */
const isParted = (ids: readonly string[] | undefined): ids is readonly string[] =>
  ids !== undefined && new Set(ids).size > 1;

/** Erases encrypted content in the transition that records the submit ack. */
export const eraseEncrypted = ({ channel, sender, content, segments }: Message): { becomes?: NewContent } =>
  isEncrypted(content) ? { becomes: { channel, sender, content: ERASED, segments } } : {};

type AnswerEntry = Extract<TimelineEntry, { step: "answer" }>;

/** The carrier's answer as a timeline entry. */
export function answerEntryOf(carrier: string, outcome: Outcome, at: number): AnswerEntry {
  const entry: AnswerEntry = { at, step: "answer", carrier, outcome: outcome.kind };
  if ("code" in outcome) entry.code = outcome.code;
  if ("description" in outcome) entry.description = outcome.description;
  if (outcome.kind === "taken") entry.carrierMessageId = outcome.partIds?.join(", ") ?? outcome.carrierMessageId;
  if (outcome.exchange !== undefined) entry.exchange = outcome.exchange;
  return entry;
}

/** Passwords have a batcher of their own and do not wait behind promotions. */
export const transitionBatcherFor = (
  { commits }: { commits: GroupCommit },
  { routeClass }: Pick<Message, "routeClass">,
): GroupCommit["move"] => (routeClass === "OTP" ? commits.urgentMove : commits.move);

/** Fields of the message in memory, which the store then need not read. */
export const expectedOf = ({ channel, routeClass, recipient, campaignName, test, callback }: Message): ExpectedRow => ({
  channel,
  routeClass,
  recipient,
  campaignName,
  ...(test && { test: true }),
  callback,
});

export const refOf = ({ accountId, requestId, n }: MessageRef): MessageRef => ({ accountId, requestId, n });

/** Seconds without a delivery until failover, by the route that leads to this carrier. */
export function failoverAfterOf({ catalog }: ReceiptDeps, message: Message, carrier: string): number | null {
  const { accountId } = message;
  const route = routesFor(catalog.of(accountId), message).find(
    ({ content }) => carrierKey(accountId, content.carrier) === carrier,
  );
  return isSimulatorOnly(message) ? null : (route?.content.failoverAfterSeconds ?? null);
}
