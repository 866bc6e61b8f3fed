import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { reachesFinal, mayTransition, provesSubmit, stateAfter, type State } from "../../model/message.ts";
import { changeOf, CHANGES, chargeAfterChange, costOf } from "../charge.ts";
import {
  changedMessageOf,
  contentAtEnd,
  isAbout,
  isSession,
  ON_ID_USED_AGAIN,
  storedReceiptOf,
  SESSION_PREFIX,
  TIMELINE_MAX,
  type UnmatchedRow,
} from "../rows.ts";
import type { StoredReceipt } from "../store.ts";
import {
  appendsAlways,
  carrierAfter,
  carrierCondition,
  channelCondition,
  countsAttempt,
  endsFailover,
  predictedResult,
  reportedChannel,
  targetState,
  type AnyTransition,
  type ExpectingDelivery,
  type TimelineAppend,
  type Transition,
  type ExpectingSubmit,
  type TransitionResult,
} from "../transition.ts";
import { createStoreCallbacks, type Facts } from "./transition-callbacks.ts";
import type { CampaignCounts } from "./campaign-counts.ts";
import { createFastStatements, IS_STOPPED, isFast, type FastTransition, type IntentRun } from "./fast.ts";
import { createPutSubmissions, type Submissions } from "./put-submissions.ts";

interface Row extends Facts {
  state: string;
  owner: number;
  due_at: number;
  lane: number;
  charge: number;
  submitted_at: number | null;
  trail_length: number;
  attempts: number;
  campaign_name: string | null;
  test: number;
}

/**
 * Applies transitions one by one, inside the writer's transaction, with all rows that change together with them. A null
 * result means `predictedResult`: most are, and a null costs nothing to send back to the main thread.
 */
