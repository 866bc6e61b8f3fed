import {
  CUSTOMER_STATUSES,
  reachesFinal,
  sourceStatesOf,
  provesSubmit,
  statesShownAs,
  type State,
  OVERTAKEN,
} from "../../model/message.ts";
import type { Callback } from "../../model/callback.ts";
import { CHANGE_BITS, CHANGES, changeExpression, chargeAfterExpression, FROM_STATE, TAKEN } from "../charge.ts";
import {
  changedMessageOf,
  contentAtEnd,
  isAbout,
  ON_ID_USED_AGAIN,
  storedReceiptOf,
  TIMELINE_MAX,
  type ChangedRow,
  type UnmatchedRow,
} from "../rows.ts";
import type { StoredReceipt } from "../store.ts";
import {
  appendsAlways,
  carrierAfter,
  carrierCondition,
  channelCondition,
  countsAttempt,
  endsFailover,
  reportedChannel,
  targetState,
  type AnyTransition,
  type Transition,
  type TransitionResult,
} from "../transition.ts";
import {
  storeCallbacks,
  byEvent,
  COUNT_CALLBACKS,
  CALLBACK_FACTS,
  targetColumns,
  targetRows,
  type NewCallbackRow,
} from "./transition-callbacks.ts";
import { countingMoves, placeOfState, stateAt } from "./campaign-counts.ts";
import { columns } from "./columns.ts";
import { applyFast } from "./fast.ts";
import { isRowFault } from "./faults.ts";
import type { ConnectionPool, Query, Statement } from "./pool.ts";
import { inOrderOfRows, IS_MESSAGE } from "./steps.ts";
import { isStopped } from "../is-stopped.ts";
import { splitIntoSubBatches, type BatchItem } from "../sub-batches.ts";

const STEPS = columns({
  account_id: "integer",
  request_id: "uuid",
  n: "integer",
  to_state: "text",
  owner: "integer",
  owned_by: "integer",
  carried_by: "text",
  due_is: "bigint",
  channel_is: "text",
  attempt_is: "integer",
  unless_submitting: "integer",
  again: "integer",
  due_at: "bigint",
  extend_ms: "bigint",
  carrier: "text",
  carrier_message_id: "text",
  attempts: "integer",
  error_code: "text",
  description: "text",
  submitted_at: "bigint",
  done_at: "bigint",
  settles: "integer",
  at: "bigint",
  tried: "text",
  trail: "text",
  trail_always: "integer",
  failover_at: "bigint",
  failover_ends: "integer",
  refund: "integer",
  channel: "text",
  sender: "text",
  content: "text",
  segments: "integer",
  repeats: "integer",
  operator: "text",
  circle: "text",
  via: "text",
  unless_stopped: "integer",
});

/**
 * Tests whether the transition is legal from the current state. It is an expression over the row, not a join with a table of
 * transitions: after a concurrent update, PostgreSQL re-evaluates it with the new state.
 */
const IS_LEGAL = `case step.to_state ${CUSTOMER_STATUSES.flatMap(statesShownAs)
  .map((to) => `when '${to}' then messages.state = any ('{${sourceStatesOf(to).join(",")}}'::text[])`)
  .join(" ")} end and (step.to_state <> 'cancelled' or messages.submitted_at is null)`;

/** Appends to the timeline. A repeated write, whose first response was lost, finds its entry there already. */
const TIMELINE = `case when step.again = 1 and position(step.trail in messages.trail) > 0 then messages.trail
  when length(coalesce(messages.trail, '')) < ${TIMELINE_MAX}
  then nullif(coalesce(messages.trail, '') || coalesce(step.trail, ''), '') else messages.trail end`;

/** The first write stored the intent, but its response was lost. The repeated write must not count the attempt again. */
const IS_MADE = `step.again = 1 and step.attempts = 1 and step.owner = step.owned_by and messages.state = step.to_state
  and messages.attempts = step.attempt_is + 1`;

/** Clock skew between nodes: no time of a message precedes an earlier one. */
const SUBMITTED_AT = `coalesce(messages.submitted_at, case when step.submitted_at is not null then greatest(step.submitted_at, messages.created_at) end)`;

/** The same rule as `stateAfter`. */
const STATE = `case when step.to_state = '${OVERTAKEN.to}' and messages.state = '${OVERTAKEN.from}' then messages.state else step.to_state end`;

const CHANGE = changeExpression("step.to_state", "step.refund");

const EFFECTS = CHANGES.map(({ kind, amount, held }, index) => `(${index + 1}, '${kind}', ${amount}, ${held})`).join(
  ", ",
);

