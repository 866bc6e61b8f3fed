import { createHash } from "node:crypto";
import { composedFor } from "../channels/draft.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { insist } from "../lib/insist.ts";
import type { Log } from "../lib/log.ts";
import { PAUSED_MS } from "../model/catalog.ts";
import { isSealed, wordsOf, type Message } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { FloodFilter } from "../policies/flood.ts";
import { isAway, NOBODY, type Acceptance, type AcceptResult, type MessageStore } from "../store/store.ts";
import type { Admission, NewVerification } from "../store/verify-store.ts";
import type { Doorstep } from "../work/doorstep.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import type { Membership } from "../work/membership.ts";
import type { Meters } from "../work/meters.ts";
import { addressEach, type Addressed, type AddressNeeds } from "./address.ts";
import { fallbackOf } from "./fall-back.ts";
import type { Prepared } from "./prepare.ts";
import { takePlaces, type Places, type Sending } from "./take-places.ts";

export interface AcceptNeeds extends AddressNeeds {
  commits: GroupCommit;
  store: Pick<MessageStore, "release" | "findAnswer">;
  membership: Membership;
  clock: Clock;
  log: Log;
  meters: Meters;
  doorstep: Doorstep;
  /** Absent on a node that only accepts: its messages are born nobody's. */
  sending: Sending | null;
  /** How long a message may wait to be sent. */
  validityMs: Record<Message["routeClass"], number>;
  flood: FloodFilter;
  /** Idempotency keys of requests that are being worked on. */
  underWay: Set<string>;
}

export interface SendRequest {
  prepared: Prepared;
  idempotency: { path: string; key: string; body: unknown } | null;
  /** The answer to the caller, once the id of the request is known. */
  answer(requestId: string): string;
  /** For how long what it says is good, where that is less than it may wait. */
  validForMs?: number;
  /** The one-time password that it sends, once its id and its time are known. */
  verification?(requestId: string, now: number): NewVerification;
}

interface Accepted {
  answer: string;
  /** The answer is that of an earlier request with the same key. */
  replayed: boolean;
  /** Limits on one-time passwords that would have refused it, where any would. */
  noted?: Admission["noted"];
}

/** Limits on one-time passwords refuse a request; whoever sent it knows what to tell its caller. */
export class HeldBack extends Error {
  override name = "HeldBack";
  readonly admission: Admission;

  constructor(admission: Admission) {
    super("limits on one-time passwords refuse the request");
    this.admission = admission;
  }
}

/**
 * Makes messages of a prepared request. When this resolves they are on disk, and on their way if this node sends.
 * Next: src/messages/dispatch.ts
 */
export function accept(needs: AcceptNeeds, request: SendRequest): Promise<Accepted> {
  return request.idempotency ? acceptOnce(needs, request, request.idempotency) : store(needs, request, null);
}

