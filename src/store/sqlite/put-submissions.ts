import type { DatabaseSync } from "node:sqlite";
import type { MessageRef } from "../../model/message.ts";
import { ON_ID_USED_AGAIN } from "../rows.ts";

/** Fixed lengths of a request id and of the padded recipient index in a packed text. */
const REQUEST_ID_LENGTH = 36;
const PLACE_LENGTH = 6;
const PLACE_AT = REQUEST_ID_LENGTH + 1;
const ID_AT = PLACE_AT + PLACE_LENGTH;

/** Carrier message ids, collected so that one statement writes them. */
export interface Submissions {
  /** False for an id that must be written separately. */
  add(carrier: string, carrierMessageId: string, ref: MessageRef): boolean;
  /** Writes the ids that were added since the last call. */
  write(): void;
}

/**
 * Writes many ids by one statement, inside the writer's transaction, which halves the time. Each id is one text of fixed-length
 * fields, except for the last field.
 */
export function createPutSubmissions(db: DatabaseSync): () => Submissions {
  const insert = db.prepare(
    `insert into submissions (carrier, carrier_message_id, account_id, request_id, n)
     select ?1, substr(value, ${ID_AT}), ?2, substr(value, 1, ${REQUEST_ID_LENGTH}), cast(substr(value, ${PLACE_AT}, ${PLACE_LENGTH}) as integer)
     from json_each(?3) where true ${ON_ID_USED_AGAIN}`,
  );
  return () => {
    let groups: Group[] = [];
    const groupOf = (carrier: string, accountId: number): Group => {
      const known = groups.findLast((group) => group.carrier === carrier && group.accountId === accountId);
      if (known) return known;
      const group = { carrier, accountId, texts: [] };
      groups.push(group);
      return group;
    };
    return {
      add(carrier, carrierMessageId, { accountId, requestId, n }) {
        const place = String(n).padStart(PLACE_LENGTH, "0");
        const isUsual = requestId.length === REQUEST_ID_LENGTH && place.length === PLACE_LENGTH;
        // SQLite's substr stops at a NUL.
        if (!isUsual || carrierMessageId.includes("\0")) return false;
        groupOf(carrier, accountId).texts.push(requestId + place + carrierMessageId);
        return true;
      },
      write() {
        for (const { carrier, accountId, texts } of groups) insert.run(carrier, accountId, JSON.stringify(texts));
        groups = [];
      },
    };
  };
}

interface Group {
  carrier: string;
  accountId: number;
  texts: string[];
}
