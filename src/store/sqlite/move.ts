import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { bringsToEnd, movesInto, provesSubmit, type State } from "../../model/message.ts";
import { createAnnounce } from "./announce.ts";
import { CHANGE_BITS, CHANGES, chargeAfter, chargeChange, TAKEN } from "../charge.ts";
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

type Moved = MovedRow & { credits: number };

/** Moves one message, inside the writer's transaction, with everything that must change together with it. */
export function createMove(db: DatabaseSync): (move: Move) => MoveResult {
  const changeBalance = db.prepare("update balances set balance = balance + ?, held = held + ? where account_id = ?");
  // A receipt may have come before the answer to the submit: the plan holds as long as the message has not ended.
  const planFailover = db.prepare(
    `insert into failovers (account_id, request_id, n, due_at)
     select ?, ?, ?, ? from messages where account_id = ? and request_id = ? and n = ? and state in ('submitted', 'enroute')
     on conflict (account_id, request_id, n) do update set due_at = excluded.due_at`,
  );
  const endFailover = db.prepare("delete from failovers where account_id = ? and request_id = ? and n = ?");
  const appendTrail = db.prepare(
    `update messages set trail = coalesce(trail, '') || ?
     where account_id = ? and request_id = ? and n = ? and length(coalesce(trail, '')) < ${TRAIL_MAX}`,
  );
  const insertSubmission = db.prepare(
    `insert into submissions (carrier, carrier_message_id, account_id, request_id, n) values (?, ?, ?, ?, ?)
     ${ON_ID_USED_AGAIN}`,
  );
  const insertPart = db.prepare(
    `insert into submissions (carrier, carrier_message_id, account_id, request_id, n, part, parts, whole)
     values (?, ?, ?, ?, ?, ?, ?, ?) ${ON_ID_USED_AGAIN}`,
  );
  const findParked = db.prepare(
    `select parked_receipts.* from parked_receipts join submissions using (carrier, carrier_message_id)
     where carrier = ? and carrier_message_id = ? and ${isAbout("parked_receipts.recipient", "submissions")} order by id`,
  );
  const removeParked = db.prepare("delete from parked_receipts where id = ?");
  const insertLedger = db.prepare(
    "insert into ledger (account_id, request_id, n, kind, amount, held, note, at) values (?, ?, ?, ?, ?, ?, null, ?)",
  );

  const announce = createAnnounce(db);

  /** One statement per target state: the legal origins are part of its text. */
  const moveStatements = new Map<string, StatementSync>();
  function moveStatement(to: State, refund: boolean, changes: string, fence: string, more: string): StatementSync {
    const name = `${to} ${refund}${changes}${more}${fence}`;
    let statement = moveStatements.get(name);
    if (!statement) {
      const origins = movesInto(to).map((state) => `'${state}'`);
      const change = chargeChange(`'${to}'`, refund ? "1" : "0");
      const taken = provesSubmit(to) ? ` + case when submitted_at is null then ${TAKEN} else 0 end` : "";
      const erasing = bringsToEnd(to) && changes === "" ? `, content = ${contentAtEnd("content")}` : "";
      statement = db.prepare(
        `update messages set state = ?, owner = ?, due_at = coalesce(?, due_at), expires_at = expires_at + ?,
           carrier = coalesce(?, carrier), attempts = attempts + ?, tried = coalesce(?, tried), error_code = ?, description = ?,
           submitted_at = coalesce(submitted_at, ?), done_at = coalesce(?, done_at),
           trail = case when length(coalesce(trail, '')) < ${TRAIL_MAX} then nullif(coalesce(trail, '') || ?, '') else trail end,
           charge = ${chargeAfter(change)}, charge_change = ${change}${taken}${changes}${more}${erasing}
         where account_id = ? and request_id = ? and n = ? and state in (${origins.join(", ")})${fence}
         returning charge_change, credits, channel, lane, recipient`,
      );
      moveStatements.set(name, statement);
    }
    return statement;
  }

  function moveOne(move: Move): MoveResult {
    const { accountId, requestId, n } = move;
    const values: SQLInputValue[] = [
      move.to,
      move.owner,
      move.dueAt ?? null,
      move.extendMs ?? 0,
      move.carrier ?? null,
      move.attempt ? 1 : 0,
      move.tried === undefined ? null : JSON.stringify(move.tried),
      move.errorCode ?? null,
      move.description ?? null,
      provesSubmit(move.to) ? move.at : null,
      bringsToEnd(move.to) ? move.at : null,
      move.trail ?? "",
    ];
    let changes = "";
    if (move.becomes) {
      const { channel, sender, content, segments } = move.becomes;
      changes = ", channel = ?, sender = ?, content = ?, segments = ?";
      values.push(channel, sender, JSON.stringify(content), segments);
    }
    // What few moves bring costs the others nothing.
    let more = "";
    for (const [column, value] of [
      ["operator", move.operator],
      ["circle", move.circle],
    ] as const) {
      if (value === undefined) continue;
      more += `, ${column} = ?`;
      values.push(value);
    }
    if (move.repeat !== undefined) {
      more += ", repeats = repeats + ?";
      values.push(move.repeat);
    }
    values.push(accountId, requestId, n);
    let fence = "";
    for (const [column, value] of [
      ["owner", move.ownedBy],
      ["carrier", move.carriedBy],
      ["due_at", move.dueIs],
      ["channel", move.channelIs],
    ] as const) {
      if (value === undefined) continue;
      fence += ` and ${column} = ?`;
      values.push(value);
    }
    const moved = moveStatement(move.to, move.refund === true, changes, fence, more).get(...values) as
      | Moved
      | undefined;
    if (moved) settleCredits(move, moved);
    else if (move.trailAlways && move.trail) appendTrail.run(move.trail, accountId, requestId, n);
    if (move.failoverAt) planFailover.run(accountId, requestId, n, move.failoverAt, accountId, requestId, n);
    if (moved && move.failoverAt === null) endFailover.run(accountId, requestId, n);
    const parked = noteSubmission(move);
    if (move.settles !== undefined) removeParked.run(move.settles);
    const told = moved && move.announce ? announce(move, move.announce) : [];
    return { moved: moved !== undefined, message: moved ? movedOf(moved) : null, parked, told };
  }

  /** Writes down the ids under which a carrier took it; gives the receipts that had come for them, in their order. */
  function noteSubmission({ accountId, requestId, n, carrier, carrierMessageId, partIds }: Move): ParkedReceipt[] {
    if (carrier === undefined || carrierMessageId === undefined) return [];
    const parkedFor = (id: string): ParkedReceipt[] =>
      (findParked.all(carrier, id) as unknown as ParkedRow[]).map(parkedOf);
    if (!partIds) {
      insertSubmission.run(carrier, carrierMessageId, accountId, requestId, n);
      return parkedFor(carrierMessageId);
    }
    for (const [place, id] of partIds.entries())
      insertPart.run(carrier, id, accountId, requestId, n, place + 1, partIds.length, partIds[0] ?? null);
    return partIds.flatMap(parkedFor).toSorted((a, b) => a.id - b.id);
  }

  /** Writes down what the move did to the credits of the message. */
  function settleCredits({ accountId, requestId, n, at }: Move, { charge_change: change, credits }: Moved): void {
    const effect = CHANGES[(change & CHANGE_BITS) - 1];
    if (!effect || credits === 0) return;
    const amount = effect.amount * credits;
    const held = effect.held * credits;
    insertLedger.run(accountId, requestId, n, effect.kind, amount, held, at);
    changeBalance.run(amount, held, accountId);
  }

  return moveOne;
}
