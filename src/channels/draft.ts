import type { Channel, MessageContent, RouteClass } from "../model/message.ts";

/** The fields of a send request that all channels share. */
export interface Draft {
  channel: Channel;
  sender: string;
  routeClass: RouteClass;
  campaignName: string | null;
  /** The scheduled time; null means now. */
  sendAt: number | null;
  /** The API it came by and the client, for the timeline; absent for the service's own API. */
  arrived?: { by: string; from: string };
  /** In the order of the request, without duplicates. */
  recipients: readonly DraftRecipient[];
}

export interface DraftRecipient {
  /** Digits without plus; for a malformed number, the text of the request. */
  number: string;
  /** The number as the request has it, where it differs; otherwise null. */
  written: string | null;
  failure: "INVALID_RECIPIENT" | null;
}

/** The recipients of a channel with one recipient per request, whose number is valid. */
export type SoleRecipient = readonly [DraftRecipient & { failure: null }];

/** Content and its number of segments. */
export interface Composed<C extends MessageContent = MessageContent> {
  content: C;
  segments: number;
}

export interface Composition<C extends MessageContent = MessageContent> {
  /** The content of recipients without values of their own; null when each has some. */
  shared: Composed<C> | null;
  /** By index of the recipient; empty when all share one content. */
  each: readonly Composed<C>[];
  /** A template mismatch that the account accepts with a warning. */
  warning: string | null;
}

/** The content of the recipient at an index. */
export function composedFor<C extends MessageContent>({ shared, each }: Composition<C>, place: number): Composed<C> {
  const composed = each[place] ?? shared;
  if (!composed) throw new Error("a recipient without content");
  return composed;
}
