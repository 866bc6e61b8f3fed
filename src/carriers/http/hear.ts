import type { Clock } from "../../lib/clock.ts";
import { idOf } from "../../lib/ids.ts";
import { isPlainText, isShowable } from "../../lib/plain-text.ts";
import { parseMessageId } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { HttpInbound, HttpPick, HttpReceipts, HttpSettings, HttpState } from "../../model/http-line.ts";
import { compilePick, type Said } from "../../model/http-pick.ts";
import type { Inbound, Receipt } from "../carrier.ts";
import type { Heard } from "./heard.ts";
import { readTime } from "./tell-time.ts";

interface Needs {
  /** The carrier's name in the whole service. */
  name: string;
  accountId: number;
  settings: HttpSettings;
  clock: Clock;
  /** When something that has a name and no time was first heard of; the same moment for the same name, as far as is known. */
  firstHeard(id: string): number;
}

/** What a call tells, or a slice of it. */
export interface Told {
  receipts: readonly Receipt[];
  inbound: readonly Inbound[];
}

type Find = (said: Said) => string | null;

const ID_MAX = 200;
const CODE_MAX = 40;
const DESCRIPTION_MAX = 200;
const ADDRESS_MAX = 50;
const TEXT_MAX = 10_000;

/** So many entries of a call are understood and kept at a time, and then everything else has its turn. */
const SLICE = 1000;

/** Makes of a line's mapping what understands its calls, a slice at a time; what is in none of the mapped forms, tells nothing. */
export function createHearing(needs: Needs): (heard: Heard) => Iterable<Told> {
  const { receipts, inbound } = needs.settings;
  const readReceipt = receipts && receiptReader(needs, receipts);
  const readInbound = inbound && inboundReader(needs, inbound);
  return function* (heard) {
    const reports = new Set(receipts ? heard.entries(receipts.each) : []);
    const texts = new Set(inbound ? heard.entries(inbound.each) : []);
    const all = [...new Set([...reports, ...texts])];
    for (let from = 0; from < all.length; from += SLICE) {
      const told: { receipts: Receipt[]; inbound: Inbound[] } = { receipts: [], inbound: [] };
      for (const entry of all.slice(from, from + SLICE)) {
        const said = heard.said(entry);
        const receipt = reports.has(entry) ? readReceipt?.(said) : null;
        // One entry is one or the other: what has a status is a receipt, even if it also names a phone.
        const text = !receipt && texts.has(entry) ? readInbound?.(said) : null;
        if (receipt) told.receipts.push(receipt);
        if (text) told.inbound.push(text);
      }
      yield told;
    }
  };
}

function receiptReader(
  { name, accountId, settings, clock }: Needs,
  mapping: HttpReceipts,
): (said: Said) => Receipt | null {
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
  const states = new Map(Object.entries(mapping.states).map(([word, state]) => [word.toLowerCase(), state]));
  return (said) => {
    const status = find.status(said);
    const own = find.ref(said);
    const ref = own === null ? null : parseMessageId(own);
    const id = find.id(said) ?? (ref && own);
    if (status === null || id === null) return null;
    const state: HttpState = states.get(status.toLowerCase()) ?? "unknown";
    const now = clock.now();
    const time = find.time(said);
    const phone = find.recipient(said);
    const recipient = phone === null ? null : readNumber(phone);
    const errorCode = find.errorCode(said);
    const meaning = errorCode === null ? null : (meanings.get(errorCode) ?? null);
    return {
      carrier: name,
      carrierMessageId: id,
      ...(recipient && { recipient }),
      ...(ref && { ref: { accountId, ...ref } }),
      channel: "sms",
      state,
      errorCode,
      description: meaning ?? find.description(said) ?? (states.has(status.toLowerCase()) ? null : strange(status)),
      at: Math.min((time === null ? null : readTime(time, now)) ?? now, now),
    };
  };
}

const strange = (status: string): string =>
  `The provider says ${JSON.stringify(status.slice(0, CODE_MAX))}, which the line has no state for`;

function inboundReader(
  { name, accountId, clock, firstHeard }: Needs,
  mapping: HttpInbound,
): (said: Said) => Inbound | null {
  const find = {
    from: finder(mapping.from, ADDRESS_MAX),
    to: finder(mapping.to, ADDRESS_MAX),
    text: compilePick(mapping.text),
    id: finder(mapping.id, ID_MAX),
    time: finder(mapping.time, CODE_MAX),
  };
  return (said) => {
    const from = find.from(said);
    const to = find.to(said);
    const [text] = find.text(said);
    if (from === null || to === null || text === undefined) return null;
    const id = find.id(said);
    const now = clock.now();
    const time = find.time(said);
    const sentAt = time === null ? null : readTime(time, now);
    // What names itself is known again by its name and its moment, which therefore must not be that of the repetition.
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
      // A clock that is ahead makes nothing happen in days to come.
      at: Math.min(moment, now),
    };
  };
}

const showable = (text: string): string => (isShowable(text) ? text : text.toWellFormed().replaceAll("\0", ""));

/** Finds one line of plain text; what is longer or has signs that no such field has, is as good as not there. */
function finder(where: HttpPick | null, max: number): Find {
  if (where === null) return () => null;
  const pick = compilePick(where);
  return (said) => {
    const value = pick(said)[0]?.trim() ?? "";
    return value !== "" && value.length <= max && isPlainText(value) ? value : null;
  };
}
