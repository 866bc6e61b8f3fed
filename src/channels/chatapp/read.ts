import { isObject } from "../../lib/plain-object.ts";
import { isShowable } from "../../lib/plain-text.ts";
import {
  HEADER_TEXT_MAX,
  HEADER_TYPES,
  isTemplateName,
  type ChatHeader,
  type HeaderType,
  type MediaType,
} from "../../model/chatapp.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { extensionFault, LINK_RULE, readLink } from "./media-link.ts";

import { readCampaignName } from "../campaign-name.ts";
import type { Draft, SoleRecipient } from "../draft.ts";
import type { Numbers } from "../written-number.ts";
import { readRecipient } from "./recipient.ts";

/** A send request that has been read and found right as far as it can be told without looking anything up. */
export type ChatDraft = ChatTemplateDraft | ChatTextDraft;

/** `sender` is the business number: a plus and its digits. */
interface Addressed extends Draft {
  channel: "chatapp";
  recipients: SoleRecipient;
}

export interface ChatTemplateDraft extends Addressed {
  kind: "template";
  templateName: string;
  header: ChatHeader | null;
  /** Values of the template's variables; empty when the request has no components. */
  params: readonly string[];
}

/** A free text, which a platform takes only within a day of the recipient's own last message. */
interface ChatTextDraft extends Addressed {
  kind: "text";
  text: string;
}

const PARAMS_MAX = 50;
const PARAM_MAX = 1024;
const TEXT_MAX = 4096;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the body of a chat-app request. Every fault is found before any is reported, and names its field and what it
 * needs. Next: src/messages/prepare-chat.ts
 */
export function readChat(body: unknown, numbers: Numbers): ChatDraft {
  const fields = objectOf(body);
  if (!fields) {
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "", message: "The body must be a JSON object." }] });
  }
  const faults: Fault[] = [];
  const kind = readKind(fields.type, faults);
  const sender = readSender(fields.from, faults);
  const written = readTo(fields.to, faults);
  const campaignName = readCampaignName(fields.campaignName, faults);
  const message = kind === "text" ? readText(fields.text, faults) : readTemplate(fields, faults);
  const recipient = readRecipient(written ?? "", numbers);
  const badNumbers = written !== null && recipient === null ? [BAD_NUMBER] : [];
  const all = [...faults, ...badNumbers];
  if (typeof fields.type === "string" && fields.type !== kind) throw new Problem("UNSUPPORTED_TYPE", { faults: all });
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults: all });
  if (recipient === null) throw new Problem("INVALID_RECIPIENT", { faults: all });
  if (message.kind === "template") refuseOtherMedia(message.header);

  return {
    ...message,
    channel: "chatapp",
    sender,
    // What its template is for tells its class, once the template has been looked up.
    routeClass: "TRANS",
    campaignName,
    sendAt: null,
    recipients: [recipient],
  };
}

const BAD_NUMBER: Fault = {
  parameter: "to",
  message: "Write the number internationally: country code first, 7 to 15 digits, with or without a plus.",
};

const objectOf = (value: unknown): Fields | null => (isObject(value) ? value : null);

/** What the rest of the body is read as: a template, unless a free text is meant. */
function readKind(value: unknown, faults: Fault[]): ChatDraft["kind"] {
  const kind = typeof value === "string" && value.trim().toLowerCase() === "text" ? "text" : "template";
  if (value !== kind)
    faults.push({
      parameter: "type",
      message: "type is template, or text for a free text, in small letters.",
    });
  return kind;
}

function readSender(value: unknown, faults: Fault[]): string {
  const number = typeof value === "string" && value.includes("+") ? readNumber(value) : null;
  if (number === null)
    faults.push({
      parameter: "from",
      message: "Give the business number as a string: a plus, the country code and the number, 7 to 15 digits.",
    });
  return `+${number ?? ""}`;
}

function readTo(value: unknown, faults: Fault[]): string | null {
  if (typeof value !== "string" || value.trim() === "") {
    faults.push({ parameter: "to", message: "Give the recipient's number as a string." });
    return null;
  }
  if (value.includes(",")) {
    faults.push({ parameter: "to", message: "Give one recipient: each has a request of its own." });
    return null;
  }
  return value;
}

function readText(value: unknown, faults: Fault[]): Omit<ChatTextDraft, keyof Addressed> {
  const text = objectOf(value);
  const written = text?.body;
  if (typeof written === "string" && written !== "" && written.length <= TEXT_MAX && isShowable(written))
    return { kind: "text", text: written };
  faults.push({
    parameter: text ? "text.body" : "text",
    message: `A message of type text has an object text, whose body is a string of 1 to ${TEXT_MAX} characters without NUL or half a character.`,
  });
  return { kind: "text", text: "" };
}

