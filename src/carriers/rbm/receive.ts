import { idOf } from "../../lib/ids.ts";
import { isObject } from "../../lib/json.ts";
import type { InboundContent, InboundMessage, UserFile } from "../../model/inbound.ts";
import { readNumber } from "../../model/number.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { Inbound } from "../carrier.ts";
import { readPostback } from "./postback.ts";

interface ReceiveDeps {
  carrier: string;
  accountId: number;
  botOf(agentId: string): string;
}

/** Parsed platform event. */
export type RbmEvent =
  | { kind: "receipt"; receipt: Receipt }
  | { kind: "inbound"; inbound: Inbound }
  | { kind: "optOut" | "optIn"; number: string; at: number }
  /** Known and ignored: typing notifications and failed revocations. */
  | { kind: "idle" }
  | { kind: "odd" };

type Fields = Readonly<Record<string, unknown>>;
type ReceiptFields = Pick<Receipt, "state" | "errorCode" | "description">;

const RECEIPTS: Readonly<Record<string, ReceiptFields>> = {
  DELIVERED: { state: "delivered", errorCode: null, description: "Delivered to the phone" },
  READ: { state: "read", errorCode: null, description: "Read on the phone" },
  TTL_EXPIRATION_REVOKED: {
    state: "expired",
    errorCode: "TTL_EXPIRATION_REVOKED",
    description: "Not delivered in time, and called back",
  },
};
/**
 * A message that could not be revoked may still arrive, so this is not final. A delivery receipt or the validity period
 * decides.
 */
const IDLE = new Set(["IS_TYPING", "TTL_EXPIRATION_REVOKE_FAILED"]);

const AHEAD_MAX_MS = 86_400_000;
const ID_MAX = 200;
/** The platform writes agent ids with and without it. */
const AGENT_DOMAIN = /@rbm\.goog$/;

/** Parses a signed event. Unknown names are not errors, because the platform adds new ones. */
export function readEvent(deps: ReceiveDeps, event: unknown, now: number): RbmEvent {
  if (!isObject(event)) return { kind: "odd" };
  const { eventType } = event;
  const phone = event.senderPhoneNumber ?? event.phoneNumber;
  const number = typeof phone === "string" ? readNumber(phone) : null;
  const sentAt = timeOf(event.sendTime, now);
  const at = Math.min(sentAt ?? now, now);
  if (typeof eventType !== "string") return readMessage(deps, event, number, sentAt, at);
  if (IDLE.has(eventType)) return { kind: "idle" };
  if (eventType === "UNSUBSCRIBE" || eventType === "SUBSCRIBE")
    return number === null ? { kind: "odd" } : { kind: eventType === "SUBSCRIBE" ? "optIn" : "optOut", number, at };
  const receiptFields = Object.hasOwn(RECEIPTS, eventType) ? RECEIPTS[eventType] : undefined;
  const messageId = idIn(event.messageId);
  if (!receiptFields || messageId === null) return { kind: "odd" };
  const recipient = number === null ? {} : { recipient: number };
  const { carrier } = deps;
  return {
    kind: "receipt",
    receipt: { carrier, carrierMessageId: messageId.toLowerCase(), ...recipient, channel: "rcs", ...receiptFields, at },
  };
}

function readMessage(
  { carrier, accountId, botOf }: ReceiveDeps,
  event: Fields,
  from: string | null,
  sentAt: number | null,
  at: number,
): RbmEvent {
  const readFields = readContent(event);
  if (!readFields || from === null) return { kind: "odd" };
  const messageId = idIn(event.messageId);
  // Repetitions have the same id and time.
  const id = messageId === null || sentAt === null ? {} : { id: idOf(sentAt, `${carrier} ${messageId}`) };
  // Read marks name the message.
  const origin = messageId === null ? {} : { origin: { carrier, carrierMessageId: messageId } };
  const agentId = typeof event.agentId === "string" ? textOf(event.agentId).replace(AGENT_DOMAIN, "") : "";
  return {
    kind: "inbound",
    inbound: { accountId, ...id, channel: "rcs", from, to: botOf(agentId), ...readFields, at, ...origin },
  };
}

type InboundFields = Pick<InboundMessage, "content" | "answers">;

function readContent({ text, suggestionResponse, location, userFile }: Fields): InboundFields | null {
  if (isObject(suggestionResponse)) return readTap(suggestionResponse);
  const content = readLocation(location) ?? readFile(userFile) ?? readText(text);
  return content && { content, answers: null };
}

function readTap({ postbackData, text, type: platformType }: Fields): InboundFields | null {
  if (typeof postbackData !== "string") return null;
  const { type, data, answers } = readPostback(textOf(postbackData), platformType);
  const plainText = typeof text === "string" ? textOf(text) : "";
  return { content: { kind: "suggestion", plainText, data, type }, answers };
}

const readText = (text: unknown): InboundContent | null =>
  typeof text === "string" ? { kind: "text", text: textOf(text) } : null;

function readLocation(location: unknown): InboundContent | null {
  if (!isObject(location)) return null;
  // The platform omits zero values.
  const { latitude = 0, longitude = 0 } = location;
  const isPlace = isWithin(latitude, 90) && isWithin(longitude, 180);
  return isPlace ? { kind: "location", latitude, longitude } : null;
}

const isWithin = (degrees: unknown, max: number): degrees is number =>
  typeof degrees === "number" && Math.abs(degrees) <= max;

function readFile(userFile: unknown): InboundContent | null {
  if (!isObject(userFile)) return null;
  const payload = readFilePart(userFile.payload);
  if (!payload) return null;
  const category = typeof userFile.category === "string" ? textOf(userFile.category) : "";
  return { kind: "file", file: { category, payload, thumbnail: readFilePart(userFile.thumbnail) } };
}

function readFilePart(part: unknown): UserFile["payload"] | null {
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

/** Removes characters that a store refuses; otherwise the event would fail and be repeated forever. */
const textOf = (given: string): string => given.replaceAll("\0", "").toWellFormed();

const idIn = (id: unknown): string | null =>
  typeof id === "string" && id !== "" && id.length <= ID_MAX ? textOf(id) : null;

/** Times far in the future are invalid. */
function timeOf(written: unknown, now: number): number | null {
  const time = typeof written === "string" ? Date.parse(written) : Number.NaN;
  return time > 0 && time <= now + AHEAD_MAX_MS ? time : null;
}
