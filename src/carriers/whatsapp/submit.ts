import { isObject } from "../../lib/json.ts";
import type { SessionPart } from "../../model/chat-session.ts";
import type {
  ButtonValue,
  ChatButton,
  ChatCard,
  ChatContent,
  ChatHeader,
  ChatMedia,
  ChatSessionContent,
  ChatTemplate,
  FilledCard,
  HeaderPlace,
} from "../../model/chatapp.ts";
import { mediaIdIn } from "../../model/media.ts";
import { namesIn } from "../../model/template-names.ts";
import { messageIdOf, type Message, type MessageContent } from "../../model/message.ts";

/** Request body for one message. Unused fields are omitted, because the platform refuses them. */
export type WhatsappRequest = {
  messaging_product: "whatsapp";
  recipient_type: "individual";
  to: string;
  /** Returned in every status webhook, so that receipts match even if the response to this request was lost. */
  biz_opaque_callback_data: string;
  /** The message that this one replies to. */
  context?: { message_id: string };
} & (
  | { type: "template"; template: TemplateCall }
  | { type: "text"; text: { body: string; preview_url?: true } }
  | { type: "reaction"; reaction: { message_id: string; emoji: string } }
  | Exclude<SessionPart, { type: "reaction" }>
);

interface TemplateCall {
  name: string;
  language: { code: string };
  components?: readonly Component[];
}

type Component =
  | CardComponent
  | {
      type: "limited_time_offer";
      parameters: readonly [{ type: "limited_time_offer"; limited_time_offer: { expiration_time_ms: number } }];
    }
  | { type: "carousel"; cards: readonly { card_index: number; components: readonly CardComponent[] }[] };

type CardComponent = { type: "header" | "body"; parameters: readonly Parameter[] } | ButtonComponent;

interface ButtonComponent {
  type: "button";
  sub_type: "url" | "quick_reply" | "copy_code" | "flow" | "CATALOG";
  /** Place of the button in the template. */
  index: string;
  parameters: readonly (
    | Parameter
    | { type: "payload"; payload: string }
    | { type: "coupon_code"; coupon_code: string }
    | { type: "action"; action: Readonly<Record<string, unknown>> }
  )[];
}

type Parameter =
  | { type: "text"; text: string; parameter_name?: string }
  | { type: "image"; image: { link: string } }
  | { type: "video"; video: { link: string } }
  | { type: "document"; document: { link: string; filename?: string } }
  /** The platform takes the degrees as strings. */
  | { type: "location"; location: { latitude: string; longitude: string; name: string; address: string } };

/** Reason why a message cannot be sent over WhatsApp. */
export interface UnsendableContent {
  code: string;
  description: string;
}

/** A file that the platform has by its own id. */
export interface PlatformFile {
  id: string;
  name: string | null;
}

/** Creates the request; `template` is the stored template that the message names, `file` the upload that it shows. */
export function requestOf(
  message: Message,
  template: ChatTemplate | null,
  file: PlatformFile | null = null,
): WhatsappRequest | UnsendableContent {
  const request = linkedRequestOf(message, template);
  return file && !("code" in request) ? withFile(request, file) : request;
}

/** Puts the platform's id in the place of the link of stored media. */
function withFile(request: WhatsappRequest, { id, name }: PlatformFile): WhatsappRequest {
  return JSON.parse(JSON.stringify(request), (_key, value: unknown) => {
    if (!isObject(value) || typeof value["link"] !== "string" || mediaIdIn(value["link"]) === null) return value;
    const { link: _link, filename, ...rest } = value;
    const shown = filename === NO_NAME ? name : filename;
    return { id, ...rest, ...(typeof shown === "string" && { filename: shown }) };
  }) as WhatsappRequest;
}

function linkedRequestOf(message: Message, template: ChatTemplate | null): WhatsappRequest | UnsendableContent {
  const { content, recipient, routeClass } = message;
  if (!isChat(content)) return { code: "NOT_CHATAPP", description: "The carrier takes chat-app messages only" };
  const common = {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    to: recipient,
    biz_opaque_callback_data: messageIdOf(message),
  } as const;
  if (content.kind === "text") return sessionRequest(common, content);
  const { templateName, language } = content;
  const bringsCode = template ? template.category === "authentication" : routeClass === "OTP";
  const components = componentsOf(content, template, bringsCode);
  const call = { name: templateName, language: { code: language } };
  return { ...common, type: "template", template: components.length === 0 ? call : { ...call, components } };
}

type Common = Pick<WhatsappRequest, "messaging_product" | "recipient_type" | "to" | "biz_opaque_callback_data">;

const NO_REFERENCE: UnsendableContent = {
  code: "NO_PLATFORM_ID",
  description: "The message that this one is about has no id on the platform",
};

function sessionRequest(
  common: Common,
  { text, previewUrl, part, reference }: ChatSessionContent,
): WhatsappRequest | UnsendableContent {
  const messageId = reference?.platformId ?? null;
  if (part?.type === "reaction")
    return messageId === null
      ? NO_REFERENCE
      : { ...common, type: "reaction", reaction: { message_id: messageId, emoji: part.reaction.emoji } };
  if (reference && messageId === null) return NO_REFERENCE;
  const replying = { ...common, ...(messageId !== null && { context: { message_id: messageId } }) };
  if (!part) return { ...replying, type: "text", text: { body: text, ...(previewUrl && { preview_url: previewUrl }) } };
  return { ...replying, ...named(part) };
}

/** A document without a name gets that of its link, as in a header. */
function named(part: Exclude<SessionPart, { type: "reaction" }>): typeof part {
  if (part.type !== "document" || part.document.filename !== undefined) return part;
  const filename = fileNameOf(part.document.link);
  return filename === null ? part : { type: "document", document: { ...part.document, filename } };
}

