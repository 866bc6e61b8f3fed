import type { Channel, MessageRef } from "./message.ts";

/** What a user sent back, whatever the channel. */
export interface InboundMessage {
  accountId: number;
  /** Of the moment it came; the same id written twice counts once. */
  id: string;
  channel: Channel;
  /** The phone: digits, without plus. */
  from: string;
  /** The sender, bot or business number it was sent to. */
  to: string;
  content: InboundContent;
  /** The message it answers, where that is known. */
  answers: Pick<MessageRef, "requestId" | "n"> | null;
  at: number;
}

/** One thing at a time: a tap, a file and a place come as messages of their own. */
export type InboundContent =
  | { kind: "text"; text: string }
  | { kind: "suggestion"; plainText: string; data: string; type: "REPLY" | "ACTION" | "DIALER" }
  | { kind: "file"; file: UserFile }
  | { kind: "location"; latitude: number; longitude: number };

/** A file that lies where the platform put it; only its address is kept. */
export interface UserFile {
  /** The platform's word for what it is. */
  category: string;
  payload: FilePart;
  thumbnail: FilePart | null;
}

/** Spelled as platforms report it and as the API hands it on. */
interface FilePart {
  mimeType: string;
  fileSizeBytes: number;
  fileName: string;
  fileUri: string;
}
