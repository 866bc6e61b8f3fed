import { composedFor } from "../../channels/draft.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { countOf } from "../../lib/text.ts";
import { retryUntil } from "../../lib/async.ts";
import type { Log } from "../../lib/log.ts";
import type { MessageCallback } from "../../model/callback.ts";
import { PAUSED_MS } from "../../model/catalog.ts";
import { isEncrypted, isSimulatorOnly, textOf, type Message } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { BodyDigest } from "./body-digest.ts";
import type { DuplicateTextFilter } from "../policy/duplicate-text.ts";
import { isAway, UNOWNED, type Acceptance, type AcceptResult, type MessageStore } from "../../store/store.ts";
import type { Admission, NewVerification } from "../../store/verifications.ts";
import type { AdmissionController } from "./admission-controller.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { Membership } from "../../cluster/membership.ts";
import type { Metrics } from "../../metrics.ts";
import type { RequestAge } from "./request-age.ts";
import type { CreditStore } from "../../store/credits.ts";
import { expandRecipients, type ExpandedRequest, type ExpandRecipientsDeps } from "./expand-recipients.ts";
import { fallbackOf, validityWith } from "../../model/fallback.ts";
import { duplicateTextKey } from "../policy/check.ts";
import type { Prepared } from "./prepare.ts";
import type { SendGate } from "./send-gate.ts";
import { reserveSlots, type SlotReservation, type SendingNode } from "./reserve-slots.ts";

export interface AcceptDeps extends ExpandRecipientsDeps {
  commits: GroupCommit;
  store: Pick<MessageStore, "release" | "findAnswer" | "refuseKey" | "freeKey"> & Pick<CreditStore, "findBalance">;
  requestAge: Pick<RequestAge, "arrival" | "isLate" | "ageMs">;
  membership: Membership;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  admission: AdmissionController;
  gate: Pick<SendGate, "refusal">;
  /** Null on a node that only accepts: another node claims its messages. */
  sending: SendingNode | null;
  /** The longest time a message may wait to be sent. */
  validityMs: Record<Message["routeClass"], number>;
  duplicateTexts: DuplicateTextFilter;
  /** Compares the body of a request with that of an earlier request under its idempotency key. */
  bodyDigest: BodyDigest;
  /** Idempotency keys of requests in progress on this node. */
  keysInProgress: Set<string>;
}

export interface SendRequest {
  prepared: Prepared;
  idempotency: { path: string; key: string; body: unknown } | null;
  /** Renders the response for a request id. It is stored with an idempotency key, so it must not depend on anything later. */
  answer(requestId: string): string;
  /** Earliest possible arrival on the monotonic clock; absent where no caller waits for a response. */
  arrivedAt?: number;
  /** Limits the time to wait below the validity of the class, as for a code that expires. */
  validForMs?: number | undefined;
  /** Shares the turns of admission with requests of the same flow; by default the account. */
  flow?: string;
  /** The callback that a facade's request asks for its messages. */
  callback?: MessageCallback | undefined;
  /** The one-time password that the request sends. */
  verification?(requestId: string, now: number): NewVerification;
}

interface Accepted {
  answer: string;
  /** The answer is that of an earlier request with the same key. */
  replayed: boolean;
  /** Limits on one-time passwords that would refuse the request on a real carrier. */
  noted?: Admission["noted"];
}

/** Limits on one-time passwords refuse the request; its caller turns them into a problem. */
export class RefusedByLimit extends Error {
  override name = "RefusedByLimit";
  readonly admission: Admission;

  constructor(admission: Admission) {
    super("limits on one-time passwords refuse the request");
    this.admission = admission;
  }
}

/** An idempotency key, with the body for a comparison with that of an earlier request. */
type StoredKey = { path: string; key: string; bodyHash: string; body: unknown } | null;
type Unkeyed = Omit<SendRequest, "idempotency">;

/**
 * Stores the messages of a prepared request. Once this resolves they are on disk, and this node dispatches them if it sends.
 * Next: src/pipeline/group-commit.ts, Next: src/pipeline/dispatch/dispatch.ts
 */
export function accept(deps: AcceptDeps, request: SendRequest): Promise<Accepted> {
  if (deps.gate.refusal !== null) return Promise.reject(deps.gate.refusal);
  return request.idempotency ? acceptOnce(deps, request, request.idempotency) : acceptRequest(deps, request, null);
}

