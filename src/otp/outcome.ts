import { isUuid } from "../lib/ids.ts";
import type { Account } from "../model/account.ts";
import type { KeyMode } from "../model/api-key.ts";
import { Problem } from "../model/problem.ts";
import { LATE_REPORT_MS, stateAt, type SourcedVerification } from "../model/verification.ts";
import type { VerifyStore } from "../store/verifications.ts";
import { approveOtp, type CheckOtpDeps } from "./check.ts";
import type { OutcomeDraft } from "./read.ts";

export interface RecordOutcomeDeps extends Omit<CheckOtpDeps, "digestOf"> {
  store: Pick<VerifyStore, "findVerification" | "cancelVerification" | "useLate">;
}

/**
 * Records what a product that checks codes itself did with one. A used code counts as verified by the same write as a correct
 * check, so conversion and the pumping guard see both alike. Repeating a report changes nothing.
 */
export async function recordOutcome(
  deps: RecordOutcomeDeps,
  account: Account,
  { id, mode, outcome }: { id: string; mode: KeyMode } & OutcomeDraft,
): Promise<void> {
  const { store, clock } = deps;
  const echo = id;
  const found = isUuid(id) ? await store.findVerification(account.id, id) : null;
  if (found?.mode !== mode) throw new Problem("VERIFICATION_NOT_FOUND", { echo });
  if (outcome === "used") {
    if (found.state === "verified" || (await useLate(deps, found))) return;
    try {
      await approveOtp(deps, account, found);
    } catch (error) {
      // The same report, at the same moment.
      if (!(error instanceof Problem && error.code === "OTP_ALREADY_VERIFIED")) throw error;
    }
    return;
  }
  const now = clock.now();
  if (stateAt(found.state, found.expiresAt, now) === "pending" && (await store.cancelVerification(account.id, id, now)))
    return;
  const current = await store.findVerification(account.id, id);
  if (current?.state === "verified") throw new Problem("OTP_ALREADY_VERIFIED", { echo });
}

/**
 * Counts a code that its product accepted after the configuration's lifetime, which may be shorter than the product's. Only for
 * codes that the product checks: an expired code never passes a check here.
 */
async function useLate(
  { store, clock }: Pick<RecordOutcomeDeps, "store" | "clock">,
  found: SourcedVerification,
): Promise<boolean> {
  const now = clock.now();
  const isLate = stateAt(found.state, found.expiresAt, now) === "expired" && now < found.expiresAt + LATE_REPORT_MS;
  if (!isLate || !found.source?.deliverOnly) return false;
  await store.useLate(found, now);
  return (await store.findVerification(found.accountId, found.id))?.state === "verified";
}
