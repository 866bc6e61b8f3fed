import type { DatabaseSync } from "node:sqlite";
import type { Message } from "../../model/message.ts";
import { IS_WAITING, laneOf, messageOf, oldestFirst } from "../rows.ts";
import { UNOWNED, type MessageStore } from "../store.ts";
import type { MessageRow } from "../tables.ts";

/** Claims messages, inside the writer's transaction. */
export function createClaim(db: DatabaseSync) {
  const take = (order: "asc" | "desc") =>
    db.prepare(
      `update messages set owner = ? where (account_id, request_id, n) in (
         select account_id, request_id, n from messages
         where owner = ? and lane = ? and due_at <= ? and ${IS_WAITING}
         order by due_at ${order} limit ?)
       returning *`,
    );
  const takeFirst = take("asc");
  const takeLast = take("desc");
  return ({ node, from, routeClass, dueBy, lastFirst, limit }: Parameters<MessageStore["claim"]>[0]): Message[] => {
    const statement = lastFirst ? takeLast : takeFirst;
    const rows = statement.all(node, from, laneOf(routeClass), dueBy, limit) as unknown as MessageRow[];
    return rows.map(messageOf).toSorted(oldestFirst);
  };
}

/** Releases the waiting messages of requests, inside the writer's transaction. */
export function createRelease(db: DatabaseSync) {
  const release = db.prepare(
    `update messages set owner = ${UNOWNED}
     where account_id = ? and request_id = ? and owner = ? and ${IS_WAITING}`,
  );
  return (node: number, requests: Parameters<MessageStore["release"]>[1]): void => {
    for (const { accountId, requestId } of requests) release.run(accountId, requestId, node);
  };
}
