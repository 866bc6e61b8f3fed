import type { DatabaseSync } from "node:sqlite";
import type { Receipt } from "../../model/receipt.ts";
import { isAbout, storedReceiptOf, submissionOf, unmatchedRow, type UnmatchedRow, type RefRow } from "../rows.ts";
import type { MessageStore, StoredReceipt, SubmittedMessage } from "../store.ts";
import type { Read } from "./thread.ts";

type FoundRow = RefRow & { parts: number };

/** Stores receipts whose submission is unknown, inside the writer's transaction. */
export function createStoreUnmatched(db: DatabaseSync) {
  const findSubmission = db.prepare(
    `select account_id, request_id, n, parts from submissions
     where carrier = ?1 and carrier_message_id = ?2 and ${isAbout("?3", "submissions")}`,
  );
  const insert = db.prepare(
    `insert into parked_receipts (carrier, carrier_message_id, channel, state, error_code, description, at, account_id,
       other_ids, recipient, operator, circle, parked_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (carrier, carrier_message_id, state, recipient) do nothing`,
  );
  return (batch: readonly Receipt[], at: number): (SubmittedMessage | null)[] =>
    batch.map((receipt) => {
      const { carrier, carrierMessageId, recipient } = receipt;
      const row = findSubmission.get(carrier, carrierMessageId, recipient ?? null) as FoundRow | undefined;
      if (row) return submissionOf(row);
      // In column order.
      insert.run(...Object.values(unmatchedRow(receipt)), at);
      return null;
    });
}

const FIND = `
  select wanted.key as place, account_id, request_id, n, parts from json_each(?) as wanted
  join submissions on carrier = wanted.value ->> 0 and carrier_message_id = wanted.value ->> 1
  where ${isAbout("(wanted.value ->> 2)", "submissions")}`;

export async function findSubmissions(
  read: Read,
  batch: Parameters<MessageStore["findSubmissions"]>[0],
): Promise<(SubmittedMessage | null)[]> {
  const wanted = batch.map(({ carrier, carrierMessageId, recipient }) => [carrier, carrierMessageId, recipient]);
  const rows = await read<FoundRow & { place: number }>(FIND, JSON.stringify(wanted));
  const found = new Map(rows.map((row) => [row.place, submissionOf(row)]));
  return batch.map((_, place) => found.get(place) ?? null);
}

const LIST_MATCHABLE = `
  select parked_receipts.*, submissions.account_id, request_id, n, parts
  from parked_receipts join submissions using (carrier, carrier_message_id)
  where id > ? and ${isAbout("parked_receipts.recipient", "submissions")} order by id limit ?`;

export async function listMatchable(
  read: Read,
  limit: number,
  after = 0,
): Promise<(StoredReceipt & { ref: SubmittedMessage })[]> {
  const rows = await read<UnmatchedRow & FoundRow>(LIST_MATCHABLE, after, limit);
  return rows.map((row) => ({ ...storedReceiptOf(row), ref: submissionOf(row) }));
}
