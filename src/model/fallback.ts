import type { Channel, MessageContent } from "./message.ts";

/**
 * The way that a message takes next when it does not arrive by this one. Its content may have a fallback of its own, so that
 * the ways of a message form a list.
 */
export interface Fallback {
  /** Absent for a text message. */
  channel?: Channel;
  sender: string;
  content: MessageContent;
  segments: number;
  /** The fallback is sent when no delivery comes within this time. */
  afterSeconds: number;
  /** The validity in the queue from the start of the fallback on, with that of its own fallbacks. */
  validityMs: number;
}

/** Content that may have a fallback. */
export interface WithFallback {
  fallback?: Fallback;
}

/** The way that replaces an undelivered message; null when there is none. */
export const fallbackOf = ({ content }: { content: MessageContent }): Fallback | null =>
  "fallback" in content ? (content.fallback ?? null) : null;

/** The time from the start of a way to the end of the last one. */
export const validityWith = (fallback: Fallback | null, validityMs: number): number =>
  fallback === null ? validityMs : fallback.afterSeconds * 1000 + fallback.validityMs;
