import { post } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { InboundMedia } from "./inbound-file.tsx";

export const CONVERSATIONS = "/v1/conversations";
export const UNREAD_COUNT = "/v1/conversations/unread-count";

interface Inbound {
  id: string;
  text: string;
  suggestionResponse: { plainText: string } | null;
  userFile: { category: string; payload: { fileUri: string; fileName: string } } | null;
  media?: InboundMedia;
  location: { latitude: number; longitude: number } | null;
  receivedAt: number;
}

/** A conversation as the API returns it. */
export interface Conversation {
  id: string;
  channel: "sms" | "rcs" | "chatapp";
  number: string;
  /** The name of the contact with this number. */
  name: string | null;
  sender: string;
  state: "open" | "closed";
  unread: number;
  lastAt: number;
  lastMessage: Inbound | null;
  assignedTo: string | null;
  /** Chat app: free text is possible until then. */
  textUntil: number | null;
  /** The user can be shown that the last message was read. */
  showsReads: boolean;
}

/** A message of a conversation in one of both directions. */
export interface Item {
  direction: "in" | "out";
  at: number;
  inbound: Inbound | null;
  message: Message | null;
}

/** Shows the user that the last message was read, and perhaps that an answer is being typed. */
export async function showRead({ showsReads, lastMessage }: Conversation, typing: boolean): Promise<void> {
  if (!showsReads || !lastMessage) return;
  // The platform may refuse it; the conversation goes on without it.
  await post(`/v1/inbound/${lastMessage.id}/read`, { typing }).catch(() => null);
}

export interface Assignee {
  id: string;
  name: string;
}

/** The words of an inbound message, whatever its kind. */
export function textOf(inbound: Inbound | null): string {
  if (!inbound) return "–";
  const { text, suggestionResponse, userFile, location } = inbound;
  if (text !== "") return text;
  if (suggestionResponse) return suggestionResponse.plainText;
  if (userFile) return t("File: {name}", { name: userFile.payload.fileName || userFile.category });
  return location ? t("Place: {place}", { place: `${location.latitude}, ${location.longitude}` }) : "–";
}

export const CHANNEL_NAMES: Readonly<Record<Conversation["channel"], string>> = {
  sms: "SMS",
  rcs: "RCS",
  chatapp: t("Chat app"),
};

/** Free text is possible now. RCS messages are templates. */
export const takesText = ({ channel, textUntil }: Conversation, now: number): boolean =>
  channel !== "rcs" && (textUntil === null || now < textUntil);
