import { isDelivery, isTaking, type Delivery, type Taking } from "../as-known.ts";
import type { Announcement, AnnouncementTarget, Move } from "../store.ts";
import { gatherIntents, isRun, type Intents } from "./intend.ts";

/**
 * A move on its way to the writer. What nearly every message goes through is a list without names, which takes less than half
 * of an object's time to write, and a third to read; any other move crosses as it is.
 */
export type PackedMove = Move | Intents | PackedTaking | PackedDelivery;

/** What both say. */
type Step = readonly [
  accountId: number,
  requestId: string,
  n: number,
  at: number,
  owner: number,
  carrier: string,
  trail: string,
  channel: Known["channel"],
  routeClass: Known["routeClass"],
  recipient: string,
];

type PackedTaking = readonly [to: "submitted", ...step: Step, carrierMessageId: string];

type PackedDelivery = readonly [
  to: "delivered",
  ...step: Step,
  errorCode: string | null,
  description: string | null,
  sender: string,
  credits: number,
  createdAt: number,
  announce: PackedAnnouncement | null,
];

type PackedAnnouncement = readonly [owner: number, dueAt: number, targets: readonly PackedTarget[]];

type PackedTarget = readonly [
  eventId: string,
  endpointId: string,
  kind: AnnouncementTarget["kind"],
  status: AnnouncementTarget["status"],
  channel: Known["channel"],
  carrier: string | null,
  endOnly: boolean,
];

type Known = Taking["known"];

export const packMoves = (batch: readonly Move[]): PackedMove[] => gatherIntents(batch).map(pack);

function pack(step: Move | Intents): PackedMove {
  if (isRun(step)) return step;
  if (isTaking(step)) return packTaking(step) ?? step;
  return isDelivery(step) ? (packDelivery(step) ?? step) : step;
}

/** Null where it says more than most do. */
function packTaking(move: Taking): PackedTaking | null {
  const { accountId, requestId, n, at, owner, carrier, trail, trailAlways, known, carrierMessageId } = move;
  if (trail === undefined || trailAlways !== true || carrierMessageId === undefined) return null;
  if (move.partIds !== undefined || move.failoverAt !== undefined) return null;
  const { channel, routeClass, recipient } = known;
  // prettier-ignore
  return ["submitted", accountId, requestId, n, at, owner, carrier, trail, channel, routeClass, recipient, carrierMessageId];
}

function packDelivery(move: Delivery): PackedDelivery | null {
  const { accountId, requestId, n, at, owner, carrier, trail, trailAlways, known, facts } = move;
  if (trail === undefined || trailAlways !== true) return null;
  const { channel, routeClass, recipient } = known;
  const { errorCode = null, description = null, announce } = move;
  // prettier-ignore
  return [
    "delivered", accountId, requestId, n, at, owner, carrier, trail, channel, routeClass, recipient, errorCode, description,
    facts.sender, facts.credits, facts.createdAt, announce ? packAnnouncement(announce) : null,
  ];
}

const packAnnouncement = ({ owner, dueAt, targets }: Announcement): PackedAnnouncement => [
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

export const isPacked = (step: PackedMove): step is PackedTaking | PackedDelivery => Array.isArray(step);

/** The same with its names, on the writer's side. */
export const unpackMove = (step: PackedTaking | PackedDelivery): Taking | Delivery =>
  step[0] === "submitted" ? unpackTaking(step) : unpackDelivery(step);

// prettier-ignore
const unpackTaking = ([
  to, accountId, requestId, n, at, owner, carrier, trail, channel, routeClass, recipient, carrierMessageId,
]: PackedTaking): Taking => ({
  to, accountId, requestId, n, at, owner, carrier, trail, trailAlways: true, carrierMessageId,
  known: { channel, routeClass, recipient },
});

// prettier-ignore
const unpackDelivery = ([
  to, accountId, requestId, n, at, owner, carrier, trail, channel, routeClass, recipient, errorCode, description,
  sender, credits, createdAt, announce,
]: PackedDelivery): Delivery => ({
  to, accountId, requestId, n, at, owner, carrier, trail, trailAlways: true, errorCode, description, failoverAt: null,
  known: { channel, routeClass, recipient },
  facts: { sender, credits, createdAt },
  ...(announce && { announce: unpackAnnouncement(announce) }),
});

const unpackAnnouncement = ([owner, dueAt, targets]: PackedAnnouncement): Announcement => ({
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
