import type { Carriers } from "../../carriers/carrier.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { Catalog } from "../../records/catalog.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Account } from "../../model/account.ts";
import { customerStatus, isFinal, type Channel, type MessageRef } from "../../model/message.ts";
import { encodeTimeline } from "../../model/timeline.ts";
import { UNOWNED, type MessageStore, type StoredReceipt, type SubmittedMessage } from "../../store/store.ts";
import type { Delivered, Ended, Reported } from "../../store/transition.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { Metrics } from "../../metrics.ts";
import { fallbackTransition, findFallback } from "../dispatch/fallback.ts";
import { combineParts } from "./parts.ts";
import type { RecentSubmission, RecentSubmissions } from "./recent-submissions.ts";

export interface ReceiptDeps {
  commits: GroupCommit;
  store: Pick<MessageStore, "replanFailover" | "findMessage">;
  catalog: Catalog;
  carriers: Carriers;
  clock: Clock;
  metrics: Metrics;
  recentSubmissions: RecentSubmissions;
  accountOf(accountId: number): Account | null;
}

/** Applies receipts that arrived before the submit ack. Each is removed in the commit that applies it. */
export async function applyUnmatched(
  deps: ReceiptDeps,
  ref: SubmittedMessage,
  parked: readonly StoredReceipt[],
): Promise<void> {
  for (const { id, receipt } of parked) await applyReceipt(deps, ref, receipt, { settles: id });
}

/** The message of a receipt. */
export type MatchedReceipt = SubmittedMessage & Partial<RecentSubmission>;

interface How {
  /** The id of the stored, unmatched receipt. */
  settles?: number | undefined;
  /** Writes nothing, not even a timeline entry, unless the state changes and the submit was answered. */
  onlyAnswered?: boolean;
}

/** Applies a receipt to its message. Returns whether the state changed. Next: src/webhooks/plan.ts */
export async function applyReceipt(
  deps: ReceiptDeps,
  ref: MatchedReceipt,
  said: Receipt,
  { settles, onlyAnswered = false }: How = {},
): Promise<boolean> {
  const { commits, metrics } = deps;
  const { accountId, requestId, n } = ref;
  // The receipt of a part is combined with those of the others. This is idempotent, so a crash in between does no harm.
  const combined = ref.parts === undefined ? null : combineParts(await commits.part.add(said), said);
  const receipt = combined ? { ...said, ...combined.whole } : said;
  const { carrier, state, errorCode: code, description } = receipt;
  const isBad = customerStatus(state) === "Failed";
  const part = combined ? { part: combined.part } : {};
  const network = networkOf(receipt);
  // Our own clock: those of carriers are minutes or hours off, and most give whole minutes only.
  const at = deps.clock.now();
  const carrierTime = carrierTimeOf(receipt, at);
  const timeline = encodeTimeline({
    at,
    step: "receipt",
    carrier,
    state,
    code,
    description,
    ...part,
    ...network,
    ...carrierTime,
  });
  const settled = settles === undefined ? {} : { settles };
  if (isBad && (await fellBack(deps, ref, receipt, timeline, settles))) {
    metrics.receipts(carrier, "failover").inc();
    return true;
  }
  if (isBad && (await failedOver(deps, ref, receipt))) {
    // The message has not ended: the next route is tried.
    await commits.move.add({ kind: "timeline", accountId, requestId, n, at, timeline, ...settled });
    metrics.receipts(carrier, "failover").inc();
    return true;
  }
  const entry = { accountId, requestId, n, at, owner: UNOWNED, timeline, timelineAlways: true };
  const refund = isBad && (deps.accountOf(accountId)?.settings.refundUndelivered ?? false);
  const change =
    state === "delivered" || state === "read"
      ? deliveryOf(ref, receipt, state, { ...entry, ...network, ...settled })
      : failureOf(receipt, { ...entry, ...network, ...settled }, refund);
  const moved = onlyAnswered
    ? await moveAnswered(deps, change)
    : change.kind === "delivered" && change.to === "read"
      ? await read(deps, change)
      : (await commits.move.add(change)).moved;
  if (!moved && onlyAnswered) return false;
  metrics.receipts(carrier, moved ? "moved" : "repeated").inc();
  if (moved && isFinal(state)) metrics.moves(state).inc();
  return moved;
}

/** The carrier's time is recorded if it differs from ours by more than this. */
const CARRIER_TIME_NOTED_MS = 60_000;

const carrierTimeOf = ({ at: carrierAt }: Receipt, at: number): { carrierAt?: number } =>
  Math.abs(carrierAt - at) < CARRIER_TIME_NOTED_MS ? {} : { carrierAt };

