import { derivedId } from "../lib/ids.ts";
import type { InboundMessage } from "./inbound.ts";
import type { Channel } from "./message.ts";

export const CONVERSATION_STATES = ["open", "closed"] as const;
export type ConversationState = (typeof CONVERSATION_STATES)[number];

/** The messages between a phone and one sender, bot or business number on a channel, as the inbox lists them. */
export interface StoredConversation {
  accountId: number;
  /** Derived from the other fields of the key, so that every node names it alike. */
  id: string;
  test: boolean;
  channel: Channel;
  /** The phone. */
  number: string;
  /** The sender, bot or business number. */
  sender: string;
  state: ConversationState;
  /** Inbound messages since it was read. */
  unread: number;
  /** Time of the last inbound message. */
  lastAt: number;
  /** Id of the user who answers; null for none. */
  assignedTo: string | null;
}

export type ConversationRef = Pick<StoredConversation, "accountId" | "id">;

/** The id of the conversation of an inbound message. */
export const conversationIdOf = ({
  accountId,
  channel,
  from,
  to,
  test = false,
}: Pick<InboundMessage, "accountId" | "channel" | "from" | "to"> & { test?: boolean }): string =>
  derivedId(`conversation ${accountId} ${test ? "test" : "live"} ${channel} ${from} ${to}`);

/** A prepared answer. */
export interface CannedReplyContent {
  text: string;
}
