import type { Receipt } from "../../carriers/carrier.ts";
import type { MessageRef } from "../../model/message.ts";
import { parkedOf, refOf, type ParkedRow, type RefRow } from "../rows.ts";
import type { MessageStore, ParkedReceipt } from "../store.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";

const IDS = columns({ carrier: "text", carrier_message_id: "text" });

const FIND = `
  select place, account_id, request_id, n from ${IDS.rows} join submissions using (carrier, carrier_message_id)`;

export async function findSubmissions(
  query: Query,
  batch: Parameters<MessageStore["findSubmissions"]>[0],
): Promise<(MessageRef | null)[]> {
  const values = IDS.values(
    batch.map((wanted) => ({ carrier: wanted.carrier, carrier_message_id: wanted.carrierMessageId })),
  );
  const { rows } = await query<RefRow & { place: number }>({ name: "find submissions", text: FIND, values });
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
  },
  2,
);

/**
 * A submit that commits at the same moment is not seen here, and does not see what is parked here:
 * `parkedWithMessage` finds such pairs afterwards.
 */
const PARK = `
  with receipt as materialized (select * from ${RECEIPTS.rows}),
  known as (
    select place, submissions.account_id, request_id, n from receipt join submissions using (carrier, carrier_message_id)
  ),
  parked as (
    insert into parked_receipts (carrier, carrier_message_id, channel, state, error_code, description, at, parked_at)
    select carrier, carrier_message_id, channel, state, error_code, description, at, $1::bigint from receipt
    where place not in (select place from known) order by place
    on conflict (carrier, carrier_message_id, state) do nothing
  )
  select * from known`;

export async function park(query: Query, batch: readonly Receipt[], at: number): Promise<(MessageRef | null)[]> {
  const receipts = batch.map((receipt) => ({
    carrier: receipt.carrier,
    carrier_message_id: receipt.carrierMessageId,
    channel: receipt.channel,
    state: receipt.state,
    error_code: receipt.errorCode,
    description: receipt.description,
    at: receipt.at,
  }));
  const { rows } = await query<RefRow & { place: number }>({ text: PARK, values: [at, ...RECEIPTS.values(receipts)] });
  return inPlaces(batch.length, rows);
}

const PARKED_WITH_MESSAGE = `
  select parked_receipts.*, account_id, request_id, n
  from parked_receipts join submissions using (carrier, carrier_message_id) order by id limit $1`;

export async function parkedWithMessage(query: Query, limit: number): Promise<(ParkedReceipt & { ref: MessageRef })[]> {
  const { rows } = await query<ParkedRow & RefRow>({ text: PARKED_WITH_MESSAGE, values: [limit] });
  return rows.map((row) => ({ ...parkedOf(row), ref: refOf(row) }));
}

function inPlaces(length: number, rows: readonly (RefRow & { place: number })[]): (MessageRef | null)[] {
  const refs: (MessageRef | null)[] = Array.from({ length }, () => null);
  for (const row of rows) refs[row.place - 1] = refOf(row);
  return refs;
}