type ReceiptTransition = Delivered | Reported | Ended;

/** The fields that the transitions of all receipts share. */
type ReceiptStep = Pick<Reported, "accountId" | "requestId" | "n" | "at" | "owner" | "timeline" | "timelineAlways"> &
  Pick<Reported, "operator" | "circle" | "settles">;

/** A delivery counts from any carrier that ever had the message, and is attributed to it. */
function deliveryOf({ asKnown }: MatchedReceipt, receipt: Receipt, to: Delivered["to"], step: ReceiptStep): Delivered {
  const { carrier, errorCode, description } = receipt;
  const isPlain = step.operator === undefined && step.circle === undefined && step.settles === undefined;
  if (asKnown && to === "delivered" && isPlain) {
    const { expected, snapshot } = asKnown;
    const { accountId, requestId, n, at, owner, timeline = "", timelineAlways = false } = step;
    const ref = { accountId, requestId, n };
    return { kind: "delivered", to, ...ref, at, owner, carrier, timeline, timelineAlways, errorCode, description, expected, snapshot }; // prettier-ignore
  }
  const deliveredOn = receipt.channel ?? asKnown?.expected.channel;
  const channel = deliveredOn === undefined ? {} : { deliveredOn };
  return { ...step, kind: "delivered", to, carrier, errorCode, description, ...channel };
}

/** Only the carrier that has the message now can fail it: failure receipts of one that was given up are ignored. */
function failureOf(receipt: Receipt, step: ReceiptStep, refund: boolean): Reported | Ended {
  const { state, carrier, errorCode, description } = receipt;
  const report = { ...step, carriedBy: carrier, ...channelFence(receipt), errorCode, description };
  if (state === "enroute" || state === "unknown") return { ...report, kind: "reported", to: state };
  return { ...report, kind: "ended", to: state as Ended["to"], refund, failoverAt: null };
}

async function moveAnswered({ commits }: ReceiptDeps, change: ReceiptTransition): Promise<boolean> {
  const { timelineAlways: _, ...quietly } = change;
  return (await commits.move.add({ ...(quietly as Reported), unlessSubmitting: true })).moved;
}

/** The network of the phone, if the receipt names it: stored with the message for later reports. */
const networkOf = ({ operator, circle }: Receipt): Pick<Receipt, "operator" | "circle"> => ({
  ...(operator === undefined ? {} : { operator }),
  ...(circle === undefined ? {} : { circle }),
});

/** A read message was delivered, even if the carrier reports that later or never. */
async function read({ commits, metrics }: ReceiptDeps, change: Delivered): Promise<boolean> {
  const { timelineAlways: _, ...quietly } = change;
  if ((await commits.move.add(quietly)).moved) return true;
  const delivery = { ...quietly, to: "delivered", description: "Delivered to the phone", timeline: "" } as const;
  if ((await commits.move.add(delivery)).moved) metrics.moves("delivered").inc();
  return (await commits.move.add(change)).moved;
}

/** Fencing: the message may have switched to another channel since. */
const channelFence = ({ channel }: Receipt): { channelIs?: Channel } =>
  channel === undefined ? {} : { channelIs: channel };

/** Continues a failed message as its fallback, whether or not its submit was answered. */
async function fellBack(
  deps: ReceiptDeps,
  ref: MessageRef,
  receipt: Receipt,
  timeline: string,
  settles: number | undefined,
): Promise<boolean> {
  const { store, commits, clock } = deps;
  const { carrier, channel } = receipt;
  const message = await store.findMessage(ref);
  if (message?.carrier !== carrier || isFinal(message.state) || clock.now() >= message.expiresAt) return false;
  // A receipt of the way before, which the same carrier may have had.
  if (channel !== undefined && message.channel !== channel) return false;
  const fallback = await findFallback(deps, message);
  if (!fallback) return false;
  const step = fallbackTransition(message, fallback, clock.now(), receipt.description ?? "It was not delivered");
  const { moved } = await commits.move.add({
    ...step,
    carriedBy: carrier,
    timeline: timeline + step.timeline,
    ...(settles === undefined ? {} : { settles }),
  });
  return moved;
}

/** Plans an immediate failover if the account has a route for it. */
async function failedOver(
  { store, catalog, clock }: ReceiptDeps,
  ref: MessageRef,
  { carrier, channel }: Receipt,
): Promise<boolean> {
  const { routes } = catalog.of(ref.accountId);
  if (!routes.some(({ content }) => content.failoverAfterSeconds !== null)) return false;
  return store.replanFailover(ref, carrier, clock.now(), channel);
}