/** One row per part, because unmatched receipts may exist for any part. */
const BY_PART = `(select place, carrier, carrier_message_id, account_id, request_id, n, 1 as part, 1 as parts, null::text as whole
    from step
    union all
    select step.place, piece.carrier, piece.carrier_message_id, account_id, request_id, n, part, parts, whole
    from piece join step on step.place = step_place) as asked`;

/** Transitions of stopped messages. A separate CTE, so that each message is looked up by its key. */
const STOPPED = `
  stopped as materialized (
    select step.place from step cross join lateral (select * from messages where ${IS_MESSAGE} offset 0) as messages
    where step.unless_stopped = 1 and ${isStopped((content) => `${content}::json ->> 'status'`)}
  ),`;

/**
 * The transition and every dependent change as one statement. It includes callbacks, ids of parts and the check for stops only
 * if a batch needs them.
 */
function statementFor({ targets, parted, stoppable }: Parts): string {
  const submitted = parted ? { rows: BY_PART, name: "asked" } : { rows: "step", name: "step" };
  return `
  with step as materialized (select * from ${STEPS.rows}),${stoppable ? STOPPED : ""}
  moved as (
    update messages set state = ${STATE}, owner = step.owner, due_at = coalesce(step.due_at, messages.due_at),
      expires_at = messages.expires_at + step.extend_ms,
      carrier = coalesce(step.carrier, messages.carrier), attempts = messages.attempts + case when ${IS_MADE} then 0 else step.attempts end,
      repeats = messages.repeats + case when ${IS_MADE} then 0 else step.repeats end, operator = coalesce(step.operator, messages.operator),
      circle = coalesce(step.circle, messages.circle),
      tried = coalesce(step.tried, messages.tried), error_code = step.error_code, description = step.description,
      submitted_at = ${SUBMITTED_AT}, done_at = case when step.done_at is null then messages.done_at else greatest(step.done_at, ${SUBMITTED_AT}, messages.created_at) end,
      asked_channel = case when step.channel <> messages.channel then coalesce(messages.asked_channel, messages.channel) else messages.asked_channel end,
      asked_sender = case when step.channel <> messages.channel then coalesce(messages.asked_sender, messages.sender) else messages.asked_sender end,
      channel = coalesce(step.channel, messages.channel), sender = coalesce(step.sender, messages.sender),
      content = case when step.done_at is null or step.content is not null then coalesce(step.content, messages.content)
        else ${contentAtEnd("messages.content")} end, segments = coalesce(step.segments, messages.segments),
      trail = ${TIMELINE}, charge = ${chargeAfterExpression(CHANGE)}, charge_change = ${CHANGE}
        + case when messages.submitted_at is null and step.submitted_at is not null then ${TAKEN} else 0 end
        + case when messages.campaign_name is null then 0 else ${FROM_STATE} * ${placeOfState("messages.state")} end${targets ? `, ${COUNT_CALLBACKS}` : ""}
    from step
    where ${IS_MESSAGE} and (step.owned_by is null or messages.owner = step.owned_by)
      and (step.carried_by is null or messages.carrier = step.carried_by)
      and (step.due_is is null or messages.due_at = step.due_is)
      and (step.channel_is is null or messages.channel = step.channel_is)
      and (step.unless_submitting = 0 or messages.state <> 'submitting')
      and (step.attempt_is is null or messages.attempts = step.attempt_is or ${IS_MADE}) and ${IS_LEGAL}${
        stoppable ? ` and (step.place not in (select place from stopped) or ${IS_MADE})` : ""
      }
    returning step.place, greatest(step.at, messages.created_at, messages.submitted_at) as at, messages.account_id, messages.request_id, messages.n, messages.credits,
      messages.charge_change, messages.campaign_name, messages.test, messages.state, messages.lane, ${targets ? `coalesce(step.via, messages.channel) as via, ${CALLBACK_FACTS}` : "messages.channel, messages.recipient"}
  ),${targets ? storeCallbacks(targets) : ""}${
    parted
      ? `
  piece as materialized (select * from ${parted}),`
      : ""
  }
${countingMoves("moved", stateAt(`charge_change / ${FROM_STATE}`), "state")},
  noted as (
    update messages set trail = ${TIMELINE} from step
    where ${IS_MESSAGE} and step.trail_always = 1 and step.place not in (select place from moved)
  ),
  effect as (
    select account_id, request_id, n, kind, credits * amount as amount, credits * held as held, at
    from moved join (values ${EFFECTS}) as change (change, kind, amount, held) on change = charge_change & ${CHANGE_BITS} where credits > 0
  ),
  entered as (
    insert into ledger (account_id, request_id, n, kind, amount, held, at)
    select account_id, request_id, n, kind, amount, held, at from effect
  ),
  paid as (
    update balances set balance = balance + amount, held = balances.held + bill.held
    from (select account_id, sum(amount) as amount, sum(held) as held from effect group by account_id) as bill
    where balances.account_id = bill.account_id
  ),
  planned as (
    insert into failovers (account_id, request_id, n, due_at)
    select account_id, request_id, n, failover_at from step where failover_at is not null and place in (select place from moved)
    on conflict (account_id, request_id, n) do update set due_at = excluded.due_at
  ),
  unplanned as (
    delete from failovers using step where step.failover_ends = 1 and step.place in (select place from moved)
      and failovers.account_id = step.account_id and failovers.request_id = step.request_id and failovers.n = step.n
  ),
  submitted as (
    insert into submissions (carrier, carrier_message_id, account_id, request_id, n${parted ? ", part, parts, whole" : ""})
    select distinct on (carrier, carrier_message_id) carrier, carrier_message_id, account_id, request_id, n${parted ? ", part, parts, whole" : ""}
    from ${submitted.rows} where carrier is not null and carrier_message_id is not null
    order by carrier, carrier_message_id, place desc${parted ? ", part" : ""}
    ${ON_ID_USED_AGAIN}
  ),
  settled as (delete from parked_receipts where id in (select settles from step))
  select place, null::integer as id, null as carrier, null as carrier_message_id, channel, null as state, null as error_code,
    null as description, null::bigint as at, null as operator, null as circle, null::text as callback_row, lane, recipient, campaign_name, test, charge_change
  from moved
  union all
  select place, id, parked_receipts.carrier, parked_receipts.carrier_message_id, parked_receipts.channel, parked_receipts.state, parked_receipts.error_code, parked_receipts.description,
    parked_receipts.at, parked_receipts.operator, parked_receipts.circle, null, null, null, null, null, null
  from ${submitted.rows} cross join lateral (
    select * from parked_receipts as early where early.carrier = ${submitted.name}.carrier
      and early.carrier_message_id = ${submitted.name}.carrier_message_id offset 0) as parked_receipts
  where ${isAbout("parked_receipts.recipient", submitted.name)}${
    targets
      ? `
  union all
  select null, null, null, null, null, null, null, null, null, null, null, row_to_json(new_callbacks)::text, null, null, null, null, null from new_callbacks`
      : ""
  }
  order by id`;
}

