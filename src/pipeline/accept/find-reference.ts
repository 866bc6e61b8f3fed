import type { ChatDraft } from "../../channels/chatapp/read.ts";
import { isUuid } from "../../lib/ids.ts";
import type { MessageReference } from "../../model/chat-session.ts";
import { parseMessageId } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { PolicySubject } from "../policy/check.ts";
import type { PrepareDeps } from "./prepare.ts";

/** The prefix of the platform's own ids. */
const PLATFORM_ID = /^wamid\.[\w+/=-]{1,400}$/;

/**
 * Finds the message that a reply or a reaction is about: one to the same recipient, or one that this recipient sent. Another
 * conversation's message is unknown here, so that ids of other accounts and of test messages tell nothing.
 */
export async function findReference(
  { store }: Pick<PrepareDeps, "store">,
  { account, draft, test }: PolicySubject<ChatDraft>,
  { id, parameter }: { id: string; parameter: string },
): Promise<MessageReference> {
  if (PLATFORM_ID.test(id)) return { id, platformId: id };
  const [recipient] = draft.recipients;
  const ref = parseMessageId(id);
  if (ref) {
    const message = await store.findMessage({ accountId: account.id, ...ref });
    const isHere =
      message?.channel === "chatapp" &&
      message.recipient === recipient?.number &&
      message.sender === draft.sender &&
      message.test === test;
    if (isHere) {
      const platformId = await store.findCarrierMessageId(message);
      if (platformId !== null) return { id, platformId };
      throw refusal(parameter, "The platform does not have this message yet: wait until its state is submitted.");
    }
  } else if (isUuid(id)) {
    const inbound = await store.findInbound(account.id, id);
    const isHere =
      inbound?.channel === "chatapp" &&
      inbound.from === recipient?.number &&
      inbound.to === draft.sender &&
      (inbound.test === true) === test;
    if (isHere) return { id, platformId: inbound.origin?.carrierMessageId ?? null };
  }
  throw refusal(parameter, "This conversation has no message with this id.");
}

const refusal = (parameter: string, message: string): Problem =>
  new Problem("INVALID_REQUEST", { faults: [{ parameter, message }] });
