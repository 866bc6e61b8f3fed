import { CUSTOMER_STATUSES, bringsToEnd, movesInto, provesSubmit, statesShownAs } from "../../model/message.ts";
import type { Callback } from "../../model/callback.ts";
import { isDelivery } from "../as-known.ts";
import { CHANGE_BITS, CHANGES, changeExpression, chargeAfterExpression, TAKEN } from "../charge.ts";
import {
  contentAtEnd,
  isAbout,
  movedOf,
  ON_ID_USED_AGAIN,
  parkedOf,
  TRAIL_MAX,
  type MovedRow,
  type ParkedRow,
} from "../rows.ts";
import type { Move, MoveResult, ParkedReceipt } from "../store.ts";
import type { CallbackRow } from "../tables.ts";
import { announcing, byEvent, TOLD_FACTS, targetColumns, targetRows } from "./announce.ts";
import { columns } from "./columns.ts";
import { deliver } from "./deliver.ts";
import { isRowFault } from "./faults.ts";
import type { ConnectionPool, Query, Statement } from "./pool.ts";
import { pieceColumns, pieceRows } from "./pieces.ts";
import { inOrderOfRows, IS_MESSAGE } from "./known-steps.ts";
import { isShortTaking, take } from "./take.ts";
import { rounds, type Placed } from "../rounds.ts";

const MOVES = columns({
  account_id: "integer",
  request_id: "uuid",
  n: "integer",
  to_state: "text",
  owner: "integer",
  owned_by: "integer",
  carried_by: "text",
  due_is: "bigint",
  channel_is: "text",
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
});

/**
 * Whether the message may go there from where it is. An expression over the row and not a join with a table of moves:
 * when a concurrent move got there first, PostgreSQL judges this again by the state that the other one left behind.
 */
const IS_LEGAL = `case step.to_state ${CUSTOMER_STATUSES.flatMap(statesShownAs)
  .map((to) => `when '${to}' then messages.state = any ('{${movesInto(to).join(",")}}'::text[])`)
  .join(" ")} end`;

const TRAIL = `case when length(coalesce(messages.trail, '')) < ${TRAIL_MAX}
  then nullif(coalesce(messages.trail, '') || coalesce(step.trail, ''), '') else messages.trail end`;

const CHANGE = changeExpression("step.to_state", "step.refund");

const EFFECTS = CHANGES.map(({ kind, amount, held }, index) => `(${index + 1}, '${kind}', ${amount}, ${held})`).join(
  ", ",
);

/** Each part has a row of its own, and receipts may have come for any of them. */
const BY_PART = `(select place, carrier, carrier_message_id, account_id, request_id, n, 1 as part, 1 as parts, null::text as whole
    from step
    union all
    select step.place, piece.carrier, piece.carrier_message_id, account_id, request_id, n, part, parts, whole
    from piece join step on step.place = step_place) as asked`;

/**
 * The move, and everything that must change together with it, as one statement; also who is told, where anybody is, and the
 * ids of parts, where there are any.
 */