export function createTransitions(db: DatabaseSync, counts: CampaignCounts): (oneByOne: boolean) => TransitionBatch {
  const changeBalance = db.prepare("update balances set balance = balance + ?, held = held + ? where account_id = ?");
  const planFailover = db.prepare(
    `insert into failovers (account_id, request_id, n, due_at) values (?, ?, ?, ?)
     on conflict (account_id, request_id, n) do update set due_at = excluded.due_at`,
  );
  const endFailover = db.prepare("delete from failovers where account_id = ? and request_id = ? and n = ?");
  const appendTrail = db.prepare(
    `update messages set trail = coalesce(trail, '') || ?
     where account_id = ? and request_id = ? and n = ? and length(coalesce(trail, '')) < ${TIMELINE_MAX}`,
  );
  const insertSubmission = db.prepare(
    `insert into submissions (carrier, carrier_message_id, account_id, request_id, n) values (?, ?, ?, ?, ?)
     ${ON_ID_USED_AGAIN}`,
  );
  const insertPart = db.prepare(
    `insert into submissions (carrier, carrier_message_id, account_id, request_id, n, part, parts, whole)
     values (?, ?, ?, ?, ?, ?, ?, ?) ${ON_ID_USED_AGAIN}`,
  );
  const findUnmatched = db.prepare(
    `select parked_receipts.* from parked_receipts join submissions using (carrier, carrier_message_id)
     where carrier = ? and carrier_message_id = ? and ${isAbout("parked_receipts.recipient", "submissions")} order by id`,
  );
  const removeUnmatched = db.prepare("delete from parked_receipts where id = ?");
  const findAnyUnmatched = db.prepare("select 1 from parked_receipts limit 1");
  const findAnyFailover = db.prepare("select 1 from failovers limit 1");
  const insertLedger = db.prepare(
    "insert into ledger (account_id, request_id, n, kind, amount, held, note, at) values (?, ?, ?, ?, ?, ?, null, ?)",
  );

  const storeCallbacks = createStoreCallbacks(db);
  const gatherSubmissions = createPutSubmissions(db);
  const fast = createFastStatements(db, counts);

  const findMessage = db.prepare(
    `select ${Object.values(COLUMNS).join(", ")} from messages where account_id = ? and request_id = ? and n = ?`,
  );
  findMessage.setReturnArrays(true);
  const findStep = db.prepare(
    "select 1 from messages where account_id = ? and request_id = ? and n = ? and instr(trail, ?) > 0",
  );
  /** One statement for each set of columns, so that rare columns cost the usual transitions nothing. */
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

  /** A repeated write omits its entry where the first try has already put it on the timeline. */
  function withoutStoredEntry<T extends Transition>(transition: T): T {
    const { accountId, requestId, n, timeline, repeated } = transition;
    if (!repeated || !timeline || !findStep.get(accountId, requestId, n, timeline)) return transition;
    return { ...transition, timeline: "" };
  }

  const findStop = db.prepare(
    `select 1 from messages where account_id = ? and request_id = ? and n = ? and ${IS_STOPPED}`,
  );
  const isHeldBack = ({ unlessStopped, accountId, requestId, n }: AnyTransition): boolean =>
    unlessStopped === true && findStop.get(accountId, requestId, n) !== undefined;

  function append(asked: TimelineAppend): TransitionResult {
    const { accountId, requestId, n, timeline, settles } = withoutStoredEntry(asked);
    if (timeline) appendTrail.run(timeline, accountId, requestId, n);
    if (settles !== undefined) removeUnmatched.run(settles);
    return REFUSED;
  }

  /** Reads the row, then writes it. There is one writer, so the row cannot change in between. */
  function readAndWrite(asked: Transition, batch: Batch): TransitionResult {
    if (asked.kind === "timeline") return append(asked);
    const { accountId, requestId, n } = asked;
    const found = findMessage.get(accountId, requestId, n) as unknown as readonly unknown[] | undefined;
    const row = found && rowOf(found);
    const to = targetState(asked);
    const transition: AnyTransition = notBefore(row, withoutStoredEntry(asked));
    if (row && isMade(transition, row)) return { ...REFUSED, moved: true, message: changedMessageOf(row, false) };
    const moved = row && isLegal(transition, to, row) && !isHeldBack(transition) ? row : null;
    if (moved) write(transition, to, moved);
    else if (row && transition.timeline && appendsAlways(transition))
      appendTrail.run(transition.timeline, accountId, requestId, n);
    if (moved && transition.failoverAt) plan(transition, transition.failoverAt, batch);
    else if (moved && endsFailover(transition) && batch.failovers) endFailover.run(accountId, requestId, n);
    const unmatched = noteSubmission(transition, batch);
    if (transition.settles !== undefined) removeUnmatched.run(transition.settles);
    const facts = moved && factsAfter(transition, to, moved);
    const callbacks =
      facts && transition.callbacks ? storeCallbacks(transition, facts, transition.callbacks, false).owned() : [];
    const message = facts && changedMessageOf({ ...moved, ...facts }, isFirstSign(to, moved));
    return { moved: moved !== null, message, unmatched, callbacks };
  }

  function submit(transition: ExpectingSubmit, batch: Batch): TransitionResult | null {
    if (!fast.writeSubmitted(transition)) return readAndWrite(transition, batch);
    if (transition.failoverAt) plan(transition, transition.failoverAt, batch);
    if (gather(transition, batch)) return null;
    const unmatched = noteSubmission(transition, batch);
    return unmatched.length === 0 ? null : { ...predictedResult(transition), unmatched };
  }

  function deliver(transition: ExpectingDelivery, batch: Batch): TransitionResult | null {
    if (!fast.writeDelivered(transition)) return readAndWrite(transition, batch);
    if (batch.failovers) endFailover.run(transition.accountId, transition.requestId, transition.n);
    const stored = transition.callbacks && storeCallbacks(transition, factsOf(transition), transition.callbacks, true);
    return !stored || stored.isWhole ? null : { ...predictedResult(transition), callbacks: stored.owned() };
  }

  function plan({ accountId, requestId, n }: AnyTransition, failoverAt: number, batch: Batch): void {
    planFailover.run(accountId, requestId, n, failoverAt);
    batch.failovers = true;
  }

  function write(transition: AnyTransition, to: State, row: Row): void {
    const change = changeOf(row.charge, to, transition.refund === true);
    const from = row.state as State;
    const after = stateAfter(from, to);
    const values: SQLInputValue[] = [
      after,
      transition.owner ?? row.owner,
      transition.dueAt ?? row.due_at,
      carrierAfter(transition) ?? row.carrier,
      countsAttempt(transition) ? 1 : 0,
      transition.errorCode ?? null,
      transition.description ?? null,
      row.submitted_at ?? (provesSubmit(to) ? transition.at : null),
      row.trail_length < TIMELINE_MAX ? (transition.timeline ?? "") : "",
      chargeAfterChange(row.charge, change),
    ];
    let more = "";
    const set = (column: string, value: SQLInputValue): void => {
      more += `, ${column}`;
      values.push(value);
    };
    if (transition.extendMs) set("expires_at = expires_at + ?", transition.extendMs);
    if (transition.tried) set("tried = ?", JSON.stringify(transition.tried));
    if (transition.operator !== undefined) set("operator = ?", transition.operator);
    if (transition.circle !== undefined) set("circle = ?", transition.circle);
    if (transition.repeat) set("repeats = repeats + ?", transition.repeat);
    if (reachesFinal(to)) set("done_at = ?", transition.at);
    if (transition.becomes && transition.becomes.channel !== row.channel)
      more += ", asked_channel = coalesce(asked_channel, channel), asked_sender = coalesce(asked_sender, sender)";
    if (transition.becomes) {
      set("channel = ?", transition.becomes.channel);
      set("sender = ?", transition.becomes.sender);
      set("content = ?", JSON.stringify(transition.becomes.content));
      set("segments = ?", transition.becomes.segments);
    } else if (reachesFinal(to)) more += `, content = ${contentAtEnd("content")}`;
    updateOf(more).run(...values, transition.accountId, transition.requestId, transition.n);
    counts.note(transition.accountId, row.campaign_name, from, after);
    settleCredits(transition, change, row.credits);
  }

  /** Queues the carrier's id for the end of the batch; false where it must be written at once. */
  function gather(transition: ExpectingSubmit, { unmatched, submissions }: Batch): boolean {
    const { carrier, carrierMessageId, partIds } = transition;
    if (unmatched || partIds || !submissions || carrierMessageId === undefined) return false;
    return submissions.add(carrier, carrierMessageId, transition);
  }

  /** Stores the carrier's ids of a message; returns the unmatched receipts for them, in order. */
  function noteSubmission(
    { accountId, requestId, n, carrier, carrierMessageId, partIds }: AnyTransition,
    batch: Batch,
  ): StoredReceipt[] {
    if (carrier === undefined || carrierMessageId === undefined) return [];
    // Carriers reuse ids, and the newest message gets the id: pending ids must be written first.
    batch.submissions?.write();
    const unmatchedFor = (id: string): StoredReceipt[] =>
      batch.unmatched ? (findUnmatched.all(carrier, id) as unknown as UnmatchedRow[]).map(storedReceiptOf) : [];
    if (!partIds) {
      insertSubmission.run(carrier, carrierMessageId, accountId, requestId, n);
      return unmatchedFor(carrierMessageId);
    }
    for (const [place, id] of partIds.entries())
      insertPart.run(carrier, id, accountId, requestId, n, place + 1, partIds.length, partIds[0] ?? null);
    return partIds.flatMap(unmatchedFor).toSorted((a, b) => a.id - b.id);
  }

  /** Stores the effect of the transition on the message's credits. */
  function settleCredits({ accountId, requestId, n, at }: AnyTransition, change: number, credits: number): void {
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
      unmatched: findAnyUnmatched.get() !== undefined,
      failovers: findAnyFailover.get() !== undefined,
      submissions,
    };
    const applyFast = (transition: FastTransition): TransitionResult | null =>
      transition.kind === "submitted" ? submit(transition, batch) : deliver(transition, batch);
    return {
      applyFast,
      apply: (transition) => (isFast(transition) ? applyFast(transition) : readAndWrite(transition, batch)),
      intend: fast.writeIntents,
      end: () => submissions?.write(),
    };
  };
}

