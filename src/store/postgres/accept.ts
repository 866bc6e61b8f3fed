import { splitIntoSubBatches } from "../sub-batches.ts";
import type { Acceptance, AcceptResult } from "../store.ts";
import { acceptResultOf } from "../verification-rows.ts";
import type { Admission } from "../verifications.ts";
import { admitCodes } from "./admit-codes.ts";
import { isRowFault } from "./faults.ts";
import { insertRequests } from "./insert-requests.ts";
import type { ConnectionPool, Query } from "./pool.ts";
import { putSources } from "./put-sources.ts";
import { findReplays, giveKeysBack, keyOf, takeKeys } from "./request-keys.ts";
import type { WithCode } from "./verify-numbers.ts";

type Result = AcceptResult | Error;

/** Stores a batch. Requests with a one-time password take a separate path, because send limits may refuse them. */
export async function accept(pool: ConnectionPool, batch: readonly Acceptance[]): Promise<Result[]> {
  if (!batch.some(hasCode)) return acceptPlain(pool.query, batch);
  const codes = batch.filter(hasCode);
  const rest = batch.filter((item) => !hasCode(item));
  const withCode = await inSubBatches(codes, (items) => acceptCodes(pool, items));
  const others = rest.length === 0 ? [] : await orEachFails(rest, acceptPlain(pool.query, rest));
  return batch.map((item) => (hasCode(item) ? withCode.shift() : others.shift()) as Result);
}

const hasCode = (item: Acceptance): item is WithCode => item.verification !== undefined;

/**
 * Stores codes and their messages in one transaction. One bad row rolls it back, so the batch is halved until that row is
 * alone.
 */
async function acceptCodes(pool: ConnectionPool, batch: readonly WithCode[]): Promise<Result[]> {
  try {
    return await pool.transaction((query) => acceptCodesTogether(query, batch));
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (batch.length === 1) return [refusalOf(error)];
    const half = batch.length >> 1;
    const later = (part: readonly WithCode[]): Promise<Result[]> => orEachFails(part, acceptCodes(pool, part));
    return [...(await later(batch.slice(0, half))), ...(await later(batch.slice(half)))];
  }
}

async function acceptCodesTogether(query: Query, batch: readonly WithCode[]): Promise<Result[]> {
  const keyed = batch.filter(({ idempotency }) => idempotency);
  const taken = keyed.length === 0 ? new Set<string>() : await takeKeys(query, keyed);
  const isFresh = (item: Acceptance): boolean => {
    const key = keyOf(item);
    return key === null || taken.has(key);
  };
  const fresh = batch.filter(isFresh);
  const admissions = fresh.length === 0 ? [] : await storeAdmitted(query, fresh);
  const refused = fresh.filter((item, place) => item.idempotency && (admissions[place]?.refused.length ?? 0) > 0);
  if (refused.length > 0) await giveKeysBack(query, refused);
  const replays = batch.filter((item) => !isFresh(item));
  const replayed = replays.length === 0 ? [] : await findReplays(query, replays);
  const remaining = [...admissions];
  return batch.map((item): Result => {
    if (!isFresh(item))
      return replayed.shift() ?? new Error("the key of a request was forgotten while it was asked for");
    return acceptResultOf(remaining.shift() as NonNullable<(typeof remaining)[number]>);
  });
}

/** Checks codes against the send limits and stores the admitted ones with their messages. */
async function storeAdmitted(query: Query, batch: readonly WithCode[]): Promise<readonly Admission[]> {
  const { admissions, codes } = await admitCodes(query, batch);
  const admitted = batch.filter((_, place) => admissions[place]?.refused.length === 0);
  if (admitted.length === 0 && codes.prefixes.length === 0) return admissions;
  await insertRequests(query, admitted, codes);
  await putSources(query, admitted);
  return admissions;
}

/** Stores a batch without codes, in one statement unless an idempotency key occurs twice. */
const acceptPlain = (query: Query, batch: readonly Acceptance[]): Promise<Result[]> =>
  inSubBatches(batch, (items) => acceptTogether(query, items));

/** One statement per sub-batch, because it can take a key only once. The first request takes the key; the second is a replay. */
async function inSubBatches<T extends Acceptance>(
  batch: readonly T[],
  store: (items: readonly T[]) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, subBatch] of splitIntoSubBatches(batch, keyOf).entries()) {
    const items = subBatch.map(({ item }) => item);
    const stored = await (index === 0 ? store(items) : orEachFails(items, store(items)));
    subBatch.forEach(({ place }, at) => (results[place] = stored[at] as Result));
  }
  return results;
}

/** Returns a failure per request instead of throwing, because other requests of the batch may already be stored. */
const orEachFails = (batch: readonly Acceptance[], results: Promise<Result[]>): Promise<Result[]> =>
  results.catch((error: Error) => batch.map(() => error));

/** One bad request fails the whole statement, so the batch is halved until that request is alone. */
async function acceptTogether(query: Query, batch: readonly Acceptance[]): Promise<Result[]> {
  let stored: Set<number>;
  try {
    stored = await insertRequests(query, batch);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (batch.length === 1) return [refusalOf(error)];
    const half = batch.length >> 1;
    return [...(await acceptLater(query, batch.slice(0, half))), ...(await acceptLater(query, batch.slice(half)))];
  }
  const results = batch.map((_, place): Result | null => (stored.has(place + 1) ? { kind: "stored" } : null));
  const rest = batch.filter((_, place) => results[place] === null);
  if (rest.length === 0) return results as Result[];
  const replayed = await replay(query, rest).catch((error: Error) => rest.map(() => error));
  return results.map((result) => result ?? (replayed.shift() as Result));
}

/** Two constraint violations are results: an overdrawn balance, and a link code that is already in use. */
function refusalOf(error: Error): Result {
  const { constraint } = error as { constraint?: string };
  if (constraint === "balances_not_overdrawn") return { kind: "unpaid" };
  return constraint === "links_pkey" ? { kind: "code taken" } : error;
}

const acceptLater = (query: Query, batch: readonly Acceptance[]): Promise<Result[]> =>
  orEachFails(batch, acceptTogether(query, batch));

async function replay(query: Query, batch: readonly Acceptance[]): Promise<Result[]> {
  const results = await findReplays(query, batch);
  // A key that existed a moment ago and is now missing has just expired, so the request can be stored.
  return Promise.all(
    batch.map(async (item, place) => results[place] ?? ((await acceptTogether(query, [item]))[0] as Result)),
  );
}
