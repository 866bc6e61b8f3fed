import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { bringsToEnd, mayMove, provesSubmit, type State } from "../../model/message.ts";
import { createAnnounce, type Facts } from "./announce.ts";
import { changeOf, CHANGES, chargeAfterChange, FREE } from "../charge.ts";
import {
  contentAtEnd,
  isAbout,
  isSession,
  movedOf,
  ON_ID_USED_AGAIN,
  parkedOf,
  SESSION_PREFIX,
  TRAIL_MAX,
  type ParkedRow,
} from "../rows.ts";
import type { Move, MoveResult, ParkedReceipt } from "../store.ts";
import { isDelivery, isErasure, isTaking, movedAsKnown, type Delivery, type Taking } from "../as-known.ts";
import { createPutSubmissions, type Submissions } from "./put-submissions.ts";

interface Row extends Facts {
  state: string;
  owner: number;
  due_at: number;
  lane: number;
  charge: number;
  submitted_at: number | null;
  trail_length: number;
}

/**
 * Moves messages one by one, inside the writer's transaction, which has everything that must change together with them. Null is
 * the result that its sender knows already (`movedAsKnown`), and that most have: it does not cross back to it.
 */
export function createMove(db: DatabaseSync): (oneByOne: boolean) => Moves {
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
  const findAnyParked = db.prepare("select 1 from parked_receipts limit 1");
  const findAnyFailover = db.prepare("select 1 from failovers limit 1");
  const insertLedger = db.prepare(
    "insert into ledger (account_id, request_id, n, kind, amount, held, note, at) values (?, ?, ?, ?, ?, ?, null, ?)",
  );

  const announce = createAnnounce(db);
  const gatherSubmissions = createPutSubmissions(db);

  const findMessage = db.prepare(
    `select state, owner, due_at, lane, charge, submitted_at, length(coalesce(trail, '')), channel, carrier, sender, recipient,
       credits, created_at, operator, circle, channel = 'chatapp' and substr(content, 1, ${SESSION_PREFIX.length}) = '${SESSION_PREFIX}'
     from messages where account_id = ? and request_id = ? and n = ?`,
  );
  findMessage.setReturnArrays(true);
  /** Most messages that a carrier takes are as they were when they were handed over, and then no look at the row comes first. */
  const takeWith = (more: string): StatementSync =>
    db.prepare(
      `update messages set state = 'submitted', owner = ?, carrier = ?, error_code = null, description = null, submitted_at = ?,
         trail = trail || ?${more}
       where account_id = ? and request_id = ? and n = ? and channel = ? and state = 'submitting' and submitted_at is null
         and charge = ${FREE} and octet_length(trail) < ${TRAIL_MAX}`,
    );
  const take = takeWith("");
  const takeAndErase = takeWith(", sender = ?, content = ?, segments = ?");

  /** Most that come to their phone are as they were taken, too. At the first try no end came before, on which `announce` relies. */
  const deliver = db.prepare(
    `update messages set state = 'delivered', owner = ?, carrier = ?, error_code = ?, description = ?, done_at = ?,
       trail = trail || ?, content = ${contentAtEnd("content")}
     where account_id = ? and request_id = ? and n = ? and channel = ? and state = 'submitted' and submitted_at is not null
       and attempts = 1 and operator is null and circle is null and charge = ${FREE} and octet_length(trail) < ${TRAIL_MAX}`,
  );

  /** One statement for each set of columns: what few moves bring costs the others nothing. */
  const updates = new Map<string, StatementSync>();
  function updateOf(more: string): StatementSync {
    let statement = updates.get(more);
    if (!statement) {
      statement = db.prepare(
        `update messages set state = ?, owner = ?, due_at = ?, carrier = ?, attempts = attempts + ?, error_code = ?, description = ?,
           submitted_at = ?, trail = nullif(coalesce(trail, '') || ?, ''), charge = ?${more}
         where account_id = ? and request_id = ? and n = ?`,
      );
      updates.set(more, statement);
    }
    return statement;
  }

  /** Nobody else writes, so what is read here is still so when it is written. */
  function moveLooking(move: Move, batch: Batch): MoveResult {
    const { accountId, requestId, n } = move;
    const found = findMessage.get(accountId, requestId, n) as FoundRow | undefined;
    const row = found && rowOf(found);
    const moved = row && isLegal(move, row) ? row : null;
    if (moved) write(move, moved);
    else if (row && move.trailAlways && move.trail) appendTrail.run(move.trail, accountId, requestId, n);
    if (move.failoverAt) plan(move, move.failoverAt, batch);
    else if (moved && move.failoverAt === null && batch.failovers) endFailover.run(accountId, requestId, n);
    const parked = noteSubmission(move, batch);
    if (move.settles !== undefined) removeParked.run(move.settles);
    const facts = moved && factsAfter(move, moved);
    const told = facts && move.announce ? announce(move, facts, move.announce, false).told() : [];
    const message = facts && movedOf({ ...facts, lane: moved.lane }, isFirstSign(move, moved));
    return { moved: moved !== null, message, parked, told };
  }

  function takeAsKnown(move: Taking, batch: Batch): MoveResult | null {
    if (!takeStraight(move)) return moveLooking(move, batch);
    if (move.failoverAt) plan(move, move.failoverAt, batch);
    if (gather(move, batch)) return null;
    const parked = noteSubmission(move, batch);
    return parked.length === 0 ? null : { ...movedAsKnown(move), parked };
  }

  function deliverAsKnown(move: Delivery, batch: Batch): MoveResult | null {
    if (!deliverStraight(move)) return moveLooking(move, batch);
    if (batch.failovers) endFailover.run(move.accountId, move.requestId, move.n);
    const announced = move.announce && announce(move, factsOf(move), move.announce, true);
    return !announced || announced.isWhole ? null : { ...movedAsKnown(move), told: announced.told() };
  }

  /** False where the row has to be looked at: it is not what its sender took it for. */
  function takeStraight({ accountId, requestId, n, at, owner, carrier, known, trail = "", becomes }: Taking): boolean {
    if (!becomes) return take.run(owner, carrier, at, trail, accountId, requestId, n, known.channel).changes === 1;
    const { sender, content, segments } = becomes;
    const values = [sender, JSON.stringify(content), segments, accountId, requestId, n, known.channel];
    return takeAndErase.run(owner, carrier, at, trail, ...values).changes === 1;
  }

  function deliverStraight(move: Delivery): boolean {
    const {
      accountId,
      requestId,
      n,
      at,
      owner,
      carrier,
      known,
      trail = "",
      errorCode = null,
      description = null,
    } = move;
    const { changes } = deliver.run(
      owner,
      carrier,
      errorCode,
      description,
      at,
      trail,
      accountId,
      requestId,
      n,
      known.channel,
    );
    return changes === 1;
  }

  function plan({ accountId, requestId, n }: Move, failoverAt: number, batch: Batch): void {
    planFailover.run(accountId, requestId, n, failoverAt, accountId, requestId, n);
    batch.failovers = true;
  }

  function write(move: Move, row: Row): void {
    const change = changeOf(row.charge, move.to, move.refund === true);
    const values: SQLInputValue[] = [
      move.to,
      move.owner,
      move.dueAt ?? row.due_at,
      move.carrier ?? row.carrier,
      move.attempt ? 1 : 0,
      move.errorCode ?? null,
      move.description ?? null,
      row.submitted_at ?? (provesSubmit(move.to) ? move.at : null),
      row.trail_length < TRAIL_MAX ? (move.trail ?? "") : "",
      chargeAfterChange(row.charge, change),
    ];
    let more = "";
    const set = (column: string, value: SQLInputValue): void => {
      more += `, ${column}`;
      values.push(value);
    };
    if (move.extendMs) set("expires_at = expires_at + ?", move.extendMs);
    if (move.tried) set("tried = ?", JSON.stringify(move.tried));
    if (move.operator !== undefined) set("operator = ?", move.operator);
    if (move.circle !== undefined) set("circle = ?", move.circle);
    if (move.repeat) set("repeats = repeats + ?", move.repeat);
    if (bringsToEnd(move.to)) set("done_at = ?", move.at);
    if (move.becomes) {
      set("channel = ?", move.becomes.channel);
      set("sender = ?", move.becomes.sender);
      set("content = ?", JSON.stringify(move.becomes.content));
      set("segments = ?", move.becomes.segments);
    } else if (bringsToEnd(move.to)) more += `, content = ${contentAtEnd("content")}`;
    updateOf(more).run(...values, move.accountId, move.requestId, move.n);
    settleCredits(move, change, row.credits);
  }

  /** Has its id written down at the end of the batch, with those of others; false where it cannot wait for that. */
  function gather(move: Taking, { parked, submissions }: Batch): boolean {
    const { carrier, carrierMessageId, partIds } = move;
    if (parked || partIds || !submissions || carrierMessageId === undefined) return false;
    return submissions.add(carrier, carrierMessageId, move);
  }

  /** Writes down the ids under which a carrier took it; gives the receipts that had come for them, in their order. */
  function noteSubmission(
    { accountId, requestId, n, carrier, carrierMessageId, partIds }: Move,
    batch: Batch,
  ): ParkedReceipt[] {
    if (carrier === undefined || carrierMessageId === undefined) return [];
    // An id that is used again is the newest message's.
    batch.submissions?.write();
    const parkedFor = (id: string): ParkedReceipt[] =>
      batch.parked ? (findParked.all(carrier, id) as unknown as ParkedRow[]).map(parkedOf) : [];
    if (!partIds) {
      insertSubmission.run(carrier, carrierMessageId, accountId, requestId, n);
      return parkedFor(carrierMessageId);
    }
    for (const [place, id] of partIds.entries())
      insertPart.run(carrier, id, accountId, requestId, n, place + 1, partIds.length, partIds[0] ?? null);
    return partIds.flatMap(parkedFor).toSorted((a, b) => a.id - b.id);
  }

  /** Writes down what the move did to the credits of the message. */
  function settleCredits({ accountId, requestId, n, at }: Move, change: number, credits: number): void {
    const effect = CHANGES[change - 1];
    if (!effect || credits === 0) return;
    const amount = effect.amount * credits;
    const held = effect.held * credits;
    insertLedger.run(accountId, requestId, n, effect.kind, amount, held, at);
    changeBalance.run(amount, held, accountId);
  }

  return (oneByOne) => {
    const submissions = oneByOne ? null : gatherSubmissions();
    const batch: Batch = {
      parked: findAnyParked.get() !== undefined,
      failovers: findAnyFailover.get() !== undefined,
      submissions,
    };
    const moveAsKnown = (move: Taking | Delivery): MoveResult | null =>
      move.to === "submitted" ? takeAsKnown(move, batch) : deliverAsKnown(move, batch);
    return {
      moveAsKnown,
      end: () => submissions?.write(),
      moveOne: (move) =>
        isTaking(move) || isErasure(move) || isDelivery(move) ? moveAsKnown(move) : moveLooking(move, batch),
    };
  };
}

