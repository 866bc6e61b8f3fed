import type { MessageReference, SessionPart } from "./chat-session.ts";
import type { WithFallback } from "./fallback.ts";
import type { RouteClass } from "./message.ts";

/** Templates and content of chat-app messages. */

const MEDIA_TYPES = ["image", "video", "document"] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

/** Headers of messages without a template. */
export const HEADER_TYPES = ["text", ...MEDIA_TYPES] as const;

export const TEMPLATE_HEADER_TYPES = [...HEADER_TYPES, "location"] as const;

/** The part above the text. */
export type ChatHeader = { type: "text"; text: string } | ChatMedia | { type: "location"; location: HeaderPlace };

/** A place on a map. The platform requires every field. */
export interface HeaderPlace {
  latitude: number;
  longitude: number;
  name: string;
  address: string;
}

export interface ChatMedia {
  type: MediaType;
  link: string;
}

/**
 * The header of a template. Its type is enforced; the text or link comes with each request. The text or link here is
 * only an example, and null while the template is learned.
 */
export type ChatTemplateHeader =
  | { type: "text"; text: string | null }
  | { type: MediaType; link: string | null }
  | { type: "location" };

/** A carousel has 2 to 10 cards. */
export const CARDS_MAX = 10;

export const CARD_MEDIA_TYPES = ["image", "video"] as const;

/** One of the cards of a carousel. Each request brings its file and values. */
export interface ChatCard {
  header: { type: (typeof CARD_MEDIA_TYPES)[number]; link: string | null };
  /** Null for a card without a text. */
  body: string | null;
  variables: number;
  names?: readonly string[];
  buttons: readonly ChatButton[];
}

/** The offer of a limited-time offer, shown above the text. */
export interface ChatOffer {
  text: string;
  /** Shows the time that is left, until the time that comes with each request. */
  expires: boolean;
}

/** A card of a message. */
export interface FilledCard {
  header: ChatMedia;
  text: string | null;
  params: readonly string[];
  buttons: readonly FilledButton[];
  buttonValues?: readonly ButtonValue[];
}

export type ChatButton =
  | { type: "reply"; text: string }
  /** The address may end with a variable, whose value comes with each request. */
  | { type: "url"; text: string; url: string }
  | { type: "call"; text: string; number: string }
  /** Copies the code that comes with each request. */
  | { type: "copyCode"; text: string }
  /** Opens a form of the platform. */
  | { type: "flow"; text: string }
  /** Opens the catalogue of the business. */
  | { type: "catalog"; text: string };

/** A button of a message. `value` is what a tap sends back, or the code that it copies, if the request has one. */
export type FilledButton = ChatButton & { value?: string };

/** The variable at the end of a button's address. */
export const URL_VARIABLE = "{{1}}";

/** A value of a request for the button of its template with the place `index`. */
export interface ButtonValue {
  readonly index: number;
  readonly text?: string;
  readonly payload?: string;
  readonly code?: string;
  readonly flowToken?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly productId?: string;
}

/** The fields of a value, by type of its button. */
export const BUTTON_FIELDS: Readonly<Record<ChatButton["type"], readonly Exclude<keyof ButtonValue, "index">[]>> = {
  reply: ["payload"],
  url: ["text"],
  call: [],
  copyCode: ["code"],
  flow: ["flowToken", "data"],
  catalog: ["productId"],
};

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
export interface ChatTemplate extends ChatVersion {
  /** The platform's category. It decides the priority queue and whether the opt-out list applies. */
  category: ChatCategory;
  /** The same template in other languages. */
  languages?: readonly ChatVersion[];
  /** The platform's business account that it was synchronised from; no other account's list or webhook changes it. */
  businessAccountId?: string;
}

