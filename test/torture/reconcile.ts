import { isAllowedTransition } from "./histories.ts";
import type { Entry } from "./ledger.ts";
import type { PhoneRow, StoredRow } from "./stored-rows.ts";
import { outcomeOf, type ScriptedOutcome, type Intent, type RouteClass } from "./traffic.ts";

/** The records of a run: the client's ledger, the stored rows and the messages on simulated phones. */
export interface Evidence {
  ledger: AsyncIterable<Entry> | Iterable<Entry>;
  messages: AsyncIterable<StoredRow> | Iterable<StoredRow>;
  onPhones: AsyncIterable<PhoneRow> | Iterable<PhoneRow>;
  /**
   * True if receipts name our own message id, so that a receipt resolves a doubtful submit. Over SMPP they name only the
   * carrier's id, which is lost together with the submit response. Default: true.
   */
  receiptsResolveDoubt?: boolean;
  /** Kill times of the server or its database in epoch ms, ascending. Only a kill justifies a duplicate. */
  kills: readonly number[];
  /** Maximum number of messages that one kill may leave in doubt. */
  window: number;
  /** Last observed state by message. */
  observed: ReadonlyMap<string, string>;
  /**
   * Delivery reports that the customer's endpoint received, by message and in order; absent if it was not registered.
   */
  reported?: ReadonlyMap<string, readonly string[]>;
}

export interface Findings {
  requests: number;
  accepted: number;
  refused: number;
  /** Requests that may have reached the server and got no definite response. */
  unknown: number;
  /** Requests stored although their first response was lost, as their replay shows. */
  resolved: number;
  replayed: number;
  messages: number;
  onPhones: number;
  duplicates: number;
  duplicatesPerKill: readonly number[];
  /** Delivery reports, and how many of them were repetitions. */
  reports: number;
  reportsRepeated: number;
  /** Held because the submit is in doubt and a duplicate is worse than a loss. */
  heldInDoubt: number;
  byState: Record<string, number>;
  /** Violations, each prefixed with the name of its invariant. */
  violations: readonly string[];
}

interface Request {
  intent: Intent;
  outcome: "accepted" | "refused" | null;
  messageIds: readonly string[];
}

const NOT_REACHED = "ECONNREFUSED";

const EXPECTED_STATE: Record<ScriptedOutcome, string> = {
  delivered: "delivered",
  undelivered: "undelivered",
  expired: "expired",
  refused: "rejected",
  unreported: "submitted",
  malformed: "rejected",
};
const reachesPhone = (outcome: ScriptedOutcome): boolean => outcome !== "refused" && outcome !== "malformed";

/** Checks all invariants and names the messages that violate them. */
export async function reconcile(evidence: Evidence): Promise<Findings> {
  const violations: string[] = [];
  const counts = { requests: 0, accepted: 0, refused: 0, unknown: 0, resolved: 0, replayed: 0 };
  const requests = new Map<string, Request>();

  for await (const entry of evidence.ledger) {
    if (entry.entry === "intent") {
      counts.requests += 1;
      requests.set(entry.key, { intent: entry, outcome: null, messageIds: [] });
      continue;
    }
    if (entry.entry === "unknown") {
      if (entry.reason !== NOT_REACHED) counts.unknown += 1;
      continue;
    }
    const request = requests.get(entry.key);
    if (!request) {
      violations.push(`ledger: ${entry.key} has an outcome and no intent`);
    } else if (entry.entry === "refused") {
      if (request.outcome === "accepted")
        violations.push(`I1: ${entry.key} was accepted and later refused (${entry.code})`);
      if (request.intent.valid) violations.push(`I3: ${entry.key} is valid and was refused (${entry.code})`);
      request.outcome ??= "refused";
    } else {
      if (entry.replayed) counts.replayed += 1;
      if (entry.replayed && request.outcome === null) counts.resolved += 1;
      recordAccepted(request, entry.messageIds, violations);
    }
  }
  for (const [key, request] of requests) {
    if (request.outcome === null) violations.push(`ledger: ${key} has no definite response`);
    else counts[request.outcome] += 1;
  }

  const phones = await phonesByMessage(evidence.onPhones);
  const messages = await checkMessages(evidence, requests, phones, violations);
  const duplicates = checkDuplicates(evidence, messages.types, phones, violations);
  const reports = checkReports(evidence, messages.ends, violations);
  return { ...counts, ...messages.counts, ...duplicates, ...reports, onPhones: phones.size, violations };
}

function recordAccepted(request: Request, messageIds: readonly string[], violations: string[]): void {
  const { intent, outcome } = request;
  if (!intent.valid || outcome === "refused") violations.push(`I3: ${intent.key} is invalid and was accepted`);
  if (messageIds.length !== intent.to.length)
    violations.push(`I1: ${intent.key} has ${intent.to.length} recipients and ${messageIds.length} message ids`);
  if (outcome === "accepted" && messageIds.join() !== request.messageIds.join())
    violations.push(`I1: ${intent.key} has two different ids, ${request.messageIds[0]} and ${messageIds[0]}`);
  request.outcome = "accepted";
  request.messageIds = messageIds;
}

async function phonesByMessage(onPhones: Evidence["onPhones"]): Promise<Map<string, PhoneRow[]>> {
  const byMessage = new Map<string, PhoneRow[]>();
  for await (const row of onPhones) {
    const rows = byMessage.get(row.messageId);
    if (rows) rows.push(row);
    else byMessage.set(row.messageId, [row]);
  }
  return byMessage;
}

