import { idOf } from "../../lib/ids.ts";
import { CHAT_CATEGORIES, type TemplateNews } from "../../model/chatapp.ts";
import { parseMessageId, type MessageRef } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { Receipt, ReceiptState } from "../../model/receipt.ts";
import type { WhatsappSettings } from "../../model/whatsapp-connection.ts";
import type { Inbound } from "../carrier.ts";
import { meaningOf } from "./error-codes.ts";
import { fieldsOf, jsonOf, listOf, wholeOf, stringOf } from "./read-json.ts";
import { detailsOf } from "./read-details.ts";
import { contentsOf } from "./read-message.ts";
import { describeReason, readQuality, readStatus } from "./template-status.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Parsed webhook request. */
export interface WhatsappEvent {
  receipts: readonly Receipt[];
  inbound: readonly WhatsappInbound[];
  templates: readonly TemplateNews[];
  /** Users who stopped marketing messages in the app, or resumed them. */
  preferences: readonly MarketingPreference[];
  /** Messages of users without a phone number, which cannot be answered. */
  withoutNumber: number;
  /** Entries that could not be parsed. */
  unread: number;
}

/** A user's choice about marketing messages, made in the app. */
interface MarketingPreference {
  number: string;
  isOptOut: boolean;
  at: number;
}

/** An inbound message with the platform's id of the message it replies to. */
export interface WhatsappInbound {
  inbound: Inbound;
  answersId: string | null;
}

interface ReceiveDeps {
  carrier: string;
  accountId: number;
  settings: WhatsappSettings;
  now: number;
}

/** Parses a signed webhook; null if it is not JSON. Unknown fields are ignored, because the platform adds new ones. */
export function parseWhatsappWebhook(deps: ReceiveDeps, text: string): WhatsappEvent | null {
  const body = jsonOf(text);
  if (body === undefined) return null;
  const event: Mutable<WhatsappEvent> = {
    receipts: [],
    inbound: [],
    templates: [],
    preferences: [],
    withoutNumber: 0,
    unread: 0,
  };
  const changes = listOf(fieldsOf(body)["entry"]).flatMap((entry) => {
    const { id, changes: listed } = fieldsOf(entry);
    return listOf(listed).map((change) => ({ ...fieldsOf(change), entryId: stringOf(id) }));
  });
  for (const { field, value, entryId } of changes as (Fields & { entryId: string | null })[]) {
    if (field === "messages") readMessages(deps, fieldsOf(value), event);
    if (field === "user_preferences") readPreferences(deps, fieldsOf(value), event);
    // One webhook URL may serve several business accounts; the entry names the account.
    const about = typeof field === "string" && Object.hasOwn(TEMPLATE_FIELDS, field) ? TEMPLATE_FIELDS[field] : null;
    const news = about?.(fieldsOf(value));
    const { message_template_name: written, message_template_language: tag } = fieldsOf(value);
    const [name, language] = [stringOf(written), stringOf(tag)];
    if (news && name !== null && language !== null)
      event.templates.push({ name, language, businessAccountId: entryId ?? deps.settings.businessAccountId, ...news });
  }
  return event;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

function readMessages(deps: ReceiveDeps, value: Fields, event: Mutable<WhatsappEvent>): void {
  for (const status of listOf(value["statuses"])) {
    const receipt = receiptOf(deps, fieldsOf(status));
    if (receipt) event.receipts.push(receipt);
    else event.unread += 1;
  }
  const display = stringOf(fieldsOf(value["metadata"])["display_phone_number"]);
  const number = display === null ? null : readNumber(display);
  for (const message of listOf(value["messages"])) {
    const fields = fieldsOf(message);
    const from = readNumber(stringOf(fields["from"]) ?? "");
    if (from === null) event.withoutNumber += 1;
    else if (number === null) event.unread += 1;
    else readMessage(deps, fields, { from, to: `+${number}` }, event);
  }
}

/** Preferences of other categories, or with other values, are of a newer platform and ignored. */
function readPreferences({ now }: ReceiveDeps, value: Fields, event: Mutable<WhatsappEvent>): void {
  for (const preference of listOf(value["user_preferences"])) {
    const { category, value: wish, wa_id: user, timestamp } = fieldsOf(preference);
    if (category !== "marketing_messages" || (wish !== "stop" && wish !== "resume")) continue;
    const number = readNumber(stringOf(user) ?? "");
    if (number === null) event.unread += 1;
    else
      event.preferences.push({ number, isOptOut: wish === "stop", at: Math.min(timeOf(timestamp, now) ?? now, now) });
  }
}

const SECOND_MS = 1000;
/** Tolerated clock difference. */
const AHEAD_MAX_MS = 86_400_000;

/** Seconds as a string. */
function timeOf(written: unknown, now: number): number | null {
  const seconds = typeof written === "number" ? written : Number(stringOf(written) ?? Number.NaN);
  if (!Number.isSafeInteger(seconds) || seconds <= 0) return null;
  const at = seconds * SECOND_MS;
  return at <= now + AHEAD_MAX_MS ? at : null;
}

function readMessage(
  { carrier, accountId, settings, now }: ReceiveDeps,
  message: Fields,
  { from, to }: Pick<Inbound, "from" | "to">,
  event: Mutable<WhatsappEvent>,
): void {
  const id = stringOf(message["id"]);
  const at = timeOf(message["timestamp"], now);
  if (id === null || at === null) {
    event.unread += 1;
    return;
  }
  const answersId =
    stringOf(fieldsOf(message["context"])["id"]) ?? stringOf(fieldsOf(message["reaction"])["message_id"]);
  const details = detailsOf(message);
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
      ...(place === 0 && { details }),
      origin: { carrier, carrierMessageId: id },
    };
    event.inbound.push({ inbound, answersId });
  }
}

const STATES: Readonly<Record<string, ReceiptState>> = {
  sent: "enroute",
  delivered: "delivered",
  read: "read",
  // Voice message: playing it means it was read.
  played: "read",
  failed: "undelivered",
};

function receiptOf({ carrier, accountId, now }: ReceiveDeps, status: Fields): Receipt | null {
  const carrierMessageId = stringOf(status["id"]);
  const word = stringOf(status["status"]) ?? "";
  const state = Object.hasOwn(STATES, word) ? STATES[word] : undefined;
  if (carrierMessageId === null || state === undefined) return null;
  const recipient = readNumber(stringOf(status["recipient_id"]) ?? "");
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
  const parsed = parseMessageId(stringOf(echoed) ?? "");
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

type News = Pick<TemplateNews, "status" | "category" | "platform">;

/** Webhook fields about templates. Each reader returns null for what it does not know. */
const TEMPLATE_FIELDS: Readonly<Record<string, (value: Fields) => News | null>> = {
  message_template_status_update(value) {
    const word = stringOf(value["event"]);
    const status = readStatus(word);
    if (word === null || status === null) return null;
    const { title, description } = fieldsOf(value["other_info"]);
    const { reason, recommendation } = fieldsOf(value["rejection_info"]);
    const details = [title, description, reason, recommendation].map(stringOf);
    return { status, platform: { status: word, reason: describeReason(stringOf(value["reason"]), details) } };
  },
  message_template_quality_update: (value) => ({
    platform: { quality: readQuality(stringOf(value["new_quality_score"])) },
  }),
  template_category_update(value) {
    const written = stringOf(value["new_category"])?.toLowerCase();
    const category = CHAT_CATEGORIES.find((each) => each === written);
    return category === undefined ? null : { category };
  },
};
