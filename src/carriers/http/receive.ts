import type { Clock } from "../../lib/clock.ts";
import { idOf } from "../../lib/ids.ts";
import { isPlainText, isShowable } from "../../lib/text.ts";
import { parseMessageId } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import {
  echoesIdWithParts,
  type HttpInbound,
  type HttpPick,
  type HttpReceipts,
  type HttpSettings,
  type HttpState,
} from "../../model/http-connection.ts";
import { compilePick, readPath, type ResponseParts } from "../../model/http-pick.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { Inbound } from "../carrier.ts";
import { decodeText, type UndecodableText } from "./decode-text.ts";
import type { ParsedWebhook } from "./parse-webhook.ts";

interface ReceiveDeps {
  /** Unique in the whole service. */
  name: string;
  accountId: number;
  settings: HttpSettings;
  clock: Clock;
  /** First time of receipt of an event that has an id but no time. */
  firstReceivedAt(id: string): number;
  /** Called for a text that contradicts its declared charset. */
  onUndecodableText(problem: UndecodableText): void;
}

/** Events of one webhook request, or of a slice of it. */
export interface ReceivedEvents {
  receipts: readonly Receipt[];
  inbound: readonly Inbound[];
}

type Find = (fields: ResponseParts) => string | null;

const ID_MAX = 200;
const CODE_MAX = 40;
const DESCRIPTION_MAX = 200;
const ADDRESS_MAX = 50;
const TEXT_MAX = 10_000;

/** Entries processed per slice, after which the event loop gets its turn. */
const SLICE = 1000;

/** Compiles the field mapping of a connection into a parser of webhooks. Unmapped input yields no event. */
export function createReceiver(deps: ReceiveDeps): (webhook: ParsedWebhook) => Iterable<ReceivedEvents> {
  const { receipts, inbound } = deps.settings;
  const readReceipt = receipts && receiptReader(deps, receipts);
  const readInbound = inbound && inboundReader(deps, inbound);
  const findStatus = finder(receipts?.status ?? null, ID_MAX);
  const states = new Set(Object.keys(receipts?.states ?? {}).map((word) => word.toLowerCase()));
  const isKnownState = (fields: ResponseParts): boolean => states.has(findStatus(fields)?.toLowerCase() ?? "");
  return function* (webhook) {
    const receiptEntries = new Set(receipts ? webhook.entries(receipts.each) : []);
    const inboundEntries = new Set(inbound ? webhook.entries(inbound.each) : []);
    const all = [...new Set([...receiptEntries, ...inboundEntries])];
    for (let from = 0; from < all.length; from += SLICE) {
      const events: { receipts: Receipt[]; inbound: Inbound[] } = { receipts: [], inbound: [] };
      for (const entry of all.slice(from, from + SLICE)) {
        const fields = webhook.fieldsOf(entry);
        const receipt = receiptEntries.has(entry) ? readReceipt?.(fields) : null;
        // An entry with a status is a receipt, even if it also contains a phone number. With a status that the connection does
        // not know it is an inbound message, if it is a whole one: some providers name every event in the same field.
        const isInbound = inboundEntries.has(entry) && !(receipt && isKnownState(fields));
        const text = isInbound ? readInbound?.(fields) : null;
        if (text) events.inbound.push(text);
        else if (receipt) events.receipts.push(receipt);
      }
      yield events;
    }
  };
}

function receiptReader(
  { name, accountId, settings, clock }: ReceiveDeps,
  mapping: HttpReceipts,
): (fields: ResponseParts) => Receipt | null {
  const find = {
    id: finder(mapping.id, ID_MAX),
    ref: finder(mapping.ref, ID_MAX),
    status: finder(mapping.status, ID_MAX),
    errorCode: finder(mapping.errorCode, CODE_MAX),
    description: finder(mapping.description, DESCRIPTION_MAX),
    time: finder(mapping.time, CODE_MAX),
    recipient: finder(mapping.recipient, ADDRESS_MAX),
  };
  const meanings = new Map(Object.entries(settings.errorTexts));
  const isPerPart = echoesIdWithParts(settings);
  const states = new Map(Object.entries(mapping.states).map(([word, state]) => [word.toLowerCase(), state]));
  return (fields) => {
    const status = find.status(fields);
    const own = find.ref(fields);
    const named = own === null ? null : parseMessageId(own);
    const given = find.id(fields);
    const id = given ?? (named && own);
    // The receipt of one part does not stand for the message; it is matched by the part's own id.
    const ref = given !== null && isPerPart ? null : named;
    if (status === null || id === null) return null;
    const state: HttpState = states.get(status.toLowerCase()) ?? "unknown";
    const now = clock.now();
    const time = find.time(fields);
    const phone = find.recipient(fields);
    const recipient = phone === null ? null : readNumber(phone);
    const errorCode = find.errorCode(fields);
    const meaning = errorCode === null ? null : (meanings.get(errorCode) ?? null);
    return {
      carrier: name,
      carrierMessageId: id,
      ...(recipient && { recipient }),
      ...(ref && { ref: { accountId, ...ref } }),
      channel: "sms",
      state,
      errorCode,
      description:
        meaning ?? find.description(fields) ?? (states.has(status.toLowerCase()) ? null : unknownState(status)),
      at: Math.min((time === null ? null : readTime(time, now)) ?? now, now),
    };
  };
}

