import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Receipt } from "../../carriers/carrier.ts";
import type { Callback } from "../../model/callback.ts";
import type { Message } from "../../model/message.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import type { CallbackStore } from "../callback-store.ts";
import { callbackOf } from "../callback-rows.ts";
import { IS_WAITING, isAbout, laneOf, messageOf, oldestFirst, parkedRow, submissionOf, type RefRow } from "../rows.ts";
import { NOBODY, type AcceptResult, type MessageStore, type Move, type MoveResult, type Submission } from "../store.ts";
import type { CallbackRow, MessageRow } from "../tables.ts";
import { CODE_TAKEN, createAccept, UNPAID_CODE } from "./accept.ts";
import { createCheck } from "./check-codes.ts";
import type { Failed, Isolation } from "./isolation.ts";
import { createIntend, eachOf, isRun } from "./intend.ts";
import { createMove } from "./move.ts";
import { INSERT_CLICK, type PackedClick } from "./links.ts";
import type { PackedCheck, PackedResult } from "./pack-checks.ts";
import { isPacked, unpackMove, type PackedMove } from "./pack-moves.ts";
import type { Packed } from "./packing.ts";
import { createSettleCallbacks } from "./settle-callbacks.ts";

const FORGET_AT_ONCE = 1000;

type Values = readonly SQLInputValue[];
type PlainQuery = { sql: string; values: Values };

/**
 * The writes, as they run inside the writer's thread. Each runs in a transaction that the writer opened,
 * together with whatever else was waiting; statements are prepared once and kept.
 */
