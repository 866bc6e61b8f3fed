import { FREE, TAKEN } from "../charge.ts";
import { isAbout, ON_ID_USED_AGAIN, parkedOf, TRAIL_MAX, type ParkedRow } from "../rows.ts";
import type { Move, MoveResult, ParkedReceipt } from "../store.ts";
import { isTaking, movedAsKnown, type Taking } from "../as-known.ts";
import { columns } from "./columns.ts";
import { isRowFault } from "./faults.ts";
import { ALL_OF_THEM, inOrderOfRows, IS_MESSAGE, STEP_COLUMNS, stepRow } from "./known-steps.ts";
import type { Query } from "./pool.ts";

/** A move that says no more than the statement here writes. */
type ShortTaking = Taking & { carrierMessageId: string; partIds?: undefined; failoverAt?: undefined };

export const isShortTaking = (move: Move): move is ShortTaking =>
  isTaking(move) && move.carrierMessageId !== undefined && move.partIds === undefined && move.failoverAt === undefined;

const STEPS = columns({ ...STEP_COLUMNS, carrier_message_id: "text" });

/** Said so that it is looked for by its key: on empty tables, the server would rather go through all that wait. */
const IS_SUBMITTING = `messages.state || '' = 'submitting'`;

/** Where one of them is not what its sender took it for, none is written. */
const TAKE = `
  with step as materialized (select * from ${STEPS.rows}),
  taken as (
    update messages set state = 'submitted', owner = step.owner, carrier = step.carrier, error_code = null, description = null,
      submitted_at = step.at, trail = messages.trail || step.trail, charge_change = ${TAKEN}
    from step
    where ${IS_MESSAGE} and messages.channel = step.channel and ${IS_SUBMITTING} and messages.submitted_at is null
      and messages.charge = ${FREE} and octet_length(messages.trail) < ${TRAIL_MAX}
    returning step.place, step.carrier, step.carrier_message_id, messages.account_id, messages.request_id, messages.n
  ),
  submitted as (
    insert into submissions (carrier, carrier_message_id, account_id, request_id, n)
    select distinct on (carrier, carrier_message_id) carrier, carrier_message_id, account_id, request_id, n
    from taken order by carrier, carrier_message_id, place desc
    ${ON_ID_USED_AGAIN}
  )
  select taken.place, id, parked_receipts.carrier, parked_receipts.carrier_message_id, channel, state, error_code, description, at,
    operator, circle
  from taken cross join lateral (
    select * from parked_receipts as early where early.carrier = taken.carrier
      and early.carrier_message_id = taken.carrier_message_id offset 0) as parked_receipts
  where ${isAbout("parked_receipts.recipient", "taken")}
  union all
  select null, null, null, null, null, null, null, null, null, null, null from ${ALL_OF_THEM("taken")}
  order by id`;

/**
 * Writes down that carriers have messages which are as they were when they were handed over, by a statement that has to do with
 * three tables where the general one has to do with seven. Null where one of them is not: then nothing is written of any.
 */
export async function take(query: Query, batch: readonly ShortTaking[]): Promise<MoveResult[] | null> {
  const sorted = inOrderOfRows(batch.map((item, place) => ({ item, place })));
  const values = STEPS.values(
    sorted.map(({ item }) => ({ ...stepRow(item), carrier_message_id: item.carrierMessageId })),
  );
  try {
    const { rows } = await query<({ place: number } & ParkedRow) | { id: null }>({ name: "take", text: TAKE, values });
    const parked = batch.map((): ParkedReceipt[] => []);
    for (const row of rows) if (row.id !== null) parked[sorted[row.place - 1]?.place ?? 0]?.push(parkedOf(row));
    return batch.map((step, place) => ({ ...movedAsKnown(step), parked: parked[place] ?? [] }));
  } catch (error) {
    if (isRowFault(error)) return null;
    throw error;
  }
}
