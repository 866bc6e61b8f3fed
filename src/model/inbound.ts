import type { Channel, MessageRef } from "./message.ts";

/** A message from a user, on any channel. */
export interface InboundMessage {
  accountId: number;
  /** Time-ordered. Storing the same id twice has no effect. */
  id: string;
  channel: Channel;
  /** The phone: digits, without plus. */
  from: string;
  /** The sender, bot or business number it was sent to. */
  to: string;
  content: InboundContent;
  /** The message that it answers, where known. */
  answers: Pick<MessageRef, "requestId" | "n"> | null;
  at: number;
  /** Facts that the chat app's platform reports besides the content. */
  details?: InboundDetails;
  /** The platform's side of it, which replies and read marks need; absent where the carrier has none. */
  origin?: InboundOrigin;
  /** The time when the account marked it as read. */
  readAt?: number;
  /** It came from the phone of a test key, or answers a test message. */
  test?: true;
}

export const INBOUND_KINDS = [
  "text", "image", "video", "document", "audio", "sticker", "location", "contacts", "button", "button_reply",
  "list_reply", "flow_reply", "reaction", "order", "unsupported",
] as const; // prettier-ignore

/** Absent fields are those that the platform does not report. */
export interface InboundDetails {
  /** The platform's kind of message, which the content alone does not tell. */
  kind: (typeof INBOUND_KINDS)[number];
  /** Below the label of a chosen row. */
  description?: string;
  /** An audio that was recorded in the app. */
  voice?: true;
  forwarded?: true;
  place?: { name?: string; address?: string; url?: string };
  contacts?: readonly InboundContact[];
  /** The emoji; the message that it is about is the one that the inbound message answers. */
  reaction?: { emoji: string };
  order?: { catalogId?: string; items: readonly OrderItem[] };
  /** The product that the user asks about. */
  product?: { catalogId?: string; productId?: string };
  /** The answers to a form (a flow), as JSON. */
  flow?: { name?: string; response: string };
  referral?: Referral;
  /** Why the platform does not show the message. */
  unsupported?: { code?: number; title?: string };
}

interface InboundContact {
  name?: string;
  phones: readonly { phone: string; type?: string; waId?: string }[];
  emails: readonly { email: string; type?: string }[];
  company?: string;
}

interface OrderItem {
  productId: string;
  quantity: number;
  price?: number;
  currency?: string;
}

/** The advertisement or post from which the user started the conversation. */
interface Referral {
  sourceType?: string;
  sourceId?: string;
  sourceUrl?: string;
  headline?: string;
  body?: string;
  mediaType?: string;
  mediaUrl?: string;
  /** The id of the click, for the platform's conversion API. */
  clickId?: string;
}

interface InboundOrigin {
  /** The carrier's global name. */
  carrier: string;
  carrierMessageId: string;
}

/** One kind of content per message: a tap, a file and a location are messages of their own. */
export type InboundContent =
  | { kind: "text"; text: string }
  | { kind: "suggestion"; plainText: string; data: string; type: "REPLY" | "ACTION" | "DIALER" }
  | { kind: "file"; file: UserFile }
  | { kind: "location"; latitude: number; longitude: number };

/** A file on the platform's server, and its copy here. */
export interface UserFile {
  /** The platform's name of the file category. */
  category: string;
  payload: FilePart;
  thumbnail: FilePart | null;
  /** Our copy; absent where the carrier's files are not fetched. */
  mediaId?: string;
}

/** Field names as platforms report them and as the API passes them on. */
interface FilePart {
  mimeType: string;
  fileSizeBytes: number;
  fileName: string;
  fileUri: string;
}

/** One part of a concatenated inbound text. It is stored as octets because a character may span two parts. */
export interface InboundPart {
  accountId: number;
  /** The carrier's global name: two carriers may deliver parts from the same phone. */
  carrier: string;
  from: string;
  to: string;
  /** The concatenation reference that the phone chose for this text. */
  reference: number;
  total: number;
  /** From 1. */
  index: number;
  octets: Buffer;
  dataCoding: number;
  /** The carrier's default alphabet, used where `dataCoding` names none. */
  alphabet: string;
  /** The time of arrival by our clock. */
  at: number;
}
