import type { RouteClass, Message } from "../../model/message.ts";
import type { PumpingGuard } from "../../model/pumping.ts";
import { callbackRow } from "../callback-rows.ts";
import { hasOwn } from "../rows.ts";
import type { Acceptance, NewRecipient } from "../store.ts";
import type { NewVerification } from "../verifications.ts";

/**
 * An acceptance on its way to the writer, as a tuple: one crosses for every request, and field names cost as much to serialize
 * and parse as the values.
 */
export type Packed = readonly [
  accountId: number,
  requestId: string,
  channel: Message["channel"],
  routeClass: RouteClass,
  test: boolean,
  sender: string,
  content: string,
  segments: number,
  campaignName: string | null,
  createdAt: number,
  dueAt: number,
  expiresAt: number,
  owner: number,
  trail: string | null,
  metered: boolean,
  links: Acceptance["links"],
  idempotency: Acceptance["idempotency"],
  numbers: readonly string[],
  credits: readonly number[],
  /** Null when every recipient is valid. */
  failures: readonly (string | null)[] | null,
  /** Null when no recipient has values of its own. */
  own: readonly Own[] | null,
  /** Null when there are no callbacks. */
  callbacks: readonly NewCallbackRow[] | null,
  /** Null when it sends no code. */
  code: PackedCode | null,
  /** The carrier of a direct dispatch, or null. */
  carrier: string | null,
  /** JSON of the messages' own callback, or null. */
  callback: string | null,
];

type NewCallbackRow = ReturnType<typeof callbackRow>;

type Own = readonly [content: string | null, segments: number | null, dueAt: number | null, trail: string | null];

export function pack({
  message,
  recipients,
  timeline: trail,
  owner,
  carrier,
  metered,
  links,
  idempotency,
  callbacks = [],
  verification,
}: Acceptance): Packed {
  const failing = recipients.some((recipient) => recipient.failure !== null);
  return [
    message.accountId,
    message.requestId,
    message.channel,
    message.routeClass,
    message.test,
    message.sender,
    JSON.stringify(message.content),
    message.segments,
    message.campaignName,
    message.createdAt,
    message.dueAt,
    message.expiresAt,
    owner,
    trail,
    metered,
    links,
    idempotency,
    recipients.map((recipient) => recipient.number),
    recipients.map((recipient) => recipient.credits),
    failing ? recipients.map((recipient) => recipient.failure) : null,
    recipients.some(hasOwn) ? recipients.map(ownOf) : null,
    callbacks.length === 0 ? null : callbacks.map(callbackRow),
    verification ? packCode(verification) : null,
    carrier ?? null,
    message.callback ? JSON.stringify(message.callback) : null,
  ];
}

export type Unpacked = ReturnType<typeof unpack>;

/** Restores the names on the writer's side, where they cost nothing to transfer. */
// prettier-ignore
export const unpack = ([
  accountId, requestId, channel, routeClass, test, sender, content, segments, campaignName, createdAt, dueAt, expiresAt,
  owner, trail, metered, links, idempotency, numbers, credits, failures, own, callbacks, code, carrier, callback,
]: Packed) => ({
  accountId, requestId, channel, routeClass, test, sender, content, segments, campaignName, createdAt, dueAt, expiresAt,
  owner, trail, metered, links, idempotency, numbers, credits, failures, own, callbacks, code, carrier, callback,
});

/** A code as a tuple. Only the values for the limits cross, because a whole configuration may be longer than the message. */
export type PackedCode = readonly [
  mode: NewVerification["mode"],
  config: string,
  country: string,
  digest: string,
  checksMax: number,
  failuresPerHour: number,
  failuresPerDay: number,
  expiresAt: number,
  bound: boolean,
  fixed: boolean,
  cooldownSeconds: number,
  sendsPer10Minutes: number,
  sendsPerDay: number,
  guard: PackedGuard | null,
  next: NewVerification["next"],
  continues: boolean,
  followed: boolean,
  source: Required<NewVerification>["source"],
  address: string | null,
];

type PackedGuard = readonly [
  prefixUnused: number,
  countryPerHour: number | null,
  sendsPerDay: number | null,
  conversionPercent: number,
  blockHours: number,
];

const packCode = (code: NewVerification): PackedCode => [
  code.mode,
  code.config,
  code.country,
  code.digest,
  code.checksMax,
  code.failuresPerHour,
  code.failuresPerDay,
  code.expiresAt,
  code.bound,
  code.fixed,
  code.caps.cooldownSeconds,
  code.caps.sendsPer10Minutes,
  code.caps.sendsPerDay,
  code.guard && packGuard(code.guard),
  code.next,
  code.continues ?? false,
  code.followed ?? false,
  code.source ?? null,
  code.address ?? null,
];

const packGuard = (guard: PumpingGuard): PackedGuard => [
  guard.prefixUnused,
  guard.countryPerHour,
  guard.sendsPerDay,
  guard.conversionPercent,
  guard.blockHours,
];

const unpackGuard = ([prefixUnused, countryPerHour, sendsPerDay, conversionPercent, blockHours]: PackedGuard) => ({
  prefixUnused,
  countryPerHour,
  sendsPerDay,
  conversionPercent,
  blockHours,
});

// prettier-ignore
export const unpackCode = ([
  mode, config, country, digest, checksMax, failuresPerHour, failuresPerDay, expiresAt, bound, fixed,
  cooldownSeconds, sendsPer10Minutes, sendsPerDay, guard, next, continues, followed, source, address,
]: PackedCode): Required<NewVerification> => ({
  mode, config, country, digest, checksMax, failuresPerHour, failuresPerDay, expiresAt, bound, fixed,
  caps: { cooldownSeconds, sendsPer10Minutes, sendsPerDay },
  guard: guard && unpackGuard(guard),
  next, continues, followed, source, address,
});

const ownOf = ({ content, segments, dueAt, timeline: trail }: NewRecipient): Own => [
  content === undefined ? null : JSON.stringify(content),
  segments ?? null,
  dueAt ?? null,
  trail ?? null,
];
