import type { Message } from "../model/message.ts";
import type { Acceptance, NewRecipient } from "../store/store.ts";
import type { Lanes } from "../work/lanes.ts";
import type { Dispatcher } from "./dispatcher.ts";

export interface Sending {
  lanes: Lanes;
  dispatcher: Dispatcher;
}

type Stored = Pick<Acceptance, "recipients" | "trail" | "carrier">;

/** What this node keeps free for the messages of a request. */
export interface Places {
  /** The request as it is stored, with what was decided by taking the places. */
  stored: Stored;
  /** They are stored: off they go. Next: src/messages/dispatch.ts */
  go(): void;
  /** They were not, or are not this node's to send any more. */
  giveUp(): void;
}

/**
 * Takes places for messages that are about to be stored and are due, because a row must know its owner when it is born: at the
 * carrier's gate for a single one that can go at once, in the lanes for others; null where there are not enough.
 */
export function takePlaces(
  sending: Sending,
  message: Acceptance["message"],
  { recipients, trail }: Stored,
): Places | null {
  return boarded(sending, message, { recipients, trail }) ?? inLanes(sending, message, { recipients, trail });
}

function boarded(
  { dispatcher }: Sending,
  message: Acceptance["message"],
  { recipients, trail }: Stored,
): Places | null {
  const [only, ...others] = recipients;
  if (!only || others.length > 0 || !isDue(only, message)) return null;
  const single = singleOf(message, only, 1);
  const departure = dispatcher.board(single);
  if (!departure) return null;
  const { trail: own = "", ...recipient } = only;
  return {
    stored: {
      recipients: [recipient],
      trail: (trail ?? "") + own + departure.trail,
      carrier: departure.carrier,
    },
    go: () => dispatcher.depart(single, departure),
    giveUp: () => dispatcher.stayBehind(single, departure),
  };
}

function inLanes({ lanes, dispatcher }: Sending, message: Acceptance["message"], stored: Stored): Places | null {
  const { routeClass } = message;
  const { recipients } = stored;
  if (!lanes.reserve(routeClass, recipients.length)) return null;
  const giveUp = (): void => lanes.giveBack(routeClass, recipients.length);
  return {
    stored,
    giveUp,
    go: () => {
      giveUp();
      recipients.forEach((recipient, index) => {
        if (isDue(recipient, message)) lanes.push(singleOf(message, recipient, index + 1));
      });
      dispatcher.wake();
    },
  };
}

const isDue = ({ failure, dueAt }: NewRecipient, { createdAt }: Acceptance["message"]): boolean =>
  failure === null && (dueAt ?? createdAt) <= createdAt;

/** One of the request's messages, as it begins; field by field, which makes it in one piece where a spread makes it in many. */
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
});

const NONE_TRIED: Message["tried"] = [];
