import type { Receipt } from "../carriers/carrier.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import type { Account } from "../model/account.ts";
import { customerStatus, isFinal, type Channel, type MessageRef } from "../model/message.ts";
import { writeTrail } from "../model/trail.ts";
import { NOBODY, type MessageStore, type ParkedReceipt } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import type { Meters } from "../work/meters.ts";

export interface ReportNeeds {
  commits: GroupCommit;
  store: Pick<MessageStore, "replanFailover">;
  catalog: Catalog;
  clock: Clock;
  meters: Meters;
  accountOf(accountId: number): Account | null;
}

/**
 * Takes a carrier's receipt. Resolves once it is committed: as a change of state, as a repetition that changes nothing,
 * or parked until the carrier's answer to the submit tells which message it is about.
 */
export async function report(needs: ReportNeeds, receipt: Receipt): Promise<void> {
  const { commits, meters } = needs;
  const ref = receipt.ref ?? (await commits.find.add(receipt)) ?? (await commits.park.add(receipt));
  if (ref) return apply(needs, ref, receipt);
  meters.receipts(receipt.carrier, "parked").inc();
}

/** Applies receipts that had come early; each is removed in the same commit that it takes effect in. */
export async function settleParked(
  needs: ReportNeeds,
  ref: MessageRef,
  parked: readonly ParkedReceipt[],
): Promise<void> {
  for (const { id, receipt } of parked) await apply(needs, ref, receipt, id);
}

async function apply(needs: ReportNeeds, ref: MessageRef, receipt: Receipt, settles?: number): Promise<void> {
  const { commits, meters } = needs;
  if (receipt.state === "read") await noteDelivery(needs, ref, receipt);
  const { accountId, requestId, n } = ref;
  const { carrier, state, errorCode: code, description } = receipt;
  const isBad = customerStatus(state) === "Failed";
  const trail = writeTrail({ at: receipt.at, step: "receipt", carrier, state, code, description });
  const note = { accountId, requestId, n, at: receipt.at, owner: NOBODY, trail, trailAlways: true };
  const settled = settles === undefined ? {} : { settles };
  if (isBad && (await turnsToNextRoute(needs, ref, receipt))) {
    // It is no end: the next route has its turn. The step is noted by a move that is never legal.
    await commits.move.add({ ...note, to: state, carriedBy: NEVER, ...settled });
    meters.receipts(carrier, "failover").inc();
    return;
  }
  const { moved } = await commits.move.add({
    ...note,
    to: state,
    // Bad news of a carrier that has been given up is no news; good news is good from wherever it comes.
    ...(isBad
      ? {
          carriedBy: carrier,
          ...channelFence(receipt),
          refund: needs.accountOf(accountId)?.settings.refundUndelivered ?? false,
        }
      : {}),
    ...(isFinal(state) ? { failoverAt: null } : {}),
    errorCode: code,
    description,
    ...settled,
  });
  meters.receipts(carrier, moved ? "moved" : "repeated").inc();
  if (moved && isFinal(state)) meters.moves(state).inc();
}

/** What is read has been delivered, also where the carrier says so later or never. */
async function noteDelivery({ commits, meters }: ReportNeeds, ref: MessageRef, { at }: Receipt): Promise<void> {
  const { accountId, requestId, n } = ref;
  const { moved } = await commits.move.add({
    accountId,
    requestId,
    n,
    to: "delivered",
    at,
    owner: NOBODY,
    failoverAt: null,
    description: "Delivered to the phone",
  });
  if (moved) meters.moves("delivered").inc();
}

/** One carrier may speak of a message that has gone on by another channel since. */
const channelFence = ({ channel }: Receipt): { channelIs?: Channel } =>
  channel === undefined ? {} : { channelIs: channel };

/** No carrier has an empty name. */
const NEVER = "";

/** Whether another route is to be tried after this receipt; then it is tried at once. */
async function turnsToNextRoute(
  { store, catalog, clock }: ReportNeeds,
  ref: MessageRef,
  { carrier }: Receipt,
): Promise<boolean> {
  const records = catalog.of(ref.accountId);
  // Most accounts have no such route and send no RCS, and their store is not asked.
  const mayTurn =
    records.named("bot").size > 0 || records.routes.some(({ content }) => content.failoverAfterSeconds !== null);
  if (!mayTurn) return false;
  return store.replanFailover(ref, carrier, clock.now());
}