function statementFor({ announced, parted }: { announced?: string; parted?: string }): string {
  const submitted = parted ? { rows: BY_PART, name: "asked" } : { rows: "step", name: "step" };
  return `
  with step as materialized (select * from ${MOVES.rows}),
  moved as (
    update messages set state = step.to_state, owner = step.owner, due_at = coalesce(step.due_at, messages.due_at),
      expires_at = messages.expires_at + step.extend_ms,
      carrier = coalesce(step.carrier, messages.carrier), attempts = messages.attempts + step.attempts,
      repeats = messages.repeats + step.repeats, operator = coalesce(step.operator, messages.operator),
      circle = coalesce(step.circle, messages.circle),
      tried = coalesce(step.tried, messages.tried), error_code = step.error_code, description = step.description,
      submitted_at = coalesce(messages.submitted_at, step.submitted_at), done_at = coalesce(step.done_at, messages.done_at),
      channel = coalesce(step.channel, messages.channel), sender = coalesce(step.sender, messages.sender),
      content = case when step.done_at is null or step.content is not null then coalesce(step.content, messages.content)
        else ${contentAtEnd("messages.content")} end, segments = coalesce(step.segments, messages.segments),
      trail = ${TRAIL}, charge = ${chargeAfterExpression(CHANGE)}, charge_change = ${CHANGE}
        + case when messages.submitted_at is null and step.submitted_at is not null then ${TAKEN} else 0 end
    from step
    where ${IS_MESSAGE} and (step.owned_by is null or messages.owner = step.owned_by)
      and (step.carried_by is null or messages.carrier = step.carried_by)
      and (step.due_is is null or messages.due_at = step.due_is)
      and (step.channel_is is null or messages.channel = step.channel_is) and ${IS_LEGAL}
    returning step.place, step.at, messages.account_id, messages.request_id, messages.n, messages.credits,
      messages.charge_change, messages.lane, ${announced ? TOLD_FACTS : "messages.channel, messages.recipient"}
  ),${announced ? announcing(announced) : ""}${
    parted
      ? `
  piece as materialized (select * from ${parted}),`
      : ""
  }
  noted as (
    update messages set trail = ${TRAIL} from step
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
    select account_id, request_id, n, failover_at from step where failover_at is not null and (place in (select place from moved)
      or exists (select 1 from messages where ${IS_MESSAGE} and messages.state = 'enroute'))
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
    null as description, null::bigint as at, null as operator, null as circle, null::text as told, lane, recipient, charge_change
  from moved
  union all
  select place, id, parked_receipts.carrier, parked_receipts.carrier_message_id, parked_receipts.channel, parked_receipts.state, parked_receipts.error_code, parked_receipts.description,
    parked_receipts.at, parked_receipts.operator, parked_receipts.circle, null, null, null, null
  from ${submitted.rows} cross join lateral (
    select * from parked_receipts as early where early.carrier = ${submitted.name}.carrier
      and early.carrier_message_id = ${submitted.name}.carrier_message_id offset 0) as parked_receipts
  where ${isAbout("parked_receipts.recipient", submitted.name)}${
    announced
      ? `
  union all
  select null, null, null, null, null, null, null, null, null, null, null, row_to_json(announced)::text, null, null, null from announced`
      : ""
  }
  order by id`;
}

const TARGETS = targetColumns(MOVES.next);
const PIECES = pieceColumns(MOVES.next);
const PIECES_AFTER_TARGETS = pieceColumns(TARGETS.next);

/** What is seldom needed costs nothing where it is not. */
const MOVE = statementFor({});
const MOVE_AND_TELL = statementFor({ announced: TARGETS.rows });
const MOVE_PARTS = statementFor({ parted: PIECES.rows });
const MOVE_PARTS_AND_TELL = statementFor({ announced: TARGETS.rows, parted: PIECES_AFTER_TARGETS.rows });

function statementOf(moves: readonly Move[]): Statement {
  const targets = targetRows(moves);
  const pieces = pieceRows(moves);
  const values = MOVES.values(moves.map(rowOf));
  if (pieces.length === 0)
    return targets.length === 0
      ? { name: "move", text: MOVE, values }
      : { name: "move and tell", text: MOVE_AND_TELL, values: [...values, ...TARGETS.values(targets)] };
  const parts = PIECES.values(pieces);
  return targets.length === 0
    ? { name: "move parts", text: MOVE_PARTS, values: [...values, ...parts] }
    : {
        name: "move parts and tell",
        text: MOVE_PARTS_AND_TELL,
        values: [...values, ...TARGETS.values(targets), ...parts],
      };
}

/**
 * Moves messages. A batch of none but those that carriers have just taken, or that have come to their phones, has a shorter
 * way, if all is as their sender knows it.
 */
export async function move(pool: ConnectionPool, batch: readonly Move[]): Promise<(MoveResult | Error)[]> {
  return (await moveAsKnown(pool, batch)) ?? moveAny(pool, batch);
}

async function moveAsKnown({ query }: ConnectionPool, batch: readonly Move[]): Promise<MoveResult[] | null> {
  if (batch.length === 0) return [];
  if (batch.every(isShortTaking)) return take(query, batch);
  return batch.every(isDelivery) ? deliver(query, batch) : null;
}

