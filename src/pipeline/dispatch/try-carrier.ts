import type { Carrier, Outcome } from "../../carriers/carrier.ts";
import { composedFor } from "../../channels/draft.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import type { Message } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import { refuseSingle, type Prepared } from "../accept/prepare.ts";

const VALID_MS = 600_000;

/**
 * Test send: submits one message straight to a carrier, without route, credits or records, and returns the carrier's answer.
 * Its receipts appear among the unmatched receipts.
 */
export async function tryCarrier(clock: Clock, prepared: Prepared, carrier: Carrier): Promise<Outcome> {
  const { account, draft } = prepared.subject;
  const [recipient] = draft.recipients;
  if (!recipient || draft.recipients.length > 1 || prepared.targets.length > 0 || draft.sendAt !== null)
    throw new Problem("INVALID_REQUEST", {
      message: "A try is one message to one recipient, at once and without short links.",
    });
  refuseSingle(prepared);
  const { channel, routeClass, sender, campaignName } = draft;
  const { number } = recipient;
  const composed = composedFor(prepared, 0);
  return submitOnce(clock, carrier, {
    ...composed,
    accountId: account.id,
    channel,
    routeClass,
    sender,
    campaignName,
    recipient: number,
  });
}

/** The same for an e-mail, whose recipient is an address. */
export const tryEmail = (
  clock: Clock,
  accountId: number,
  { sender, content }: Pick<Message, "sender" | "content">,
  carrier: Carrier,
): Promise<Outcome> =>
  submitOnce(clock, carrier, {
    content,
    segments: 1,
    accountId,
    channel: "email",
    routeClass: "TRANS",
    sender,
    recipient: "",
    campaignName: null,
  });

type Tried = Pick<
  Message,
  "content" | "segments" | "accountId" | "channel" | "routeClass" | "sender" | "recipient" | "campaignName"
>;

function submitOnce(clock: Clock, carrier: Carrier, tried: Tried): Promise<Outcome> {
  if (!carrier.isUp()) return Promise.resolve({ kind: "down", description: "The line is not up at the moment" });
  const now = clock.now();
  return carrier.submit({
    ...tried,
    requestId: newId(now),
    n: 1,
    test: false,
    credits: 0,
    tried: [],
    carrier: carrier.name,
    state: "submitting",
    attempts: 1,
    repeats: 0,
    createdAt: now,
    dueAt: now,
    expiresAt: now + VALID_MS,
  });
}
