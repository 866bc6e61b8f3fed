import type { Carriers } from "../carriers/carrier.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { carrierNameOf } from "../model/catalog.ts";
import { isRcs, type Message } from "../model/message.ts";
import type { RcsFallback } from "../model/rcs.ts";
import { writeTrail } from "../model/trail.ts";
import { NOBODY, type Move } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import { routesFor } from "./choose-route.ts";

/** The text that takes the place of a message which does not arrive; null when there is none. */
export const fallbackOf = ({ content }: Pick<Message, "content">): RcsFallback | null =>
  isRcs(content) ? (content.fallback ?? null) : null;

/**
 * When whoever sent it wants the text to be sent, unless it has been delivered; null without such a text. It is counted
 * back from the end, which moves when the message is held: what is held does not wait to be delivered.
 */
export function fallbackDueAt(message: Pick<Message, "content" | "expiresAt">): number | null {
  const fallback = fallbackOf(message);
  return fallback && message.expiresAt - fallback.validityMs;
}

/** A text that is to take the message's place does not wait for a long pause to end. */
export function notPastFallback(
  message: Pick<Message, "content" | "expiresAt">,
  at: number,
  nextTryAt: number,
): number {
  const fallbackAt = fallbackDueAt(message);
  return fallbackAt !== null && fallbackAt > at ? Math.min(nextTryAt, fallbackAt) : nextTryAt;
}

export interface FallBackNeeds {
  catalog: Catalog;
  commits: Pick<GroupCommit, "optedOut">;
}

/**
 * Whether the text of a message may go now: a message that may still arrive is not given up for one that cannot. There has
 * to be a route for it, its campaign must not have been cancelled, and promotions go to nobody who wants none.
 */
export async function mayFallBack({ catalog, commits }: FallBackNeeds, message: Message): Promise<boolean> {
  const fallback = fallbackOf(message);
  if (!fallback) return false;
  const { accountId, routeClass, recipient, campaignName, test } = message;
  const records = catalog.of(accountId);
  const text = { channel: "sms", routeClass, sender: fallback.sender, recipient } as const;
  if (!test && routesFor(records, text).length === 0) return false;
  if (campaignName !== null && records.named("campaign").get(campaignName)?.content.status === "cancelled")
    return false;
  if (routeClass !== "PROMO") return true;
  const [optedOut] = await commits.optedOut.add({ accountId, numbers: [recipient] });
  return !optedOut;
}

/**
 * The step by which a message goes on as a text: as good as new, under its own id, with the credits it has already.
 * Next: src/work/claim.ts
 */
export function asText(message: Message, at: number, reason: string): Move & { trail: string } {
  const fallback = fallbackOf(message);
  if (!fallback) throw new Error("a message without a fallback cannot become a text");
  const { accountId, requestId, n } = message;
  const { sender, content, segments } = fallback;
  return {
    accountId,
    requestId,
    n,
    to: "accepted",
    at,
    owner: NOBODY,
    // Another channel's news may come at the same moment.
    channelIs: "rcs",
    dueAt: at,
    // Nothing that its carrier says of it but a delivery counts any more, and every route is open to the text.
    carrier: "",
    tried: [],
    failoverAt: null,
    becomes: { channel: "sms", sender, content, segments },
    trail: writeTrail({ at, step: "failover", carrier: message.carrier ?? "", reason, becomes: "sms" }),
  };
}

/**
 * Calls back what has just been given up for its text, where its carrier can, so that its reader does not get both. The
 * text does not wait for it: a carrier that stayed silent so long may stay silent about this too.
 */
export function callBack({ carriers }: { carriers: Carriers }, message: Message): void {
  if (message.carrier === null) return;
  const carrier = carriers.find(message.accountId, carrierNameOf(message.carrier));
  // Both may arrive then, which is what would have happened anyway.
  void carrier?.revoke?.(message).catch(() => {});
}
