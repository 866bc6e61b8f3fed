import type { Message } from "../../model/message.ts";
import { laneOf, messageOf, oldestFirst } from "../rows.ts";
import { NOBODY, type MessageStore } from "../store.ts";
import type { MessageRow } from "../tables.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";

/** Rows that another claim has its hand on are passed over, so two nodes never wait for each other nor take the same row. */
const CLAIM = `
  with picked as (
    select account_id, request_id, n from messages
    where owner = $2 and lane = $3 and due_at <= $4 and state in ('accepted', 'submitting')
    order by due_at limit $5 for update skip locked
  )
  update messages set owner = $1 from picked
  where messages.account_id = picked.account_id and messages.request_id = picked.request_id and messages.n = picked.n
  returning messages.*`;

export async function claim(query: Query, wanted: Parameters<MessageStore["claim"]>[0]): Promise<Message[]> {
  const { node, from, routeClass, dueBy, limit } = wanted;
  const { rows } = await query<MessageRow>({ text: CLAIM, values: [node, from, laneOf(routeClass), dueBy, limit] });
  return rows.map(messageOf).toSorted(oldestFirst);
}

const REQUESTS = columns({ account_id: "integer", request_id: "uuid" }, 2);

const RELEASE = `
  update messages set owner = ${NOBODY} from ${REQUESTS.rows}
  where messages.account_id = batch.account_id and messages.request_id = batch.request_id
    and owner = $1 and state in ('accepted', 'submitting')`;

export async function release(
  query: Query,
  node: number,
  requests: Parameters<MessageStore["release"]>[1],
): Promise<void> {
  const rows = requests.map(({ accountId, requestId }) => ({ account_id: accountId, request_id: requestId }));
  await query({ text: RELEASE, values: [node, ...REQUESTS.values(rows)] });
}
