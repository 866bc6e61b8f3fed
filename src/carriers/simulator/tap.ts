import type { ChatButton } from "../../model/chatapp.ts";
import type { InboundContent } from "../../model/inbound.ts";
import { isRcs, type MessageContent } from "../../model/message.ts";
import { suggestionResponse, type Suggestion } from "../../model/rcs.ts";

/** Something on the screen that can be tapped. */
interface Tappable {
  /** The label. */
  text: string;
  /** What the sender put behind it; nobody sees it. */
  data: string;
  /** The card that it is on, from 1; null when it is on none. */
  card: number | null;
  /** What the sender gets to know of the tap. */
  sent: Extract<InboundContent, { kind: "suggestion" }>;
}

/** Which one is tapped; what is not given is not asked for. */
export interface Tap {
  text?: string;
  data?: string;
  card?: number;
}

/** All that a message offers to tap, from top to bottom. */
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

/** The chat app has nothing behind its buttons but what they do. */
function behind(button: ChatButton): Pick<Tappable["sent"], "data" | "type"> {
  if (button.type === "url") return { data: button.url, type: "ACTION" };
  if (button.type === "call") return { data: button.number, type: "DIALER" };
  return { data: button.text, type: "REPLY" };
}

/** Those that a tap may mean, each once: cards often repeat what they offer. */
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
