import type { WithFallback } from "./fallback.ts";

/** `text` is text alone, `rich` is text with suggestions, `card` is one card, `carousel` is several side by side. */
export const RCS_KINDS = ["text", "rich", "card", "carousel"] as const;
export type RcsKind = (typeof RCS_KINDS)[number];

/** The most cards that phones show side by side. */
export const CARDS_MAX = 10;

/** No phone shows a longer text. Characters are UTF-16 units, as in every limit on a text. */
export const RCS_TEXT_MAX = 3072;

/** A button on the phone. `data` is sent back to the bot on a tap and not shown. */
export type Suggestion =
  | { type: "reply"; text: string; data: string }
  | {
      type: "url";
      text: string;
      data: string;
      url: string;
      /** Opens the page over the conversation, in this height; absent for the browser. */
      webview?: WebviewHeight;
    }
  | { type: "dial"; text: string; data: string; number: string }
  | { type: "viewLocation"; text: string; data: string; latitude: number; longitude: number; label: string }
  /** The map searches for the words around the user. */
  | { type: "viewLocation"; text: string; data: string; query: string }
  | { type: "shareLocation"; text: string; data: string }
  | {
      type: "compose";
      text: string;
      data: string;
      /** The recipient of the user's message. */
      number: string;
      /** A draft of the text; absent where a recording is started. */
      message?: string;
      recording?: Recording;
    }
  | {
      type: "calendar";
      text: string;
      data: string;
      title: string;
      startAt: number;
      endAt: number;
      description: string;
    };

export const WEBVIEW_HEIGHTS = ["full", "tall", "half"] as const;
type WebviewHeight = (typeof WEBVIEW_HEIGHTS)[number];

export const RECORDINGS = ["audio", "video"] as const;
type Recording = (typeof RECORDINGS)[number];

export const ORIENTATIONS = ["vertical", "horizontal"] as const;
export const IMAGE_SIDES = ["left", "right"] as const;
export const IMAGE_HEIGHTS = ["short", "medium", "tall"] as const;

export interface RcsCard {
  title: string;
  description: string;
  /** The URL of the image or video; null only while the template is learned. */
  fileUrl: string | null;
  /** A small picture that is shown until the file is loaded. */
  thumbnailUrl?: string;
  /** `medium` if absent; `tall` is for single cards only. */
  height?: (typeof IMAGE_HEIGHTS)[number];
  /** The orientation of a single card; `vertical` if absent. */
  orientation?: (typeof ORIENTATIONS)[number];
  /** The side of the image on a horizontal card. */
  imageSide?: (typeof IMAGE_SIDES)[number];
  suggestions: readonly Suggestion[];
}

/** Its name is the `templateName` of requests. */
export interface RcsTemplate {
  kind: RcsKind;
  /** With its placeholders `{{1}}`; null where cards hold the text, and while only the number of variables is known. */
  text: string | null;
  variables: number;
  /** Under the text; cards have their own. */
  suggestions: readonly Suggestion[];
  cards: readonly RcsCard[];
  /** Only an approved template can be sent. */
  status: "draft" | "approved" | "paused";
}

/** The content of an RCS message. */
export interface RcsContent extends WithFallback {
  botId: string;
  /** Absent for an automatic reply, which is a text without a template. */
  templateName?: string;
  kind: RcsKind;
  /** With values filled in; empty where cards hold the text. */
  text: string;
  suggestions: readonly Suggestion[];
  cards: readonly RcsCard[];
  /** The values of the request. */
  params: readonly string[];
}

interface SuggestionResponse {
  plainText: string;
  postBack: { data: string };
  type: "REPLY" | "ACTION" | "DIALER";
}

/** The reported type of a tap. Platforms distinguish replies and actions; the API also has calls, with their number. */
export function suggestionResponse(suggestion: Suggestion): SuggestionResponse {
  const { text: plainText, data } = suggestion;
  if (suggestion.type === "dial") return { plainText, postBack: { data: suggestion.number }, type: "DIALER" };
  return { plainText, postBack: { data }, type: suggestion.type === "reply" ? "REPLY" : "ACTION" };
}