async function acceptOnce(
  deps: AcceptDeps,
  request: SendRequest,
  { path, key, body }: NonNullable<SendRequest["idempotency"]>,
): Promise<Accepted> {
  const lock = `${request.prepared.subject.account.id} ${path} ${key}`;
  if (deps.keysInProgress.has(lock)) throw new Problem("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1 });
  deps.keysInProgress.add(lock);
  try {
    return await acceptRequest(deps, request, { path, key, bodyHash: deps.bodyDigest.of(body), body });
  } finally {
    deps.keysInProgress.delete(lock);
  }
}

/** Wait for admission, build the messages and reserve send slots, commit the rows, dispatch. */
async function acceptRequest(deps: AcceptDeps, request: Unkeyed, key: StoredKey): Promise<Accepted> {
  const { prepared } = request;
  const { draft } = prepared.subject;
  const admitted = admit(deps, request);
  const batch = admitted instanceof Promise ? await admitted : admitted;
  const { message, recipients, slots, node } = batch;
  let response: string;
  let result: AcceptResult;
  try {
    response = request.answer(message.requestId);
    const batcher = draft.routeClass === "OTP" ? deps.commits.urgentAccept : deps.commits.accept;
    result = await batcher.add(acceptanceOf(deps, request, batch, key && { ...key, response }));
  } catch (error) {
    slots?.release();
    // The connection may have failed after the commit. Rows of this node that it does not hold in memory would never be sent.
    if (isAway(error) && slots) void releaseLater(deps, node, message);
    throw error;
  }
  if (result.kind !== "stored") {
    slots?.release();
    return resolveUnstored(deps, request, key, result, sumOf(recipients));
  }
  deps.metrics.accepted(draft.channel, draft.routeClass).inc(recipients.length);
  countTexts(deps, prepared, message.createdAt);
  if (deps.membership.node === node) slots?.commit();
  else slots?.release();
  return { answer: response, replayed: false, ...(result.noted && { noted: result.noted }) };
}

/** Messages that are about to be stored. */
interface Batch extends ExpandedRequest {
  message: Acceptance["message"];
  slots: SlotReservation | null;
  /** The owner of the rows if they have slots. */
  node: number;
}

/** Builds the batch now, or when the request is admitted: the message times start then, not at arrival. */
function admit(deps: AcceptDeps, request: Unkeyed): Batch | Promise<Batch> {
  const { prepared, arrivedAt } = request;
  const { draft, account } = prepared.subject;
  const { flow = account.id } = request;
  if (!isDueNow(deps, prepared)) return buildBatch(deps, request);
  const ageMs = (): number => (arrivedAt === undefined ? 0 : deps.requestAge.ageMs(arrivedAt));
  // Slots are reserved inside the admission, so that the next request sees them as occupied.
  return deps.admission.admit(draft.routeClass, draft.recipients.length, flow, () => buildBatch(deps, request), ageMs);
}

function buildBatch(deps: AcceptDeps, { prepared, validForMs, callback }: Unkeyed): Batch {
  const { membership, clock, sending } = deps;
  const now = clock.now();
  const message = { ...messageOf(deps, prepared, newId(now), now, validForMs), ...(callback && { callback }) };
  const expanded = expandRecipients(deps, prepared, message);
  const isDue = message.dueAt <= now && membership.alive;
  const slots = isDue && sending ? reserveSlots(sending, message, expanded) : null;
  return { ...expanded, message, slots, node: membership.node };
}

function acceptanceOf(
  { requestAge }: AcceptDeps,
  request: Unkeyed,
  { message, recipients, links, timeline, slots, node }: Batch,
  idempotency: Acceptance["idempotency"],
): Acceptance {
  const { arrivedAt } = request;
  const isLate = arrivedAt === undefined ? undefined : (): boolean => requestAge.isLate(arrivedAt);
  const verification = request.verification?.(message.requestId, message.createdAt);
  const { credits } = request.prepared.subject.account.settings;
  return {
    message,
    ...(slots?.stored ?? { recipients, timeline }),
    owner: slots ? node : UNOWNED,
    metered: credits === "metered" && !isSimulatorOnly(message),
    links,
    ...(verification && { verification }),
    idempotency,
    ...(isLate && { isLate }),
  };
}

/** Nothing of the request was stored. */
async function resolveUnstored(
  deps: AcceptDeps,
  request: Unkeyed,
  key: StoredKey,
  result: Exclude<AcceptResult, { kind: "stored" }>,
  credits: number,
): Promise<Accepted> {
  switch (result.kind) {
    case "unpaid":
      return refuseUnpaid(deps, request, key, credits);
    case "held back":
      throw new RefusedByLimit(result.admission);
    case "code taken":
      // Another short link has the same random code: build the batch again with new codes.
      return acceptRequest(deps, request, key);
    case "replayed":
    default:
      if (isRefusal(result.response)) return retryRefused(deps, request, key, result.response, credits);
      if (!deps.bodyDigest.matches(result.bodyHash, key?.body)) throw new Problem("IDEMPOTENCY_MISMATCH");
      return { answer: result.response, replayed: true };
  }
}

/** The duplicate-text filter counts accepted messages only, not refused or replayed ones. */
function countTexts({ duplicateTexts }: AcceptDeps, prepared: Prepared, now: number): void {
  const { account, draft, test } = prepared.subject;
  const { sameText } = account.settings;
  if (!sameText) return;
  draft.recipients.forEach(({ number, failure }, index) => {
    if (failure) return;
    const { content } = composedFor(prepared, index);
    // One-time passwords are encrypted, and no two are the same.
    if (isEncrypted(content)) return;
    const key = duplicateTextKey(textOf(content), test);
    duplicateTexts.count(account.id, number, key, sameText.windowSeconds * 1000, now);
  });
}

/** The stored answer to an earlier request with the same key and body; null when there was none. */
export async function earlierAnswer(
  { store, bodyDigest }: Pick<AcceptDeps, "store" | "bodyDigest">,
  accountId: number,
  { path, key, body }: NonNullable<SendRequest["idempotency"]>,
): Promise<string | null> {
  const earlier = await store.findAnswer(accountId, path, key);
  return earlier && bodyDigest.matches(earlier.bodyHash, body) && !isRefusal(earlier.response)
    ? earlier.response
    : null;
}

/** Stored as the answer of a key whose request was refused for lack of credits. */
const REFUSAL = '{"refusedAt":';
const isRefusal = (response: string): boolean => response.startsWith(REFUSAL);

const sumOf = (recipients: Acceptance["recipients"]): number =>
  recipients.reduce((sum, { failure, credits }) => sum + (failure === null ? credits : 0), 0);

/**
 * Records the refusal under the request's key before it is answered. A stalled node may hold the same request and must not
 * execute it after this answer, whatever the balance is then.
 */
async function refuseUnpaid(deps: AcceptDeps, request: Unkeyed, key: StoredKey, credits: number): Promise<Accepted> {
  const { store, clock } = deps;
  const { id: accountId } = request.prepared.subject.account;
  if (key) {
    const at = clock.now();
    const refusal = { ...key, response: `${REFUSAL}${at}}`, at };
    // Another node accepted the request first, while the balance still covered it.
    if (!(await store.refuseKey(accountId, refusal))) return acceptRequest(deps, request, key);
  }
  throw await unpaid(deps, accountId, credits);
}

async function unpaid({ store }: AcceptDeps, accountId: number, credits: number): Promise<Problem> {
  const { balance } = await store.findBalance(accountId);
  return new Problem("INSUFFICIENT_CREDITS", {
    message: `The request needs ${countOf(credits, "credit")}; the account has ${countOf(balance, "credit")}.`,
  });
}

/** Refuses a request that arrived before its key was refused on another node; accepts one that arrived after it. */
async function retryRefused(
  deps: AcceptDeps,
  request: Unkeyed,
  key: StoredKey,
  response: string,
  credits: number,
): Promise<Accepted> {
  const { store, clock, requestAge } = deps;
  const { id: accountId } = request.prepared.subject.account;
  const { refusedAt } = JSON.parse(response) as { refusedAt: number };
  const ageMs = request.arrivedAt === undefined ? 0 : requestAge.ageMs(request.arrivedAt);
  if (clock.now() - ageMs < refusedAt) throw await unpaid(deps, accountId, credits);
  if (key) await store.freeKey(accountId, { ...key, response });
  return acceptRequest(deps, request, key);
}

/** True if the messages are due now, for this node or another. */
const isDueNow = ({ membership, clock }: AcceptDeps, { subject }: Prepared): boolean =>
  membership.alive && (subject.draft.sendAt ?? 0) <= clock.now() && !isPaused(subject);

const isPaused = ({ draft: { campaignName }, catalog }: Prepared["subject"]): boolean =>
  campaignName !== null && Boolean(catalog.named("campaign").get(campaignName)?.content.pausedAt);

/** The fields that all messages of the request share. */
function messageOf(
  { validityMs }: AcceptDeps,
  prepared: Prepared,
  requestId: string,
  now: number,
  validForMs = Number.POSITIVE_INFINITY,
): Acceptance["message"] {
  const { account, test, draft } = prepared.subject;
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
    dueAt: isPaused(prepared.subject) ? dueAt + PAUSED_MS : dueAt,
    // A fallback starts after `afterSeconds` and has the full validity from then on.
    expiresAt: dueAt + validityWith(fallbackOf({ content }), Math.min(validityMs[draft.routeClass], validForMs)),
  };
}

/** The commit may still be in progress in the database when its connection fails. */
const RELEASE_DELAY_MS = 1000;

async function releaseLater(
  { store, clock, log }: AcceptDeps,
  node: number,
  { accountId, requestId }: Acceptance["message"],
): Promise<void> {
  await new Promise<void>((resolve) => clock.after(RELEASE_DELAY_MS, resolve));
  try {
    await retryUntil(clock, isAway, () => store.release(node, [{ accountId, requestId }]));
  } catch (error) {
    log.error({ err: error }, "accept could not release rows after a failed commit");
  }
}
