import type { MessageStore } from "../store.ts";
import type { Query } from "./pool.ts";

const FORGET_AT_ONCE = 1000;

const FORGET_KEYS = `
  delete from idempotency where (account_id, path, key) in (
    select account_id, path, key from idempotency where created_at < $1 limit ${FORGET_AT_ONCE} for update skip locked)`;

const FORGET_PARKED = `
  delete from parked_receipts where id in (
    select id from parked_receipts where parked_at < $1 limit ${FORGET_AT_ONCE} for update skip locked)`;

/** Several nodes may forget at the same time; each removes what no other is just removing. */
export async function forget(query: Query, before: Parameters<MessageStore["forget"]>[0]): Promise<number> {
  const keys = await query({ text: FORGET_KEYS, values: [before.idempotency] });
  const receipts = await query({ text: FORGET_PARKED, values: [before.parked] });
  return keys.count + receipts.count;
}
