import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Receipt } from "../../carriers/carrier.ts";
import { isFinal, movesInto, provesSubmit, type Message, type MessageRef, type State } from "../../model/message.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import {
  describeFailure,
  laneOf,
  messageOf,
  oldestFirst,
  parkedOf,
  refOf,
  type ParkedRow,
  type RefRow,
} from "../rows.ts";
import {
  NOBODY,
  type AcceptResult,
  type MessageStore,
  type Move,
  type MoveResult,
  type ParkedReceipt,
} from "../store.ts";
import type { MessageRow } from "../tables.ts";
import { isStorageFault } from "./faults.ts";
import type { Packed } from "./packing.ts";

const FORGET_AT_ONCE = 1000;

const STORED: AcceptResult = { kind: "stored" };

type Values = readonly SQLInputValue[];

/**
 * The writes, as they run inside the writer's thread. Each runs in a transaction that the writer opened,
 * together with whatever else was waiting; statements are prepared once and kept.
 */
export function createCommands(db: DatabaseSync) {
  const kept = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    let statement = kept.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      kept.set(sql, statement);
    }
    return statement;
  };

  const insertMessage = db.prepare(
    `insert into messages (account_id, request_id, n, channel, lane, test, sender, recipient, content, segments, campaign_name,
       state, owner, error_code, description, created_at, due_at, expires_at, done_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertIdempotency = db.prepare(
    `insert into idempotency (account_id, path, key, body_hash, response, created_at) values (?, ?, ?, ?, ?, ?)
     on conflict (account_id, path, key) do nothing`,
  );
  const findIdempotency = db.prepare(
    "select body_hash, response from idempotency where account_id = ? and path = ? and key = ?",
  );
  const insertSubmission = db.prepare(
    `insert into submissions (carrier, carrier_message_id, account_id, request_id, n) values (?, ?, ?, ?, ?)
     on conflict (carrier, carrier_message_id) do nothing`,
  );
  const findSubmission = db.prepare(
    "select account_id, request_id, n from submissions where carrier = ? and carrier_message_id = ?",
  );
  const findParked = db.prepare(
    "select * from parked_receipts where carrier = ? and carrier_message_id = ? order by id",
  );
  const removeParked = db.prepare("delete from parked_receipts where id = ?");
  const insertParked = db.prepare(
    `insert into parked_receipts (carrier, carrier_message_id, state, error_code, description, at, parked_at)
     values (?, ?, ?, ?, ?, ?, ?) on conflict (carrier, carrier_message_id, state) do nothing`,
  );
  const insertPhoneMessage = db.prepare(
    `insert into phone_messages (account_id, id, number, sender, channel, content, message_id, received_at, reports_due_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (account_id, id) do nothing`,
  );
  const countOnPhone = db.prepare(
    `insert into phones (account_id, number, name, message_count, last_message_at) values (?, ?, null, 1, ?)
     on conflict (account_id, number) do update set message_count = message_count + 1, last_message_at = excluded.last_message_at`,
  );

  /** One statement per target state: the legal origins are part of its text. */
  const moveStatements = new Map<string, StatementSync>();
  function moveStatement(to: State, fenced: boolean): StatementSync {
    const name = `${to} ${fenced}`;
    let statement = moveStatements.get(name);
    if (!statement) {
      const origins = movesInto(to).map((state) => `'${state}'`);
      statement = db.prepare(
        `update messages set state = ?, owner = ?, due_at = coalesce(?, due_at), carrier = coalesce(?, carrier),
           attempts = attempts + ?, error_code = ?, description = ?,
           submitted_at = coalesce(submitted_at, ?), done_at = coalesce(?, done_at)
         where account_id = ? and request_id = ? and n = ? and state in (${origins.join(", ")})${fenced ? " and owner = ?" : ""}`,
      );
      moveStatements.set(name, statement);
    }
    return statement;
  }

  function acceptOne(packed: Packed): AcceptResult {
    const [accountId, requestId, channel, routeClass, test, sender, content, segments, campaignName] = packed;
    const [, , , , , , , , , createdAt, dueAt, expiresAt, owner, idempotency, numbers, failures] = packed;
    if (idempotency) {
      const { path, key, bodyHash, response } = idempotency;
      const { changes } = insertIdempotency.run(accountId, path, key, bodyHash, response, createdAt);
      if (changes === 0) {
        const earlier = findIdempotency.get(accountId, path, key) as { body_hash: string; response: string };
        return { kind: "replayed", bodyHash: earlier.body_hash, response: earlier.response };
      }
    }
    const lane = laneOf(routeClass);
    const isTest = test ? 1 : 0;
    for (const [index, number] of numbers.entries()) {
      const failure = failures?.[index] ?? null;
      insertMessage.run(
        accountId,
        requestId,
        index + 1,
        channel,
        lane,
        isTest,
        sender,
        number,
        content,
        segments,
        campaignName,
        failure ? "rejected" : "accepted",
        failure ? NOBODY : owner,
        failure,
        describeFailure(failure),
        createdAt,
        dueAt,
        expiresAt,
        failure ? createdAt : null,
      );
    }
    return STORED;
  }

  function moveOne(move: Move): MoveResult {
    const values: SQLInputValue[] = [
      move.to,
      move.owner,
      move.dueAt ?? null,
      move.carrier ?? null,
      move.attempt ? 1 : 0,
      move.errorCode ?? null,
      move.description ?? null,
      provesSubmit(move.to) ? move.at : null,
      isFinal(move.to) ? move.at : null,
      move.accountId,
      move.requestId,
      move.n,
    ];
    if (move.ownedBy !== undefined) values.push(move.ownedBy);
    const { changes } = moveStatement(move.to, move.ownedBy !== undefined).run(...values);
    let parked: ParkedReceipt[] = [];
    if (move.carrier !== undefined && move.carrierMessageId !== undefined) {
      insertSubmission.run(move.carrier, move.carrierMessageId, move.accountId, move.requestId, move.n);
      parked = (findParked.all(move.carrier, move.carrierMessageId) as unknown as ParkedRow[]).map(parkedOf);
    }
    if (move.settles !== undefined) removeParked.run(move.settles);
    return { moved: changes === 1, parked };
  }

  /** Alone in its savepoint, so that what is wrong with one item is undone and told to its caller only. */
  function isolated<T>(run: () => T): T | { failed: string } {
    db.exec("savepoint item");
    try {
      const result = run();
      db.exec("release item");
      return result;
    } catch (error) {
      if (!db.isTransaction || isStorageFault(error)) throw error;
      db.exec("rollback to item");
      db.exec("release item");
      return { failed: error instanceof Error ? error.message : String(error) };
    }
  }

  return {
    accept(batch: readonly Packed[]): (AcceptResult | { failed: string })[] {
      const whole = isolated(() => batch.map(acceptOne));
      return "failed" in whole ? batch.map((item) => isolated(() => acceptOne(item))) : whole;
    },

    move(batch: readonly Move[]): (MoveResult | { failed: string })[] {
      const whole = isolated(() => batch.map(moveOne));
      return "failed" in whole ? batch.map((item) => isolated(() => moveOne(item))) : whole;
    },

    claim({ node, from, routeClass, dueBy, limit }: Parameters<MessageStore["claim"]>[0]): Message[] {
      const rows = prepare(
        `update messages set owner = ? where (account_id, request_id, n) in (
           select account_id, request_id, n from messages
           where owner = ? and lane = ? and due_at <= ? and state in ('accepted', 'submitting') order by due_at limit ?)
         returning *`,
      ).all(node, from, laneOf(routeClass), dueBy, limit) as unknown as MessageRow[];
      return rows.map(messageOf).toSorted(oldestFirst);
    },

    release(node: number, requests: Parameters<MessageStore["release"]>[1]): void {
      const statement = prepare(
        `update messages set owner = ${NOBODY}
         where account_id = ? and request_id = ? and owner = ? and state in ('accepted', 'submitting')`,
      );
      for (const { accountId, requestId } of requests) statement.run(accountId, requestId, node);
    },

    park(batch: readonly Receipt[], at: number): (MessageRef | null)[] {
      return batch.map((receipt) => {
        const row = findSubmission.get(receipt.carrier, receipt.carrierMessageId) as RefRow | undefined;
        if (row) return refOf(row);
        insertParked.run(
          receipt.carrier,
          receipt.carrierMessageId,
          receipt.state,
          receipt.errorCode,
          receipt.description,
          receipt.at,
          at,
        );
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
      prepare(`update messages set owner = ${NOBODY} where owner = ? and state in ('accepted', 'submitting')`).run(
        node,
      );
      prepare("delete from nodes where id = ?").run(node);
    },

    /** Any single statement, for the shared queries. */
    query(sql: string, values: Values): { rows: unknown[]; changes: number } {
      const statement = db.prepare(sql);
      if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 };
      return { rows: [], changes: Number(statement.run(...values).changes) };
    },

    atomically(queries: readonly { sql: string; values: Values }[]): void {
      for (const { sql, values } of queries) db.prepare(sql).run(...values);
    },
  };
}

export type Commands = ReturnType<typeof createCommands>;