async function acceptOnce(
  needs: AcceptNeeds,
  request: SendRequest,
  { path, key, body }: NonNullable<SendRequest["idempotency"]>,
): Promise<Accepted> {
  const lock = `${request.prepared.sending.account.id} ${path} ${key}`;
  if (needs.underWay.has(lock)) throw new Problem("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1 });
  needs.underWay.add(lock);
  try {
    return await store(needs, request, { path, key, bodyHash: hashOf(body) });
  } finally {
    needs.underWay.delete(lock);
  }
}

async function store(
  needs: AcceptNeeds,
  request: Pick<SendRequest, "prepared" | "answer" | "verification" | "validForMs">,
  idempotency: { path: string; key: string; bodyHash: string } | null,
): Promise<Accepted> {
  const { commits, membership, meters } = needs;
  const { prepared } = request;
  const { account, draft } = prepared.sending;
  const make = (): Made => messagesOf(needs, request);
  // Whoever has to wait for a place is accepted when it has one, not when it came.
  const entered = isForNow(needs, prepared)
    ? needs.doorstep.enter(draft.routeClass, draft.recipients.length, make)
    : make();
  const made = entered instanceof Promise ? await entered : entered;
  const { message, recipients, links, trail, places, node, response } = made;
  const { requestId, createdAt: now } = message;
  let stored: Extract<AcceptResult, { kind: "stored" }> | null = null;
  try {
    const verification = request.verification?.(requestId, now);
    const commit = draft.routeClass === "OTP" ? commits.urgentAccept : commits.accept;
    const result = await commit.add({
      message,
      ...(places?.stored ?? { recipients, trail }),
      owner: places ? node : NOBODY,
      metered: account.settings.credits === "metered",
      links,
      ...(verification && { verification }),
      idempotency: idempotency && { ...idempotency, response },
    });
    if (result.kind === "unpaid") throw new Problem("INSUFFICIENT_CREDITS");
    if (result.kind === "held back") throw new HeldBack(result.admission);
    if (result.kind === "replayed") {
      if (result.bodyHash !== idempotency?.bodyHash) throw new Problem("IDEMPOTENCY_MISMATCH");
      return { answer: result.response, replayed: true };
    }
    if (result.kind === "stored") stored = result;
  } catch (error) {
    // The line may have broken during the commit: if the rows are there after all, they must not stay with a node that forgot them.
    if (isAway(error) && places) void releaseLater(needs, node, { accountId: account.id, requestId });
    throw error;
  } finally {
    if (!stored) places?.giveUp();
  }
  // One of its short links has a code that another link has: it is made anew.
  if (!stored) return store(needs, request, idempotency);
  meters.accepted(draft.channel, draft.routeClass).inc(recipients.length);
  rememberTexts(needs, prepared, now);
  if (membership.node === node) places?.go();
  else places?.giveUp();
  return { answer: response, replayed: false, ...(stored.noted && { noted: stored.noted }) };
}

/** Messages that are about to be stored, and what is answered then. */
interface Made extends Addressed {
  message: Acceptance["message"];
  places: Places | null;
  /** Whose they are if they have places. */
  node: number;
  response: string;
}

function messagesOf(
  needs: AcceptNeeds,
  { prepared, answer, validForMs }: Pick<SendRequest, "prepared" | "answer" | "validForMs">,
): Made {
  const { membership, clock, sending } = needs;
  const now = clock.now();
  const requestId = newId(now);
  const response = answer(requestId);
  const message = messageOf(needs, prepared, requestId, now, validForMs);
  const addressed = addressEach(needs, prepared, message);
  const isDue = message.dueAt <= now && membership.alive;
  const places = isDue && sending ? takePlaces(sending, message, addressed) : null;
  return { ...addressed, message, places, node: membership.node, response };
}

/** Only what was accepted counts for the filter of identical texts, not what was refused or replayed. */
function rememberTexts({ flood }: AcceptNeeds, prepared: Prepared, now: number): void {
  const { account, draft } = prepared.sending;
  const { sameText } = account.settings;
  if (!sameText) return;
  draft.recipients.forEach(({ number, failure }, place) => {
    if (failure) return;
    const { content } = composedFor(prepared, place);
    // No two one-time passwords are the same.
    if (isSealed(content)) return;
    const words = wordsOf(content);
    flood.count(account.id, number, words, sameText.windowSeconds * 1000, now);
  });
}

/** What was answered to an earlier request with the same key and body; null when there was none. */
export async function earlierAnswer(
  { store: messages }: AcceptNeeds,
  accountId: number,
  { path, key, body }: NonNullable<SendRequest["idempotency"]>,
): Promise<string | null> {
  const earlier = await messages.findAnswer(accountId, path, key);
  return earlier?.bodyHash === hashOf(body) ? earlier.response : null;
}

/** A request without a body has nothing to compare. */
const hashOf = (body: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(body) ?? "")
    .digest("base64url");

/** Whether its messages are to be sent at once, by this node or another. */
const isForNow = ({ membership, clock }: AcceptNeeds, { sending }: Prepared): boolean =>
  membership.alive && (sending.draft.sendAt ?? 0) <= clock.now() && !isPaused(sending);

const isPaused = ({ draft: { campaignName }, catalog }: Prepared["sending"]): boolean =>
  campaignName !== null && Boolean(catalog.named("campaign").get(campaignName)?.content.pausedAt);

/** What all messages of the request share. */
function messageOf(
  { validityMs }: AcceptNeeds,
  prepared: Prepared,
  requestId: string,
  now: number,
  validForMs = Number.POSITIVE_INFINITY,
): Acceptance["message"] {
  const { account, test, draft } = prepared.sending;
  const { content, segments } = composedFor(prepared, 0);
  const dueAt = draft.sendAt ?? now;
  return {
    accountId: account.id,
    requestId,
    channel: draft.channel,
    routeClass: draft.routeClass,
    test,
    sender: draft.sender,
    content,
    segments,
    campaignName: draft.campaignName,
    createdAt: now,
    dueAt: isPaused(prepared.sending) ? dueAt + PAUSED_MS : dueAt,
    // A text that takes its place has all of its own time left then.
    expiresAt:
      dueAt + Math.min(validityMs[draft.routeClass], validForMs) + (fallbackOf({ content })?.afterSeconds ?? 0) * 1000,
  };
}

const RELEASE_PAUSE_MS = 1000;

/** Not at once: the commit may still be landing. */
async function releaseLater(
  { store: messages, clock, log }: AcceptNeeds,
  node: number,
  request: { accountId: number; requestId: string },
): Promise<void> {
  await new Promise<void>((resolve) => clock.after(RELEASE_PAUSE_MS, resolve));
  try {
    await insist(clock, isAway, () => messages.release(node, [request]));
  } catch (error) {
    log.error({ err: error }, "rows could not be released");
  }
}