/** Carrier message ids of parts, passed beside the batch of transitions that report the submit. */
const partColumns = (first: number) =>
  columns(
    {
      step_place: "integer",
      carrier: "text",
      carrier_message_id: "text",
      part: "integer",
      parts: "integer",
      whole: "text",
    },
    first,
  );

const partRows = (batch: readonly AnyTransition[]) =>
  batch.flatMap(({ carrier, partIds = [] }, index) =>
    partIds.map((id, place) => ({
      step_place: index + 1,
      carrier,
      carrier_message_id: id,
      part: place + 1,
      parts: partIds.length,
      whole: partIds[0],
    })),
  );

const TARGETS = targetColumns(STEPS.next);
const PARTS = partColumns(STEPS.next);
const PARTS_AFTER_TARGETS = partColumns(TARGETS.next);

interface Parts {
  targets?: string;
  parted?: string;
  stoppable: boolean;
}

/** The statement variants: rare CTEs are included only if a batch needs them. */
const statementsFor = (stoppable: boolean) => ({
  transition: statementFor({ stoppable }),
  "transition with callbacks": statementFor({ targets: TARGETS.rows, stoppable }),
  "transition parts": statementFor({ parted: PARTS.rows, stoppable }),
  "transition parts with callbacks": statementFor({
    targets: TARGETS.rows,
    parted: PARTS_AFTER_TARGETS.rows,
    stoppable,
  }),
});
const STATEMENTS = statementsFor(false);
const STATEMENTS_UNLESS_STOPPED = statementsFor(true);

function statementOf(batch: readonly AnyTransition[]): Statement {
  const targets = targetRows(batch);
  const parts = partRows(batch);
  const values = STEPS.values(batch.map((step) => rowOf(step)));
  if (targets.length > 0) values.push(...TARGETS.values(targets));
  if (parts.length > 0) values.push(...PARTS.values(parts));
  const kind = `transition${parts.length > 0 ? " parts" : ""}${targets.length > 0 ? " with callbacks" : ""}` as const;
  return batch.some(({ unlessStopped }) => unlessStopped)
    ? { name: `${kind} unless stopped`, text: STATEMENTS_UNLESS_STOPPED[kind], values }
    : { name: kind, text: STATEMENTS[kind], values };
}

/** Applies transitions, by a fast path if the whole batch qualifies. */
export async function transition(
  pool: ConnectionPool,
  batch: readonly Transition[],
): Promise<(TransitionResult | Error)[]> {
  if (batch.length === 0) return [];
  return (await applyFast(pool.query, batch)) ?? applyAny(pool, batch);
}