const REFUSED: TransitionResult = { moved: false, message: null, unmatched: [], callbacks: [] };

interface TransitionBatch {
  apply(transition: Transition): TransitionResult | null;
  /** For a transition that crossed packed. */
  applyFast(transition: FastTransition): TransitionResult | null;
  /** Writes a run of intents by one statement. Throws where one of them cannot be written. */
  intend(run: IntentRun): true;
  /** Must be called after the last transition. */
  end(): void;
}

interface Batch {
  /** True if the store holds any unmatched receipt, or any planned failover. Read once per batch: mostly there is none. */
  unmatched: boolean;
  failovers: boolean;
  /** Null in careful mode, where each message writes its own ids. */
  submissions: Submissions | null;
}

const IS_SESSION = `channel = 'chatapp' and substr(content, 1, ${SESSION_PREFIX.length}) = '${SESSION_PREFIX}'`;

/** The columns of a row, by the names of its fields. */
const COLUMNS: Record<keyof Row, string> = {
  state: "state",
  owner: "owner",
  due_at: "due_at",
  lane: "lane",
  charge: "charge",
  submitted_at: "submitted_at",
  trail_length: "length(coalesce(trail, ''))",
  attempts: "attempts",
  campaign_name: "campaign_name",
  test: "test",
  channel: "channel",
  carrier: "carrier",
  sender: "sender",
  recipient: "recipient",
  credits: "credits",
  created_at: "created_at",
  operator: "operator",
  circle: "circle",
  asked_channel: "asked_channel",
  asked_sender: "asked_sender",
  via: "channel",
  session: IS_SESSION,
  callback: "callback",
};
const FIELDS = Object.keys(COLUMNS);