async function checkMessages(
  { messages, observed, receiptsResolveDoubt = true }: Evidence,
  requests: ReadonlyMap<string, Request>,
  phones: ReadonlyMap<string, PhoneRow[]>,
  violations: string[],
): Promise<{
  counts: Pick<Findings, "messages" | "heldInDoubt" | "byState">;
  types: Map<string, RouteClass>;
  ends: Map<string, string>;
}> {
  const ends = new Map<string, string>();
  const types = new Map<string, RouteClass>();
  const byState: Record<string, number> = {};
  let heldInDoubt = 0;
  for await (const row of messages) {
    types.set(row.messageId, row.type);
    ends.set(row.messageId, row.state);
    byState[row.state] = (byState[row.state] ?? 0) + 1;
    if (row.heldInDoubt) heldInDoubt += 1;
    const request = requests.get(row.key ?? "");
    if (!request) violations.push(`ledger: ${row.messageId} is stored without an intent (${row.key})`);
    else if (request.outcome === "refused")
      violations.push(`I3: ${row.messageId} is stored, but ${row.key} was refused`);
    else if (!request.messageIds.includes(row.messageId))
      violations.push(
        `I1: ${row.messageId} is a second message of ${row.key}, whose answer was ${request.messageIds[0]}`,
      );
    checkEnd(row, phones.get(row.messageId), receiptsResolveDoubt, violations);
    const before = observed.get(row.messageId);
    if (before !== undefined && !isAllowedTransition(before, row.state))
      violations.push(`I5: ${row.messageId} was seen ${before} and ended ${row.state}`);
  }
  for (const { intent, messageIds } of requests.values()) {
    for (const id of messageIds)
      if (!types.has(id)) violations.push(`I1: ${id} of ${intent.key} was accepted and is lost`);
  }
  for (const id of phones.keys()) {
    if (!types.has(id)) violations.push(`I3: ${id} is on a phone without a stored message`);
  }
  return { counts: { messages: types.size, heldInDoubt, byState }, types, ends };
}

/** The message has the final state that its number prescribes, and is on the phone exactly if that state implies it. */
function checkEnd(
  row: StoredRow,
  onPhone: readonly PhoneRow[] | undefined,
  receiptsResolveDoubt: boolean,
  violations: string[],
): void {
  const outcome = outcomeOf(row.recipient);
  const name = `${row.messageId} (${row.type}, ${outcome})`;
  if (onPhone?.some(({ number }) => number !== row.recipient))
    violations.push(`I2: ${name} is on the phone of another number`);
  if (onPhone && !reachesPhone(outcome)) violations.push(`I2: ${name} is on a phone that refuses it`);
  if (row.heldInDoubt) {
    // Allowed on the phone only if no receipt will ever resolve the doubt.
    if (onPhone && outcome !== "unreported" && receiptsResolveDoubt)
      violations.push(`I1: ${name} is on its phone and still in doubt`);
    return;
  }
  if (row.state !== EXPECTED_STATE[outcome])
    violations.push(
      `I1: ${name} is ${row.state} (${row.errorCode}, owner ${row.owner}), not ${EXPECTED_STATE[outcome]}`,
    );
  if (row.state === "rejected" && row.errorCode === null) violations.push(`I2: ${name} failed without a reason`);
  if (!onPhone && reachesPhone(outcome)) violations.push(`I2: ${name} is ${row.state} and is on no phone`);
}

const REPORTED_AS: Readonly<Record<string, string>> = {
  delivered: "Delivered",
  undelivered: "Failed",
  expired: "Failed",
  rejected: "Failed",
};

/** The last report of a message with a final state names that state; a message without one has no report. */
function checkReports(
  { reported }: Evidence,
  ends: ReadonlyMap<string, string>,
  violations: string[],
): Pick<Findings, "reports" | "reportsRepeated"> {
  if (!reported) return { reports: 0, reportsRepeated: 0 };
  let [reports, reportsRepeated] = [0, 0];
  for (const [id, state] of ends) {
    const expected = REPORTED_AS[state];
    const statuses = reported.get(id) ?? [];
    reports += statuses.length;
    reportsRepeated += statuses.length - new Set(statuses).size;
    if (expected !== undefined && statuses.at(-1) !== expected)
      violations.push(`I4: ${id} ended ${state} and the customer received ${statuses.join(", ") || "no report"}`);
    if (expected === undefined && statuses.length > 0)
      violations.push(`I4: ${id} is ${state} and the customer received ${statuses.join(", ")}`);
  }
  for (const id of reported.keys())
    if (!ends.has(id)) violations.push(`I4: the customer received a report of the unknown message ${id}`);
  return { reports, reportsRepeated };
}

/** A kill must lie between two deliveries of one message, and one kill may cause at most `window` duplicates. */
function checkDuplicates(
  { kills, window }: Evidence,
  types: ReadonlyMap<string, RouteClass>,
  phones: ReadonlyMap<string, PhoneRow[]>,
  violations: string[],
): Pick<Findings, "duplicates" | "duplicatesPerKill"> {
  const perKill = kills.map(() => 0);
  let duplicates = 0;
  for (const [id, rows] of phones) {
    if (rows.length === 1) continue;
    duplicates += rows.length - 1;
    if (types.get(id) === "PROMO") violations.push(`I6: ${id} is PROMO and is on its phone ${rows.length} times`);
    const times = rows.map(({ receivedAt }) => receivedAt).toSorted((a, b) => a - b);
    times.slice(1).forEach((time, index) => {
      const before = times[index] ?? 0;
      const kill = kills.findIndex((at) => at >= before && at <= time);
      if (kill === -1)
        violations.push(`I6: ${id} is on its phone again after ${time - before} ms without a kill between`);
      else perKill[kill] = (perKill[kill] ?? 0) + 1;
    });
  }
  perKill.forEach((count, kill) => {
    if (count > window)
      violations.push(`I6: kill ${kill + 1} left ${count} duplicates, more than the window of ${window}`);
  });
  return { duplicates, duplicatesPerKill: perKill };
}
