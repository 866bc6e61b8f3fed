import type { Catalog, EndpointRecord } from "../catalog/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import type { Seal } from "../lib/seal.ts";
import type { Account } from "../model/account.ts";
import { messageOf, type Callback, type Happening, type MessageFacts, type Push } from "../model/callback.ts";
import type { CallbackRef, Settlement } from "../store/callback-store.ts";
import { writeAttempt } from "./attempt-log.ts";
import { webhookPush } from "./event-push.ts";
import type { ReportFacts } from "./placeholders.ts";
import type { Pusher, PushResult } from "./push.ts";
import { dlrPush } from "./report-push.ts";
import { isBusy, nextTryAt, readRetryAfter } from "./schedule.ts";
import { signed, type Signing } from "./sign.ts";

export interface TellNeeds {
  catalog: Catalog;
  pusher: Pick<Pusher, "push">;
  clock: Clock;
  seal: Seal;
  accountOf(accountId: number): Account | null;
  /** The recipient's operator and circle, as far as anybody knows; what its carrier has told comes first. */
  operatorOf(number: string, told: Pick<MessageFacts, "operator" | "circle">): string;
}

/** What became of telling one endpoint one thing. */
interface Told {
  /** Null when nothing was sent, because nobody wants to know any more. */
  result: PushResult | null;
  endpoint: EndpointRecord | null;
  settlement: Omit<Settlement, "ownedBy">;
}

/** Tells one endpoint one thing: makes its form of it, has it signed and sent, and says what is to be written down. */
export async function tell(needs: TellNeeds, callback: Callback): Promise<Told> {
  let endpoint = endpointOf(needs, callback);
  let request = endpoint && unsignedFor(needs, endpoint, callback);
  if (!request) {
    // Another node may have changed it a moment ago.
    await needs.catalog.refresh();
    endpoint = endpointOf(needs, callback);
    request = endpoint && unsignedFor(needs, endpoint, callback);
  }
  if (!endpoint || !request) {
    const reason = endpoint ? "its endpoint no longer asks for such events" : "its endpoint is gone, or switched off";
    return { result: null, endpoint: null, settlement: drop(needs, callback, reason) };
  }
  const result = await needs.pusher.push(request, signingOf(needs, endpoint, callback));
  return { result, endpoint, settlement: settlementOf(needs, callback, result) };
}

const endpointOf = (
  { catalog }: Pick<TellNeeds, "catalog">,
  { accountId, endpointId }: Callback,
): EndpointRecord | null => catalog.of(accountId).endpoint(endpointId);

/** The request that tells an endpoint of something, signed; null when it does not want to know. */
export function requestFor(needs: TellNeeds, endpoint: EndpointRecord, callback: Callback): Push | null {
  const request = unsignedFor(needs, endpoint, callback);
  return request && signed(request, signingOf(needs, endpoint, callback));
}

function unsignedFor(needs: TellNeeds, { kind, content }: EndpointRecord, callback: Callback): Push | null {
  const { accountId, eventId, happening } = callback;
  return kind === "dlrConfig"
    ? dlrPush(content, happening, reportFacts(needs, accountId, happening))
    : webhookPush(content, happening, eventId);
}

function signingOf({ clock, seal }: TellNeeds, { content }: EndpointRecord, { eventId }: Callback): Signing {
  const now = clock.now();
  const counting = content.secrets.filter(({ until }) => until === null || until > now);
  return {
    id: eventId,
    timestampSeconds: Math.floor(now / 1000),
    secrets: counting.map(({ sealed }) => seal.open(sealed)),
  };
}

/** What a delivery report tells besides what happened. */
export function reportFacts(
  { accountOf, operatorOf }: Pick<TellNeeds, "accountOf" | "operatorOf">,
  accountId: number,
  happening: Happening,
): ReportFacts {
  return {
    operatorCircle: () =>
      happening.kind === "status" ? operatorOf(happening.message.recipient, happening.message) : operatorOf("", {}),
    zone: accountOf(accountId)?.settings.zone ?? "UTC",
  };
}

function settlementOf({ clock }: TellNeeds, callback: Callback, result: PushResult): Omit<Settlement, "ownedBy"> {
  const at = clock.now();
  const common = { ...settledRef(callback), at, attempted: true };
  if (result.kind === "delivered") {
    const { status, ms, excerpt } = result;
    const log = writeAttempt({ at, ms, status, excerpt, nextTryAt: null });
    return { ...common, state: "delivered", dueAt: at, message: null, log };
  }
  const next = result.gone
    ? null
    : nextTryAt({
        attempts: callback.attempts + 1,
        now: at,
        retryAfterMs: readRetryAfter(result.retryAfter, at),
        busy: isBusy(result),
        random: Math.random,
      });
  const log = writeAttempt({ at, ...result, nextTryAt: next });
  if (next === null) return { ...common, state: "exhausted", dueAt: at, message: null, log };
  return { ...common, state: "waiting", dueAt: next, message: messageOf(callback.happening), log };
}

function drop({ clock }: TellNeeds, callback: Callback, reason: string): Omit<Settlement, "ownedBy"> {
  const at = clock.now();
  const log = writeAttempt({ at, ms: 0, status: null, reason, excerpt: "", nextTryAt: null });
  return { ...settledRef(callback), at, attempted: false, state: "dropped", dueAt: at, message: null, log };
}

/** What names a callback when something is written down about it. */
export const settledRef = ({ accountId, eventId, endpointId }: Callback): CallbackRef => ({
  accountId,
  eventId,
  endpointId,
});