/** Builds the row from an array: SQLite's binding takes twice as long to return objects. */
function rowOf(found: readonly unknown[]): Row {
  const row: Record<string, unknown> = {};
  FIELDS.forEach((field, place) => (row[field] = found[place]));
  row["session"] = row["session"] === 1;
  return row as unknown as Row;
}

/** The facts of a delivered message whose row is as expected. */
const factsOf = ({ carrier, expected: { channel, recipient, callback }, snapshot }: ExpectingDelivery): Facts => ({
  channel,
  carrier,
  sender: snapshot.sender,
  recipient,
  credits: snapshot.credits,
  created_at: snapshot.createdAt,
  operator: null,
  circle: null,
  asked_channel: null,
  asked_sender: null,
  via: channel,
  session: false,
  callback: callback ?? null,
});

/** The message as its callbacks report it after the transition. */
function factsAfter(transition: AnyTransition, to: State, row: Row): Facts {
  const { operator, circle, becomes } = transition;
  return {
    channel: becomes?.channel ?? row.channel,
    carrier: carrierAfter(transition) ?? row.carrier,
    sender: becomes?.sender ?? row.sender,
    recipient: row.recipient,
    credits: costAfter(to, transition.refund === true, row),
    created_at: row.created_at,
    operator: operator ?? row.operator,
    circle: circle ?? row.circle,
    asked_channel: row.asked_channel,
    asked_sender: row.asked_sender,
    via: reportedChannel(transition) ?? becomes?.channel ?? row.channel,
    session: becomes ? isSession(becomes) : row.session,
    callback: row.callback,
  };
}

function costAfter(to: State, refund: boolean, { charge, credits, submitted_at }: Row): number {
  const after = chargeAfterChange(charge, changeOf(charge, to, refund));
  return costOf({ credits, charge: after, state: to, submitted_at });
}

/** The times of a message never go backwards, even if clocks differ. */
function notBefore<T extends Transition>(row: Row | undefined, transition: T): T {
  const earliest = row?.submitted_at ?? row?.created_at ?? 0;
  return transition.at < earliest ? { ...transition, at: earliest } : transition;
}

/** True if the state table allows the transition and the row meets every condition. */
function isLegal(transition: AnyTransition, to: State, row: Row): boolean {
  const { ownedBy, dueIs, unlessSubmitting, attemptIs } = transition;
  if (!mayTransition(row.state as State, to)) return false;
  if (to === "cancelled" && row.submitted_at !== null) return false;
  if (ownedBy !== undefined && ownedBy !== row.owner) return false;
  const carrier = carrierCondition(transition);
  if (carrier !== undefined && carrier !== row.carrier) return false;
  if (dueIs !== undefined && dueIs !== row.due_at) return false;
  if (unlessSubmitting && row.state === "submitting") return false;
  if (attemptIs !== undefined && attemptIs !== row.attempts) return false;
  const channel = channelCondition(transition);
  return channel === undefined || channel === row.channel;
}

/** True if the first try of a repeated write, whose response was lost, has stored this intent. */
const isMade = ({ kind, repeated, attemptIs, owner, ownedBy }: AnyTransition, row: Row): boolean =>
  kind === "submitting" &&
  repeated === true &&
  attemptIs !== undefined &&
  owner === ownedBy &&
  row.owner === ownedBy &&
  row.state === kind &&
  row.attempts === attemptIs + 1;

/** True if this is the first proof that a carrier has the message. */
const isFirstSign = (to: State, row: Row): boolean => row.submitted_at === null && provesSubmit(to);
