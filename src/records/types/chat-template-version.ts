import { extensionFault, LINK_MAX, LINK_RULE, readLink } from "../../channels/chatapp/media-link.ts";
import { readTemplateText } from "../../channels/template.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { isPlainText, isShowable } from "../../lib/text.ts";
import {
  CARD_MEDIA_TYPES,
  CARDS_MAX,
  HEADER_TEXT_MAX,
  LANGUAGE_CODE,
  TEMPLATE_HEADER_TYPES,
  type ChatButton,
  type ChatCard,
  type ChatTemplateHeader,
  type ChatVersion,
  type MediaType,
  URL_VARIABLE,
} from "../../model/chatapp.ts";
import { readButtonUrl } from "../../model/button-url.ts";
import { readNumber } from "../../model/number.ts";
import type { Fault } from "../../model/problem.ts";
import { namesIn } from "../../model/template-names.ts";
import { oneOf, status } from "./shared-fields.ts";

/** The platform's limits: characters are UTF-16 units, as in every limit on a text. */
const BODY_MAX = 1024;
const FOOTER_MAX = 60;
const LABEL_MAX = 25;
const BUTTONS_MAX = 10;
const URL_BUTTONS_MAX = 2;
const VARIABLES_MAX = 50;
const OFFER_TEXT_MAX = 16;
const OFFER_BODY_MAX = 600;
const CARDS_MIN = 2;
const CARD_BODY_MAX = 160;
const CARD_BUTTONS_MAX = 2;

const BODY_RULE = `The body has 1 to ${BODY_MAX} characters, and not only spaces.`;
const BUTTONS_RULE = `A template has at most ${BUTTONS_MAX} buttons, of which ${URL_BUTTONS_MAX} may be of type url and one each of type call, copyCode, flow and catalog.`;
const URL_RULE = `A button's url is ${LINK_RULE}; it may end with the variable ${URL_VARIABLE}.`;
const NUMBER_RULE = "Write the number internationally: country code first, 7 to 15 digits.";

/** One line of text; `more` checks its placeholders. */
function line(max: number, more: (text: string) => string | null) {
  const rule = `This is one line of 1 to ${max} characters, without control characters and not only spaces.`;
  return {
    minLength: 1,
    maxLength: max,
    error: rule,
    check: (text: string) => (text.trim() !== "" && text.length <= max && isPlainText(text) ? more(text) : rule),
  };
}

const sampleLink = Type.Optional(
  nullable(
    Type.String({
      maxLength: LINK_MAX,
      check: (link) => (readLink(link) === null ? `A link is ${LINK_RULE}.` : null),
    }),
    "Sample file: an http:// or https:// URL. Optional, for image, video and document.",
  ),
);

const header = Type.Object({
  type: oneOf(TEMPLATE_HEADER_TYPES, "Header type. Requests must use the same."),
  text: Type.Optional(
    nullable(
      Type.String(line(HEADER_TEXT_MAX, headerFault)),
      "Sample text, with `{{1}}` for its variable if it has one. Required if type is text, not allowed otherwise.",
    ),
  ),
  link: sampleLink,
});

const button = Type.Object(
  {
    type: oneOf(
      ["reply", "url", "call", "copyCode", "flow", "catalog"],
      "Action of a tap: reply, open a URL, call a number, copy a code, open a form or the catalogue.",
    ),
    text: Type.String({ ...line(LABEL_MAX, fixedFault), description: "Label." }),
    url: Type.Optional(
      Type.String({
        maxLength: LINK_MAX,
        description: "An http:// or https:// URL, which may end with `{{1}}`. Required if type is url.",
        error: URL_RULE,
        check: (url) => (url.length <= LINK_MAX && readButtonUrl(url) !== null ? null : URL_RULE),
      }),
    ),
    number: Type.Optional(
      Type.String({
        description: "An international phone number. Required if type is call.",
        error: NUMBER_RULE,
        check: (number) => (readNumber(number) === null ? NUMBER_RULE : null),
      }),
    ),
  },
  { requiredBy: { field: "type", values: { url: ["url"], call: ["number"] } } },
);

export const CARD = Type.Object({
  header: Type.Object(
    {
      type: oneOf(CARD_MEDIA_TYPES, "Type of the file: the same on every card."),
      link: sampleLink,
    },
    { description: "File above the text. Requests supply it." },
  ),
  body: Type.Default(
    nullable(
      Type.String({ minLength: 1, maxLength: CARD_BODY_MAX, check: bodyFault }),
      "Text, with variables as in the body. Defaults to null, no text.",
    ),
    null,
  ),
  buttons: Type.Array(button, {
    minItems: 1,
    maxItems: CARD_BUTTONS_MAX,
    description: "One or two buttons of type reply, url or call: the same types in the same order on every card.",
  }),
});

