import type { InboundContent, InboundMessage } from "../../model/inbound.ts";
import { messageIdOf, parseMessageId, type MessageRef } from "../../model/message.ts";
import { suggestionResponse, type Suggestion } from "../../model/rcs.ts";

type TapType = Extract<InboundContent, { kind: "suggestion" }>["type"];

/** A tapped suggestion, as reported to the customer. */
export interface RbmTap {
  type: TapType;
  data: string;
  answers: InboundMessage["answers"];
}

/** Limit of the platform for postbackData. */
const POSTBACK_MAX = 2048;
const LETTERS: Readonly<Record<TapType, string>> = { REPLY: "R", ACTION: "A", DIALER: "D" };
const TYPES: Readonly<Record<string, TapType>> = { R: "REPLY", A: "ACTION", D: "DIALER" };

/**
 * Postback data that the platform returns when a suggestion is tapped: type, message id and the customer's data. It makes
 * the tap self-contained, so nothing has to be stored. Data that exceeds the limit is sent alone.
 */
export function postbackOf(suggestion: Suggestion, ref: Pick<MessageRef, "requestId" | "n">): string {
  const { type, postBack } = suggestionResponse(suggestion);
  const written = `${LETTERS[type]}|${messageIdOf(ref)}|${postBack.data}`;
  return written.length <= POSTBACK_MAX ? written : postBack.data;
}

const WRITTEN = /^([RAD])\|([^|]{1,50})\|(.*)$/s;

/** Parses returned postback data. Data of another origin, such as the agent's own menu, is passed on unchanged. */
export function readPostback(data: string, platformType: unknown): RbmTap {
  const [, letter = "", messageId = "", own = ""] = WRITTEN.exec(data) ?? [];
  const answers = parseMessageId(messageId);
  const type = TYPES[letter];
  if (answers && type) return { type, data: own, answers };
  return { type: platformType === "ACTION" ? "ACTION" : "REPLY", data, answers: null };
}
