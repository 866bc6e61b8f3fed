import type { Acceptance, AcceptResult } from "../store.ts";
import { columns } from "./columns.ts";
import { REQUESTS, requestRow, takingKeys } from "./insert-requests.ts";
import type { Query } from "./pool.ts";

const TAKE_KEYS = takingKeys(REQUESTS.rows);

const KEYS = columns({ account_id: "integer", path: "text", key: "text" });

const GIVE_KEYS_BACK = `
  delete from idempotency using ${KEYS.rows}
  where idempotency.account_id = batch.account_id and idempotency.path = batch.path and idempotency.key = batch.key`;

const FIND_KEYS = `
  select place, body_hash, response from ${KEYS.rows} join idempotency using (account_id, path, key)`;

/** Account, path and idempotency key of a request as one string; null without a key. */
export const keyOf = ({ message, idempotency }: Acceptance): string | null =>
  idempotency && JSON.stringify([message.accountId, idempotency.path, idempotency.key]);

/** Inserts the idempotency keys of these requests and returns the keys that were free. */
export async function takeKeys(query: Query, batch: readonly Acceptance[]): Promise<Set<string>> {
  const { rows } = await query<{ account_id: number; path: string; key: string }>({
    text: TAKE_KEYS,
    values: REQUESTS.values(batch.map(requestRow)),
  });
  return new Set(rows.map(({ account_id, path, key }) => JSON.stringify([account_id, path, key])));
}

/** Deletes the keys of refused requests, so that they can be used again. */
export async function giveKeysBack(query: Query, batch: readonly Acceptance[]): Promise<void> {
  await query({ text: GIVE_KEYS_BACK, values: KEYS.values(batch.map(keyRow)) });
}

/** Finds the responses stored under the keys of these requests; undefined if a key has just expired. */
export async function findReplays(query: Query, batch: readonly Acceptance[]): Promise<(AcceptResult | undefined)[]> {
  const { rows } = await query<{ place: number; body_hash: string; response: string }>({
    text: FIND_KEYS,
    values: KEYS.values(batch.map(keyRow)),
  });
  const results: (AcceptResult | undefined)[] = batch.map(() => undefined);
  for (const row of rows)
    results[row.place - 1] = { kind: "replayed", bodyHash: row.body_hash, response: row.response };
  return results;
}

const keyRow = ({ message, idempotency }: Acceptance) => ({
  account_id: message.accountId,
  path: idempotency?.path,
  key: idempotency?.key,
});