/** One bad row fails the statement, so the batch is halved until that row is alone. */
async function applyAny(pool: ConnectionPool, batch: readonly Transition[]): Promise<(TransitionResult | Error)[]> {
  try {
    return await applyTogether(pool, batch);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (batch.length === 1) return [error];
    const half = batch.length >> 1;
    return [...(await applyAny(pool, batch.slice(0, half))), ...(await applyAny(pool, batch.slice(half)))];
  }
}

/** Applies transitions by conditional updates. A batch that names a message more than once takes a transaction. */
async function applyTogether(pool: ConnectionPool, batch: readonly Transition[]): Promise<TransitionResult[]> {
  const all = splitIntoSubBatches(batch, ({ accountId, requestId, n }) => `${accountId} ${requestId} ${n}`);
  const [first] = all;
  if (!first) return [];
  const results =
    all.length === 1
      ? await applySubBatch(pool.query, first)
      : await pool.transaction((query) => applySubBatches(query, all));
  return batch.map((_, place) => results.get(place) ?? { moved: false, message: null, unmatched: [], callbacks: [] });
}

type Results = Map<number, Omit<TransitionResult, "unmatched"> & { unmatched: StoredReceipt[] }>;

async function applySubBatches(query: Query, all: readonly (readonly BatchItem<Transition>[])[]): Promise<Results> {
  const results: Results = new Map();
  for (const subBatch of all)
    for (const [place, result] of await applySubBatch(query, subBatch)) results.set(place, result);
  return results;
}

async function applySubBatch(query: Query, subBatch: readonly BatchItem<Transition>[]): Promise<Results> {
  const sorted = inOrderOfRows(subBatch);
  const { rows } = await query<
    (({ id: null; charge_change: number } & ChangedRow) | UnmatchedRow) & {
      place: number | null;
      callback_row: string | null;
    }
  >(statementOf(sorted.map(({ item }) => item)));
  const callbacks = byEvent(
    rows.flatMap((row) => (row.callback_row === null ? [] : [JSON.parse(row.callback_row) as NewCallbackRow])),
  );
  const results: Results = new Map();
  for (const row of rows) {
    if (row.place === null) continue;
    const { place, item } = sorted[row.place - 1] ?? NOWHERE;
    const result = results.get(place) ?? {
      moved: false,
      message: null,
      unmatched: [],
      callbacks: ownedOf(item, callbacks),
    };
    results.set(place, result);
    if (row.id === null) {
      result.moved = true;
      result.message = changedMessageOf(row, (row.charge_change & TAKEN) > 0);
    } else result.unmatched.push(storedReceiptOf(row));
  }
  return results;
}

const NOWHERE = { place: -1, item: null };

/** The callbacks of one transition. */
const ownedOf = (step: AnyTransition | null, callbacks: ReadonlyMap<string, readonly Callback[]>): Callback[] =>
  [...new Set(step?.callbacks?.targets.map(({ eventId }) => eventId))].flatMap(
    (eventId) => callbacks.get(eventId) ?? [],
  );

const rowOf = (step: AnyTransition, to: State | null = targetState(step as Transition)) => ({
  account_id: step.accountId,
  request_id: step.requestId,
  n: step.n,
  to_state: to,
  owner: step.owner,
  owned_by: step.ownedBy,
  carried_by: carrierCondition(step),
  due_is: step.dueIs,
  channel_is: channelCondition(step),
  attempt_is: step.attemptIs,
  unless_submitting: step.unlessSubmitting ? 1 : 0,
  again: step.repeated ? 1 : 0,
  due_at: step.dueAt,
  extend_ms: step.extendMs ?? 0,
  carrier: carrierAfter(step),
  // The ids of parts have rows of their own.
  carrier_message_id: step.partIds ? null : step.carrierMessageId,
  attempts: countsAttempt(step) ? 1 : 0,
  error_code: step.errorCode,
  description: step.description,
  submitted_at: to !== null && provesSubmit(to) ? step.at : null,
  done_at: to !== null && reachesFinal(to) ? step.at : null,
  settles: step.settles,
  at: step.at,
  tried: step.tried && JSON.stringify(step.tried),
  trail: step.timeline,
  trail_always: appendsAlways(step) ? 1 : 0,
  failover_at: step.failoverAt,
  failover_ends: endsFailover(step) ? 1 : 0,
  refund: step.refund ? 1 : 0,
  channel: step.becomes?.channel,
  sender: step.becomes?.sender,
  content: step.becomes && JSON.stringify(step.becomes.content),
  segments: step.becomes?.segments,
  repeats: step.repeat ?? 0,
  operator: step.operator,
  circle: step.circle,
  via: reportedChannel(step),
  unless_stopped: step.unlessStopped ? 1 : 0,
});
