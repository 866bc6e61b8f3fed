import { idOf } from "../../lib/ids.ts";
import type { TemplateNews } from "../../model/chatapp.ts";
import { parseMessageId, type MessageRef } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { WhatsappSettings } from "../../model/whatsapp-line.ts";
import type { Inbound, Receipt, ReceiptState } from "../carrier.ts";
import { meaningOf } from "./error-codes.ts";
import { fieldsOf, jsonOf, listOf, wholeOf, wordsOf } from "./read-json.ts";
import { contentsOf } from "./read-message.ts";
import { readStatus } from "./template-status.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What the platform tells in one call, in our words. */
export interface Told {
  receipts: readonly Receipt[];
  inbound: readonly ToldInbound[];
  templates: readonly TemplateNews[];
  /** Users that have no number, whose messages nobody could answer. */
  withoutNumber: number;
  /** What could not be read at all. */
  unread: number;
}

/** What a user sent, and the platform's id of the message that it answers. */
export interface ToldInbound {
  inbound: Inbound;
  answersId: string | null;
}

interface Needs {
  carrier: string;
  accountId: number;
  settings: WhatsappSettings;
  now: number;
}

/** Reads what the platform has signed; null when it is no JSON. What it does not know it passes over: more is added every year. */
export function readCall(needs: Needs, text: string): Told | null {
  const call = jsonOf(text);
  if (call === undefined) return null;
  const told: Mutable<Told> = { receipts: [], inbound: [], templates: [], withoutNumber: 0, unread: 0 };
  const changes = listOf(fieldsOf(call)["entry"]).flatMap((entry) => {
    const { id, changes: listed } = fieldsOf(entry);
    return listOf(listed).map((change) => ({ ...fieldsOf(change), entryId: wordsOf(id) }));
  });
  for (const { field, value, entryId } of changes as (Fields & { entryId: string | null })[]) {
    if (field === "messages") readMessages(needs, fieldsOf(value), told);
    // One address may be called for several business accounts, and the entry says for which.
    if (field === "message_template_status_update")
      readTemplate(fieldsOf(value), entryId ?? needs.settings.businessAccountId, told);
  }
  return told;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

function readMessages(needs: Needs, value: Fields, told: Mutable<Told>): void {
  for (const status of listOf(value["statuses"])) {
    const receipt = receiptOf(needs, fieldsOf(status));
    if (receipt) told.receipts.push(receipt);
    else told.unread += 1;
  }
  const display = wordsOf(fieldsOf(value["metadata"])["display_phone_number"]);
  const number = display === null ? null : readNumber(display);
  for (const message of listOf(value["messages"])) {
    const fields = fieldsOf(message);
    const from = readNumber(wordsOf(fields["from"]) ?? "");
    if (from === null) told.withoutNumber += 1;
    else if (number === null) told.unread += 1;
    else readMessage(needs, fields, { from, to: `+${number}` }, told);
  }
}

const SECOND_MS = 1000;
/** Clocks differ by less than this. */
const AHEAD_MAX_MS = 86_400_000;

/** The platform writes seconds, as a text. */
function timeOf(written: unknown, now: number): number | null {
  const seconds = typeof written === "number" ? written : Number(wordsOf(written) ?? Number.NaN);
  if (!Number.isSafeInteger(seconds) || seconds <= 0) return null;
  const at = seconds * SECOND_MS;
  return at <= now + AHEAD_MAX_MS ? at : null;
}

function readMessage(
  { accountId, settings, now }: Needs,
  message: Fields,
  { from, to }: Pick<Inbound, "from" | "to">,
  told: Mutable<Told>,
): void {
  const id = wordsOf(message["id"]);
  const at = timeOf(message["timestamp"], now);
  if (id === null || at === null) {
    told.unread += 1;
    return;
  }
  const answersId = wordsOf(fieldsOf(message["context"])["id"]) ?? wordsOf(fieldsOf(message["reaction"])["message_id"]);
  for (const [place, content] of contentsOf(message, settings).entries()) {
    const inbound: Inbound = {
      accountId,
      id: idOf(at, place === 0 ? id : `${id} ${place}`),
      channel: "chatapp",
      from,
      to,
      content,
      answers: null,
      at,
    };
    told.inbound.push({ inbound, answersId });
  }
}

const STATES: Readonly<Record<string, ReceiptState>> = {
  sent: "enroute",
  delivered: "delivered",
  read: "read",
  // Of a voice message: who has heard it has it.
  played: "read",
  failed: "undelivered",
};

function receiptOf({ carrier, accountId, now }: Needs, status: Fields): Receipt | null {
  const carrierMessageId = wordsOf(status["id"]);
  const said = wordsOf(status["status"]) ?? "";
  const state = Object.hasOwn(STATES, said) ? STATES[said] : undefined;
  if (carrierMessageId === null || state === undefined) return null;
  const recipient = readNumber(wordsOf(status["recipient_id"]) ?? "");
  const ref = refOf(accountId, status["biz_opaque_callback_data"]);
  return {
    carrier,
    carrierMessageId,
    ...(recipient === null ? {} : { recipient }),
    ...(ref === null ? {} : { ref }),
    channel: "chatapp",
    state,
    ...(state === "undelivered" ? failureOf(status) : { errorCode: null, description: null }),
    at: timeOf(status["timestamp"], now) ?? now,
  };
}

function refOf(accountId: number, echoed: unknown): MessageRef | null {
  const parsed = parseMessageId(wordsOf(echoed) ?? "");
  return parsed && { accountId, ...parsed };
}

const UNEXPLAINED = {
  errorCode: "FAILED",
  description: "The platform could not deliver the message and does not say why",
};

function failureOf(status: Fields): Pick<Receipt, "errorCode" | "description"> {
  const code = wholeOf(fieldsOf(listOf(status["errors"])[0])["code"]);
  return code === null ? UNEXPLAINED : { errorCode: String(code), description: meaningOf(code).description };
}

function readTemplate(value: Fields, businessAccountId: string | null, told: Mutable<Told>): void {
  const name = wordsOf(value["message_template_name"]);
  const language = wordsOf(value["message_template_language"]);
  const status = readStatus(wordsOf(value["event"]));
  if (name !== null && language !== null && status !== null)
    told.templates.push({ name, language, status, businessAccountId });
}
