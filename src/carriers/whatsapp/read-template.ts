import {
  CHAT_CATEGORIES,
  HEADER_TEXT_MAX,
  LANGUAGE_CODE,
  isTemplateName,
  type ChatButton,
  type ChatCard,
  type ChatOffer,
  type ChatTemplate,
  type ChatTemplateHeader,
  type PulledTemplate,
  type UnreadTemplate,
} from "../../model/chatapp.ts";
import { readButtonUrl } from "../../model/button-url.ts";
import { readNumber } from "../../model/number.ts";
import { namesIn } from "../../model/template-names.ts";
import { fieldsOf, listOf, stringOf } from "./read-json.ts";
import { describeReason, readQuality, readStatus } from "./template-status.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The template uses features that our API does not support. */
class Unreadable extends Error {
  override name = "Unreadable";
}

const LANGUAGE = new RegExp(LANGUAGE_CODE);

/** Parses one template of the platform's list. */
export function readTemplate(listed: unknown): PulledTemplate | UnreadTemplate {
  const fields = fieldsOf(listed);
  const name = stringOf(fields["name"]) ?? "";
  const language = stringOf(fields["language"]) ?? "";
  try {
    if (!isTemplateName(name)) throw new Unreadable("its name is none that requests can have");
    if (!LANGUAGE.test(language)) throw new Unreadable("its language is not written like en or pt_BR");
    return { name, content: contentOf(fields, language) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { name, language, reason: error.message };
  }
}

function contentOf(fields: Fields, language: string): ChatTemplate {
  const written = stringOf(fields["category"])?.toLowerCase();
  const category = CHAT_CATEGORIES.find((each) => each === written);
  const word = stringOf(fields["status"]);
  const id = stringOf(fields["id"]);
  const status = readStatus(word);
  if (category === undefined) throw new Unreadable("its category is not known here");
  if (word === null || status === null) throw new Unreadable("its status is not known here");
  const parts = partsOf(fields["components"]);
  for (const type of parts.keys())
    if (!["HEADER", "BODY", "FOOTER", "BUTTONS", "LIMITED_TIME_OFFER", "CAROUSEL"].includes(type))
      throw new Unreadable(`it has a part of the type ${type}, which requests cannot bring`);
  const offer = parts.get("LIMITED_TIME_OFFER")?.["limited_time_offer"];
  const carousel = parts.get("CAROUSEL");
  const body = stringOf(parts.get("BODY")?.["text"]);
  if (body === null) throw new Unreadable("it has no body");
  const header = parts.get("HEADER");
  const cards = carousel ? listOf(carousel["cards"]).map(cardOf) : null;
  if (cards?.length === 0) throw new Unreadable("its carousel has no cards");
  return {
    language,
    category,
    status,
    platform: {
      ...(id !== null && { id }),
      status: word,
      reason: describeReason(stringOf(fields["rejected_reason"])),
      quality: readQuality(stringOf(fieldsOf(fields["quality_score"])["score"])),
    },
    header: header ? headerOf(header) : null,
    body,
    ...bodyVariables(body),
    footer: stringOf(parts.get("FOOTER")?.["text"]),
    // The copy-code button is created with each message.
    buttons: category === "authentication" ? [] : buttonsOf(parts),
    ...(offer !== undefined && { offer: offerOf(fieldsOf(offer)) }),
    ...(cards && { cards }),
  };
}

type Parts = ReadonlyMap<string, Fields>;

const partsOf = (components: unknown): Parts =>
  new Map(listOf(components).map((part) => [stringOf(fieldsOf(part)["type"])?.toUpperCase() ?? "", fieldsOf(part)]));

const buttonsOf = (parts: Parts): ChatButton[] => listOf(parts.get("BUTTONS")?.["buttons"]).map(buttonOf);

const offerOf = (offer: Fields): ChatOffer => ({
  text: stringOf(offer["text"]) ?? "",
  expires: offer["has_expiration"] === true,
});

/** A card with a product of a catalogue has another header. */
function cardOf(card: unknown): ChatCard {
  const parts = partsOf(fieldsOf(card)["components"]);
  const header = headerOf(parts.get("HEADER") ?? {});
  if (header.type !== "image" && header.type !== "video")
    throw new Unreadable("one of its cards has neither image nor video");
  const body = stringOf(parts.get("BODY")?.["text"]);
  return {
    header: { type: header.type, link: null },
    body,
    ...(body === null ? { variables: 0 } : bodyVariables(body)),
    buttons: buttonsOf(parts),
  };
}

/** Variables have names or numbers, never both. */
function bodyVariables(body: string): Pick<ChatTemplate, "variables" | "names"> {
  const names = namesIn(body);
  if (names.length === 0) return { variables: variablesIn(body) };
  if (NUMBER.test(body)) throw new Unreadable("its variables have both names and numbers");
  if (names.length > VARIABLES_MAX) throw new Unreadable(`it has more than ${VARIABLES_MAX} variables`);
  return { variables: names.length, names };
}

const NUMBERED = /\{\{(\d+)\}\}/g;
const NUMBER = /\{\{\d+\}\}/;
const VARIABLES_MAX = 50;

function variablesIn(text: string): number {
  const numbers = new Set([...text.matchAll(NUMBERED)].map((match) => Number(match[1])));
  const isWhole = [...numbers].every((each) => each >= 1 && each <= numbers.size);
  if (!isWhole || numbers.size > VARIABLES_MAX) throw new Unreadable("its variables are not numbered from {{1}} on");
  return numbers.size;
}

const MEDIA = { IMAGE: "image", VIDEO: "video", DOCUMENT: "document" } as const;

function headerOf(header: Fields): ChatTemplateHeader {
  const format = stringOf(header["format"])?.toUpperCase() ?? "";
  if (Object.hasOwn(MEDIA, format)) return { type: MEDIA[format as keyof typeof MEDIA], link: null };
  if (format === "LOCATION") return { type: "location" };
  const text = stringOf(header["text"]);
  if (format !== "TEXT" || text === null || text.length > HEADER_TEXT_MAX)
    throw new Unreadable(`its header is of the type ${format || "unknown"}, which requests cannot bring`);
  if (variablesIn(text) + namesIn(text).length > 1) throw new Unreadable("its header has more than one variable");
  return { type: "text", text };
}

/** Their label is the platform's if the list has none. */
const OTHER_BUTTONS: Readonly<Record<string, ChatButton>> = {
  COPY_CODE: { type: "copyCode", text: "Copy offer code" },
  FLOW: { type: "flow", text: "Open" },
  CATALOG: { type: "catalog", text: "View catalog" },
};

function buttonOf(button: unknown): ChatButton {
  const fields = fieldsOf(button);
  const type = stringOf(fields["type"])?.toUpperCase() ?? "";
  const text = stringOf(fields["text"]);
  const url = stringOf(fields["url"]);
  const number = readNumber(stringOf(fields["phone_number"]) ?? "");
  if (text !== null && type === "QUICK_REPLY") return { type: "reply", text };
  if (text !== null && type === "PHONE_NUMBER" && number !== null) return { type: "call", text, number: `+${number}` };
  if (text !== null && type === "URL" && url !== null) {
    const address = readButtonUrl(url);
    if (address !== null) return { type: "url", text, url: address };
    if (variablesIn(url) > 0) throw new Unreadable("the address of a button has a variable before its end");
  }
  const other = Object.hasOwn(OTHER_BUTTONS, type) ? OTHER_BUTTONS[type] : undefined;
  if (other) return { ...other, text: text ?? other.text };
  throw new Unreadable(`it has a button of the type ${type || "unknown"}, which requests cannot bring`);
}
