import type { RouteClass } from "./message.ts";

/**
 * What the chat app knows of a message: the template that somebody had approved, and what is made of it for one
 * recipient.
 */

const MEDIA_TYPES = ["image", "video", "document"] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

export const HEADER_TYPES = ["text", ...MEDIA_TYPES] as const;
export type HeaderType = (typeof HEADER_TYPES)[number];

/** What is shown above the text. */
export type ChatHeader = { type: "text"; text: string } | ChatMedia;

export interface ChatMedia {
  type: MediaType;
  link: string;
}

/**
 * What a template says about its header. The kind binds; what is sent comes with each request, so that the text or link
 * here is only an example for whoever looks at the template, and is null while the template is learned.
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

/** Which lane messages of a template take. */
export const routeClassOf = ({ category }: Pick<ChatTemplate, "category">): RouteClass => ROUTE_CLASS_OF[category];

/** A stored template. Its name is the `templateName` of requests. */
export interface ChatTemplate {
  /** As the platform writes it: `en`, `pt_BR`. A request cannot say it. */
  language: string;
  /** What it is for, as the platform asks: it decides about the lane, and whether the opt-out list counts. */
  category: ChatCategory;
  /** Only an approved one can be sent. */
  status: "draft" | "approved" | "paused";
  header: ChatTemplateHeader | null;
  /** With its placeholders `{{1}}`, `{{2}}`; null while only the number of variables is known. */
  body: string | null;
  variables: number;
  footer: string | null;
  buttons: readonly ChatButton[];
  /** Which of the platform's business accounts has it, where its list was followed: no other list or call changes it. */
  businessAccountId?: string;
}

/** A template as the platform has it, in our words. */
export interface PulledTemplate {
  name: string;
  content: ChatTemplate;
}

/** A template that requests could not be made for, and why. */
export interface UnreadTemplate {
  name: string;
  language: string;
  reason: string;
}

/** What a platform says of an account's templates: all of it, or nothing that could be acted on. */
export type PulledTemplates =
  | { kind: "pulled"; templates: readonly PulledTemplate[]; unread: readonly UnreadTemplate[] }
  | { kind: "failed"; code: string | null; description: string };

/** What a platform has decided about a template. */
export interface TemplateNews {
  name: string;
  language: string;
  status: ChatTemplate["status"];
  /** Whose template it is there; null where the platform does not say. */
  businessAccountId: string | null;
}

/** The language of a template of which nobody said any. */
export const DEFAULT_LANGUAGE = "en";

/** What is sent, as it lies in the message's row and is shown on a phone. */
export type ChatContent =
  | {
      kind: "template";
      templateName: string;
      language: string;
      header: ChatHeader | null;
      /** The body with its values in their places. */
      text: string;
      footer: string | null;
      buttons: readonly ChatButton[];
      /** The values again: a platform fills its own copy of the template in. */
      params: readonly string[];
    }
  | { kind: "text"; text: string };

/** For how long after a user's own message the platform lets a business answer in its own words. */
const SESSION_MS = 86_400_000;

export const isSessionOpen = (writtenAt: number | null, now: number): boolean =>
  writtenAt !== null && now - writtenAt < SESSION_MS;

/** Whether content is such an answer. */
export const isSession = (content: object): boolean =>
  "kind" in content && content.kind === "text" && !("botId" in content);

/** No phone shows a longer text. Characters are UTF-16 units, as in every limit on a text. */
export const CHAT_TEXT_MAX = 4096;

/** The longest text above a message. */
export const HEADER_TEXT_MAX = 60;

const TEMPLATE_NAME = /^[a-z0-9_]{1,512}$/;

export const isTemplateName = (value: string): boolean => TEMPLATE_NAME.test(value);
