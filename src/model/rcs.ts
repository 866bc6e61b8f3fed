import type { SmsContent } from "./message.ts";

/** `text` is words alone, `rich` words with suggestions, `card` one card, `carousel` several side by side. */
export const RCS_KINDS = ["text", "rich", "card", "carousel"] as const;
export type RcsKind = (typeof RCS_KINDS)[number];

/** What phones can show side by side. */
export const CARDS_MAX = 10;

/** No phone shows a longer text. Characters are UTF-16 units, as in every limit on a text. */
export const RCS_TEXT_MAX = 3072;

/** What a phone offers to tap. `data` is what the bot gets to know of the tap, and nobody sees. */
export type Suggestion =
  | { type: "reply"; text: string; data: string }
  | { type: "url"; text: string; data: string; url: string }
  | { type: "dial"; text: string; data: string; number: string }
  | { type: "viewLocation"; text: string; data: string; latitude: number; longitude: number; label: string }
  | { type: "shareLocation"; text: string; data: string }
  | {
      type: "calendar";
      text: string;
      data: string;
      title: string;
      startAt: number;
      endAt: number;
      description: string;
    };

export interface RcsCard {
  title: string;
  description: string;
  /** Address of the image or video; null only while the template is learned. */
  fileUrl: string | null;
  suggestions: readonly Suggestion[];
}

/** Its name is the `templateName` of requests. */
export interface RcsTemplate {
  kind: RcsKind;
  /** With its placeholders `{{1}}`; null where cards hold the words, and while only the number of variables is known. */
  text: string | null;
  variables: number;
  /** Under the text; cards have their own. */
  suggestions: readonly Suggestion[];
  cards: readonly RcsCard[];
  /** Only an approved one is sent. */
  status: RcsTemplateStatus;
}

export const RCS_TEMPLATE_STATUSES = ["draft", "approved", "paused"] as const;
export type RcsTemplateStatus = (typeof RCS_TEMPLATE_STATUSES)[number];

/** The text message that takes the place of an RCS message which does not arrive. */
export interface RcsFallback {
  sender: string;
  content: SmsContent;
  segments: number;
  /** Without a delivery within so long it is sent. */
  afterSeconds: number;
  /** How long it may wait to be sent once it has taken the message's place. */
  validityMs: number;
}

/** What is sent, and what a phone shows of it. */
export interface RcsContent {
  botId: string;
  templateName: string;
  kind: RcsKind;
  /** Filled in; empty where cards hold the words. */
  text: string;
  suggestions: readonly Suggestion[];
  cards: readonly RcsCard[];
  /** The values that the request gave. */
  params: readonly string[];
  fallback?: RcsFallback;
}

interface SuggestionResponse {
  plainText: string;
  postBack: { data: string };
  type: "REPLY" | "ACTION" | "DIALER";
}

/** What a tap is reported as: platforms tell only replies from actions, the API also tells a call and its number. */
export function suggestionResponse(suggestion: Suggestion): SuggestionResponse {
  const { text: plainText, data } = suggestion;
  if (suggestion.type === "dial") return { plainText, postBack: { data: suggestion.number }, type: "DIALER" };
  return { plainText, postBack: { data }, type: suggestion.type === "reply" ? "REPLY" : "ACTION" };
}
