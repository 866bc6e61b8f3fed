import { idOf } from "../../lib/ids.ts";
import { isObject } from "../../lib/plain-object.ts";
import type { InboundContent, InboundMessage, UserFile } from "../../model/inbound.ts";
import { readNumber } from "../../model/number.ts";
import type { Inbound, Receipt } from "../carrier.ts";
import { readPostback } from "./postback.ts";

interface Needs {
  carrier: string;
  accountId: number;
  botOf(agentId: string): string;
}

/** What the platform tells. */
export type RbmEvent =
  | { kind: "receipt"; receipt: Receipt }
  | { kind: "inbound"; inbound: Inbound }
  | { kind: "optOut" | "optIn"; number: string; at: number }
  /** Known, and of no use to anybody: that somebody types, or that a message could not be called back. */
  | { kind: "idle" }
  | { kind: "odd" };

type Fields = Readonly<Record<string, unknown>>;
type ReceiptWords = Pick<Receipt, "state" | "errorCode" | "description">;

const RECEIPTS: Readonly<Record<string, ReceiptWords>> = {
  DELIVERED: { state: "delivered", errorCode: null, description: "Delivered to the phone" },
  READ: { state: "read", errorCode: null, description: "Read on the phone" },
  TTL_EXPIRATION_REVOKED: {
    state: "expired",
    errorCode: "TTL_EXPIRATION_REVOKED",
    description: "Not delivered in time, and called back",
  },
};
/** What could not be called back may still arrive, so it is no end: a delivery tells, or the message's own time. */
const IDLE = new Set(["IS_TYPING", "TTL_EXPIRATION_REVOKE_FAILED"]);

const AHEAD_MAX_MS = 86_400_000;
const ID_MAX = 200;
/** The platform writes an agent with and without it. */
const AGENT_DOMAIN = /@rbm\.goog$/;

/** Reads what the platform has signed. Names that nobody knows yet are odd and not wrong: platforms grow. */
export function readEvent(needs: Needs, event: unknown, now: number): RbmEvent {
  if (!isObject(event)) return { kind: "odd" };
  const { eventType } = event;
  const phone = event.senderPhoneNumber ?? event.phoneNumber;
  const number = typeof phone === "string" ? readNumber(phone) : null;
  const sentAt = timeOf(event.sendTime, now);
  const at = Math.min(sentAt ?? now, now);
  if (typeof eventType !== "string") return readMessage(needs, event, number, sentAt, at);
  if (IDLE.has(eventType)) return { kind: "idle" };
  if (eventType === "UNSUBSCRIBE" || eventType === "SUBSCRIBE")
    return number === null ? { kind: "odd" } : { kind: eventType === "SUBSCRIBE" ? "optIn" : "optOut", number, at };
  const words = Object.hasOwn(RECEIPTS, eventType) ? RECEIPTS[eventType] : undefined;
  const messageId = idIn(event.messageId);
  if (!words || messageId === null) return { kind: "odd" };
  const recipient = number === null ? {} : { recipient: number };
  const { carrier } = needs;
  return {
    kind: "receipt",
    receipt: { carrier, carrierMessageId: messageId.toLowerCase(), ...recipient, channel: "rcs", ...words, at },
  };
}

function readMessage(
  { carrier, accountId, botOf }: Needs,
  event: Fields,
  from: string | null,
  sentAt: number | null,
  at: number,
): RbmEvent {
  const said = saidIn(event);
  if (!said || from === null) return { kind: "odd" };
  const messageId = idIn(event.messageId);
  // The platform repeats itself until it is answered, with the same id and the same time.
  const id = messageId === null || sentAt === null ? {} : { id: idOf(sentAt, `${carrier} ${messageId}`) };
  const agentId = typeof event.agentId === "string" ? textOf(event.agentId).replace(AGENT_DOMAIN, "") : "";
  return {
    kind: "inbound",
    inbound: { accountId, ...id, channel: "rcs", from, to: botOf(agentId), ...said, at },
  };
}

type Said = Pick<InboundMessage, "content" | "answers">;

function saidIn({ text, suggestionResponse, location, userFile }: Fields): Said | null {
  if (isObject(suggestionResponse)) return tapIn(suggestionResponse);
  const content = locationIn(location) ?? fileIn(userFile) ?? wordsIn(text);
  return content && { content, answers: null };
}

function tapIn({ postbackData, text, type: platformType }: Fields): Said | null {
  if (typeof postbackData !== "string") return null;
  const { type, data, answers } = readPostback(textOf(postbackData), platformType);
  const plainText = typeof text === "string" ? textOf(text) : "";
  return { content: { kind: "suggestion", plainText, data, type }, answers };
}

const wordsIn = (text: unknown): InboundContent | null =>
  typeof text === "string" ? { kind: "text", text: textOf(text) } : null;

function locationIn(location: unknown): InboundContent | null {
  if (!isObject(location)) return null;
  // The platform leaves out what is zero.
  const { latitude = 0, longitude = 0 } = location;
  const isPlace = isWithin(latitude, 90) && isWithin(longitude, 180);
  return isPlace ? { kind: "location", latitude, longitude } : null;
}

const isWithin = (degrees: unknown, max: number): degrees is number =>
  typeof degrees === "number" && Math.abs(degrees) <= max;

function fileIn(userFile: unknown): InboundContent | null {
  if (!isObject(userFile)) return null;
  const payload = partIn(userFile.payload);
  if (!payload) return null;
  const category = typeof userFile.category === "string" ? textOf(userFile.category) : "";
  return { kind: "file", file: { category, payload, thumbnail: partIn(userFile.thumbnail) } };
}

function partIn(part: unknown): UserFile["payload"] | null {
  if (!isObject(part) || typeof part.fileUri !== "string") return null;
  const { mimeType, fileName, fileSizeBytes, fileUri } = part;
  // Large numbers are strings in the platform's JSON.
  const size = Number(fileSizeBytes);
  return {
    mimeType: typeof mimeType === "string" ? textOf(mimeType) : "",
    fileSizeBytes: Number.isSafeInteger(size) && size >= 0 ? size : 0,
    fileName: typeof fileName === "string" ? textOf(fileName) : "",
    fileUri: textOf(fileUri),
  };
}

/** Without what no store and no screen takes: it would be refused again and again, and come again and again. */
const textOf = (given: string): string => given.replaceAll("\0", "").toWellFormed();

const idIn = (id: unknown): string | null =>
  typeof id === "string" && id !== "" && id.length <= ID_MAX ? textOf(id) : null;

/** A time far ahead is a mistake. */
function timeOf(written: unknown, now: number): number | null {
  const time = typeof written === "string" ? Date.parse(written) : Number.NaN;
  return time > 0 && time <= now + AHEAD_MAX_MS ? time : null;
}
