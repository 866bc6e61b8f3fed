import type { Carriers } from "../../carriers/carrier.ts";
import type { Catalog } from "../../records/catalog.ts";
import { carrierNameOf } from "../../model/catalog.ts";
import { fallbackOf, validityWith, type Fallback } from "../../model/fallback.ts";
import type { Channel, Message } from "../../model/message.ts";
import { encodeTimeline } from "../../model/timeline.ts";
import { UNOWNED } from "../../store/store.ts";
import type { Rerouted } from "../../store/transition.ts";
import type { GroupCommit } from "../group-commit.ts";
import { mayReplace } from "./choose-route.ts";

/**
 * The time of the fallback, unless the message is delivered before; null without a fallback. It is counted back from the
 * expiry, which moves while the message is held: a held message does not wait for a delivery.
 */
export function fallbackDueAt(message: Pick<Message, "content" | "expiresAt">): number | null {
  const fallback = fallbackOf(message);
  return fallback && message.expiresAt - fallback.validityMs;
}

/** The fallback does not wait for the end of a long retry pause. */
export function noLaterThanFallback(
  message: Pick<Message, "content" | "expiresAt">,
  at: number,
  nextTryAt: number,
): number {
  const fallbackAt = fallbackDueAt(message);
  return fallbackAt !== null && fallbackAt > at ? Math.min(nextTryAt, fallbackAt) : nextTryAt;
}

export interface FallbackDeps {
  catalog: Catalog;
  commits: Pick<GroupCommit, "optedOut">;
}

/** The channel of a fallback. */
export const channelOf = ({ channel = "sms" }: Fallback): Channel => channel;

/**
 * The first fallback that can be sent now; null keeps the message, which may still arrive, on its way. A fallback needs a
 * route and a campaign that was not cancelled, and for promotions no opt-out. While a real carrier of the message's channel is
 * down, a route to the simulator does not count.
 */
export async function findFallback(
  { catalog, commits }: FallbackDeps,
  message: Message,
  { isCarrierDown = false } = {},
): Promise<Fallback | null> {
  const { accountId, routeClass, recipient, createdAt, test } = message;
  const records = catalog.of(accountId);
  const waiting = isCarrierDown ? [message] : [];
  let fallback = fallbackOf(message);
  while (fallback && !test) {
    const routable = { channel: channelOf(fallback), routeClass, sender: fallback.sender, recipient, createdAt };
    if (mayReplace(records, routable, waiting)) break;
    fallback = fallbackOf(fallback);
  }
  if (!fallback) return null;
  return (await findReasonToStay({ catalog, commits }, message)) === null ? fallback : null;
}

/** Why a message stays with its carrier, which may still deliver it; null if it may be sent another way. */
export async function findReasonToStay(
  { catalog, commits }: FallbackDeps,
  { accountId, routeClass, recipient, campaignName, test }: Message,
): Promise<string | null> {
  const campaign = campaignName === null ? null : catalog.of(accountId).named("campaign").get(campaignName);
  if (campaign?.content.status === "cancelled") return "its campaign was cancelled";
  if (routeClass !== "PROMO") return null;
  const [optedOut] = await commits.optedOut.add({ accountId, numbers: [recipient], test });
  return optedOut ? "the recipient has opted out of promotions" : null;
}

/**
 * The transition to a fallback: the message is `accepted` again under its own id, with its credits.
 * Next: src/pipeline/dispatch/claim.ts
 */
export function fallbackTransition(
  message: Message,
  fallback: Fallback,
  at: number,
  reason: string,
): Rerouted & { timeline: string } {
  const { accountId, requestId, n, expiresAt } = message;
  const { sender, content, segments } = fallback;
  const channel = channelOf(fallback);
  const next = fallbackOf(fallback);
  return {
    accountId,
    requestId,
    n,
    kind: "rerouted",
    at,
    owner: UNOWNED,
    // A receipt of the other channel may come at the same moment.
    channelIs: message.channel,
    dueAt: at,
    // The wait of each way counts from its own start: one that failed early leaves the next way no more time.
    ...(next && { extendMs: at + validityWith(next, 0) - expiresAt }),
    // Only a delivery by its carrier counts from now on, and every route is open to the fallback.
    tried: [],
    becomes: { channel, sender, content, segments },
    timeline: encodeTimeline({ at, step: "failover", carrier: message.carrier ?? "", reason, becomes: channel }),
  };
}

/** Revokes the message at its carrier, if it supports that, so that the reader does not get both. The fallback does not wait. */
export function revokeFromCarrier({ carriers }: { carriers: Carriers }, message: Message): void {
  if (message.carrier === null) return;
  const carrier = carriers.find(message.accountId, carrierNameOf(message.carrier));
  // A failed revoke means that both may arrive, as without revocation.
  void carrier?.revoke?.(message).catch(() => {});
}
