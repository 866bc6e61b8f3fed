import type { CampaignName } from "../model/stats.ts";
import type { Callback, MessageCallback, MessageSnapshot, StateEvent, StatusEvent } from "../model/callback.ts";
import {
  messageIdOf,
  sourceStatesOf,
  type Channel,
  type Message,
  type MessageRef,
  type RouteClass,
  type State,
} from "../model/message.ts";
import { newCallbackOf, callbackRowOf } from "./callback-rows.ts";
import type { StoredReceipt } from "./store.ts";

/**
 * A command that changes a stored message. It takes effect only from a state that may legally lead to its target state
 * (the table in model/message.ts), and only while all of its conditions hold.
 */
export type Transition = Submitting | Submitted | Delivered | Reported | Ended | Deferred | Rerouted | TimelineAppend;

interface Command extends MessageRef {
  at: number;
  timeline?: string;
  /**
   * The same write was sent before and its answer was lost. An intent that the store already holds then counts as applied,
   * and an entry that is already on the timeline is not appended twice.
   */
  repeated?: true;
}

interface StateChange extends Command {
  /** The owner afterwards. */
  owner: number;
  callbacks?: CallbackPlan;
}

/** Conditions on the row as it is. A transition whose condition fails changes nothing. */
interface Conditions {
  /** Only if this node still owns the row. */
  ownedBy?: number;
  /** Only if the attempt count matches: a write about one attempt never undoes a later one. */
  attemptIs?: number;
  /** Only if this carrier has the message now. */
  carriedBy?: string;
  /** Only if the message goes by this channel now. */
  channelIs?: Channel;
  /** Only if it is still due at this time. */
  dueIs?: number;
  /** Not while a submit response is pending. */
  unlessSubmitting?: boolean;
}

/** The timeline entry of a transition that is refused is appended nevertheless. */
interface TimelineAlways {
  timelineAlways?: boolean;
}

/**
 * Optimistic locking: the row as the caller believes it to be. The engine may skip reading the row, and verifies these
 * values in the condition of its statement instead. Where they are wrong, it reads the row as it does without them.
 */
export interface ExpectedRow extends Omit<ChangedMessage, "taken" | "campaign"> {
  campaignName: string | null;
  /** Set for a message of a test key. Never changes, so no statement compares it. */
  test?: true;
  /** Never changes, so no statement compares it. */
  callback?: MessageCallback | undefined;
}

/** The intent to hand a message to a carrier. It is on disk before the carrier is called, and counts one more attempt. */
export type Submitting = StateChange & {
  kind: "submitting";
  carrier: string;
  ownedBy: number;
  attemptIs: number;
  /** Only if neither an opt-out of its recipient (for promotions) nor its campaign has stopped it. */
  unlessStopped?: true;
} & (
    | { expected: ExpectedRow; repeat?: undefined }
    /** Counts the repeat of a message in doubt. */
    | { expected?: undefined; repeat?: 1 | undefined }
  );

/** The submit response: a carrier has the message. It takes effect only while that carrier has it, on that channel. */
export interface Submitted extends StateChange {
  kind: "submitted";
  carrier: string;
  channel: Channel;
  /** Receipts will name this id. */
  carrierMessageId: string;
  /** The ids of all parts in order, if there is more than one. */
  partIds?: readonly string[];
  /** When to try the next route unless the message has ended. */
  failoverAt?: number;
  /** The content afterwards, if the text must not stay in the store. */
  becomes?: NewContent;
  expected?: ExpectedRow;
}

/** A receipt reports that the phone has the message, or that it was read. It ends a planned failover. */
export type Delivered = StateChange &
  TimelineAlways & {
    kind: "delivered";
    to: "delivered" | "read";
    carrier: string;
    errorCode?: string | null;
    description?: string | null;
  } & (
    | { to: "delivered"; expected: ExpectedRow; snapshot: CallbackFacts }
    | (Pick<Conditions, "unlessSubmitting"> &
        Network &
        Settles & {
          expected?: undefined;
          /** The channel of the receipt: a message that was rerouted to another channel may still arrive by its first. */
          deliveredOn?: Channel;
        })
  );

/** A receipt that is not final: the message is on its way, or the carrier does not know its state. */
export interface Reported extends StateChange, TimelineAlways, Conditions, Network, Settles {
  kind: "reported";
  to: "enroute" | "unknown";
  errorCode?: string | null;
  description?: string | null;
}

/** The message has failed, or no further report is expected. */
export interface Ended extends StateChange, TimelineAlways, Conditions, Network, Settles {
  kind: "ended";
  to: "rejected" | "undelivered" | "expired" | "cancelled" | "unknown";
  carrier?: string;
  errorCode: string | null;
  description: string | null;
  /** Null ends a planned failover. */
  failoverAt?: null;
  /** Refunds the credits even if they were spent. */
  refund?: boolean;
  becomes?: NewContent;
}

