import type { ChatContent, ChatHeader, ChatMedia, ChatTemplate } from "../../model/chatapp.ts";
import { messageIdOf, type Message, type MessageContent } from "../../model/message.ts";

/** Request body for one message. Unused fields are omitted, because the platform refuses them. */
export type WhatsappRequest = {
  messaging_product: "whatsapp";
  recipient_type: "individual";
  to: string;
  /** Returned in every status webhook, so that receipts match even if the response to this request was lost. */
  biz_opaque_callback_data: string;
} & ({ type: "template"; template: TemplateCall } | { type: "text"; text: { body: string } });

interface TemplateCall {
  name: string;
  language: { code: string };
  components?: readonly Component[];
}

type Component =
  | { type: "header" | "body"; parameters: readonly Parameter[] }
  | { type: "button"; sub_type: "url"; index: "0"; parameters: readonly Parameter[] };

type Parameter =
  | { type: "text"; text: string }
  | { type: "image"; image: { link: string } }
  | { type: "video"; video: { link: string } }
  | { type: "document"; document: { link: string; filename?: string } };

/** Reason why a message cannot be sent over WhatsApp. */
export interface UnsendableContent {
  code: string;
  description: string;
}

/** Creates the request; `template` is the stored template that the message names. */
export function requestOf(message: Message, template: ChatTemplate | null): WhatsappRequest | UnsendableContent {
  const { content, recipient, routeClass } = message;
  if (!isChat(content)) return { code: "NOT_CHATAPP", description: "The carrier takes chat-app messages only" };
  const common = {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    to: recipient,
    biz_opaque_callback_data: messageIdOf(message),
  } as const;
  if (content.kind === "text") return { ...common, type: "text", text: { body: content.text } };
  const { templateName, language } = content;
  const bringsCode = template ? template.category === "authentication" : routeClass === "OTP";
  const components = componentsOf(content, template, bringsCode);
  const call = { name: templateName, language: { code: language } };
  return { ...common, type: "template", template: components.length === 0 ? call : { ...call, components } };
}

const isChat = (content: MessageContent): content is ChatContent => "kind" in content && !("botId" in content);

function componentsOf(
  { header, params }: Extract<ChatContent, { kind: "template" }>,
  template: ChatTemplate | null,
  bringsCode: boolean,
): Component[] {
  const shown = header && headerParameter(header, template);
  const components: Component[] = [];
  if (shown) components.push({ type: "header", parameters: [shown] });
  if (params.length > 0)
    components.push({ type: "body", parameters: params.map((text) => ({ type: "text", text }) as const) });
  const [code] = params;
  // The copy-code button needs the code as well.
  if (bringsCode && code !== undefined)
    components.push({ type: "button", sub_type: "url", index: "0", parameters: [{ type: "text", text: code }] });
  return components;
}

function headerParameter(header: ChatHeader, template: ChatTemplate | null): Parameter | null {
  if (header.type !== "text") return mediaParameter(header);
  const stored = template?.header?.type === "text" ? template.header.text : null;
  const value = stored === null ? null : headerValue(stored, header.text);
  return value === null ? null : { type: "text", text: value };
}

function mediaParameter({ type, link }: ChatMedia): Parameter {
  if (type === "image") return { type, image: { link } };
  if (type === "video") return { type, video: { link } };
  const filename = fileNameOf(link);
  return { type, document: filename === null ? { link } : { link, filename } };
}

const VARIABLE = "{{1}}";

/**
 * Value of the header's variable; null if the header has none, because the platform then refuses a value. Requests may
 * contain the complete header or only the value.
 */
function headerValue(stored: string, given: string): string | null {
  const at = stored.indexOf(VARIABLE);
  if (at === -1) return null;
  const before = stored.slice(0, at);
  const after = stored.slice(at + VARIABLE.length);
  const isFinished = given.startsWith(before) && given.endsWith(after);
  const value = isFinished ? given.slice(before.length, given.length - after.length) : "";
  return value === "" ? given : value;
}

const NAME_MAX = 200;

/** Document name shown on the phone: the last segment of its URL. */
function fileNameOf(link: string): string | null {
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
