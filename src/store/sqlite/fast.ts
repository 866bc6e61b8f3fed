import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { sourceStatesOf, type State } from "../../model/message.ts";
import { FREE } from "../charge.ts";
import { isStopped } from "../is-stopped.ts";
import { contentAtEnd, TIMELINE_MAX } from "../rows.ts";
import type { CampaignCounts } from "./campaign-counts.ts";
import {
  expectedSourcesOf,
  isExpecting,
  isExpectingDelivery,
  isExpectingSubmit,
  PRECEDING,
  type CallbackPlan,
  type CallbackTarget,
  type ExpectedRow,
  type ExpectingDelivery,
  type ExpectingSubmit,
  type Submitting,
  type Transition,
} from "../transition.ts";

/**
 * Shortcuts of the SQLite engine: optimistic statements that skip reading the row, and the packed forms in which
 * transitions cross to the writer thread. `kind` and `expected` alone decide which transition takes one.
 */
export type FastTransition = ExpectingSubmit | ExpectingDelivery;

/** One row is written: the new sender and content of a fallback too, while they stay on the channel. */
const isFastSubmit = (transition: Transition): transition is ExpectingSubmit =>
  isExpectingSubmit(transition) &&
  (transition.becomes === undefined || transition.becomes.channel === transition.expected.channel);

export const isFast = (transition: Transition): transition is FastTransition =>
  isFastSubmit(transition) || isExpectingDelivery(transition);

type Intent = Submitting & { expected: ExpectedRow };

const isIntent = (transition: Transition): transition is Intent =>
  transition.kind === "submitting" && isExpecting(transition);

/** Intents of neighbouring recipients of one request that go to the same carrier at the same time; at least one. */
export interface IntentRun {
  first: Intent;
  count: number;
}

/**
 * A transition on its way to the writer thread. The two most frequent kinds are tuples: without names they take less than half
 * of an object's time to write, and a third to read. Any other kind crosses unchanged.
 */
export type PackedTransition = Transition | IntentRun | PackedSubmitted | PackedDelivered;

/** A bulk request is sent as runs of intents: each run crosses to the writer, and is written, as one. */
export function packTransitions(batch: readonly Transition[]): PackedTransition[] {
  const packed: PackedTransition[] = [];
  for (let at = 0; at < batch.length;) {
    const transition = batch[at];
    if (!transition) break;
    if (isIntent(transition)) {
      const run = runFrom(transition, batch, at);
      packed.push(run);
      at += run.count;
      continue;
    }
    packed.push(pack(transition));
    at += 1;
  }
  return packed;
}

function runFrom(first: Intent, batch: readonly Transition[], from: number): IntentRun {
  let count = 1;
  for (let next = batch[from + count]; next && follows(first, next, count); next = batch[from + count]) count += 1;
  return { first, count };
}

const follows = (first: Intent, next: Transition, distance: number): boolean =>
  next.n === first.n + distance &&
  next.requestId === first.requestId &&
  next.accountId === first.accountId &&
  isIntent(next) &&
  next.carrier === first.carrier &&
  next.at === first.at &&
  next.timeline === first.timeline &&
  next.owner === first.owner &&
  next.ownedBy === first.ownedBy &&
  next.attemptIs === first.attemptIs &&
  next.unlessStopped === first.unlessStopped;

export const isRun = (step: PackedTransition): step is IntentRun => "count" in step;

/** The single intents, without `expected`, which is valid for the first one only. */
export function eachOf({ first, count }: IntentRun): Submitting[] {
  const { expected: _, ...shared } = first;
  return Array.from({ length: count }, (__, distance) => ({ ...shared, n: shared.n + distance }));
}

function pack(transition: Transition): PackedTransition {
  if (isFastSubmit(transition)) return packSubmitted(transition) ?? transition;
  return isExpectingDelivery(transition) ? (packDelivered(transition) ?? transition) : transition;
}

/** The fields of both packed kinds. */
type Shared = readonly [
  accountId: number,
  requestId: string,
  n: number,
  at: number,
  owner: number,
  carrier: string,
  timeline: string,
  channel: ExpectedRow["channel"],
  routeClass: ExpectedRow["routeClass"],
  recipient: string,
  campaignName: string | null,
  test: boolean,
];

type PackedSubmitted = readonly [kind: "submitted", ...shared: Shared, carrierMessageId: string];

type PackedDelivered = readonly [
  kind: "delivered",
  ...shared: Shared,
  errorCode: string | null,
  description: string | null,
  sender: string,
  credits: number,
  createdAt: number,
  callbacks: PackedPlan | null,
  own: ExpectedRow["callback"] | null,
];

type PackedPlan = readonly [owner: number, dueAt: number, targets: readonly PackedTarget[]];

