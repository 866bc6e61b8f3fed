import type { Callback } from "../../model/callback.ts";
import { callbackOf } from "../callback-rows.ts";
import { COST } from "../charge.ts";
import { SESSION_PREFIX } from "../rows.ts";
import { UNOWNED } from "../store.ts";
import type { CallbackRow } from "../tables.ts";
import type { AnyTransition } from "../transition.ts";
import { columns } from "./columns.ts";

/** Callback targets, passed beside the batch of transitions that trigger them. */
export const targetColumns = (first: number) =>
  columns(
    {
      step_place: "integer",
      event_id: "uuid",
      endpoint_id: "uuid",
      kind: "text",
      status: "text",
      channel: "text",
      carrier: "text",
      owner: "integer",
      due_at: "bigint",
    },
    first,
  );

/**
 * Tests for a waiting callback in a form that hides the index of waiting callbacks, so the planner looks rows up by key or by
 * message. Named statements are planned while the tables are empty. The planner would then choose that index and keep the plan.
 */
export const waitsByItself = (callback: string): string => `${callback}.state || '' = 'waiting'`;

/** Part of the message update in statements that store callbacks: the row lock decides the order of callbacks. */
export const COUNT_CALLBACKS = "callback_seq = messages.callback_seq + 1";

/** Leaves free numbers between two transitions for callbacks stored without a transition, for example of a phone's reply. */
const SEQ_BITS = 16;

/** A message's own callback names its endpoint. */
const OWN_ENDPOINT = "(moved.callback::json ->> 'endpointId')::uuid";

/** The message's own callback tells the channel of the request. */
const REPORTED_CHANNEL = "coalesce(target.channel, moved.asked_channel, moved.channel)";

/**
 * Stores the callbacks of the transitions that took place, as part of the statement that applies them.
 *
 * A statement reads its snapshot, which is older than the row lock if it had to wait for the lock. The counter has then grown
 * by more than one since the snapshot, and the snapshot may lack an earlier callback. The new callback is then stored unowned,
 * and also while this node does not own an earlier one. A later claim sees them all and keeps the order. `follows` lists the
 * waiting callbacks of this node: it may have deferred them since the snapshot, which only its memory knows.
 */
export const storeCallbacks = (targets: string): string => `
  new_callbacks as materialized (
    select moved.account_id, target.event_id, coalesce(target.endpoint_id, ${OWN_ENDPOINT}) as endpoint_id, target.kind, target.status, moved.request_id, moved.n, moved.at,
      moved.error_code, moved.description, moved.carrier,
      json_strip_nulls(json_build_object('messageId', moved.request_id || ':' || moved.n, 'channel', ${REPORTED_CHANNEL}, 'recipient', moved.recipient,
        'sender', case when ${REPORTED_CHANNEL} = moved.channel then moved.sender else moved.asked_sender end, 'credits', moved.cost, 'createdAt', moved.created_at, 'session', moved.session,
        'operator', moved.operator, 'circle', moved.circle,
        'via', case when ${REPORTED_CHANNEL} <> moved.channel and ${REPORTED_CHANNEL} <> moved.via then moved.via end,
        'callback', case when target.endpoint_id is null then moved.callback::json end))::text as facts,
      case when earlier.due_at is null and earlier.callback_seq + 1 = moved.callback_seq then target.owner else ${UNOWNED} end as owner,
      0 as attempts, greatest(target.due_at, earlier.due_at) as due_at, moved.callback_seq::bigint << ${SEQ_BITS} as seq,
      earlier.follows
    from moved join (select * from ${targets}) as target on target.step_place = moved.place
      and (target.channel is null or target.channel = moved.channel or target.channel = moved.asked_channel)
      and (target.endpoint_id is not null or jsonb_exists(moved.callback::jsonb -> 'states', target.status)) and (target.carrier is null or target.carrier = moved.carrier)
    cross join lateral (
      select max(due_at) filter (where state = 'waiting' and owner <> target.owner) as due_at,
        bool_or(kind = target.kind and status is not distinct from target.status) as is_repeated,
        string_agg(event_id::text, ' ') filter (where state = 'waiting') as follows,
        (select callback_seq from messages as before where before.account_id = moved.account_id
          and before.request_id = moved.request_id and before.n = moved.n) as callback_seq
      from callbacks where account_id = moved.account_id and request_id = moved.request_id and n = moved.n
        and endpoint_id = coalesce(target.endpoint_id, ${OWN_ENDPOINT})
    ) as earlier
    -- A second route may submit the message again: its sent callback is stored once.
    where earlier.is_repeated is not true
      -- An endpoint that follows both the channel of the request and that of the fallback gets the event once, for the former.
      and (moved.asked_channel is null or target.channel is null or target.channel = moved.asked_channel or not exists (
        select 1 from (select * from ${targets}) as other where other.step_place = target.step_place
          and other.endpoint_id = target.endpoint_id and other.kind = target.kind and other.channel = moved.asked_channel))
  ),
  stored as (
    insert into callbacks (account_id, event_id, endpoint_id, kind, status, request_id, n, at, error_code, description,
      carrier, facts, state, owner, attempts, due_at, seq)
    select account_id, event_id, endpoint_id, kind, status, request_id, n, at, error_code, description, carrier, facts, 'waiting',
      owner, attempts, due_at, seq
    from new_callbacks
  ),`;

/** Columns of the changed message that its callbacks report. */
export const CALLBACK_FACTS = `messages.channel, messages.carrier, messages.sender, messages.recipient, messages.created_at,
  messages.error_code, messages.description, messages.operator, messages.circle, messages.callback_seq, ${COST} as cost,
  messages.asked_channel, messages.asked_sender, messages.callback,
  (messages.channel = 'chatapp' and messages.content like '${SESSION_PREFIX}%') as session`;

export const targetRows = (batch: readonly AnyTransition[]) =>
  batch.flatMap(({ callbacks }, index) =>
    (callbacks?.targets ?? []).map((target) => ({
      step_place: index + 1,
      event_id: target.eventId,
      endpoint_id: target.endpointId,
      kind: target.kind,
      status: target.status,
      channel: target.channel,
      carrier: target.carrier,
      owner: callbacks?.owner,
      due_at: callbacks?.dueAt,
    })),
  );

/** A row of the CTE `new_callbacks`. */
export type NewCallbackRow = CallbackRow & { follows: string | null };

/** Splits the event ids that the CTE `new_callbacks` returns as one string. */
export const followsOf = (follows: string | null): Pick<Callback, "follows"> =>
  follows === null ? {} : { follows: follows.split(" ") };

/** The new callbacks that this node owns, by event id. */
export function byEvent(rows: readonly NewCallbackRow[]): Map<string, Callback[]> {
  const callbacks = new Map<string, Callback[]>();
  for (const row of rows) {
    if (row.owner === UNOWNED) continue;
    const callback = { ...callbackOf(row), ...followsOf(row.follows) };
    callbacks.set(row.event_id, [...(callbacks.get(row.event_id) ?? []), callback]);
  }
  return callbacks;
}
