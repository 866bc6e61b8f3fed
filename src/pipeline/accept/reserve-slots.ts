import type { Message } from "../../model/message.ts";
import type { Acceptance, NewRecipient } from "../../store/store.ts";
import type { PriorityQueues } from "../dispatch/priority-queues.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";

export interface SendingNode {
  queues: PriorityQueues;
  dispatcher: Dispatcher;
  /** Requests with slots in the queues whose commit, with this node as the owner, is in progress. */
  reserved: Set<string>;
}

type Stored = Pick<Acceptance, "recipients" | "timeline" | "carrier">;

/** Send slots that this node holds for a request until its commit. */
export interface SlotReservation {
  /** The fields to store, with the carrier of a direct dispatch. */
  stored: Stored;
  /** Sends the messages after their commit. Next: src/pipeline/dispatch/dispatch.ts */
  commit(): void;
  /** Frees the slots: the commit failed, or the rows belong to another node now. */
  release(): void;
}

/**
 * Reserves send slots for due messages before their commit, because a row is inserted with its owner: a direct dispatch for a
 * single message if its carrier is free, slots in the priority queues otherwise. Null if too few are free.
 */
export function reserveSlots(
  sending: SendingNode,
  message: Acceptance["message"],
  { recipients, timeline }: Stored,
): SlotReservation | null {
  return (
    reserveDirect(sending, message, { recipients, timeline }) ??
    reserveQueued(sending, message, { recipients, timeline })
  );
}

function reserveDirect(
  { dispatcher }: SendingNode,
  message: Acceptance["message"],
  { recipients, timeline }: Stored,
): SlotReservation | null {
  const [only, ...others] = recipients;
  if (!only || others.length > 0 || !isDue(only, message)) return null;
  const single = singleOf(message, only, 1);
  const plan = dispatcher.reserveDirect(single);
  if (!plan) return null;
  const { timeline: own = "", ...recipient } = only;
  return {
    stored: {
      recipients: [recipient],
      timeline: (timeline ?? "") + own + plan.timeline,
      carrier: plan.carrier,
    },
    commit: () => dispatcher.sendReserved(single, plan),
    release: () => dispatcher.cancelReservation(single, plan),
  };
}

function reserveQueued(
  { queues, dispatcher, reserved }: SendingNode,
  message: Acceptance["message"],
  stored: Stored,
): SlotReservation | null {
  const { requestId, routeClass } = message;
  const { recipients } = stored;
  if (!queues.reserve(routeClass, recipients.length)) return null;
  reserved.add(requestId);
  const release = (): void => {
    reserved.delete(requestId);
    queues.releaseSlots(routeClass, recipients.length);
  };
  return {
    stored,
    release,
    commit: () => {
      release();
      recipients.forEach((recipient, index) => {
        if (isDue(recipient, message)) queues.push(singleOf(message, recipient, index + 1));
      });
      dispatcher.wake();
    },
  };
}

const isDue = ({ failure, dueAt }: NewRecipient, { createdAt }: Acceptance["message"]): boolean =>
  failure === null && (dueAt ?? createdAt) <= createdAt;

/** One message of the request. Field by field: V8 allocates a literal at once, and grows an object made by spreading. */
const singleOf = (
  message: Acceptance["message"],
  { number, credits, content = message.content, segments = message.segments }: NewRecipient,
  n: number,
): Message => ({
  accountId: message.accountId,
  requestId: message.requestId,
  n,
  channel: message.channel,
  routeClass: message.routeClass,
  test: message.test,
  sender: message.sender,
  recipient: number,
  content,
  segments,
  credits,
  campaignName: message.campaignName,
  tried: NONE_TRIED,
  carrier: null,
  state: "accepted",
  attempts: 0,
  repeats: 0,
  createdAt: message.createdAt,
  dueAt: message.dueAt,
  expiresAt: message.expiresAt,
  callback: message.callback,
});

const NONE_TRIED: Message["tried"] = [];