/** What is wrong with one move fails the statement, so the batch is halved until that move stands alone. */
async function moveAny(pool: ConnectionPool, batch: readonly Move[]): Promise<(MoveResult | Error)[]> {
  try {
    return await moveTogether(pool, batch);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (batch.length === 1) return [error];
    const half = batch.length >> 1;
    return [...(await moveAny(pool, batch.slice(0, half))), ...(await moveAny(pool, batch.slice(half)))];
  }
}

/** Changes states, each in one conditional statement; a batch that names a message more than once takes a transaction. */
async function moveTogether(pool: ConnectionPool, batch: readonly Move[]): Promise<MoveResult[]> {
  const all = rounds(batch, ({ accountId, requestId, n }) => `${accountId} ${requestId} ${n}`);
  const [first] = all;
  if (!first) return [];
  const told =
    all.length === 1 ? await moveRound(pool.query, first) : await pool.transaction((query) => moveRounds(query, all));
  return batch.map((_, place) => told.get(place) ?? { moved: false, message: null, parked: [], told: [] });
}

type Told = Map<number, Omit<MoveResult, "parked"> & { parked: ParkedReceipt[] }>;

async function moveRounds(query: Query, all: readonly (readonly Placed<Move>[])[]): Promise<Told> {
  const told: Told = new Map();
  for (const round of all) for (const [place, result] of await moveRound(query, round)) told.set(place, result);
  return told;
}

async function moveRound(query: Query, round: readonly Placed<Move>[]): Promise<Told> {
  const sorted = inOrderOfRows(round);
  const moves = sorted.map(({ item }) => item);
  const { rows } = await query<
    (({ id: null; charge_change: number } & MovedRow) | ParkedRow) & { place: number | null; told: string | null }
  >(statementOf(moves));
  const callbacks = byEvent(rows.flatMap((row) => (row.told === null ? [] : [JSON.parse(row.told) as CallbackRow])));
  const told: Told = new Map();
  for (const row of rows) {
    if (row.place === null) continue;
    const { place, item } = sorted[row.place - 1] ?? NOWHERE;
    const result = told.get(place) ?? { moved: false, message: null, parked: [], told: toldOf(item, callbacks) };
    told.set(place, result);
    if (row.id === null) {
      result.moved = true;
      result.message = movedOf(row, row.charge_change >= TAKEN);
    } else result.parked.push(parkedOf(row));
  }
  return told;
}

const NOWHERE = { place: -1, item: null };

/** What a move has announced. */
const toldOf = (step: Move | null, callbacks: ReadonlyMap<string, readonly Callback[]>): Callback[] =>
  [...new Set(step?.announce?.targets.map(({ eventId }) => eventId))].flatMap(
    (eventId) => callbacks.get(eventId) ?? [],
  );

const rowOf = (step: Move) => ({
  account_id: step.accountId,
  request_id: step.requestId,
  n: step.n,
  to_state: step.to,
  owner: step.owner,
  owned_by: step.ownedBy,
  carried_by: step.carriedBy,
  due_is: step.dueIs,
  channel_is: step.channelIs,
  due_at: step.dueAt,
  extend_ms: step.extendMs ?? 0,
  carrier: step.carrier,
  // Those of parts have rows of their own.
  carrier_message_id: step.partIds ? null : step.carrierMessageId,
  attempts: step.attempt ? 1 : 0,
  error_code: step.errorCode,
  description: step.description,
  submitted_at: provesSubmit(step.to) ? step.at : null,
  done_at: bringsToEnd(step.to) ? step.at : null,
  settles: step.settles,
  at: step.at,
  tried: step.tried && JSON.stringify(step.tried),
  trail: step.trail,
  trail_always: step.trailAlways ? 1 : 0,
  failover_at: step.failoverAt,
  failover_ends: step.failoverAt === null ? 1 : 0,
  refund: step.refund ? 1 : 0,
  channel: step.becomes?.channel,
  sender: step.becomes?.sender,
  content: step.becomes && JSON.stringify(step.becomes.content),
  segments: step.becomes?.segments,
  repeats: step.repeat ?? 0,
  operator: step.operator,
  circle: step.circle,
});
