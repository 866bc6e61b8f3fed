import type { Interactive } from "../../model/chat-session.ts";
import type { FilledButton } from "../../model/chatapp.ts";
import type { InboundContent, InboundDetails } from "../../model/inbound.ts";
import { isRcs, isSessionContent, type MessageContent } from "../../model/message.ts";
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
  /** Facts that the chat app's platform reports besides. */
  details?: InboundDetails;
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
  if (isSessionContent(content)) return content.part?.type === "interactive" ? choicesOf(content.part.interactive) : [];
  if (!("buttons" in content)) return [];
  const onCards = (content.cards ?? []).flatMap(({ buttons }, index) =>
    buttons.flatMap((button) => ofButton(button, index + 1)),
  );
  return [...onCards, ...content.buttons.flatMap((button) => ofButton(button, null))];
}

/** Reply buttons, the rows of a list, or the link of a chat-app session message. */
function choicesOf({ type, action }: Interactive): Tappable[] {
  if (type === "button")
    return action.buttons.map(({ reply: { id, title } }) => ofChoice(title, id, { kind: "button_reply" }));
  if (type === "list")
    return action.sections.flatMap(({ rows }) =>
      rows.map(({ id, title, description }) =>
        ofChoice(title, id, { kind: "list_reply", ...(description !== undefined && { description }) }),
      ),
    );
  const { display_text: text, url: data } = action.parameters;
  return [{ text, data, card: null, sent: { kind: "suggestion", plainText: text, data, type: "ACTION" } }];
}

const ofChoice = (text: string, data: string, details: InboundDetails): Tappable => ({
  text,
  data,
  card: null,
  sent: { kind: "suggestion", plainText: text, data, type: "REPLY" },
  details,
});

function ofSuggestion(suggestion: Suggestion, card: number | null): Tappable {
  const { plainText, postBack, type } = suggestionResponse(suggestion);
  const { text, data } = suggestion;
  return { text, data, card, sent: { kind: "suggestion", plainText, data: postBack.data, type } };
}

/** A code is copied, and a form or a catalogue opens in the app: such a tap sends nothing. */
function ofButton(button: FilledButton, card: number | null): Tappable[] {
  const { text } = button;
  if (button.type === "copyCode" || button.type === "flow" || button.type === "catalog") return [];
  const { data, type } = behind(button);
  const sent = { kind: "suggestion", plainText: text, data, type } as const;
  return [{ text, data, card, sent, ...(type === "REPLY" && { details: { kind: "button" } }) }];
}

/** A quick reply without a payload sends its label. */
function behind(
  button: Exclude<FilledButton, { type: "copyCode" | "flow" | "catalog" }>,
): Pick<Tappable["sent"], "data" | "type"> {
  if (button.type === "url") return { data: button.url, type: "ACTION" };
  if (button.type === "call") return { data: button.number, type: "DIALER" };
  return { data: button.value ?? button.text, type: "REPLY" };
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
