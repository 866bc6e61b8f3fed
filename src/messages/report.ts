import type { Receipt } from "../carriers/carrier.ts";
import { isFinal, type MessageRef } from "../model/message.ts";
import { NOBODY, type ParkedReceipt } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import type { Meters } from "../work/meters.ts";

export interface ReportNeeds {
  commits: GroupCommit;
  meters: Meters;
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

async function apply(
  { commits, meters }: ReportNeeds,
  ref: MessageRef,
  receipt: Receipt,
  settles?: number,
): Promise<void> {
  const { accountId, requestId, n } = ref;
  const { moved } = await commits.move.add({
    accountId,
    requestId,
    n,
    to: receipt.state,
    at: receipt.at,
    owner: NOBODY,
    errorCode: receipt.errorCode,
    description: receipt.description,
    ...(settles === undefined ? {} : { settles }),
  });
  meters.receipts(receipt.carrier, moved ? "moved" : "repeated").inc();
  if (moved && isFinal(receipt.state)) meters.moves(receipt.state).inc();
}
