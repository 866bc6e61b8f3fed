import { movedAsKnown, type Delivery } from "../as-known.ts";
import { FREE } from "../charge.ts";
import { contentAtEnd, TRAIL_MAX } from "../rows.ts";
import { NOBODY, type MoveResult } from "../store.ts";
import { announcing, targetColumns, targetRows, TOLD_FACTS } from "./announce.ts";
import { columns } from "./columns.ts";
import { isRowFault } from "./faults.ts";
import { ALL_OF_THEM, inOrderOfRows, IS_MESSAGE, STEP_COLUMNS, stepRow } from "./known-steps.ts";
import type { Query, Statement } from "./pool.ts";

const STEPS = columns({ ...STEP_COLUMNS, error_code: "text", description: "text" });

const TARGETS = targetColumns(STEPS.next);

/** Said so that it is looked for by its key, as in `take`. */
const IS_SUBMITTED = `messages.state || '' = 'submitted'`;

/** Where one of them is not what its sender took it for, none is written. */
const statementFor = (targets: string | null): string => `
  with step as materialized (select * from ${STEPS.rows}),
  moved as (
    update messages set state = 'delivered', owner = step.owner, carrier = step.carrier, error_code = step.error_code,
      description = step.description, done_at = step.at, content = ${contentAtEnd("messages.content")},
      trail = messages.trail || step.trail, charge_change = 0
    from step
    where ${IS_MESSAGE} and messages.channel = step.channel and ${IS_SUBMITTED} and messages.submitted_at is not null
      and messages.operator is null and messages.circle is null and messages.charge = ${FREE}
      and octet_length(messages.trail) < ${TRAIL_MAX}
    returning step.place, step.at, messages.account_id, messages.request_id, messages.n, messages.credits, ${TOLD_FACTS}
  ),${targets === null ? "" : announcing(targets)}
  unplanned as (
    delete from failovers using step where failovers.account_id = step.account_id and failovers.request_id = step.request_id
      and failovers.n = step.n
  )
  ${targets === null ? "" : `select event_id, endpoint_id from announced where owner <> ${NOBODY} union all`}
  select null, null from ${ALL_OF_THEM("moved")}`;

const DELIVER = statementFor(null);
const DELIVER_AND_TELL = statementFor(TARGETS.rows);

/**
 * Writes down that messages have come to their phones which are as they were when carriers took them, and who is told of it.
 * Null where one of them is not: then nothing is written of any.
 */
export async function deliver(query: Query, batch: readonly Delivery[]): Promise<MoveResult[] | null> {
  try {
    const { rows } = await query<{ event_id: string | null; endpoint_id: string | null }>(statementOf(batch));
    const told = new Set(rows.map((row) => `${row.event_id} ${row.endpoint_id}`));
    return batch.map((move) => {
      const known = movedAsKnown(move);
      return { ...known, told: known.told.filter(({ eventId, endpointId }) => told.has(`${eventId} ${endpointId}`)) };
    });
  } catch (error) {
    if (isRowFault(error)) return null;
    throw error;
  }
}

function statementOf(batch: readonly Delivery[]): Statement {
  const sorted = inOrderOfRows(batch.map((item, place) => ({ item, place }))).map(({ item }) => item);
  const values = STEPS.values(sorted.map(rowOf));
  const targets = targetRows(sorted);
  return targets.length === 0
    ? { name: "deliver", text: DELIVER, values }
    : { name: "deliver and tell", text: DELIVER_AND_TELL, values: [...values, ...TARGETS.values(targets)] };
}

const rowOf = (step: Delivery) => ({ ...stepRow(step), error_code: step.errorCode, description: step.description });
