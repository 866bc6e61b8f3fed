import type { DatabaseSync } from "node:sqlite";
import type { Callback } from "../../model/callback.ts";
import { messageIdOf, type Channel } from "../../model/message.ts";
import { newCallbackOf, rowOfMove, writeFacts } from "../callback-rows.ts";
import { NOBODY, type Announcement, type AnnouncementTarget, type Move } from "../store.ts";
import type { MessageRow } from "../tables.ts";
import { createPutCallback } from "./put-callback.ts";

/** What is told of a message, as it is after the move. */
export interface Facts extends Pick<
  MessageRow,
  "channel" | "carrier" | "sender" | "recipient" | "credits" | "created_at" | "operator" | "circle"
> {
  /** It is in the business's own words. */
  session: boolean;
}

type Other = readonly [kind: string, status: string | null, state: string, owner: number, dueAt: number];

/** What an endpoint was told of a message before, or is to be. */
interface Earlier {
  /** The very same. */
  isTold: boolean;
  /** When the last of what is not in this node's hands is due; null where there is nothing. */
  waitsUntil: number | null;
}

const NOTHING: Earlier = { isTold: false, waitsUntil: null };

type Announce = (move: Move, facts: Facts, announcement: Announcement, isFirstEnd: boolean) => Announced;

interface Announced {
  /** Whether all who ask are told, and by this node. */
  isWhole: boolean;
  /** What this node tells. */
  told(): Callback[];
}

/**
 * Writes down who is to be told of a move that has just been made, inside the writer's transaction. Where it is the first end
 * that the message comes to, whoever is told of ends alone has not been told anything of it, and no look is needed.
 */
export function createAnnounce(db: DatabaseSync): Announce {
  // By itself SQLite would read all callbacks of the account, because the index does not hold every column.
  const find = db.prepare(
    `select kind, status, state, owner, due_at from callbacks indexed by callbacks_of_message
     where account_id = ? and request_id = ? and n = ? and endpoint_id = ?`,
  );
  find.setReturnArrays(true);
  const put = createPutCallback(db);

  function lookBack(
    { accountId, requestId, n }: Move,
    { endpointId, kind, status }: AnnouncementTarget,
    owner: number,
  ): Earlier {
    const others = find.all(accountId, requestId, n, endpointId) as unknown as readonly Other[];
    const isTold = others.some(([otherKind, otherStatus]) => otherKind === kind && otherStatus === status);
    const before = others.filter(([, , state, otherOwner]) => state === "waiting" && otherOwner !== owner);
    return { isTold, waitsUntil: before.length === 0 ? null : Math.max(...before.map(([, , , , dueAt]) => dueAt)) };
  }

  return (move, facts, { owner, dueAt, targets }, isFirstEnd) => {
    const message = {
      messageId: messageIdOf(move),
      channel: facts.channel as Channel,
      recipient: facts.recipient,
      sender: facts.sender,
      credits: facts.credits,
      createdAt: facts.created_at,
      session: facts.session,
      ...(facts.operator === null ? {} : { operator: facts.operator }),
      ...(facts.circle === null ? {} : { circle: facts.circle }),
    };
    const written = writeFacts(message);
    const rows: Parameters<typeof put>[0][] = [];
    let isWhole = true;
    for (const target of targets) {
      const { channel, carrier, endOnly } = target;
      if (channel !== facts.channel || (carrier !== null && carrier !== facts.carrier)) continue;
      const { isTold, waitsUntil } = isFirstEnd && endOnly ? NOTHING : lookBack(move, target, owner);
      // A second route may take a message that a first one has taken: that it was sent is told once.
      if (isTold) {
        isWhole = false;
        continue;
      }
      const callback = {
        ...rowOfMove(move, target, facts.carrier),
        facts: written,
        // Something of this message that is not in this node's hands waits to be told first.
        owner: waitsUntil === null ? owner : NOBODY,
        due_at: waitsUntil === null ? dueAt : Math.max(dueAt, waitsUntil),
      };
      put(callback);
      if (callback.owner === NOBODY) isWhole = false;
      else rows.push(callback);
    }
    return { isWhole, told: () => rows.map((row) => newCallbackOf(row, message)) };
  };
}
