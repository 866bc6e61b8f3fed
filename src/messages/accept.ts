import type { SmsDraft } from "../channels/sms/read.ts";
import { createHash } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Message } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import { NOBODY, StorageUnavailable, type Acceptance, type MessageStore } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import type { Lanes } from "../work/lanes.ts";
import type { Membership } from "../work/membership.ts";
import type { Meters } from "../work/meters.ts";
import type { Dispatcher } from "./dispatch.ts";

export interface AcceptNeeds {
  commits: GroupCommit;
  store: Pick<MessageStore, "release">;
  membership: Membership;
  clock: Clock;
  log: Log;
  meters: Meters;
  /** Absent on a node that only accepts: its messages are born nobody's. */
  sending: { lanes: Lanes; dispatcher: Dispatcher } | null;
  /** How long a message may wait to be sent. */
  validityMs: Record<Message["routeClass"], number>;
  /** Idempotency keys of requests that are being worked on. */
  underWay: Set<string>;
}

export interface SendRequest {
  accountId: number;
  test: boolean;
  draft: SmsDraft;
  idempotency: { path: string; key: string; body: unknown } | null;
  /** The answer to the caller, once the id of the request is known. */
  answer(requestId: string): string;
}

interface Accepted {
  answer: string;
  /** The answer is that of an earlier request with the same key. */
  replayed: boolean;
}

/**
 * Makes messages of a draft. When this resolves they are on disk, and on their way if this node sends.
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
  const lock = `${request.accountId} ${path} ${key}`;
  if (needs.underWay.has(lock)) throw new Problem("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1 });
  needs.underWay.add(lock);
  try {
    const bodyHash = createHash("sha256").update(JSON.stringify(body)).digest("base64url");
    return await store(needs, request, { path, key, bodyHash });
  } finally {
    needs.underWay.delete(lock);
  }
}

async function store(
  needs: AcceptNeeds,
  { accountId, test, draft, answer }: SendRequest,
  idempotency: { path: string; key: string; bodyHash: string } | null,
): Promise<Accepted> {
  const { commits, membership, clock, meters, validityMs } = needs;
  const now = clock.now();
  const requestId = newId(now);
  const response = answer(requestId);
  const message: Acceptance["message"] = {
    accountId,
    requestId,
    channel: "sms",
    routeClass: draft.routeClass,
    test,
    sender: draft.sender,
    content: { text: draft.text, encoding: draft.encoding, flash: draft.flash === 1 },
    segments: draft.segments,
    campaignName: draft.campaignName,
    createdAt: now,
    dueAt: now,
    expiresAt: now + validityMs[draft.routeClass],
  };
  const count = draft.recipients.length;
  const { node } = membership;
  const places =
    needs.sending && membership.alive && needs.sending.lanes.reserve(draft.routeClass, count) ? needs.sending : null;
  try {
    const result = await commits.accept.add({
      message,
      recipients: draft.recipients,
      owner: places ? node : NOBODY,
      idempotency: idempotency && { ...idempotency, response },
    });
    if (result.kind === "replayed") {
      if (result.bodyHash !== idempotency?.bodyHash) throw new Problem("IDEMPOTENCY_MISMATCH");
      return { answer: result.response, replayed: true };
    }
  } catch (error) {
    // The line may have broken during the commit: if the rows are there after all, they must not stay with a node that forgot them.
    if (error instanceof StorageUnavailable && places) void releaseLater(needs, node, { accountId, requestId });
    throw error;
  } finally {
    places?.lanes.giveBack(draft.routeClass, count);
  }
  meters.accepted("sms", draft.routeClass).inc(count);
  if (places && membership.node === node) {
    draft.recipients.forEach(({ number, failure }, index) => {
      if (!failure) places.lanes.push({ ...message, n: index + 1, recipient: number, state: "accepted", attempts: 0 });
    });
    places.dispatcher.wake();
  }
  return { answer: response, replayed: false };
}

const RELEASE_PAUSE_MS = 1000;

async function releaseLater(
  { store: messages, clock, log }: AcceptNeeds,
  node: number,
  request: { accountId: number; requestId: string },
): Promise<void> {
  for (;;) {
    await new Promise<void>((resolve) => clock.after(RELEASE_PAUSE_MS, resolve));
    try {
      return await messages.release(node, [request]);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) return log.error({ err: error }, "rows could not be released");
    }
  }
}
