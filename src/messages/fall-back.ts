import { isRcs, type Message } from "../model/message.ts";
import type { RcsFallback } from "../model/rcs.ts";
import { writeTrail } from "../model/trail.ts";
import type { Move } from "../store/store.ts";

/** The text that takes the place of a message which does not arrive; null when there is none. */
export const fallbackOf = ({ content }: Pick<Message, "content">): RcsFallback | null =>
  isRcs(content) ? (content.fallback ?? null) : null;

/** When whoever sent it wants the text to be sent, unless it has been delivered; null without such a text. */
export function fallbackDueAt(message: Pick<Message, "content" | "createdAt">): number | null {
  const fallback = fallbackOf(message);
  return fallback && message.createdAt + fallback.afterSeconds * 1000;
}

/**
 * The step by which a message goes on as a text: as good as new, under its own id, with the credits it has already.
 * Next: src/work/claim.ts
 */
export function asText(
  message: Pick<Message, "content" | "carrier">,
  at: number,
  reason: string,
): Pick<Move, "to" | "dueAt" | "carrier" | "tried" | "failoverAt" | "becomes"> & { trail: string } {
  const fallback = fallbackOf(message);
  if (!fallback) throw new Error("a message without a fallback cannot become a text");
  const { sender, content, segments } = fallback;
  return {
    to: "accepted",
    dueAt: at,
    // Nothing that its carrier says of it but a delivery counts any more, and every route is open to the text.
    carrier: "",
    tried: [],
    failoverAt: null,
    becomes: { channel: "sms", sender, content, segments },
    trail: writeTrail({ at, step: "failover", carrier: message.carrier ?? "", reason, becomes: "sms" }),
  };
}
