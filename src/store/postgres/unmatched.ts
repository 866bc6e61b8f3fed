import type { Receipt } from "../../model/receipt.ts";
import { isAbout, storedReceiptOf, unmatchedRow, submissionOf, type UnmatchedRow, type RefRow } from "../rows.ts";
import type { MessageStore, StoredReceipt, SubmittedMessage } from "../store.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";

const IDS = columns({ carrier: "text", carrier_message_id: "text", about: "text" });

/**
 * Lateral join with the submission that a receipt names, looked up by key. A plain join that is planned on an empty table may
 * scan all submissions.
 */
const submissionNamedBy = (receipt: string): string => `lateral (
  select submission.* from submissions as submission
  where submission.carrier = ${receipt}.carrier and submission.carrier_message_id = ${receipt}.carrier_message_id offset 0)`;

const FIND = `
  select place, account_id, request_id, n, parts from ${IDS.rows} cross join ${submissionNamedBy("batch")} as submissions
  where ${isAbout("about", "submissions")}`;

export async function findSubmissions(
  query: Query,
  batch: Parameters<MessageStore["findSubmissions"]>[0],
): Promise<(SubmittedMessage | null)[]> {
  const values = IDS.values(
    batch.map((wanted) => ({
      carrier: wanted.carrier,
      carrier_message_id: wanted.carrierMessageId,
      about: wanted.recipient,
    })),
  );
  const { rows } = await query<FoundRow>({ name: "find submissions", text: FIND, values });
  return inPlaces(batch.length, rows);
}

const RECEIPTS = columns(
  {
    carrier: "text",
    carrier_message_id: "text",
    channel: "text",
    state: "text",
    error_code: "text",
    description: "text",
    at: "bigint",
    account_id: "integer",
    other_ids: "text",
    recipient: "text",
    operator: "text",
    circle: "text",
  },
  2,
);

/**
 * A submit that commits concurrently is not visible here, and does not see the receipts stored here. `listMatchable` finds
 * these pairs afterwards.
 */
const PARK = `
  with receipt as materialized (select * from ${RECEIPTS.rows}),
  known as (
    select place, submissions.account_id, request_id, n, parts from receipt cross join ${submissionNamedBy("receipt")} as submissions
    where ${isAbout("receipt.recipient", "submissions")}
  ),
  parked as (
    insert into parked_receipts (carrier, carrier_message_id, channel, state, error_code, description, at, parked_at,
      account_id, other_ids, recipient, operator, circle)
    select carrier, carrier_message_id, channel, state, error_code, description, at, $1::bigint, account_id, other_ids, recipient,
      operator, circle
    from receipt
    where place not in (select place from known) order by place
    on conflict (carrier, carrier_message_id, state, recipient) do nothing
  )
  select * from known`;

export async function storeUnmatched(
  query: Query,
  batch: readonly Receipt[],
  at: number,
): Promise<(SubmittedMessage | null)[]> {
  const values = [at, ...RECEIPTS.values(batch.map(unmatchedRow))];
  const { rows } = await query<FoundRow>({ text: PARK, values });
  return inPlaces(batch.length, rows);
}

const PARKED_WITH_MESSAGE = `
  select parked_receipts.*, submissions.account_id, request_id, n, parts
  from parked_receipts cross join ${submissionNamedBy("parked_receipts")} as submissions
  where parked_receipts.id > $2 and ${isAbout("parked_receipts.recipient", "submissions")} order by id limit $1`;

export async function listMatchable(
  query: Query,
  limit: number,
  after = 0,
): Promise<(StoredReceipt & { ref: SubmittedMessage })[]> {
  const { rows } = await query<UnmatchedRow & FoundRow>({ text: PARKED_WITH_MESSAGE, values: [limit, after] });
  return rows.map((row) => ({ ...storedReceiptOf(row), ref: submissionOf(row) }));
}

type FoundRow = RefRow & { place: number; parts: number };

function inPlaces(length: number, rows: readonly FoundRow[]): (SubmittedMessage | null)[] {
  const found: (SubmittedMessage | null)[] = Array.from({ length }, () => null);
  for (const row of rows) found[row.place - 1] = submissionOf(row);
  return found;
}
