import type { Clock } from "../lib/clock.ts";
import type { MessageRef } from "../model/message.ts";
import { stateAt } from "../model/verification.ts";
import type { VerifyStore } from "../store/verifications.ts";

/** The final state of the code that a message carries; null while it can be used. Checked before a delayed message is sent. */
export async function endStateOfCode(
  { store, clock }: { store: Pick<VerifyStore, "findVerificationOf">; clock: Clock },
  { accountId, requestId }: Pick<MessageRef, "accountId" | "requestId">,
): Promise<string | null> {
  const verification = await store.findVerificationOf(accountId, requestId);
  if (!verification) return null;
  const state = stateAt(verification.state, verification.expiresAt, clock.now());
  return state === "pending" ? null : state;
}