type PackedTarget = readonly [
  eventId: string,
  endpointId: string | null,
  kind: CallbackTarget["kind"],
  status: CallbackTarget["status"],
  channel: CallbackTarget["channel"],
  carrier: string | null,
  endOnly: boolean,
];

/** Null when the transition has a field that the tuple lacks. */
function packSubmitted(transition: ExpectingSubmit): PackedSubmitted | null {
  const { accountId, requestId, n, at, owner, carrier, timeline, expected, carrierMessageId } = transition;
  if (timeline === undefined || transition.partIds || transition.failoverAt !== undefined || transition.becomes)
    return null;
  const { channel, routeClass, recipient, campaignName, test = false } = expected;
  // prettier-ignore
  return [
    "submitted", accountId, requestId, n, at, owner, carrier, timeline, channel, routeClass, recipient, campaignName,
    test, carrierMessageId,
  ];
}

function packDelivered(transition: ExpectingDelivery): PackedDelivered | null {
  const { accountId, requestId, n, at, owner, carrier, timeline, timelineAlways, expected, snapshot } = transition;
  if (timeline === undefined || timelineAlways !== true) return null;
  const { channel, routeClass, recipient, campaignName, test = false, callback = null } = expected;
  const { errorCode = null, description = null, callbacks } = transition;
  // prettier-ignore
  return [
    "delivered", accountId, requestId, n, at, owner, carrier, timeline, channel, routeClass, recipient, campaignName,
    test, errorCode, description, snapshot.sender, snapshot.credits, snapshot.createdAt, callbacks ? packPlan(callbacks) : null,
    callback,
  ];
}

const packPlan = ({ owner, dueAt, targets }: CallbackPlan): PackedPlan => [
  owner,
  dueAt,
  targets.map(({ eventId, endpointId, kind, status, channel, carrier, endOnly }) => [
    eventId,
    endpointId,
    kind,
    status,
    channel,
    carrier,
    endOnly,
  ]),
];

export const isPacked = (step: PackedTransition): step is PackedSubmitted | PackedDelivered => Array.isArray(step);

/** Restores the names on the writer's side. */
export const unpackTransition = (step: PackedSubmitted | PackedDelivered): FastTransition =>
  step[0] === "submitted" ? unpackSubmitted(step) : unpackDelivered(step);

// prettier-ignore
const unpackSubmitted = ([
  kind, accountId, requestId, n, at, owner, carrier, timeline, channel, routeClass, recipient, campaignName,
  test, carrierMessageId,
]: PackedSubmitted): ExpectingSubmit => ({
  kind, accountId, requestId, n, at, owner, carrier, channel, timeline, carrierMessageId,
  expected: { channel, routeClass, recipient, campaignName, ...(test && { test }) },
});

// prettier-ignore
const unpackDelivered = ([
  kind, accountId, requestId, n, at, owner, carrier, timeline, channel, routeClass, recipient, campaignName,
  test, errorCode, description, sender, credits, createdAt, callbacks, own,
]: PackedDelivered): ExpectingDelivery => ({
  kind, to: "delivered", accountId, requestId, n, at, owner, carrier, timeline, timelineAlways: true, errorCode, description,
  expected: { channel, routeClass, recipient, campaignName, ...(test && { test }), ...(own && { callback: own }) },
  snapshot: { sender, credits, createdAt },
  ...(callbacks && { callbacks: unpackPlan(callbacks) }),
});

const unpackPlan = ([owner, dueAt, targets]: PackedPlan): CallbackPlan => ({
  owner,
  dueAt,
  targets: targets.map(([eventId, endpointId, kind, status, channel, carrier, endOnly]) => ({
    eventId,
    endpointId,
    kind,
    status,
    channel,
    carrier,
    endOnly,
  })),
});

export const IS_STOPPED = isStopped((content) => `json_extract(${content}, '$.status')`);

const SOURCES_OF_INTENT = sourceStatesOf("submitting");

const isAnyOf = (states: readonly State[]): string => `(${states.map((state) => `state = '${state}'`).join(" or ")})`;

interface FastStatements {
  /** Writes a run of intents by one statement. Throws where one of them cannot be written. */
  writeIntents(run: IntentRun): true;
  /** These return false, and write nothing, where the row is not as expected. */
  writeSubmitted(transition: ExpectingSubmit): boolean;
  writeDelivered(transition: ExpectingDelivery): boolean;
}

