import { isUuid } from "../../lib/ids.ts";
import { Type } from "../../lib/schema.ts";
import { cancelMessage, cancelRequest } from "../../pipeline/cancel.ts";
import { parseMessageId } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { visibleTo } from "../auth/test-mode.ts";

async function cancel(
  { store, acceptDeps: { commits }, clock, metrics, carriers }: Services,
  { params, caller }: AuthenticCall,
): Promise<object> {
  const deps = { store, commits, clock, metrics, carriers };
  const idOrRequestId = params.messageId ?? "";
  const accountId = caller.account.id;
  const requestId = isUuid(idOrRequestId) ? idOrRequestId : (parseMessageId(idOrRequestId)?.requestId ?? null);
  const visible = await visibleTo(store, caller, [requestId], (id) => id);
  if (visible.length === 0) throw new Problem("MESSAGE_NOT_FOUND");
  if (isUuid(idOrRequestId)) {
    const counts = await cancelRequest(deps, accountId, idOrRequestId);
    if (!counts) throw new Problem("MESSAGE_NOT_FOUND");
    return counts;
  }
  const id = parseMessageId(idOrRequestId);
  const counts = id && (await cancelMessage(deps, { accountId, ...id }));
  if (!counts) throw new Problem("MESSAGE_NOT_FOUND");
  if (counts.cancelled + counts.revoked === 0) throw new Problem("NOT_CANCELLABLE");
  return counts;
}

export const cancelMessages: KeyedRoute = {
  method: "POST",
  path: "/v1/messages/:messageId/cancel",
  family: "plain",
  scope: "sms",
  testKeys: "sms",
  group: "Messages",
  summary: "Cancel messages",
  description:
    "Cancels a message that no carrier has yet, such as one that is to be sent later; what it would have cost is given back. " +
    "An RCS message that a platform has, without a reported delivery, is called back: it ends as expired with `REVOKED` and keeps its cost. If the phone had it by then, its delivery is reported and changes the status to Delivered. " +
    "With the `id` of a request alone, every message of it that can still be cancelled is. Cancelling twice changes nothing.",
  params: {
    messageId: {
      meaning: "`<id>:<n>` of one message, or the `<id>` of a request for all its messages.",
      example: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
    },
  },
  problems: ["MESSAGE_NOT_FOUND", "NOT_CANCELLABLE"],
  response: Type.Object({
    cancelled: Type.Integer({ description: "Number of cancelled messages, including earlier cancellations." }),
    revoked: Type.Integer({
      description: "Number of messages that their carrier called back. A delivery that was faster still counts.",
    }),
    tooLate: Type.Integer({
      description: "Number of messages that a carrier already had, or that were in a final state.",
    }),
  }),
  responseExample: { cancelled: 1, revoked: 0, tooLate: 0 },
  handle: cancel,
};
