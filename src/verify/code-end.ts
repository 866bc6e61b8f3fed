import type { Clock } from "../lib/clock.ts";
import type { MessageRef } from "../model/message.ts";
import { stateAt } from "../model/verification.ts";
import type { VerifyStore } from "../store/verify-store.ts";

/** What has become of the code that a message brings; null while it can still be used. Asked just before a late message is sent. */
export async function endOfCode(
  { store, clock }: { store: Pick<VerifyStore, "findVerificationOf">; clock: Clock },
  { accountId, requestId }: Pick<MessageRef, "accountId" | "requestId">,
): Promise<string | null> {
  const verification = await store.findVerificationOf(accountId, requestId);
  if (!verification) return null;
  const state = stateAt(verification.state, verification.expiresAt, clock.now());
  return state === "pending" ? null : state;
}