/** The optimistic statements, inside the writer's transaction. */
export function createFastStatements(db: DatabaseSync, counts: CampaignCounts): FastStatements {
  // By the primary key: the index of waiting rows is never faster.
  const intendIf = (condition: string): StatementSync =>
    db.prepare(
      `update messages set state = 'submitting', owner = ?, carrier = ?, attempts = attempts + 1, error_code = null,
       description = null,
       trail = case when length(coalesce(trail, '')) < ${TIMELINE_MAX} then nullif(coalesce(trail, '') || ?, '') else trail end
     where account_id = ? and request_id = ? and n between ? and ? and +owner = ? and attempts = ?
       and ${condition}`,
    );
  const outsideCampaigns = `campaign_name is null and ${isAnyOf(SOURCES_OF_INTENT)}`;
  // The signs keep SQLite from comparing the values with the conditions of partial indexes: it would plan the statement anew for
  // each value, which takes 60 µs.
  const ofCampaign = "+campaign_name is ? and +state = ?";
  const intend = intendIf(outsideCampaigns);
  const intendUnlessStopped = intendIf(`${outsideCampaigns} and not ${IS_STOPPED}`);
  const intendOfCampaign = intendIf(ofCampaign);
  const intendOfCampaignUnlessStopped = intendIf(`${ofCampaign} and not ${IS_STOPPED}`);
  /** The state that the messages of the last run left: mostly those of the next run leave it too. */
  let lastSource = SOURCES_OF_INTENT[0];

  /** The counts need the state that each message leaves, so there is an update for each source state until all are found. */
  function intendCampaignRun({ first, count }: IntentRun, values: SQLInputValue[]): number {
    const { accountId, expected: { campaignName }, unlessStopped } = first; // prettier-ignore
    const statement = unlessStopped ? intendOfCampaignUnlessStopped : intendOfCampaign;
    let written = 0;
    for (const from of new Set([lastSource, ...SOURCES_OF_INTENT])) {
      if (from === undefined || written === count) break;
      const changes = Number(statement.run(...values, campaignName, from).changes);
      if (changes === 0) continue;
      counts.note(accountId, campaignName, from, "submitting", changes);
      written += changes;
      lastSource = from;
    }
    return written;
  }

  const submitWith = (more: string): StatementSync =>
    db.prepare(
      `update messages set state = 'submitted', owner = ?, carrier = ?, error_code = null, description = null,
         submitted_at = max(?, created_at),
         trail = trail || ?${more}
       where account_id = ? and request_id = ? and n = ? and channel = ? and carrier = ? and ${isAnyOf(expectedSourcesOf("submitted"))}
         and submitted_at is null and campaign_name is ?
         and charge = ${FREE} and octet_length(trail) < ${TIMELINE_MAX}`,
    );
  const submit = submitWith("");
  const submitAndErase = submitWith(", sender = ?, content = ?, segments = ?");

  /** Limited to the first attempt, where the message has not ended before; its callbacks rely on that. */
  const deliver = db.prepare(
    `update messages set state = 'delivered', owner = ?, carrier = ?, error_code = ?, description = ?, done_at = max(?, submitted_at),
       trail = trail || ?, content = ${contentAtEnd("content")}
     where account_id = ? and request_id = ? and n = ? and channel = ? and ${isAnyOf(expectedSourcesOf("delivered"))} and submitted_at is not null
       and attempts = 1 and asked_channel is null and operator is null and circle is null and campaign_name is ? and charge = ${FREE} and octet_length(trail) < ${TIMELINE_MAX}`,
  );

  return {
    writeIntents({ first, count }) {
      const { accountId, requestId, n, owner, ownedBy, attemptIs, carrier, timeline = "", unlessStopped } = first;
      const values = [owner, carrier, timeline, accountId, requestId, n, n + count - 1, ownedBy, attemptIs];
      const written =
        first.expected.campaignName === null
          ? (unlessStopped ? intendUnlessStopped : intend).run(...values).changes
          : intendCampaignRun({ first, count }, values);
      // Checked after the write, because nearly always all rows match.
      if (written < count) throw new Error("not all of these messages are still to be sent");
      return true;
    },

    writeSubmitted({ accountId, requestId, n, at, owner, carrier, expected, timeline = "", becomes }) {
      const { channel, campaignName } = expected;
      const key = [accountId, requestId, n, channel, carrier, campaignName];
      const { changes } = becomes
        ? submitAndErase.run(owner, carrier, at, timeline, becomes.sender, JSON.stringify(becomes.content), becomes.segments, ...key) // prettier-ignore
        : submit.run(owner, carrier, at, timeline, ...key);
      if (changes === 1) counts.note(accountId, campaignName, PRECEDING.submitted, "submitted");
      return changes === 1;
    },

    writeDelivered(transition) {
      const { accountId, requestId, n, at, owner, carrier, expected, timeline = "" } = transition;
      const { errorCode = null, description = null } = transition;
      const { channel, campaignName } = expected;
      // prettier-ignore
      const { changes } = deliver.run(owner, carrier, errorCode, description, at, timeline, accountId, requestId, n, channel, campaignName);
      if (changes === 1) counts.note(accountId, campaignName, PRECEDING.delivered, "delivered");
      return changes === 1;
    },
  };
}