/** A template in one language. */
export interface ChatVersion {
  /** In the platform's form: `en`, `pt_BR`. */
  language: string;
  /** Only an approved template can be sent. */
  status: "draft" | "approved" | "paused";
  header: ChatTemplateHeader | null;
  /** With its placeholders `{{1}}`, `{{2}}`; null while only the number of variables is known. */
  body: string | null;
  variables: number;
  /** The names of the variables in their order; absent if they have numbers. */
  names?: readonly string[];
  footer: string | null;
  buttons: readonly ChatButton[];
  /** Absent unless it is a limited-time offer. */
  offer?: ChatOffer;
  /** Absent unless it is a carousel. */
  cards?: readonly ChatCard[];
  /** The platform's own words about it; absent while the platform does not have it. */
  platform?: PlatformTemplate;
}

export interface PlatformTemplate {
  /** The platform's id, by which the template is edited; absent if it is not known. */
  id?: string;
  /** Such as APPROVED, PENDING or REJECTED. */
  status: string;
  /** Why it was rejected, paused or disabled; null if there is none. */
  reason: string | null;
  /** GREEN, YELLOW or RED; null while it is unknown. */
  quality: string | null;
}

/** Examples and choices of a submission to the platform, besides the template. */
export interface TemplateSubmission {
  /** An example of each variable of the body, in order, for the platform's review. */
  params: readonly string[];
  /** The same for the variable of the header; for a file the handle that the platform's upload returned. */
  header?: string;
  /** An example for the variable of each button's URL, or the code that it copies, by place. */
  buttons: Readonly<Record<string, string>>;
  /** The same for the cards of a carousel, in order. */
  cards?: readonly Pick<TemplateSubmission, "params" | "header" | "buttons">[];
  /** The button of an authentication template. */
  otp?: OtpButton;
}

export interface OtpButton {
  type: "copyCode" | "oneTap" | "zeroTap";
  /** The Android app that takes the code; not for copyCode. */
  packageName?: string;
  signatureHash?: string;
  /** The code's life in the footer. */
  expiryMinutes?: number;
}

/** The platform's response to a submission. */
export type SubmittedTemplate =
  | {
      kind: "submitted";
      id: string | null;
      /** The platform's word; null if it gives none, as after an edit. */
      status: string | null;
      approval: ChatTemplate["status"] | null;
    }
  | { kind: "refused"; description: string };

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

/** The platform's decision about a template. Absent fields did not change. */
export interface TemplateNews {
  name: string;
  language: string;
  status?: ChatTemplate["status"];
  category?: ChatTemplate["category"];
  platform?: Partial<PlatformTemplate>;
  /** The owner on the platform; null where it is not reported. */
  businessAccountId: string | null;
}

/** Language codes in the platform's form. */
export const LANGUAGE_CODE = "^[a-z]{2,3}(_[A-Z]{2})?$";

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
      buttons: readonly FilledButton[];
      /** The values of the buttons, for the platform's own copy of the template. */
      buttonValues?: readonly ButtonValue[];
      /** The values, because the platform fills in its own copy of the template. */
      params: readonly string[];
      /** `expiresAt` is null where the offer shows no time. */
      offer?: { text: string; expiresAt: number | null };
      cards?: readonly FilledCard[];
    }
  | ChatSessionContent
) &
  WithFallback;

/** A message without a template. Every kind is stored with `kind: "text"` first, by which SQL finds session messages. */
export interface ChatSessionContent {
  kind: "text";
  /** The text, or the words of the part. */
  text: string;
  /** The phone shows a preview of the first link. */
  previewUrl?: true;
  /** The content of a message that is no text. */
  part?: SessionPart;
  /** The message that it replies to, or that the reaction is about. */
  reference?: MessageReference;
}

/** The session window: free text is allowed for this long after the user's last message. */
export const SESSION_MS = 86_400_000;

export const isSessionOpen = (writtenAt: number | null, now: number): boolean =>
  writtenAt !== null && now - writtenAt < SESSION_MS;

/** No phone shows a longer text. Characters are UTF-16 units, as in every limit on a text. */
export const CHAT_TEXT_MAX = 4096;

/** The longest text of a header. */
export const HEADER_TEXT_MAX = 60;

export const TEMPLATE_NAME_MAX = 512;

const TEMPLATE_NAME = /^[a-z0-9_]+$/;

export const isTemplateName = (value: string): boolean =>
  value.length <= TEMPLATE_NAME_MAX && TEMPLATE_NAME.test(value);
