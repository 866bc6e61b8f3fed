import { mayFollow } from "./histories.ts";
import type { Entry } from "./ledger.ts";
import type { PhoneRow, StoredRow } from "./stored-rows.ts";
import { fateOf, type Fate, type Intent, type RouteClass } from "./traffic.ts";

/** All that is known after a run: what the customer wrote down, what the store holds, what lies on the phones. */
export interface Evidence {
  ledger: AsyncIterable<Entry> | Iterable<Entry>;
  messages: AsyncIterable<StoredRow> | Iterable<StoredRow>;
  onPhones: AsyncIterable<PhoneRow> | Iterable<PhoneRow>;
  /** When the server, or what it stands on, was killed: epoch milliseconds, in order. Only a kill explains a duplicate. */
  kills: readonly number[];
  /** The most messages that one kill may leave in doubt. */
  window: number;
  /** States as they were seen during the run, by message. */
  observed: ReadonlyMap<string, string>;
  /** What the customer's own server was told, by message and in order; absent when it was told nothing. */
  reported?: ReadonlyMap<string, readonly string[]>;
}

export interface Findings {
  requests: number;
  accepted: number;
  refused: number;
  /** Attempts that may have reached the server and got no clear answer. */
  unknown: number;
  /** Requests that had been stored although their first answer was lost: their replay told so. */
  resolved: number;
  replayed: number;
  messages: number;
  onPhones: number;
  duplicates: number;
  duplicatesPerKill: readonly number[];
  /** Reports to the customer's server, and how many of them were told once more. */
  reports: number;
  reportsRepeated: number;
  /** Held because it is not known whether they were sent, and a second one would be worse than none. */
  heldInDoubt: number;
  byState: Record<string, number>;
  /** Each a sentence that begins with the name of the invariant; empty when all hold. */
  broken: readonly string[];
}

interface Request {
  intent: Intent;
  outcome: "accepted" | "refused" | null;
  messageIds: readonly string[];
}

const NOBODY_THERE = "ECONNREFUSED";

const EXPECTED_STATE: Record<Fate, string> = {
  delivered: "delivered",
  undelivered: "undelivered",
  expired: "expired",
  refused: "rejected",
  unreported: "submitted",
  malformed: "rejected",
};
const reachesPhone = (fate: Fate): boolean => fate !== "refused" && fate !== "malformed";

/** Proves the invariants, or says which message breaks which. */
export async function reconcile(evidence: Evidence): Promise<Findings> {
  const broken: string[] = [];
  const counts = { requests: 0, accepted: 0, refused: 0, unknown: 0, resolved: 0, replayed: 0 };
  const requests = new Map<string, Request>();

  for await (const entry of evidence.ledger) {
    if (entry.entry === "intent") {
      counts.requests += 1;
      requests.set(entry.key, { intent: entry, outcome: null, messageIds: [] });
      continue;
    }
    if (entry.entry === "unknown") {
      if (entry.reason !== NOBODY_THERE) counts.unknown += 1;
      continue;
    }
    const request = requests.get(entry.key);
    if (!request) {
      broken.push(`ledger: ${entry.key} has an outcome and no intent`);
    } else if (entry.entry === "refused") {
      if (request.outcome === "accepted")
        broken.push(`I1: ${entry.key} was accepted and later refused (${entry.code})`);
      if (request.intent.valid) broken.push(`I3: ${entry.key} is a good request and was refused (${entry.code})`);
      request.outcome ??= "refused";
    } else {
      if (entry.replayed) counts.replayed += 1;
      if (entry.replayed && request.outcome === null) counts.resolved += 1;
      noteAccepted(request, entry.messageIds, broken);
    }
  }
  for (const [key, request] of requests) {
    if (request.outcome === null) broken.push(`ledger: ${key} never got an answer`);
    else counts[request.outcome] += 1;
  }

  const phones = await phonesByMessage(evidence.onPhones);
  const messages = await checkMessages(evidence, requests, phones, broken);
  const duplicates = checkDuplicates(evidence, messages.types, phones, broken);
  const reports = checkReports(evidence, messages.ends, broken);
  return { ...counts, ...messages.counts, ...duplicates, ...reports, onPhones: phones.size, broken };
}

