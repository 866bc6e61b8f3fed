import type { Carrier, Outcome } from "../../carriers/carrier.ts";
import { composedFor } from "../../channels/draft.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
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
  if (!carrier.isUp()) return { kind: "down", description: "The line is not up at the moment" };
  const now = clock.now();
  return carrier.submit({
    ...composedFor(prepared, 0),
    accountId: account.id,
    requestId: newId(now),
    n: 1,
    channel: draft.channel,
    routeClass: draft.routeClass,
    test: false,
    sender: draft.sender,
    recipient: recipient.number,
    credits: 0,
    campaignName: draft.campaignName,
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
