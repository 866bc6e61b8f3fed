import type { Catalog } from "../catalog/catalog.ts";
import type { MediaProbe } from "../egress/media-probe.ts";
import type { Account } from "../model/account.ts";
import { PAUSED_MS } from "../model/catalog.ts";
import { isSession, isSessionOpen } from "../model/chatapp.ts";
import { isSealed, mediaOf, type FAILURES, type Message, type State } from "../model/message.ts";
import type { TrailEntry } from "../model/trail.ts";
import { quietUntil } from "../policies/quiet-hours.ts";
import { zonesOf } from "../policies/zones.ts";
import type { InboundStore } from "../store/inbound-store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import { isSimulated, quietHoursOf, routesFor } from "./choose-route.ts";
import { mediaFailure } from "./judge-media.ts";

export interface JudgeAgainNeeds {
  catalog: Catalog;
  commits: Pick<GroupCommit, "optedOut">;
  media: Pick<MediaProbe, "look">;
  store: Pick<InboundStore, "lastInboundAt">;
  accountOf(accountId: number): Account | null;
  /** What has become of the one-time password that a message brings; null while it can still be used. */
  endOfCode(message: Pick<Message, "accountId" | "requestId">): Promise<string | null>;
}

interface SecondThought {
  to: State;
  dueAt?: number;
  extendMs?: number;
  errorCode?: keyof typeof FAILURES;
  /** Absent where nothing has happened that anybody would ask about. */
  entry?: TrailEntry;
}

/** What was asked at the door so short a time ago, of a message that nothing has held since, is not asked again. */
const FRESH_MS = 5000;

/**
 * A message may have waited for days: asks once more, just before it is sent, what may have changed since it was accepted.
 * Most have waited for a moment, and then there is nothing to wait for here either.
 */
export function judgeAgain(
  needs: JudgeAgainNeeds,
  message: Message,
  at: number,
): SecondThought | null | Promise<SecondThought | null> {
  const unfit = judgeCampaign(needs, message, at) ?? judgeMedia(needs, message, at);
  if (unfit) return unfit;
  return isFresh(message, at) ? judgeHours(needs, message, at) : judgeStale(needs, message, at);
}

/** Asks the store as well. */
async function judgeStale(needs: JudgeAgainNeeds, message: Message, at: number): Promise<SecondThought | null> {
  return (
    (await judgeSession(needs, message, at)) ??
    (await judgeCode(needs, message, at)) ??
    (await judgeOptOut(needs, message, at)) ??
    judgeHours(needs, message, at)
  );
}

const isFresh = ({ createdAt, dueAt }: Message, at: number): boolean => dueAt <= createdAt && at - createdAt < FRESH_MS;

/** For so long after it was accepted, a message waits for what is found behind its link; after that it passes. */
const MEDIA_WAIT_MS = 6000;
const LOOK_AGAIN_MS = 1000;

/** The door waited only a moment for a first look at the file; by now it may be known what lies there. */
function judgeMedia({ media }: JudgeAgainNeeds, message: Message, at: number): SecondThought | null {
  const file = mediaOf(message.content);
  if (!file) return null;
  const verdict = media.look(file.link, file.type);
  if (verdict === null)
    return at - message.createdAt < MEDIA_WAIT_MS ? { to: "accepted", dueAt: at + LOOK_AGAIN_MS } : null;
  const failure = mediaFailure(verdict);
  if (!failure) return null;
  return { to: "rejected", errorCode: failure.code, entry: policyEntry(at, "media", "refused", failure.detail) };
}

/** A text in the business's own words may have waited for longer than the platform takes one. */
async function judgeSession({ store }: JudgeAgainNeeds, message: Message, at: number): Promise<SecondThought | null> {
  const { accountId, recipient, sender, content } = message;
  if (!isSession(content)) return null;
  const writtenAt = await store.lastInboundAt(accountId, "chatapp", recipient, sender);
  if (isSessionOpen(writtenAt, at)) return null;
  const detail = "The recipient has not written within 24 hours";
  return { to: "rejected", errorCode: "SESSION_CLOSED", entry: policyEntry(at, "session", "refused", detail) };
}

/** A one-time password that was used or replaced while it waited would only confuse whoever gets it. */
async function judgeCode(needs: JudgeAgainNeeds, message: Message, at: number): Promise<SecondThought | null> {
  if (!isSealed(message.content)) return null;
  const end = await needs.endOfCode(message);
  if (end === null) return null;
  const entry = policyEntry(at, "code", "refused", `The one-time password is ${end} already`);
  // One that waits for its second route has been with a carrier, whose report may still come.
  return { to: message.tried.length === 0 ? "cancelled" : "expired", errorCode: "CANCELLED", entry };
}

async function judgeOptOut({ commits }: JudgeAgainNeeds, message: Message, at: number): Promise<SecondThought | null> {
  const { accountId, recipient, routeClass } = message;
  if (routeClass !== "PROMO") return null;
  const [optedOut] = await commits.optedOut.add({ accountId, numbers: [recipient] });
  if (!optedOut) return null;
  const entry = policyEntry(at, "opt-out", "refused", "The number has come on the opt-out list");
  return { to: "rejected", errorCode: "RECIPIENT_OPTED_OUT", entry };
}

/** The messages that are in some node's lanes when their campaign is paused are held here, each when its turn comes. */
function judgeCampaign({ catalog }: JudgeAgainNeeds, message: Message, at: number): SecondThought | null {
  if (message.campaignName === null) return null;
  const status = catalog.of(message.accountId).named("campaign").get(message.campaignName)?.content.status;
  if (status === "paused")
    return { to: "scheduled", dueAt: message.dueAt + PAUSED_MS, entry: { at, step: "changed", what: "paused" } };
  // One that waits for its second route has been with a carrier, and is no longer ours to call back.
  if (status === "cancelled" && message.tried.length === 0)
    return { to: "cancelled", errorCode: "CANCELLED", entry: { at, step: "changed", what: "cancelled" } };
  return null;
}

function judgeHours({ catalog, accountOf }: JudgeAgainNeeds, message: Message, at: number): SecondThought | null {
  if (message.routeClass !== "PROMO") return null;
  const records = catalog.of(message.accountId);
  const routes = message.test ? [] : routesFor(records, message).filter(({ id }) => !message.tried.includes(id));
  const quiet = quietHoursOf(routes);
  if (!quiet) return null;
  const everywhere = accountOf(message.accountId)?.settings.limits === "everywhere";
  if (!everywhere && routes.every(({ content }) => isSimulated(records, content.carrier))) return null;
  const until = quietUntil(quiet, zonesOf(message.recipient), at);
  if (until === null) return null;
  const detail = `${quiet.from} to ${quiet.to} where the recipient is; held until ${new Date(until).toISOString()}`;
  return { to: "scheduled", dueAt: until, extendMs: until - at, entry: policyEntry(at, "quiet hours", "held", detail) };
}

const policyEntry = (
  at: number,
  policy: "opt-out" | "quiet hours" | "media" | "session" | "code",
  verdict: "refused" | "held",
  detail: string,
): TrailEntry => ({ at, step: "policy", policy, verdict, detail });
