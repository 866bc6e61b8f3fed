import type { Message } from "../../model/message.ts";
import { IS_WAITING, laneOf, messageOf, oldestFirst } from "../rows.ts";
import { UNOWNED, StorageUnavailable, type MessageStore } from "../store.ts";
import type { MessageRow } from "../tables.ts";
import { columns } from "./columns.ts";
import type { ConnectionPool, Query } from "./pool.ts";

interface Key {
  account_id: number;
  request_id: string;
  n: number;
}

const KEYS = columns<keyof Key>({ account_id: "integer", request_id: "uuid", n: "integer" }, 2);
const IS_KEY = `messages.account_id = batch.account_id and messages.request_id = batch.request_id and messages.n = batch.n`;

/**
 * `skip locked` passes over rows that another claim has locked, so two nodes never wait for each other or take the same row.
 */
const pick = (order: "asc" | "desc"): string => `
  select account_id, request_id, n from messages
  where owner = $1 and lane = $2 and due_at <= $3 and ${IS_WAITING}
  order by due_at ${order} limit $4 for update skip locked`;
const PICK = pick("asc");
const PICK_LAST = pick("desc");

const TAKE = `update messages set owner = $1 from ${KEYS.rows} where ${IS_KEY} returning messages.*`;

const GIVE_BACK = `
  update messages set owner = ${UNOWNED} from ${KEYS.rows}
  where ${IS_KEY} and owner = $1 and ${IS_WAITING}`;

/**
 * Claims rows, and keeps their keys until the commit is confirmed. If the response to the commit is lost, this node may own
 * rows that it does not process. It releases them before the next claim.
 */
export function createClaim(pool: ConnectionPool): MessageStore["claim"] {
  let lost: { node: number; keys: readonly Key[] }[] = [];

  async function giveBackLost(): Promise<void> {
    for (const { node, keys } of lost) {
      await pool.query({ text: GIVE_BACK, values: [node, ...KEYS.values(keys)] });
      lost = lost.filter((claim) => claim.keys !== keys);
    }
  }

  return async ({ node, from, routeClass, dueBy, lastFirst, limit }): Promise<Message[]> => {
    await giveBackLost();
    let keys: readonly Key[] = [];
    try {
      return await pool.transaction(async (query) => {
        const picked = await query<Key>({
          text: lastFirst ? PICK_LAST : PICK,
          values: [from, laneOf(routeClass), dueBy, limit],
        });
        keys = picked.rows;
        if (keys.length === 0) return [];
        const { rows } = await query<MessageRow>({ text: TAKE, values: [node, ...KEYS.values(keys)] });
        return rows.map(messageOf).toSorted(oldestFirst);
      });
    } catch (error) {
      if (error instanceof StorageUnavailable && keys.length > 0) lost.push({ node, keys });
      throw error;
    }
  };
}

const REQUESTS = columns({ account_id: "integer", request_id: "uuid" }, 2);

const RELEASE = `
  update messages set owner = ${UNOWNED} from ${REQUESTS.rows}
  where messages.account_id = batch.account_id and messages.request_id = batch.request_id
    and owner = $1 and ${IS_WAITING}`;

export async function release(
  query: Query,
  node: number,
  requests: Parameters<MessageStore["release"]>[1],
): Promise<void> {
  const rows = requests.map(({ accountId, requestId }) => ({ account_id: accountId, request_id: requestId }));
  await query({ text: RELEASE, values: [node, ...REQUESTS.values(rows)] });
}