const isChat = (content: MessageContent): content is ChatContent => "kind" in content && !("botId" in content);

function componentsOf(
  { header, params, buttonValues = [], offer, cards }: Extract<ChatContent, { kind: "template" }>,
  template: ChatTemplate | null,
  bringsCode: boolean,
): Component[] {
  const shown = header && headerParameter(header, template);
  const components: Component[] = [];
  if (shown) components.push({ type: "header", parameters: [shown] });
  components.push(...bodyComponents(params, template?.names));
  if (offer && offer.expiresAt !== null) {
    const expires = { expiration_time_ms: offer.expiresAt };
    components.push({
      type: "limited_time_offer",
      parameters: [{ type: "limited_time_offer", limited_time_offer: expires }],
    });
  }
  const [code] = params;
  // The copy-code button needs the code as well.
  if (bringsCode && code !== undefined)
    components.push({ type: "button", sub_type: "url", index: "0", parameters: [{ type: "text", text: code }] });
  components.push(...buttonComponents(template?.buttons ?? [], buttonValues));
  if (cards)
    components.push({
      type: "carousel",
      cards: cards.map((card, index) => ({
        card_index: index,
        components: cardComponents(card, template?.cards?.[index]),
      })),
    });
  return components;
}

const cardComponents = (
  { header, params, buttonValues = [] }: FilledCard,
  card: ChatCard | undefined,
): readonly CardComponent[] => [
  { type: "header", parameters: [mediaParameter(header)] },
  ...bodyComponents(params, card?.names),
  ...buttonComponents(card?.buttons ?? [], buttonValues),
];

const bodyComponents = (params: readonly string[], names: readonly string[] | undefined): CardComponent[] =>
  params.length === 0
    ? []
    : [{ type: "body", parameters: params.map((text, index) => bodyParameter(text, names?.[index])) }];

const buttonComponents = (buttons: readonly ChatButton[], values: readonly ButtonValue[]): ButtonComponent[] =>
  buttons.flatMap((button, index) =>
    buttonComponent(
      button,
      index,
      values.find((value) => value.index === index),
    ),
  );

/** The platform takes a component only for a button that has a value; a form always needs one. */
function buttonComponent(
  { type }: ChatButton,
  index: number,
  { text, payload, code, flowToken, data, productId }: Partial<ButtonValue> = {},
): ButtonComponent[] {
  const component = (
    subType: ButtonComponent["sub_type"],
    parameter: ButtonComponent["parameters"][number],
  ): ButtonComponent[] => [{ type: "button", sub_type: subType, index: String(index), parameters: [parameter] }];
  if (type === "url" && text !== undefined) return component("url", { type: "text", text });
  if (type === "reply" && payload !== undefined) return component("quick_reply", { type: "payload", payload });
  if (type === "copyCode" && code !== undefined)
    return component("copy_code", { type: "coupon_code", coupon_code: code });
  if (type === "flow") {
    const action = { flow_token: flowToken ?? NO_TOKEN, ...(data && { flow_action_data: data }) };
    return component("flow", { type: "action", action });
  }
  if (type === "catalog" && productId !== undefined)
    return component("CATALOG", { type: "action", action: { thumbnail_product_retailer_id: productId } });
  return [];
}

/** The platform's own default. */
const NO_TOKEN = "unused";

const bodyParameter = (text: string, name: string | undefined): Parameter =>
  name === undefined ? { type: "text", text } : { type: "text", parameter_name: name, text };

function headerParameter(header: ChatHeader, template: ChatTemplate | null): Parameter | null {
  if (header.type === "location") return { type: "location", location: placeOf(header.location) };
  if (header.type !== "text") return mediaParameter(header);
  const stored = template?.header?.type === "text" ? template.header.text : null;
  const value = stored === null ? null : headerValue(stored, header.text);
  return value === null ? null : bodyParameter(value, namesIn(stored ?? "")[0]);
}

const placeOf = ({ latitude, longitude, name, address }: HeaderPlace) => ({
  latitude: String(latitude),
  longitude: String(longitude),
  name,
  address,
});

function mediaParameter({ type, link }: ChatMedia): Parameter {
  if (type === "image") return { type, image: { link } };
  if (type === "video") return { type, video: { link } };
  const filename = fileNameOf(link);
  return { type, document: filename === null ? { link } : { link, filename } };
}

const VARIABLE = /\{\{\s*(?:1|[A-Za-z_]\w*)\s*\}\}/;

/**
 * Value of the header's variable; null if the header has none, because the platform then refuses a value. Requests may
 * contain the complete header or only the value.
 */
function headerValue(stored: string, given: string): string | null {
  const variable = VARIABLE.exec(stored);
  if (!variable) return null;
  const before = stored.slice(0, variable.index);
  const after = stored.slice(variable.index + variable[0].length);
  const isFinished = given.startsWith(before) && given.endsWith(after);
  const value = isFinished ? given.slice(before.length, given.length - after.length) : "";
  return value === "" ? given : value;
}

const NAME_MAX = 200;
/** Stands for the name of an upload. No message can contain it, because it has a NUL. */
const NO_NAME = "\0";

/** Document name shown on the phone: the last segment of its URL. */
function fileNameOf(link: string): string | null {
  if (mediaIdIn(link) !== null) return NO_NAME;
  const last = URL.parse(link)?.pathname.split("/").at(-1) ?? "";
  const name = decoded(last)
    .replaceAll(/[\p{Cc}/\\]/gu, "")
    .trim();
  return name === "" ? null : name.slice(-NAME_MAX).toWellFormed();
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A literal percent sign is not an escape.
    return part;
  }
}
