import type { WithFallback } from "./fallback.ts";
import type { RouteClass } from "./message.ts";

/** Templates and content of chat-app messages. */

const MEDIA_TYPES = ["image", "video", "document"] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

export const HEADER_TYPES = ["text", ...MEDIA_TYPES] as const;

/** The part above the text. */
export type ChatHeader = { type: "text"; text: string } | ChatMedia;

export interface ChatMedia {
  type: MediaType;
  link: string;
}

/**
 * The header of a template. Its type is enforced; the text or link comes with each request. The text or link here is
 * only an example, and null while the template is learned.
 */
export type ChatTemplateHeader = { type: "text"; text: string | null } | { type: MediaType; link: string | null };

export type ChatButton =
  | { type: "reply"; text: string }
  | { type: "url"; text: string; url: string }
  | { type: "call"; text: string; number: string };

export const CHAT_CATEGORIES = ["utility", "marketing", "authentication"] as const;
type ChatCategory = (typeof CHAT_CATEGORIES)[number];

const ROUTE_CLASS_OF: Record<ChatCategory, RouteClass> = {
  utility: "TRANS",
  marketing: "PROMO",
  authentication: "OTP",
};

/** The route class, and so the priority queue, of each template category. */
export const routeClassOf = ({ category }: Pick<ChatTemplate, "category">): RouteClass => ROUTE_CLASS_OF[category];

/** A stored template. Its name is the `templateName` of requests. */
export interface ChatTemplate {
  /** In the platform's form: `en`, `pt_BR`. Requests do not name it. */
  language: string;
  /** The platform's category. It decides the priority queue and whether the opt-out list applies. */
  category: ChatCategory;
  /** Only an approved template can be sent. */
  status: "draft" | "approved" | "paused";
  header: ChatTemplateHeader | null;
  /** With its placeholders `{{1}}`, `{{2}}`; null while only the number of variables is known. */
  body: string | null;
  variables: number;
  footer: string | null;
  buttons: readonly ChatButton[];
  /** The platform's business account that it was synchronised from; no other account's list or webhook changes it. */
  businessAccountId?: string;
}

/** A template of the platform, in our format. */
export interface PulledTemplate {
  name: string;
  content: ChatTemplate;
}

/** A template of the platform that we cannot send, with the reason. */
export interface UnreadTemplate {
  name: string;
  language: string;
  reason: string;
}

/** The platform's list of templates: complete, or a failure. */
export type PulledTemplates =
  | { kind: "pulled"; templates: readonly PulledTemplate[]; unread: readonly UnreadTemplate[] }
  | { kind: "failed"; code: string | null; description: string };

/** The platform's decision about a template. */
export interface TemplateNews {
  name: string;
  language: string;
  status: ChatTemplate["status"];
  /** The owner on the platform; null where it is not reported. */
  businessAccountId: string | null;
}

/** The language of a template without one. */
export const DEFAULT_LANGUAGE = "en";

/** The content of a chat-app message, as stored in its row and shown on a phone. */
export type ChatContent = (
  | {
      kind: "template";
      templateName: string;
      language: string;
      header: ChatHeader | null;
      /** The body with its values filled in. */
      text: string;
      footer: string | null;
      buttons: readonly ChatButton[];
      /** The values, because the platform fills in its own copy of the template. */
      params: readonly string[];
    }
  | { kind: "text"; text: string }
) &
  WithFallback;

/** The session window: free text is allowed for this long after the user's last message. */
export const SESSION_MS = 86_400_000;

export const isSessionOpen = (writtenAt: number | null, now: number): boolean =>
  writtenAt !== null && now - writtenAt < SESSION_MS;

/** True for a free text. */
export const isSession = (content: object): boolean =>
  "kind" in content && content.kind === "text" && !("botId" in content);

/** No phone shows a longer text. Characters are UTF-16 units, as in every limit on a text. */
export const CHAT_TEXT_MAX = 4096;

/** The longest text of a header. */
export const HEADER_TEXT_MAX = 60;

export const TEMPLATE_NAME_MAX = 512;

const TEMPLATE_NAME = /^[a-z0-9_]+$/;

export const isTemplateName = (value: string): boolean =>
  value.length <= TEMPLATE_NAME_MAX && TEMPLATE_NAME.test(value);