/** Fields that each language of a template has of its own. */
export const VERSION_FIELDS = {
  status: Type.Default(status, "approved"),
  header: Type.Default(
    nullable(header, "Header above the body. Defaults to null, no header. Requests supply its content."),
    null,
  ),
  body: Type.String({
    minLength: 1,
    maxLength: BODY_MAX,
    description: "Text, with `{{1}}`, `{{2}}` or `{{first_name}}` for the variables: all numbered, or all with names.",
    error: { minLength: BODY_RULE, maxLength: BODY_RULE },
    check: bodyFault,
  }),
  footer: Type.Default(
    nullable(
      Type.String(line(FOOTER_MAX, fixedFault)),
      "Footer below the body, without variables. Defaults to null, no footer.",
    ),
    null,
  ),
  buttons: Type.Default(
    Type.Array(button, {
      maxItems: BUTTONS_MAX,
      description: "Buttons, at most two of type url and one of each other type besides reply. Defaults to none.",
      error: { maxItems: BUTTONS_RULE },
      check: (buttons) => {
        const count = (type: ChatButton["type"]): number => buttons.filter((each) => each.type === type).length;
        const isTwice = (["call", "copyCode", "flow", "catalog"] as const).some((type) => count(type) > 1);
        return count("url") > URL_BUTTONS_MAX || isTwice ? BUTTONS_RULE : null;
      },
    }),
    [],
  ),
  offer: Type.Default(
    nullable(
      Type.Object({
        text: Type.String({
          ...line(OFFER_TEXT_MAX, fixedFault),
          description: "Words beside the picture of the offer, such as Ends soon.",
        }),
        expires: Type.Optional(
          Type.Boolean({ description: "Shows the time that is left. Each request names the end. Defaults to true." }),
        ),
      }),
      "Makes it a limited-time offer, of the category marketing. Defaults to null, none.",
    ),
    null,
  ),
  cards: Type.Default(
    Type.Array(CARD, {
      maxItems: CARDS_MAX,
      description: `Makes it a carousel of ${CARDS_MIN} to ${CARDS_MAX} cards, of the category marketing. Defaults to none.`,
    }),
    [],
  ),
};

const LANGUAGE_RULE = "Write the language as the platform does: en, or pt_BR.";

export const languageField = (description: string) =>
  Type.String({ pattern: LANGUAGE_CODE, description, error: { pattern: LANGUAGE_RULE } });

/** A request, or a stored version, whose optional parts may be absent. */
interface GivenVersion {
  language: string;
  status: ChatVersion["status"];
  header: Infer<typeof header> | null;
  body: string | null;
  footer: string | null;
  buttons: readonly Infer<typeof button>[];
  offer?: { text: string; expires?: boolean } | null | undefined;
  cards?: readonly Infer<typeof CARD>[] | undefined;
}

/** Reads one language of a template. `path` leads to it. */
export function toVersion(
  { language, status: approval, header: above, body, footer, buttons, offer, cards = [] }: GivenVersion,
  category: string,
  path: string,
  faults: Fault[],
): ChatVersion {
  if (body === null)
    faults.push({
      parameter: `${path}body`,
      message: "Give the body: so far only the number of its variables is known.",
    });
  const version: ChatVersion = {
    language,
    status: approval,
    header: above && toHeader(above, `${path}header`, faults),
    body,
    ...(body === null ? { variables: 0 } : bodyVariables(body)),
    footer,
    buttons: buttons.map((each, index) => toButton(each, `${path}buttons[${index}]`, faults)),
    ...(offer && { offer: { text: offer.text, expires: offer.expires ?? true } }),
    ...(cards.length > 0 && { cards: cards.map((each, index) => toCard(each, `${path}cards[${index}]`, faults)) }),
  };
  for (const [field, message] of partFaults(version, category)) faults.push({ parameter: `${path}${field}`, message });
  return version;
}

function toCard({ header: above, body, buttons }: Infer<typeof CARD>, path: string, faults: Fault[]): ChatCard {
  const { type, link = null } = above;
  const url = sampleOf(type, link, `${path}.header`, faults);
  return {
    header: { type, link: url },
    body,
    ...(body === null ? { variables: 0 } : bodyVariables(body)),
    buttons: buttons.map((each, index) => toButton(each, `${path}.buttons[${index}]`, faults)),
  };
}

/** The platform's rules about offers, carousels and locations: field and message. */
function* partFaults(version: ChatVersion, category: string): Generator<[string, string]> {
  const { header: above, offer, cards } = version;
  if (above?.type === "location" && category === "authentication")
    yield ["header.type", "Only templates of the categories utility and marketing have a location above the text."];
  if (offer) yield* offerFaults(version, category);
  if (cards) yield* cardsFaults(version, category);
}

function* offerFaults(
  { header: above, body, footer, buttons, offer }: ChatVersion,
  category: string,
): Generator<[string, string]> {
  if (category !== "marketing") yield ["offer", "A limited-time offer has the category marketing."];
  if (above && above.type !== "image" && above.type !== "video")
    yield ["header.type", "The header of a limited-time offer is an image or a video."];
  if (footer !== null) yield ["footer", "A limited-time offer has no footer: leave it out."];
  if ((body ?? "").length > OFFER_BODY_MAX)
    yield ["body", `The body of a limited-time offer has at most ${OFFER_BODY_MAX} characters.`];
  const types = buttons.map(({ type }) => type).join(" ");
  if (types !== "copyCode url" && (offer?.expires === true || types !== "url"))
    yield [
      "buttons",
      "A limited-time offer has a button of type copyCode and then one of type url. Without an end it may have the url alone.",
    ];
}