export function createCommands(db: DatabaseSync, isolation: Isolation) {
  const kept = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    let statement = kept.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      kept.set(sql, statement);
    }
    return statement;
  };

  const acceptAll = createAccept(db);
  const beginMoves = createMove(db);
  const intend = createIntend(db);
  const checkAll = createCheck(db);
  const findSubmission = db.prepare(
    `select account_id, request_id, n, parts from submissions
     where carrier = ?1 and carrier_message_id = ?2 and ${isAbout("?3", "submissions")}`,
  );
  const insertParked = db.prepare(
    `insert into parked_receipts (carrier, carrier_message_id, channel, state, error_code, description, at, account_id,
       other_ids, recipient, operator, circle, parked_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (carrier, carrier_message_id, state, recipient) do nothing`,
  );
  const insertPhoneMessage = db.prepare(
    `insert into phone_messages (account_id, id, number, sender, channel, content, message_id, received_at, reports_due_at, carrier)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (account_id, id) do nothing`,
  );
  const countOnPhone = db.prepare(
    `insert into phones (account_id, number, name, message_count, last_message_at) values (?, ?, null, 1, ?)
     on conflict (account_id, number) do update set message_count = message_count + 1, last_message_at = excluded.last_message_at`,
  );

  const insertClick = db.prepare(INSERT_CLICK);
  const runAll = (queries: readonly PlainQuery[]): void => {
    for (const { sql, values } of queries) db.prepare(sql).run(...values);
  };

  return {
    accept(batch: readonly Packed[]): (AcceptResult | Failed)[] {
      return isolation.together(batch, acceptAll).map((result) => {
        if (!("failed" in result)) return result;
        if (result.failed.message === UNPAID_CODE) return { kind: "unpaid" };
        return result.failed.message === CODE_TAKEN ? { kind: "code taken" } : result;
      });
    },

    /** Null is what `movedAsKnown` says of the move. */
    move(batch: readonly PackedMove[]): (MoveResult | Failed | null)[] {
      const { moveOne, moveAsKnown, end } = beginMoves(isolation.careful);
      const alone = (move: Move): MoveResult | Failed | null => isolation.alone(() => moveOne(move));
      const results = batch.flatMap((step) => {
        if (isPacked(step)) return isolation.alone(() => moveAsKnown(unpackMove(step)));
        if (!isRun(step)) return alone(step);
        const isWritten = isolation.alone(() => intend(step)) === true;
        return isWritten ? Array.from({ length: step.count }, () => null) : eachOf(step).map(alone);
      });
      end();
      return results;
    },

    checkCodes: (batch: readonly PackedCheck[]): (PackedResult | Failed)[] => isolation.together(batch, checkAll),

    claim({ node, from, routeClass, dueBy, lastFirst, limit }: Parameters<MessageStore["claim"]>[0]): Message[] {
      const rows = prepare(
        `update messages set owner = ? where (account_id, request_id, n) in (
           select account_id, request_id, n from messages
           where owner = ? and lane = ? and due_at <= ? and ${IS_WAITING}
           order by due_at ${lastFirst ? "desc" : ""} limit ?)
         returning *`,
      ).all(node, from, laneOf(routeClass), dueBy, limit) as unknown as MessageRow[];
      return rows.map(messageOf).toSorted(oldestFirst);
    },

    /** What is to be told of one message is taken in order. */
    claimCallbacks({ node, from, dueBy, limit }: Parameters<CallbackStore["claimCallbacks"]>[0]): Callback[] {
      const rows = prepare(
        `update callbacks set owner = ? where (account_id, event_id, endpoint_id) in (
           select account_id, event_id, endpoint_id from callbacks as due
           where owner = ? and due_at <= ? and state = 'waiting' and not exists (
             select 1 from callbacks as earlier indexed by callbacks_of_message
             where earlier.account_id = due.account_id and earlier.request_id = due.request_id and earlier.n = due.n
               and earlier.endpoint_id = due.endpoint_id and earlier.state = 'waiting' and earlier.event_id < due.event_id)
           order by due_at limit ?)
         returning *`,
      ).all(node, from, dueBy, limit) as unknown as CallbackRow[];
      return rows.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1)).map(callbackOf);
    },

    settleCallbacks: createSettleCallbacks(db),

    release(node: number, requests: Parameters<MessageStore["release"]>[1]): void {
      const statement = prepare(
        `update messages set owner = ${NOBODY}
         where account_id = ? and request_id = ? and owner = ? and ${IS_WAITING}`,
      );
      for (const { accountId, requestId } of requests) statement.run(accountId, requestId, node);
    },

    park(batch: readonly Receipt[], at: number): (Submission | null)[] {
      return batch.map((receipt) => {
        const row = findSubmission.get(receipt.carrier, receipt.carrierMessageId, receipt.recipient ?? null) as
          | (RefRow & { parts: number })
          | undefined;
        if (row) return submissionOf(row);
        // In the order of its columns.
        insertParked.run(...Object.values(parkedRow(receipt)), at);
        return null;
      });
    },

    receiveOnPhones(batch: readonly PhoneMessage[]): void {
      for (const message of batch) {
        const { changes } = insertPhoneMessage.run(
          message.accountId,
          message.id,
          message.number,
          message.sender,
          message.channel,
          JSON.stringify(message.content),
          message.messageId,
          message.receivedAt,
          message.reportsDueAt,
          message.carrier,
        );
        if (changes === 1) countOnPhone.run(message.accountId, message.number, message.receivedAt);
      }
    },

    markReported(batch: readonly Pick<PhoneMessage, "accountId" | "id">[]): void {
      const statement = prepare("update phone_messages set reports_due_at = null where account_id = ? and id = ?");
      for (const { accountId, id } of batch) statement.run(accountId, id);
    },

    forget(before: Parameters<MessageStore["forget"]>[0]): number {
      const keys = prepare(
        `delete from idempotency where (account_id, path, key) in
           (select account_id, path, key from idempotency where created_at < ? limit ${FORGET_AT_ONCE})`,
      ).run(before.idempotency);
      const receipts = prepare(
        `delete from parked_receipts where id in (select id from parked_receipts where parked_at < ? limit ${FORGET_AT_ONCE})`,
      ).run(before.parked);
      return Number(keys.changes) + Number(receipts.changes);
    },

    leave(node: number): void {
      prepare(`update messages set owner = ${NOBODY} where owner = ? and ${IS_WAITING}`).run(node);
      prepare(`update callbacks set owner = ${NOBODY} where owner = ? and state = 'waiting'`).run(node);
      prepare("delete from nodes where id = ?").run(node);
    },

    /** Any single statement, for the shared queries. */
    query(sql: string, values: Values): { rows: unknown[]; changes: number } {
      const statement = db.prepare(sql);
      if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 };
      return { rows: [], changes: Number(statement.run(...values).changes) };
    },

    atomically: runAll,

    recordClicks(batch: readonly PackedClick[], told: readonly PlainQuery[]): void {
      for (const click of batch) insertClick.run(...click);
      runAll(told);
    },
  };
}

export type Commands = ReturnType<typeof createCommands>;