function readTemplate({ templateName, components }: Fields, faults: Fault[]): Omit<ChatTemplateDraft, keyof Addressed> {
  const name = readTemplateName(templateName, faults);
  return { kind: "template", templateName: name, ...readComponents(components, faults) };
}

function readTemplateName(value: unknown, faults: Fault[]): string {
  if (typeof value === "string" && isTemplateName(value)) return value;
  faults.push({
    parameter: "templateName",
    message: "Give the template's name: lowercase letters a to z, digits and underscores only, 1 to 512 of them.",
  });
  return "";
}

function readComponents(value: unknown, faults: Fault[]): Pick<ChatTemplateDraft, "header" | "params"> {
  if (value === undefined) return { header: null, params: [] };
  const components = objectOf(value);
  if (!components) {
    faults.push({
      parameter: "components",
      message: "components is an object with body and perhaps header; leave it out when the template has neither.",
    });
    return { header: null, params: [] };
  }
  return { params: readBody(components.body, faults), header: readHeader(components.header, faults) };
}

function readBody(value: unknown, faults: Fault[]): readonly string[] {
  const body = objectOf(value);
  if (body) return readParams(body.params, faults);
  faults.push({ parameter: "components.body", message: "Give components a body: an object with params." });
  return [];
}

/**
 * The values as they were given. The real platform refuses line breaks, tabs and more than four spaces in a row within a
 * value. That is left to it: by our own rules such a request is right.
 */
function readParams(value: unknown, faults: Fault[]): readonly string[] {
  if (!Array.isArray(value) || value.length > PARAMS_MAX) {
    faults.push({
      parameter: "components.body.params",
      message: `params is an array with one string per variable, at most ${PARAMS_MAX}; it is empty when the template has none.`,
    });
    return [];
  }
  return value.map((each: unknown, index) => {
    if (typeof each === "string" && each.length <= PARAM_MAX && isShowable(each)) return each;
    faults.push({
      parameter: `components.body.params[${index}]`,
      message: `A value is a string of at most ${PARAM_MAX} characters without NUL or half a character, never null.`,
    });
    return "";
  });
}

function readHeader(value: unknown, faults: Fault[]): ChatHeader | null {
  if (value === undefined) return null;
  const header = objectOf(value);
  if (!header) {
    faults.push({
      parameter: "components.header",
      message: "header is an object with type and what it shows; leave it out when the template has none.",
    });
    return null;
  }
  const type = HEADER_TYPES.find((each) => each === header.type);
  const given = HEADER_TYPES.filter((each) => header[each] !== undefined);
  if (!type) {
    faults.push({ parameter: "components.header.type", message: "type is one of text, image, video or document." });
    for (const each of given) readShown(each, header[each], faults);
    return null;
  }
  for (const other of given.filter((each) => each !== type))
    faults.push({
      parameter: `components.header.${other}`,
      message: `The header's type is ${type}: leave ${other} out, or change the type.`,
    });
  return readShown(type, header[type], faults);
}

const readShown = (type: HeaderType, value: unknown, faults: Fault[]): ChatHeader =>
  type === "text" ? { type, text: readHeaderText(value, faults) } : { type, link: readMediaLink(type, value, faults) };

function readHeaderText(value: unknown, faults: Fault[]): string {
  if (typeof value === "string" && value !== "" && value.length <= HEADER_TEXT_MAX && isShowable(value)) return value;
  faults.push({
    parameter: "components.header.text",
    message: `Give the header's text: a string of 1 to ${HEADER_TEXT_MAX} characters without NUL or half a character.`,
  });
  return "";
}

function readMediaLink(type: MediaType, value: unknown, faults: Fault[]): string {
  const media = objectOf(value);
  const link = readLink(media?.link);
  if (link === null)
    faults.push({
      parameter: `components.header.${type}${media ? ".link" : ""}`,
      message: `A header of type ${type} has an object ${type}, whose link is ${LINK_RULE}.`,
    });
  return link ?? "";
}

function refuseOtherMedia(header: ChatHeader | null): void {
  if (header === null || header.type === "text") return;
  const message = extensionFault(header.type, header.link);
  if (message === null) return;
  throw new Problem("MEDIA_TYPE_UNSUPPORTED", {
    faults: [{ parameter: `components.header.${header.type}.link`, message }],
  });
}