/** The message waits until a later time: a carrier is busy or down, a policy holds it, or it is in doubt (`submitting`). */
export interface Deferred extends StateChange, TimelineAlways, Conditions {
  kind: "deferred";
  to: "accepted" | "scheduled" | "submitting";
  dueAt?: number;
  /** Extends its validity. */
  extendMs?: number;
  carrier?: string;
  /** The message id under which the carrier may have taken it, if known: receipts then match even without a submit response. */
  carrierMessageId?: string;
  /** Counts one more attempt, so that the backoff grows. */
  attempt?: true;
  /** Takes back a repeat that was not sent. */
  repeat?: -1;
  /** Only other nodes can send it now. Not stored. */
  leftToOthers?: true;
}

/** The message leaves its carrier for another route, or for its fallback text. It ends a planned failover. */
export interface Rerouted extends StateChange, Pick<Conditions, "ownedBy" | "carriedBy" | "channelIs">, Settles {
  kind: "rerouted";
  dueAt: number;
  /** Ids of the routes that failed to deliver. */
  tried: readonly string[];
  /** The new content, if it continues as another message. */
  becomes?: NewContent;
  /** Moves the end of its validity, to a later or an earlier time. */
  extendMs?: number;
}

/** Appends to the timeline. No state changes. */
export interface TimelineAppend extends Command, Settles {
  kind: "timeline";
  timeline: string;
}

export type NewContent = Pick<Message, "channel" | "sender" | "content" | "segments">;

/** The phone's network and region, if the carrier reports them. */
interface Network {
  operator?: string;
  circle?: string;
}

interface Settles {
  /** An unmatched receipt that this command applies. It is removed whether or not the command takes effect. */
  settles?: number;
}

/** The facts that callbacks report besides `ExpectedRow`. */
type CallbackFacts = Pick<MessageSnapshot, "sender" | "credits" | "createdAt">;

/** The callbacks of a transition that takes effect, stored in its transaction. */
export interface CallbackPlan {
  /** The node that will deliver them, or `UNOWNED`. */
  owner: number;
  dueAt: number;
  targets: readonly CallbackTarget[];
}

/** An endpoint that gets a callback if the message goes by this channel, and by this carrier if one is named. */
export interface CallbackTarget {
  eventId: string;
  /** Null for the message's own callback: nothing is stored for a message without one. */
  endpointId: string | null;
  kind: "status" | "sent" | "state";
  status: StatusEvent["status"] | StateEvent["state"] | null;
  /** Null for any. */
  channel: Channel | null;
  carrier: string | null;
  /** The endpoint gets only final states and `unknown`. */
  endOnly: boolean;
}

/** The row of a message after its transition. */
export interface ChangedMessage {
  channel: Channel;
  routeClass: RouteClass;
  recipient: string;
  /** This transition is the first proof that a carrier has it. */
  taken: boolean;
  /** Absent for a message without a campaign. */
  campaign?: CampaignName;
}

export interface TransitionResult {
  moved: boolean;
  /** Null when the transition was refused. */
  message: ChangedMessage | null;
  /** Receipts that were waiting for the id of this submit. */
  unmatched: readonly StoredReceipt[];
  /** The callbacks that this node delivers. */
  callbacks: readonly Callback[];
}

/** The state that a transition leads to; null if it changes none. */
export function targetState(transition: Exclude<Transition, TimelineAppend>): State;
export function targetState(transition: Transition): State | null;
export function targetState(transition: Transition): State | null {
  switch (transition.kind) {
    case "submitting":
    case "submitted":
      return transition.kind;
    case "rerouted":
      return "accepted";
    case "timeline":
      return null;
    case "delivered":
    case "reported":
    case "ended":
    case "deferred":
    default:
      return transition.to;
  }
}

type AnyOf<U, K extends PropertyKey> = U extends unknown ? (K extends keyof U ? U[K] : never) : never;
type FieldOf<U> = U extends unknown ? keyof U : never;
/** The fields of all kinds, for statements that write any of them. */
export type AnyTransition = Pick<Transition, keyof Command> & {
  [K in Exclude<FieldOf<Transition>, keyof Command>]?: AnyOf<Transition, K> | undefined;
};

// The rules that a kind implies, for the statements of both engines.

/** The carrier that must have the message; undefined if any may. */
export const carrierCondition = (transition: AnyTransition): string | undefined =>
  transition.kind === "submitted" ? transition.carrier : transition.carriedBy;

