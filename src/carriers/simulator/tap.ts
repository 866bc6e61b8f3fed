import type { ChatButton } from "../../model/chatapp.ts";
import type { InboundContent } from "../../model/inbound.ts";
import { isRcs, type MessageContent } from "../../model/message.ts";
import { suggestionResponse, type Suggestion } from "../../model/rcs.ts";

/** A button or suggestion on the screen. */
interface Tappable {
  /** Label. */
  text: string;
  /** Postback data, invisible to the user. */
  data: string;
  /** Card number from 1; null if it is not on a card. */
  card: number | null;
  /** Inbound message that the tap causes. */
  sent: Extract<InboundContent, { kind: "suggestion" }>;
}

/** Criteria; absent ones match all. */
export interface Tap {
  text?: string;
  data?: string;
  card?: number;
}

/** All tappable elements of a message, from top to bottom. */
export function tappables(content: MessageContent): Tappable[] {
  if (isRcs(content)) {
    const onCards = content.cards.flatMap(({ suggestions }, index) =>
      suggestions.map((suggestion) => ofSuggestion(suggestion, index + 1)),
    );
    return [...onCards, ...content.suggestions.map((suggestion) => ofSuggestion(suggestion, null))];
  }
  return "buttons" in content ? content.buttons.map(ofButton) : [];
}

function ofSuggestion(suggestion: Suggestion, card: number | null): Tappable {
  const { plainText, postBack, type } = suggestionResponse(suggestion);
  const { text, data } = suggestion;
  return { text, data, card, sent: { kind: "suggestion", plainText, data: postBack.data, type } };
}

function ofButton(button: ChatButton): Tappable {
  const { text } = button;
  const { data, type } = behind(button);
  return { text, data, card: null, sent: { kind: "suggestion", plainText: text, data, type } };
}

/** Chat-app buttons have no postback data. */
function behind(button: ChatButton): Pick<Tappable["sent"], "data" | "type"> {
  if (button.type === "url") return { data: button.url, type: "ACTION" };
  if (button.type === "call") return { data: button.number, type: "DIALER" };
  return { data: button.text, type: "REPLY" };
}

/** Elements that match, without duplicates: cards often repeat their buttons. */
export function tapped(offered: readonly Tappable[], { text, data, card }: Tap): Tappable[] {
  const fitting = offered.filter(
    (each) =>
      (text === undefined || each.text === text) &&
      (data === undefined || each.data === data || each.sent.data === data) &&
      (card === undefined || each.card === card),
  );
  return fitting.filter((each, index) => fitting.findIndex((other) => isSame(other, each)) === index);
}

const isSame = (a: Tappable, b: Tappable): boolean =>
  a.sent.type === b.sent.type && a.text === b.text && a.sent.data === b.sent.data;