const unknownState = (status: string): string =>
  `The provider says ${JSON.stringify(status.slice(0, CODE_MAX))}, which the line has no state for`;

function inboundReader(
  { name, accountId, clock, firstReceivedAt: firstHeard, onUndecodableText: onOddText }: ReceiveDeps,
  mapping: HttpInbound,
): (fields: ResponseParts) => Inbound | null {
  const find = {
    from: finder(mapping.from, ADDRESS_MAX),
    to: finder(mapping.to, ADDRESS_MAX),
    text: textFinder(mapping, onOddText),
    id: finder(mapping.id, ID_MAX),
    time: finder(mapping.time, CODE_MAX),
  };
  return (fields) => {
    const from = find.from(fields);
    const to = find.to(fields);
    const text = find.text(fields);
    if (from === null || to === null || text === null) return null;
    const id = find.id(fields);
    const now = clock.now();
    const time = find.time(fields);
    const sentAt = time === null ? null : readTime(time, now);
    // The id is derived from the event's time, which must not be the time of a repetition.
    const moment = sentAt ?? (id === null ? now : firstHeard(id));
    return {
      accountId,
      ...(id !== null && { id: idOf(moment, `${name}\n${id}`) }),
      ...(id !== null && sentAt === null && { isTimeOurs: true }),
      channel: "sms",
      from: readNumber(from) ?? from,
      to: readNumber(to) ?? to,
      content: { kind: "text", text: showable(text).slice(0, TEXT_MAX) },
      answers: null,
      // A clock that is ahead must not date events into the future.
      at: Math.min(moment, now),
    };
  };
}

/** The text may be empty: phones send empty messages. */
function textFinder({ text, charset = null }: HttpInbound, onOddText: ReceiveDeps["onUndecodableText"]): Find {
  const pick = compilePick(text);
  const findCharset = finder(charset, CODE_MAX);
  const { path } = text;
  const steps = path === null || text.pattern !== null ? null : readPath(path);
  return (fields) => {
    const bytes = steps && path !== null ? fields.bytes?.(path) : null;
    if (bytes) {
      const decoded = decodeText(bytes, findCharset(fields));
      if (decoded.problem) onOddText(decoded.problem);
      return decoded.text;
    }
    const [found] = pick(fields);
    const isEmpty = found === undefined && steps && path !== null && fields.at(steps, path)[0] === "";
    return isEmpty ? "" : (found ?? null);
  };
}

const showable = (text: string): string => (isShowable(text) ? text : text.toWellFormed().replaceAll("\0", ""));

/** Finds a single line of plain text; longer values and control characters count as absent. */
function finder(where: HttpPick | null, max: number): Find {
  if (where === null) return () => null;
  const pick = compilePick(where);
  return (fields) => {
    const value = pick(fields)[0]?.trim() ?? "";
    return value !== "" && value.length <= max && isPlainText(value) ? value : null;
  };
}

const SECOND_MS = 1000;
/** Tolerated clock difference. */
const AHEAD_MAX_MS = 86_400_000;
const LONGEST_AGO_MS = 30 * 86_400_000;
const SECONDS = /^\d{10}$/;
const MILLISECONDS = /^\d{13}$/;
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
const WITH_SPACES = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)$/;

/**
 * Parses seconds or milliseconds since 1970, or a date (UTC unless it has a zone). Null if invalid or implausibly far from
 * now.
 */
export function readTime(written: string, now: number): number | null {
  const ms = Math.trunc(momentOf(written.trim()));
  return Number.isNaN(ms) || ms > now + AHEAD_MAX_MS || now - ms > LONGEST_AGO_MS ? null : ms;
}

function momentOf(written: string): number {
  if (SECONDS.test(written)) return Number(written) * SECOND_MS;
  if (MILLISECONDS.test(written)) return Number(written);
  if (written.length > 40) return Number.NaN;
  if (WITHOUT_ZONE.test(written)) return Date.parse(`${written.replace(" ", "T")}Z`);
  const [, date, time, zone] = WITH_SPACES.exec(written) ?? [];
  return Date.parse(date ? `${date}T${time}${zone}` : written);
}
