import type { Seal } from "../lib/seal.ts";
import { accept } from "../messages/accept.ts";
import type { Account } from "../model/account.ts";
import { customerStatus } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { VerifyConfigContent } from "../model/verify-config.ts";
import type { MessageStore } from "../store/store.ts";
import type { DueVerification } from "../store/verify-store.ts";
import { prepareOtp } from "./bring.ts";
import type { GenerateNeeds } from "./generate.ts";

export interface NextChannelNeeds extends GenerateNeeds {
  store: Pick<MessageStore, "findMessage">;
  seal: Seal;
}

/** What there is to do with a verification after its channel had its turn. */
export interface NextStep {
  /** Null when every channel has had its turn, or the code has arrived. */
  later: { at: number; plan: string } | null;
  lastRequestId: string;
}

/** What lies sealed with a verification that may go on by another channel. */
interface Plan {
  code: string;
  /** The channel that is next. */
  place: number;
}

/** Brings a code that has not arrived in time by the next channel of its configuration. Next: src/messages/accept.ts */
export async function turnToNextChannel(
  needs: NextChannelNeeds,
  account: Account,
  config: VerifyConfigContent | undefined,
  { verification, plan, lastRequestId }: DueVerification,
): Promise<NextStep> {
  const { store, clock, log } = needs;
  const now = clock.now();
  const done: NextStep = { later: null, lastRequestId };
  if (plan === null) return done;
  const { code, place } = JSON.parse(needs.seal.open(plan)) as Plan;
  const way = config?.channels[place];
  const message = await store.findMessage({ accountId: account.id, requestId: lastRequestId, n: 1 });
  if (!config || !way || (message !== null && customerStatus(message.state) === "Delivered")) return done;
  const { id, number, test } = verification;
  const next = needs.seal.seal(JSON.stringify({ code, place: place + 1 } satisfies Plan));
  try {
    const prepared = await prepareOtp(needs, { account, test, number, written: null, config }, way, code);
    const { answer } = await accept(needs.accepting, {
      prepared,
      idempotency: null,
      answer: (requestId) => requestId,
      validForMs: verification.expiresAt - now,
    });
    const isLast = place + 1 >= config.channels.length;
    return { later: isLast ? null : { at: now + way.waitSeconds * 1000, plan: next }, lastRequestId: answer };
  } catch (error) {
    // A channel whose template or bot is gone is passed over, and the one after it has its turn.
    if (!(error instanceof Problem)) throw error;
    const skipped = { accountId: account.id, verifyId: id, channel: way.channel, code: error.code };
    log.warn(skipped, "channel of a verification passed over");
    return { later: { at: now, plan: next }, lastRequestId };
  }
}