interface Moves {
  moveOne(move: Move): MoveResult | null;
  /** One that is a taking or a delivery already by its form. */
  moveAsKnown(move: Taking | Delivery): MoveResult | null;
  /** Has to be called when all have been moved. */
  end(): void;
}

interface Batch {
  /** What hardly any message has is looked for once: where there is none at all, no message is asked about it. */
  parked: boolean;
  failovers: boolean;
  /** Null where everything about a message is written with it. */
  submissions: Submissions | null;
}

/** A row as a list: an object for each, made anew with its names, takes half as long again as finding it. */
type FoundRow = readonly [
  state: string,
  owner: number,
  dueAt: number,
  lane: number,
  charge: number,
  submittedAt: number | null,
  trailLength: number,
  channel: string,
  carrier: string | null,
  sender: string,
  recipient: string,
  credits: number,
  createdAt: number,
  operator: string | null,
  circle: string | null,
  session: number,
];

function rowOf(found: FoundRow): Row {
  const [state, owner, due_at, lane, charge, submitted_at, trail_length, ...facts] = found;
  const [channel, carrier, sender, recipient, credits, created_at, operator, circle, session] = facts;
  return {
    state,
    owner,
    due_at,
    lane,
    charge,
    submitted_at,
    trail_length,
    channel,
    carrier,
    sender,
    recipient,
    credits,
    created_at,
    operator,
    circle,
    session: session === 1,
  };
}

