import type { Callback, MessageFacts } from "../model/callback.ts";
import { messageIdOf } from "../model/message.ts";
import { newCallbackOf, rowOfMove } from "./callback-rows.ts";
import { saysOnly } from "./says-only.ts";
import type { AnnouncementTarget, Move, MoveResult } from "./store.ts";

/** A move by somebody who knows what it is about. */
export type AsKnown = Move & Required<Pick<Move, "known">>;

const FIELDS = [
  "accountId", "requestId", "n", "to", "at", "owner", "carrier", "trail", "trailAlways", "failoverAt", "known",
] as const satisfies (keyof Move)[]; // prettier-ignore

const TAKING = [...FIELDS, "carrierMessageId", "partIds"] as const satisfies (keyof Move)[];
const TAKING_FIELDS = new Set<string>(TAKING);
export type TakingField = (typeof TAKING)[number];

/** A move that says that a carrier has a message, by whoever handed it over, and nothing else. */
export type Taking = AsKnown & Required<Pick<Move, "carrier">> & { to: "submitted" };

export const isTaking = (move: Move): move is Taking => takes(move, TAKING_FIELDS);

/** One after which the words of the message are not kept. */
export type Erasure = Taking & Required<Pick<Move, "becomes">>;

const ERASURE_FIELDS = new Set<string>([...TAKING, "becomes"] satisfies (keyof Move)[]);

export const isErasure = (move: Move): move is Erasure =>
  move.becomes !== undefined && move.becomes.channel === move.known?.channel && takes(move, ERASURE_FIELDS);

const takes = (move: Move, fields: ReadonlySet<string>): boolean =>
  move.to === "submitted" &&
  move.known !== undefined &&
  move.carrier !== undefined &&
  move.failoverAt !== null &&
  saysOnly(move, fields);

const DELIVERY = [...FIELDS, "errorCode", "description", "facts", "announce"] as const satisfies (keyof Move)[];
const DELIVERY_FIELDS = new Set<string>(DELIVERY);
export type DeliveryField = (typeof DELIVERY)[number];

/**
 * A move that says that a message has come to its phone, by whoever knows all that is told of it, and nothing else. Of the
 * chat app it is also told whether it was in the business's own words, for which a store has to look.
 */
export type Delivery = AsKnown & Required<Pick<Move, "carrier" | "facts">> & { to: "delivered" };

export const isDelivery = (move: Move): move is Delivery =>
  move.to === "delivered" &&
  move.known !== undefined &&
  move.known.channel !== "chatapp" &&
  move.facts !== undefined &&
  move.carrier !== undefined &&
  move.failoverAt === null &&
  saysOnly(move, DELIVERY_FIELDS);

/** Who is told of a delivery, unless that was told before. */
const targetsOf = ({ announce, known, carrier }: Delivery): AnnouncementTarget[] =>
  (announce?.targets ?? []).filter(
    (target) => target.channel === known.channel && (target.carrier === null || target.carrier === carrier),
  );

function callbackOf(move: Delivery, target: AnnouncementTarget): Callback {
  const { requestId, n, known, facts, carrier } = move;
  const { channel, recipient } = known;
  const told: MessageFacts = { messageId: messageIdOf({ requestId, n }), channel, recipient, ...facts, session: false };
  return newCallbackOf(rowOfMove(move, target, carrier), told);
}

/** Of a move that was written as its sender knew it. */
const isToldAsKnown = (move: AsKnown): move is Delivery => move.facts !== undefined;

/** The result of a move where everything was as its sender knew it. */
export const movedAsKnown = (move: AsKnown): MoveResult => ({
  moved: true,
  message: { ...move.known, taken: move.to === "submitted" },
  parked: [],
  told: isToldAsKnown(move) ? targetsOf(move).map((target) => callbackOf(move, target)) : [],
});
