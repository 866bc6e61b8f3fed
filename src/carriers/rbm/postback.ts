import type { InboundContent, InboundMessage } from "../../model/inbound.ts";
import { messageIdOf, parseMessageId, type MessageRef } from "../../model/message.ts";
import { suggestionResponse, type Suggestion } from "../../model/rcs.ts";

type TapType = Extract<InboundContent, { kind: "suggestion" }>["type"];

/** What comes back of a tap, as its customer is told of it. */
export interface Tap {
  type: TapType;
  data: string;
  answers: InboundMessage["answers"];
}

/** The platform takes no longer postbackData. */
const POSTBACK_MAX = 2048;
const LETTERS: Readonly<Record<TapType, string>> = { REPLY: "R", ACTION: "A", DIALER: "D" };
const TYPES: Readonly<Record<string, TapType>> = { R: "REPLY", A: "ACTION", D: "DIALER" };

/**
 * What the platform is given to send back when a suggestion is tapped: what was tapped, on which message, and the
 * customer's own data. The platform tells a call from nothing else, and nobody has to remember what was offered. Data that
 * is too long for it goes alone.
 */
export function postbackOf(suggestion: Suggestion, ref: Pick<MessageRef, "requestId" | "n">): string {
  const { type, postBack } = suggestionResponse(suggestion);
  const written = `${LETTERS[type]}|${messageIdOf(ref)}|${postBack.data}`;
  return written.length <= POSTBACK_MAX ? written : postBack.data;
}

const WRITTEN = /^([RAD])\|([^|]{1,50})\|(.*)$/s;

/** Reads what came back; whatever is not ours, such as a suggestion of the agent's own menu, is passed on as it is. */
export function readPostback(data: string, platformType: unknown): Tap {
  const [, letter = "", messageId = "", own = ""] = WRITTEN.exec(data) ?? [];
  const answers = parseMessageId(messageId);
  const type = TYPES[letter];
  if (answers && type) return { type, data: own, answers };
  return { type: platformType === "ACTION" ? "ACTION" : "REPLY", data, answers: null };
}
