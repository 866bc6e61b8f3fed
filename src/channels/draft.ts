import type { Channel, MessageContent, RouteClass } from "../model/message.ts";

/** A send request that has been read, as far as every channel has it. */
export interface Draft {
  channel: Channel;
  sender: string;
  routeClass: RouteClass;
  campaignName: string | null;
  /** When to send; null means now. */
  sendAt: number | null;
  /** In the order given, without exact repetitions. */
  recipients: readonly DraftRecipient[];
}

export interface DraftRecipient {
  /** Digits without plus; of a malformed number, what was written. */
  number: string;
  /** As it was written, where that was something else. */
  written: string | null;
  failure: "INVALID_RECIPIENT" | null;
}

/** A draft of a channel that has one recipient in a request, whom its door found right. */
export type SoleRecipient = readonly [DraftRecipient & { failure: null }];

/** Content with what it takes to send it. */
export interface Composed<C extends MessageContent = MessageContent> {
  content: C;
  segments: number;
}

export interface Composition<C extends MessageContent = MessageContent> {
  /** What a recipient gets that has nothing of its own; null when each has. */
  shared: Composed<C> | null;
  /** By the recipients' places; empty when all get the same. */
  each: readonly Composed<C>[];
  /** What the account only wants to be warned of. */
  warning: string | null;
}

/** What the recipient in this place gets. */
export function composedFor<C extends MessageContent>({ shared, each }: Composition<C>, place: number): Composed<C> {
  const composed = each[place] ?? shared;
  if (!composed) throw new Error("a recipient without content");
  return composed;
}
