import type { Clock } from "../lib/clock.ts";
import type { Account } from "../model/account.ts";
import { carrierKey } from "../model/catalog.ts";
import { customerStatus, isErased, isFinal, isSealed } from "../model/message.ts";
import { readTrail, writeTrail, type TrailEntry } from "../model/trail.ts";
import { NOBODY, type MessageStore, type StoredMessage } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import { candidatesFor, routesFor, type ChooseNeeds } from "./choose-route.ts";
import { asText, callBack, fallbackOf, mayFallBack } from "./fall-back.ts";

export interface FailOverNeeds extends ChooseNeeds {
  store: Pick<MessageStore, "listFailovers" | "dropFailover" | "replanFailover" | "eraseSealed">;
  commits: GroupCommit;
  clock: Clock;
  accountOf(accountId: number): Account | null;
}

const AT_ONCE = 500;
const LOOK_AGAIN_MS = 60_000;

/**
 * Gives messages whose route brought no delivery in time to the next one. The credits stay spent once; a delivery by the
 * first route that comes late still counts. Next: src/work/claim.ts
 */
export async function failOver(needs: FailOverNeeds): Promise<void> {
  const messages = await needs.store.listFailovers(needs.clock.now(), AT_ONCE);
  await Promise.all(messages.map((message) => turn(needs, message)));
}

async function turn(needs: FailOverNeeds, message: StoredMessage): Promise<void> {
  const { commits, clock } = needs;
  const { accountId, requestId, n, carrier } = message;
  const at = clock.now();
  // A plan that was written at the very moment at which the message came to its end.
  if (isFinal(message.state)) return needs.store.dropFailover(message);
  if (at < message.expiresAt && (await mayFallBack(needs, message))) return turnToText(needs, message, at);
  if (fallbackOf(message)) return giveUp(needs, message, at);
  const tried = [...message.tried, ...routesUsed(needs, message)];
  const [next] = candidatesFor(needs, { ...message, tried }).usable;
  if (next === undefined || at >= message.expiresAt || isErased(message.content)) return giveUp(needs, message, at);
  const trail = writeTrail({ at, step: "failover", carrier: carrier ?? "", reason: "No delivery in time" });
  await commits.move.add({
    accountId,
    requestId,
    n,
    to: "accepted",
    at,
    owner: NOBODY,
    carriedBy: carrier ?? "",
    // From now on nothing that this carrier says but a delivery counts, and no other node turns the message once more.
    carrier: "",
    dueAt: at,
    tried,
    failoverAt: null,
    trail,
  });
}

/** A text that was given for this case goes before any other route. */
async function turnToText(needs: FailOverNeeds, message: StoredMessage, at: number): Promise<void> {
  const news = newsOf(message);
  const reason = (news?.step === "receipt" ? news.description : null) ?? "No delivery in time";
  const { moved } = await needs.commits.move.add({ ...asText(message, at, reason), carriedBy: message.carrier ?? "" });
  if (moved) callBack(needs, message);
}

/**
 * There is no other route to try. The carrier's bad news, kept back until now, is the message's end; silence is none. News may
 * come at this very moment, so a silent carrier is looked at again, each time after as long as it has been silent.
 */
async function giveUp(needs: FailOverNeeds, message: StoredMessage, at: number): Promise<void> {
  const { commits, store, accountOf } = needs;
  const { accountId, requestId, n, submittedAt } = message;
  const carrier = message.carrier ?? "";
  const entries = readTrail(message.trail);
  const reason = "No delivery in time, and no other route to try";
  const isTold = entries.some((entry) => entry.step === "failover" && entry.reason === reason);
  const trail = isTold ? "" : writeTrail({ at, step: "failover", carrier, reason });
  const move = { accountId, requestId, n, at, owner: NOBODY, carriedBy: carrier, trail };
  const news = newsOf(message);
  if (news?.step !== "receipt") {
    // Nothing will be sent any more that the words are needed for.
    if (isSealed(message.content)) await store.eraseSealed(message);
    await store.replanFailover(message, carrier, at + Math.max(LOOK_AGAIN_MS, at - (submittedAt ?? at)));
    if (!isTold) await commits.move.add({ ...move, to: message.state, trailAlways: true });
    return;
  }
  await commits.move.add({
    ...move,
    to: news.state,
    errorCode: news.code,
    description: news.description,
    failoverAt: null,
    refund: accountOf(accountId)?.settings.refundUndelivered ?? false,
  });
}

/** The bad news that counts: what was said before the message took another way is about that other way. */
function newsOf(message: StoredMessage): TrailEntry | undefined {
  const entries = readTrail(message.trail);
  const turned = entries.findLastIndex((entry) => entry.step === "failover" && entry.becomes !== undefined);
  return entries.slice(turned + 1).findLast((entry) => isBadNews(entry, message.carrier ?? ""));
}

const isBadNews = (entry: TrailEntry, carrier: string): boolean =>
  entry.step === "receipt" && entry.carrier === carrier && customerStatus(entry.state) === "Failed";

/** The routes that lead to the carrier which stayed silent. */
function routesUsed({ catalog }: FailOverNeeds, message: StoredMessage): string[] {
  const { accountId, carrier } = message;
  return routesFor(catalog.of(accountId), message)
    .filter(({ content }) => carrierKey(accountId, content.carrier) === carrier)
    .map(({ id }) => id);
}
