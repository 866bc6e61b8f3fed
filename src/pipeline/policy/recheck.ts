import type { Catalog } from "../../records/catalog.ts";
import type { MediaProbe } from "../../egress/media-probe.ts";
import type { Account } from "../../model/account.ts";
import { PAUSED_MS } from "../../model/catalog.ts";
import {
  isEncrypted,
  isSessionContent,
  mediaOf,
  type FAILURES,
  type Message,
  type State,
} from "../../model/message.ts";
import type { TimelineEntry } from "../../model/timeline.ts";
import type { InboundStore } from "../../store/inbound.ts";
import type { Stop } from "../../store/stops.ts";
import type { GroupCommit } from "../group-commit.ts";
import { quietHoursOf, routesFor, wasTried } from "../dispatch/choose-route.ts";
import { evaluatePolicies, timelineOf, type PolicyDecision, type PolicyFacts } from "./policies.ts";

export interface RecheckDeps {
  catalog: Catalog;
  commits: Pick<GroupCommit, "stops">;
  media: Pick<MediaProbe, "peek">;
  store: Pick<InboundStore, "lastInboundAt">;
  accountOf(accountId: number): Account | null;
  /** The final state of the one-time password that a message carries; null while it can be used. */
  endStateOfCode(message: Pick<Message, "accountId" | "requestId">): Promise<string | null>;
}

/** The transition that a policy asks for instead of sending. */
export interface RecheckResult {
  to: State;
  dueAt?: number;
  extendMs?: number;
  errorCode?: keyof typeof FAILURES;
  /** Absent for a short wait that the timeline does not show. */
  entry?: TimelineEntry;
}

/** Facts in the store are not read again for a message that was accepted this recently and not held since. */
const FRESH_MS = 5000;

/**
 * Evaluates the policies again just before a message is sent, because it may have waited for days. Most messages have waited
 * for milliseconds; for those the result is synchronous.
 */
export function recheckPolicies(
  deps: RecheckDeps,
  message: Message,
  at: number,
): RecheckResult | null | Promise<RecheckResult | null> {
  const result = recheckCampaign(deps, message, at) ?? recheckMedia(deps, message, at);
  if (result) return result;
  return isFresh(message, at) ? recheckQuietHours(deps, message, at) : recheckStale(deps, message, at);
}

/** Reads the facts of the store as well. */
async function recheckStale(deps: RecheckDeps, message: Message, at: number): Promise<RecheckResult | null> {
  return (
    (await recheckSession(deps, message, at)) ??
    (await recheckCode(deps, message, at)) ??
    recheckQuietHours(deps, message, at)
  );
}

const isFresh = ({ createdAt, dueAt }: Message, at: number): boolean => dueAt <= createdAt && at - createdAt < FRESH_MS;

/** Evaluates the list of policies with the facts given. */
function evaluate(
  message: Message,
  at: number,
  facts: Omit<PolicyFacts, "number" | "routeClass" | "at" | "binding"> & { binding?: boolean },
): RecheckResult | null {
  const { recipient: number, routeClass } = message;
  const decision = evaluatePolicies({ number, routeClass, at, binding: true, ...facts }).at(-1);
  return decision ? resultOf(decision, at) : null;
}

function resultOf(decision: PolicyDecision, at: number): RecheckResult | null {
  const { verdict, failure, until } = decision;
  const entry = timelineOf(decision, at);
  if (verdict === "refused" && failure) return { to: "rejected", errorCode: failure, entry };
  if (verdict === "held" && until !== undefined) return { to: "scheduled", dueAt: until, extendMs: until - at, entry };
  return null;
}

/** A message waits this long after it was accepted for the first look at its file; then it passes. */
const MEDIA_WAIT_MS = 6000;
const NEXT_LOOK_MS = 1000;

/** Acceptance waited only a second for the server of the file; its answer may be here by now. */
function recheckMedia({ media }: RecheckDeps, message: Message, at: number): RecheckResult | null {
  const file = mediaOf(message.content);
  if (!file) return null;
  const verdict = media.peek(file.link, file.type);
  if (verdict) return evaluate(message, at, { media: verdict });
  return at - message.createdAt < MEDIA_WAIT_MS ? { to: "accepted", dueAt: at + NEXT_LOOK_MS } : null;
}

/** A free-form chat message may have waited past the end of its session. */
async function recheckSession({ store }: RecheckDeps, message: Message, at: number): Promise<RecheckResult | null> {
  const { accountId, recipient, sender, content, test } = message;
  if (!isSessionContent(content)) return null;
  const lastWrittenAt = await store.lastInboundAt(accountId, "chatapp", recipient, sender, { test });
  return evaluate(message, at, { lastWrittenAt });
}

async function recheckCode(deps: RecheckDeps, message: Message, at: number): Promise<RecheckResult | null> {
  if (!isEncrypted(message.content)) return null;
  const result = evaluate(message, at, { codeState: await deps.endStateOfCode(message) });
  return result && { ...result, to: "cancelled" };
}

/** True if an opt-out or a change of its campaign may stop the message until it is written to its carrier. */
export const isStoppable = ({ routeClass, campaignName }: Message): boolean =>
  routeClass === "PROMO" || campaignName !== null;

/**
 * Asks the store for a stop. The records in memory are not enough: another node may have committed the opt-out or the pause a
 * moment ago.
 */
export async function checkStops(
  { commits }: Pick<RecheckDeps, "commits">,
  message: Message,
  at: number,
): Promise<RecheckResult | null> {
  const { accountId, recipient, routeClass, campaignName, test } = message;
  const number = routeClass === "PROMO" ? recipient : null;
  const { optedOut, campaign } = await commits.stops.add({ accountId, number, campaignName, test });
  return evaluate(message, at, { optedOut }) ?? resultOfCampaign(message, campaign, at);
}

/**
 * Holds the queued messages of a campaign that this node knows as paused, so that they take nothing of the carrier's rate.
 * The store decides with the intent.
 */
function recheckCampaign({ catalog }: RecheckDeps, message: Message, at: number): RecheckResult | null {
  if (message.campaignName === null) return null;
  const campaign = catalog.of(message.accountId).named("campaign").get(message.campaignName);
  return resultOfCampaign(message, campaign?.content.status ?? null, at);
}

function resultOfCampaign(message: Message, status: Stop["campaign"], at: number): RecheckResult | null {
  if (status === "paused")
    return { to: "scheduled", dueAt: message.dueAt + PAUSED_MS, entry: { at, step: "changed", what: "paused" } };
  if (status === "cancelled")
    return { to: "cancelled", errorCode: "CANCELLED", entry: { at, step: "changed", what: "cancelled" } };
  return null;
}

function recheckQuietHours({ catalog, accountOf }: RecheckDeps, message: Message, at: number): RecheckResult | null {
  if (message.routeClass !== "PROMO") return null;
  const records = catalog.of(message.accountId);
  const routes = message.test ? [] : routesFor(records, message).filter((route) => !wasTried(message, route));
  const quietHours = quietHoursOf(routes);
  if (!quietHours) return null;
  const binding =
    accountOf(message.accountId)?.settings.limits === "everywhere" ||
    routes.some(({ content }) => !records.isSimulated(content.carrier));
  return evaluate(message, at, { quietHours, binding });
}
