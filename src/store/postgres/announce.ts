import type { Callback } from "../../model/callback.ts";
import { callbackOf } from "../callback-rows.ts";
import { SESSION_PREFIX } from "../rows.ts";
import { NOBODY, type Move } from "../store.ts";
import type { CallbackRow } from "../tables.ts";
import { columns } from "./columns.ts";

/** Who is to be told, beside the batch of moves that they are told of. */
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
 * That a callback waits, said so that it is looked for by its key or its message. While the tables are empty, which is when
 * statements with a name are planned, the server would rather go through the index of all that wait, for every row and ever after.
 */
export const waitsByItself = (callback: string): string => `${callback}.state || '' = 'waiting'`;

/**
 * Writes down who is to be told of the moves that were made, as a part of the statement that makes them. What has to wait
 * for something earlier of its message that is not in this node's hands is born nobody's.
 */
export const announcing = (targets: string): string => `
  announced as (
    insert into callbacks (account_id, event_id, endpoint_id, kind, status, request_id, n, at, error_code, description,
      carrier, facts, state, owner, attempts, due_at)
    select moved.account_id, target.event_id, target.endpoint_id, target.kind, target.status, moved.request_id, moved.n, moved.at,
      moved.error_code, moved.description, moved.carrier,
      json_strip_nulls(json_build_object('messageId', moved.request_id || ':' || moved.n, 'channel', moved.channel, 'recipient', moved.recipient,
        'sender', moved.sender, 'credits', moved.credits, 'createdAt', moved.created_at, 'session', moved.session,
        'operator', moved.operator, 'circle', moved.circle))::text,
      'waiting', case when earlier.due_at is null then target.owner else ${NOBODY} end, 0, greatest(target.due_at, earlier.due_at)
    from moved join (select * from ${targets}) as target on target.step_place = moved.place
      and target.channel = moved.channel and (target.carrier is null or target.carrier = moved.carrier)
    cross join lateral (
      select max(due_at) filter (where state = 'waiting' and owner <> target.owner) as due_at,
        bool_or(kind = target.kind and status is not distinct from target.status) as told
      from callbacks where account_id = moved.account_id and request_id = moved.request_id and n = moved.n
        and endpoint_id = target.endpoint_id
    ) as earlier
    -- A second route may take a message that a first one has taken: that it was sent is told once.
    where earlier.told is not true
    returning callbacks.*
  ),`;

/** What of a moved row its callbacks tell. */
export const TOLD_FACTS = `messages.channel, messages.carrier, messages.sender, messages.recipient, messages.created_at,
  messages.error_code, messages.description, messages.operator, messages.circle, (messages.channel = 'chatapp' and messages.content like '${SESSION_PREFIX}%') as session`;

export const targetRows = (moves: readonly Move[]) =>
  moves.flatMap(({ announce }, index) =>
    (announce?.targets ?? []).map((target) => ({
      step_place: index + 1,
      event_id: target.eventId,
      endpoint_id: target.endpointId,
      kind: target.kind,
      status: target.status,
      channel: target.channel,
      carrier: target.carrier,
      owner: announce?.owner,
      due_at: announce?.dueAt,
    })),
  );

/** What was born this node's, by the event it tells. */
export function byEvent(rows: readonly CallbackRow[]): Map<string, Callback[]> {
  const told = new Map<string, Callback[]>();
  for (const row of rows) {
    if (row.owner === NOBODY) continue;
    told.set(row.event_id, [...(told.get(row.event_id) ?? []), callbackOf(row)]);
  }
  return told;
}