/** What a delivered message is that is as its sender knows it. */
const factsOf = ({ carrier, known: { channel, recipient }, facts }: Delivery): Facts => ({
  channel,
  carrier,
  sender: facts.sender,
  recipient,
  credits: facts.credits,
  created_at: facts.createdAt,
  operator: null,
  circle: null,
  session: false,
});

/** What the message is once it has been moved. */
function factsAfter({ carrier, operator, circle, becomes }: Move, row: Row): Facts {
  return {
    channel: becomes?.channel ?? row.channel,
    carrier: carrier ?? row.carrier,
    sender: becomes?.sender ?? row.sender,
    recipient: row.recipient,
    credits: row.credits,
    created_at: row.created_at,
    operator: operator ?? row.operator,
    circle: circle ?? row.circle,
    session: becomes ? isSession(becomes) : row.session,
  };
}

/** Whether the message may go there from where it is, and is still what the move takes it for. */
function isLegal(move: Move, row: Row): boolean {
  if (!mayMove(row.state as State, move.to)) return false;
  if (move.ownedBy !== undefined && move.ownedBy !== row.owner) return false;
  if (move.carriedBy !== undefined && move.carriedBy !== row.carrier) return false;
  if (move.dueIs !== undefined && move.dueIs !== row.due_at) return false;
  return move.channelIs === undefined || move.channelIs === row.channel;
}

/** Whether nobody knew before that a carrier has the message. */
const isFirstSign = ({ to }: Move, row: Row): boolean => row.submitted_at === null && provesSubmit(to);
