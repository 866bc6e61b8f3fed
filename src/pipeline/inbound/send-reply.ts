import type { Log } from "../../lib/log.ts";
import { Problem } from "../../model/problem.ts";
import { accept, type AcceptDeps } from "../accept/accept.ts";
import { prepareReply, type AutomaticReply } from "../accept/prepare-reply.ts";
import type { PrepareDeps } from "../accept/prepare.ts";

interface SendReplyDeps {
  preparing: PrepareDeps;
  accepting: AcceptDeps;
  log: Log;
}

/** Sends an automatic reply. A second call with the same id sends nothing. */
export type SendReply = (reply: AutomaticReply, id: string) => Promise<void>;

/** Idempotency keys of automatic replies; no request has this path. */
const PATH = "keyword-reply";

/**
 * Accepts an automatic reply like any other message. A reply that is refused, for lack of credits or while the service is
 * held, is left out: the user's message itself must not fail for it.
 */
export const createSendReply =
  ({ preparing, accepting, log }: SendReplyDeps): SendReply =>
  async (reply, key) => {
    try {
      const prepared = await prepareReply(preparing, reply);
      await accept(accepting, { prepared, idempotency: { path: PATH, key, body: null }, answer: (id) => id });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      log.warn({ errorCode: error.code, accountId: reply.account.id }, "automatic reply refused, not sent");
    }
  };
