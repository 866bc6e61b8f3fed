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
  /** It came from the phone of a test key, or answers a test message. */
  test?: true;
}

/** One kind of content per message: a tap, a file and a location are messages of their own. */
export type InboundContent =
  | { kind: "text"; text: string }
  | { kind: "suggestion"; plainText: string; data: string; type: "REPLY" | "ACTION" | "DIALER" }
  | { kind: "file"; file: UserFile }
  | { kind: "location"; latitude: number; longitude: number };

/** A file on the platform's server; only its URL is stored. */
export interface UserFile {
  /** The platform's name of the file category. */
  category: string;
  payload: FilePart;
  thumbnail: FilePart | null;
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