function noteAccepted(request: Request, messageIds: readonly string[], broken: string[]): void {
  const { intent, outcome } = request;
  if (!intent.valid || outcome === "refused")
    broken.push(`I3: ${intent.key} was accepted although it is not a good request`);
  if (messageIds.length !== intent.to.length)
    broken.push(`I1: ${intent.key} has ${intent.to.length} recipients and ${messageIds.length} message ids`);
  if (outcome === "accepted" && messageIds.join() !== request.messageIds.join())
    broken.push(`I1: ${intent.key} was answered with two different ids, ${request.messageIds[0]} and ${messageIds[0]}`);
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
  { messages, observed }: Evidence,
  requests: ReadonlyMap<string, Request>,
  phones: ReadonlyMap<string, PhoneRow[]>,
  broken: string[],
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
    if (!request) broken.push(`ledger: ${row.messageId} is stored and was never meant (${row.key})`);
    else if (request.outcome === "refused") broken.push(`I3: ${row.messageId} is stored, but ${row.key} was refused`);
    else if (!request.messageIds.includes(row.messageId))
      broken.push(`I1: ${row.messageId} is a second message of ${row.key}, whose answer was ${request.messageIds[0]}`);
    checkEnd(row, phones.get(row.messageId), broken);
    const before = observed.get(row.messageId);
    if (before !== undefined && !mayFollow(before, row.state))
      broken.push(`I5: ${row.messageId} was seen ${before} and ended ${row.state}`);
  }
  for (const { intent, messageIds } of requests.values()) {
    for (const id of messageIds) if (!types.has(id)) broken.push(`I1: ${id} of ${intent.key} was accepted and is lost`);
  }
  for (const id of phones.keys()) {
    if (!types.has(id)) broken.push(`I3: ${id} lies on a phone and is no message`);
  }
  return { counts: { messages: types.size, heldInDoubt, byState }, types, ends };
}

/** A message has the end that its number asks for, and lies on the phone exactly if that end says so. */
function checkEnd(row: StoredRow, onPhone: readonly PhoneRow[] | undefined, broken: string[]): void {
  const fate = fateOf(row.recipient);
  const name = `${row.messageId} (${row.type}, ${fate})`;
  if (onPhone?.some(({ number }) => number !== row.recipient)) broken.push(`I2: ${name} lies on a foreign phone`);
  if (onPhone && !reachesPhone(fate)) broken.push(`I2: ${name} lies on a phone that never takes it`);
  if (row.heldInDoubt) {
    // It may lie on the phone only where no report will ever come to end the doubt.
    if (onPhone && fate !== "unreported") broken.push(`I1: ${name} lies on its phone and is still in doubt`);
    return;
  }
  if (row.state !== EXPECTED_STATE[fate])
    broken.push(`I1: ${name} is ${row.state} (${row.errorCode}, owner ${row.owner}), not ${EXPECTED_STATE[fate]}`);
  if (row.state === "rejected" && row.errorCode === null) broken.push(`I2: ${name} failed without a reason`);
  if (!onPhone && reachesPhone(fate)) broken.push(`I2: ${name} is ${row.state} and lies on no phone`);
}

const REPORTED_AS: Readonly<Record<string, string>> = {
  delivered: "Delivered",
  undelivered: "Failed",
  expired: "Failed",
  rejected: "Failed",
};

/** Whatever came to an end was told to the customer, with that end as the last word; what has none was not. */
function checkReports(
  { reported }: Evidence,
  ends: ReadonlyMap<string, string>,
  broken: string[],
): Pick<Findings, "reports" | "reportsRepeated"> {
  if (!reported) return { reports: 0, reportsRepeated: 0 };
  let [reports, reportsRepeated] = [0, 0];
  for (const [id, state] of ends) {
    const wanted = REPORTED_AS[state];
    const told = reported.get(id) ?? [];
    reports += told.length;
    reportsRepeated += told.length - new Set(told).size;
    if (wanted !== undefined && told.at(-1) !== wanted)
      broken.push(`I4: ${id} ended ${state} and the customer was told ${told.join(", ") || "nothing"}`);
    if (wanted === undefined && told.length > 0)
      broken.push(`I4: ${id} is ${state} and the customer was told ${told.join(", ")}`);
  }
  for (const id of reported.keys())
    if (!ends.has(id)) broken.push(`I4: the customer was told of ${id}, which is no message`);
  return { reports, reportsRepeated };
}

/** Each repetition must have a kill between it and the one before, and no kill may explain more than the window. */
function checkDuplicates(
  { kills, window }: Evidence,
  types: ReadonlyMap<string, RouteClass>,
  phones: ReadonlyMap<string, PhoneRow[]>,
  broken: string[],
): Pick<Findings, "duplicates" | "duplicatesPerKill"> {
  const perKill = kills.map(() => 0);
  let duplicates = 0;
  for (const [id, rows] of phones) {
    if (rows.length === 1) continue;
    duplicates += rows.length - 1;
    if (types.get(id) === "PROMO") broken.push(`I6: ${id} is PROMO and lies on its phone ${rows.length} times`);
    const times = rows.map(({ receivedAt }) => receivedAt).toSorted((a, b) => a - b);
    times.slice(1).forEach((time, index) => {
      const before = times[index] ?? 0;
      const kill = kills.findIndex((at) => at >= before && at <= time);
      if (kill === -1)
        broken.push(`I6: ${id} lies on its phone again after ${time - before} ms without a kill between`);
      else perKill[kill] = (perKill[kill] ?? 0) + 1;
    });
  }
  perKill.forEach((count, kill) => {
    if (count > window) broken.push(`I6: kill ${kill + 1} left ${count} duplicates, more than the window of ${window}`);
  });
  return { duplicates, duplicatesPerKill: perKill };
}
