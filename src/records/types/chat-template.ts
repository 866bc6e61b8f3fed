import { extensionFault, LINK_MAX, LINK_RULE, readLink } from "../../channels/chatapp/media-link.ts";
import { readTemplateText } from "../../channels/template.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { isPlainText, isShowable } from "../../lib/text.ts";
import {
  CHAT_CATEGORIES,
  DEFAULT_LANGUAGE,
  HEADER_TEXT_MAX,
  HEADER_TYPES,
  isTemplateName,
  type ChatButton,
  type ChatTemplateHeader,
  URL_VARIABLE,
} from "../../model/chatapp.ts";
import { readButtonUrl } from "../../model/button-url.ts";
import { readNumber } from "../../model/number.ts";
import type { Fault } from "../../model/problem.ts";
import { namesIn } from "../../model/template-names.ts";
import { defineRecord } from "../record-type.ts";
import { oneOf, status } from "./shared-fields.ts";

/** The platform's limits: characters are UTF-16 units, as in every limit on a text. */
const BODY_MAX = 1024;
const FOOTER_MAX = 60;
const LABEL_MAX = 25;
const BUTTONS_MAX = 10;
const URL_BUTTONS_MAX = 2;
const VARIABLES_MAX = 50;

const NAME_RULE =
  "name must have 1 to 512 lowercase letters a to z, digits and underscores, as required by the chat app.";
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

const header = Type.Object({
  type: oneOf(HEADER_TYPES, "Header type. Requests must use the same."),
  text: Type.Optional(
    nullable(
      Type.String(line(HEADER_TEXT_MAX, headerFault)),
      "Sample text, with `{{1}}` for its variable if it has one. Required if type is text, not allowed otherwise.",
    ),
  ),
  link: Type.Optional(
    nullable(
      Type.String({
        maxLength: LINK_MAX,
        check: (link) => (readLink(link) === null ? `A link is ${LINK_RULE}.` : null),
      }),
      "Sample file: an http:// or https:// URL. Optional, for image, video and document.",
    ),
  ),
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

export const chatTemplate = defineRecord({
  kind: "chatTemplate",
  channel: "chatapp",
  name: {
    schema: Type.String({
      minLength: 1,
      maxLength: 512,
      pattern: "^[a-z0-9_]+$",
      description: "`templateName` of requests.",
      error: NAME_RULE,
      check: (name) => (isTemplateName(name) ? null : NAME_RULE),
    }),
  },
  fields: {
    language: Type.Default(
      Type.String({
        pattern: "^[a-z]{2,3}(_[A-Z]{2})?$",
        description: `Language code at the platform, such as pt_BR. Defaults to ${DEFAULT_LANGUAGE}.`,
        error: { pattern: "Write the language as the platform does: en, or pt_BR." },
      }),
      DEFAULT_LANGUAGE,
    ),
    category: Type.Default(
      oneOf(
        CHAT_CATEGORIES,
        "Category. Defaults to utility. Marketing messages respect the opt-out list and have the lowest priority; authentication messages have the highest.",
      ),
      "utility",
    ),
    status: Type.Default(status, "approved"),
    header: Type.Default(
      nullable(header, "Header above the body. Defaults to null, no header. Requests supply its content."),
      null,
    ),
    body: Type.String({
      minLength: 1,
      maxLength: BODY_MAX,
      description:
        "Text, with `{{1}}`, `{{2}}` or `{{first_name}}` for the variables: all numbered, or all with names.",
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
  },
  read: ({ fields: { language, category, status: approval, header: above, body, footer, buttons }, faults }) => {
    if (body === null)
      faults.push({ parameter: "body", message: "Give the body: so far only the number of its variables is known." });
    return {
      language,
      category,
      status: approval,
      header: above && toHeader(above, faults),
      body,
      ...(body === null ? { variables: 0 } : bodyVariables(body)),
      footer,
      buttons: buttons.map((each, index) => toButton(each, `buttons[${index}]`, faults)),
    };
  },
  // Editing the text keeps the origin at the platform, and its words.
  complete: (content, before) => ({
    ...content,
    ...(before?.platform && { platform: before.platform }),
    ...(before?.businessAccountId !== undefined && { businessAccountId: before.businessAccountId }),
  }),
  show: (content) => {
    const { businessAccountId: _, platform = null, ...shown } = content;
    return { ...shown, platform };
  },
});

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

function toHeader({ type, ...given }: Infer<typeof header>, faults: Fault[]): ChatTemplateHeader {
  const { text = null, link = null } = given;
  refuseOther("header", type, type === "text" ? { link } : { text }, faults);
  if (type === "text") {
    if (text === null)
      faults.push({ parameter: "header.text", message: "Give the header's text: so far only its kind is known." });
    return { type, text };
  }
  const url = link === null ? null : readLink(link);
  const message = url === null ? null : extensionFault(type, url);
  if (message !== null) faults.push({ parameter: "header.link", message });
  return { type, link: url };
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