function* cardsFaults(
  { header: above, footer, buttons, offer, cards = [] }: ChatVersion,
  category: string,
): Generator<[string, string]> {
  if (category !== "marketing") yield ["cards", "A carousel has the category marketing."];
  if (cards.length < CARDS_MIN) yield ["cards", `A carousel has ${CARDS_MIN} to ${CARDS_MAX} cards.`];
  if (above) yield ["header", "A carousel has its files on the cards: leave header out."];
  if (footer !== null) yield ["footer", "A carousel has no footer: leave it out."];
  if (buttons.length > 0) yield ["buttons", "A carousel has its buttons on the cards: leave these out."];
  if (offer) yield ["offer", "A template is either a limited-time offer or a carousel."];
  for (const [index, each] of cards.entries()) {
    if (each.buttons.some(({ type }) => !CARD_BUTTONS.has(type)))
      yield [`cards[${index}].buttons`, "A card has buttons of type reply, url or call."];
    if (shapeOf(each) !== shapeOf(cards[0] ?? each))
      yield [
        `cards[${index}]`,
        "All cards have the same type of file, and the same types of buttons in the same order.",
      ];
  }
}

const CARD_BUTTONS: ReadonlySet<string> = new Set<ChatButton["type"]>(["reply", "url", "call"]);

const shapeOf = ({ header: { type }, body, buttons }: ChatCard): string =>
  [type, body === null ? "bare" : "text", ...buttons.map((each) => each.type)].join(" ");

function bodyFault(body: string): string | null {
  if (body.trim() === "" || body.length > BODY_MAX) return BODY_RULE;
  if (!isShowable(body)) return "The body holds half a character (a lone surrogate) or a NUL, which no phone can show.";
  return placeholderFault(body);
}

/** Placeholders are numbered; `{#var#}` is for SMS. */
function placeholderFault(text: string): string | null {
  const read = readTemplateText(text);
  if ("fault" in read) return read.fault;
  const names = namesIn(text);
  if (names.length > 0 && read.variables > 0) return "The variables have both names and numbers: use one of the two.";
  if (names.length > VARIABLES_MAX) return `A text has at most ${VARIABLES_MAX} variables.`;
  return read.valueMax === null ? null : "{#var#} is for SMS: write the placeholders as {{1}}, {{2}} and so on.";
}

function bodyVariables(body: string): { variables: number; names?: readonly string[] } {
  const names = namesIn(body);
  return names.length === 0 ? { variables: variablesIn(body) } : { variables: names.length, names };
}

function headerFault(text: string): string | null {
  const count = variablesIn(text) + namesIn(text).length;
  return placeholderFault(text) ?? (count > 1 ? "A header has one variable at most, {{1}}." : null);
}

function fixedFault(text: string): string | null {
  return isFixed(text) ? null : "Variables belong in the body: a request has no values for them here.";
}

function variablesIn(text: string): number {
  const read = readTemplateText(text);
  return "variables" in read ? read.variables : 0;
}

function isFixed(text: string): boolean {
  const read = readTemplateText(text);
  return !("fault" in read) && read.variables === 0 && namesIn(text).length === 0;
}

function toHeader({ type, ...given }: Infer<typeof header>, path: string, faults: Fault[]): ChatTemplateHeader {
  const { text = null, link = null } = given;
  refuseOther(path, type, type === "text" ? { link } : type === "location" ? { text, link } : { text }, faults);
  if (type === "location") return { type };
  if (type !== "text") return { type, link: sampleOf(type, link, path, faults) };
  if (text === null)
    faults.push({ parameter: `${path}.text`, message: "Give the header's text: so far only its kind is known." });
  return { type, text };
}

function sampleOf(type: MediaType, link: string | null, path: string, faults: Fault[]): string | null {
  const url = link === null ? null : readLink(link);
  const message = url === null ? null : extensionFault(type, url);
  if (message !== null) faults.push({ parameter: `${path}.link`, message });
  return url;
}

function toButton({ type, text, url, number }: Infer<typeof button>, parameter: string, faults: Fault[]): ChatButton {
  refuseOther(parameter, type, type === "url" ? { number } : type === "call" ? { url } : { url, number }, faults);
  if (type === "url") return { type, text, url: readButtonUrl(url ?? "") ?? "" };
  if (type === "call") return { type, text, number: `+${readNumber(number ?? "") ?? ""}` };
  return { type, text };
}

/** Refuses fields of another type, which would be lost. */
function refuseOther(parameter: string, type: string, others: object, faults: Fault[]): void {
  for (const [field, value] of Object.entries(others))
    if (value !== null && value !== undefined)
      faults.push({ parameter: `${parameter}.${field}`, message: `Type ${type} has no ${field}: leave it out.` });
}