/** The channel by which the message must go; undefined if any may. */
export const channelCondition = (transition: AnyTransition): Channel | undefined =>
  transition.kind === "submitted" ? transition.channel : transition.channelIs;

/** The carrier afterwards: empty after a reroute; undefined leaves it unchanged. */
export const carrierAfter = (transition: AnyTransition): string | undefined =>
  transition.kind === "rerouted" ? "" : transition.carrier;

export const countsAttempt = ({ kind, attempt }: AnyTransition): boolean => kind === "submitting" || attempt === true;

export const endsFailover = ({ kind, failoverAt }: AnyTransition): boolean =>
  kind === "delivered" || kind === "rerouted" || failoverAt === null;

/** True if the timeline entry is appended even when the transition is refused: a submit response is a fact in any case. */
export const appendsAlways = ({ kind, timelineAlways }: AnyTransition): boolean =>
  kind === "submitted" || kind === "timeline" || timelineAlways === true;

/** The channel that callbacks report; undefined for the message's current channel. */
export const reportedChannel = ({ expected, deliveredOn }: AnyTransition): Channel | undefined =>
  expected?.channel ?? deliveredOn;

/** A transition whose caller supplies the expected row. */
export type Expecting = Extract<Transition, { expected?: unknown }> & { expected: ExpectedRow };

export type ExpectingDelivery = Extract<Delivered, { snapshot: CallbackFacts }>;

/** True if the engine may skip reading the row. A repeated write must read it, to find out what the first one wrote. */
export const isExpecting = (transition: Transition): transition is Expecting =>
  "expected" in transition && transition.expected !== undefined && transition.repeated !== true;

/** An optimistic submit on the channel of the request. With callbacks it reads the row: an earlier route may have reported it sent. */
export type ExpectingSubmit = Submitted & { expected: ExpectedRow };

export const isExpectingSubmit = (transition: Transition): transition is ExpectingSubmit =>
  transition.kind === "submitted" &&
  isExpecting(transition) &&
  transition.channel === transition.expected.channel &&
  transition.callbacks === undefined;

/** Excludes the chat app: its callbacks report whether the message was a session message, which only the row says. */
export const isExpectingDelivery = (transition: Transition): transition is ExpectingDelivery =>
  transition.kind === "delivered" && isExpecting(transition) && transition.expected.channel !== "chatapp";

/** The state before an optimistic transition. */
export const PRECEDING = { submitted: "submitting", delivered: "submitted" } as const;

/** The legal source state that the caller of an optimistic transition expects. */
export const expectedSourcesOf = (kind: keyof typeof PRECEDING): State[] =>
  sourceStatesOf(kind).filter((state) => state === PRECEDING[kind]);

/** The result of a transition whose row was as expected. */
export function predictedResult(transition: Expecting): TransitionResult {
  const { channel, routeClass, recipient, campaignName, test = false } = transition.expected;
  const message: ChangedMessage = { channel, routeClass, recipient, taken: transition.kind === "submitted" };
  if (campaignName !== null) message.campaign = { name: campaignName, test };
  return {
    moved: true,
    message,
    unmatched: [],
    callbacks: transition.kind === "delivered" ? predictedCallbacks(transition) : [],
  };
}

function predictedCallbacks(delivery: ExpectingDelivery): Callback[] {
  const { requestId, n, expected, snapshot, carrier, callbacks } = delivery;
  const { channel, recipient } = expected;
  return (callbacks?.targets ?? [])
    .filter((target) => reaches(target, channel) && (target.carrier === null || target.carrier === carrier))
    .flatMap((target) => {
      const aimed = aimedAt(target, expected.callback);
      if (!aimed) return [];
      const messageId = messageIdOf({ requestId, n });
      const facts: MessageSnapshot = { messageId, channel, recipient, ...snapshot, session: false, ...aimed.facts };
      return newCallbackOf(callbackRowOf(delivery, aimed.target, carrier), facts);
    });
}

const reaches = ({ channel }: CallbackTarget, by: Channel): boolean => channel === null || channel === by;

interface Aimed {
  target: CallbackTarget & { endpointId: string };
  /** The facade's choices in the message's own callback. */
  facts: Pick<MessageSnapshot, "callback">;
}

/** The target with its endpoint; null if it is the message's own callback and the message has none. */
export function aimedAt(target: CallbackTarget, callback: MessageCallback | undefined): Aimed | null {
  const { endpointId } = target;
  if (endpointId !== null) return { target: { ...target, endpointId }, facts: {} };
  if (!callback?.states.includes(target.status as State)) return null;
  return { target: { ...target, endpointId: callback.endpointId }, facts: { callback } };
}
