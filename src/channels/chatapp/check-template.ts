import {
  HEADER_TEXT_MAX,
  type ChatButton,
  type ChatTemplate,
  type ChatTemplateHeader,
  type HeaderType,
  type MediaType,
} from "../../model/chatapp.ts";
import { readNumber } from "../../model/number.ts";
import type { Fault } from "../../model/problem.ts";
import { readTemplateText } from "../template.ts";
import { extensionFault, LINK_RULE, readLink } from "./media-link.ts";
import { isPlainText, isShowable } from "../../lib/plain-text.ts";

/**
 * What people give of a template; the number of its variables follows from the body. Whether a header or a button has
 * what its type asks for is found out here.
 */
export interface GivenChatTemplate extends Omit<
  ChatTemplate,
  "variables" | "header" | "buttons" | "businessAccountId"
> {
  header: GivenHeader | null;
  buttons: readonly GivenButton[];
}

interface GivenHeader {
  type: HeaderType;
  text?: string | null;
  link?: string | null;
}

interface GivenButton {
  type: ChatButton["type"];
  text: string;
  url?: string;
  number?: string;
}

/** The platform's limits: characters are UTF-16 units, as in every limit on a text. */
export const CHAT_TEMPLATE_MAX = { body: 1024, footer: 60, buttonText: 25, buttons: 10 } as const;
const URL_BUTTONS_MAX = 2;
const CALL_BUTTONS_MAX = 1;

/** As the platform writes them: `en`, `pt_BR`. */
const LANGUAGE = /^[a-z]{2,3}(_[A-Z]{2})?$/;

/**
 * Makes a template out of what somebody gave, by the platform's limits: what could not be sent is not stored. What is
 * wrong goes to `faults`.
 */
export function checkChatTemplate(given: GivenChatTemplate, faults: Fault[]): ChatTemplate {
  const { language, category, status, header, body, footer, buttons } = given;
  if (!LANGUAGE.test(language))
    faults.push({ parameter: "language", message: "Write the language as the platform does: en, or pt_BR." });
  const checkedHeader = header && checkHeader(header, faults);
  const variables = checkBody(body, faults);
  if (footer !== null) checkFixedLine("footer", footer, CHAT_TEMPLATE_MAX.footer, faults);
  const checkedButtons = checkButtons(buttons, faults);
  return { language, category, status, header: checkedHeader, body, variables, footer, buttons: checkedButtons };
}

/** The number of variables in a body. */
function checkBody(body: string | null, faults: Fault[]): number {
  const fault = (message: string): number => {
    faults.push({ parameter: "body", message });
    return 0;
  };
  if (body === null) return fault("Give the body: so far only the number of its variables is known.");
  if (body.trim() === "" || body.length > CHAT_TEMPLATE_MAX.body)
    return fault(`The body has 1 to ${CHAT_TEMPLATE_MAX.body} characters, and not only spaces.`);
  if (!isShowable(body))
    return fault("The body holds half a character (a lone surrogate) or a NUL, which no phone can show.");
  return countPlaceholders("body", body, faults);
}

function countPlaceholders(parameter: string, text: string, faults: Fault[]): number {
  const read = readTemplateText(text);
  if (!("fault" in read) && read.valueMax === null) return read.variables;
  const message =
    "fault" in read ? read.fault : "{#var#} is for SMS: write the placeholders as {{1}}, {{2}} and so on.";
  faults.push({ parameter, message });
  return 0;
}

function checkHeader({ type, text = null, link = null }: GivenHeader, faults: Fault[]): ChatTemplateHeader {
  refuseOther("header", type, type === "text" ? { link } : { text }, faults);
  if (type !== "text") return { type, link: link === null ? null : checkExample(type, link, faults) };
  if (text === null)
    faults.push({ parameter: "header.text", message: "Give the header's text: so far only its kind is known." });
  else if (
    checkLine("header.text", text, HEADER_TEXT_MAX, faults) &&
    countPlaceholders("header.text", text, faults) > 1
  )
    faults.push({ parameter: "header.text", message: "A header has one variable at most, {{1}}." });
  return { type, text };
}

/** What belongs to another type was meant for something, and would be lost. */
function refuseOther(parameter: string, type: string, others: object, faults: Fault[]): void {
  for (const [field, value] of Object.entries(others))
    if (value !== null && value !== undefined)
      faults.push({ parameter: `${parameter}.${field}`, message: `Type ${type} has no ${field}: leave it out.` });
}

function checkExample(type: MediaType, written: string, faults: Fault[]): string {
  const link = readLink(written);
  const message = link === null ? `A link is ${LINK_RULE}.` : extensionFault(type, link);
  if (message !== null) faults.push({ parameter: "header.link", message });
  return link ?? written;
}

function checkButtons(buttons: readonly GivenButton[], faults: Fault[]): readonly ChatButton[] {
  const count = (type: ChatButton["type"]): number => buttons.filter((button) => button.type === type).length;
  if (buttons.length > CHAT_TEMPLATE_MAX.buttons || count("url") > URL_BUTTONS_MAX || count("call") > CALL_BUTTONS_MAX)
    faults.push({
      parameter: "buttons",
      message: `A template has at most ${CHAT_TEMPLATE_MAX.buttons} buttons, of which ${URL_BUTTONS_MAX} may be of type url and ${CALL_BUTTONS_MAX} of type call.`,
    });
  return buttons.map((button, index) => checkButton(`buttons[${index}]`, button, faults));
}

function checkButton(parameter: string, { type, text, url, number }: GivenButton, faults: Fault[]): ChatButton {
  checkFixedLine(`${parameter}.text`, text, CHAT_TEMPLATE_MAX.buttonText, faults);
  const others = { reply: { url, number }, url: { number }, call: { url } }[type];
  refuseOther(parameter, type, others, faults);
  if (type === "reply") return { type, text };
  if (type === "url") return { type, text, url: checkUrl(`${parameter}.url`, url, faults) };
  return { type, text, number: checkNumber(`${parameter}.number`, number, faults) };
}

function checkUrl(parameter: string, written: string | undefined, faults: Fault[]): string {
  const url = readLink(written);
  if (url !== null && isFixed(written ?? "")) return url;
  faults.push({
    parameter,
    message: `A button's url is ${LINK_RULE}, without variables: a request has no values for it.`,
  });
  return "";
}

function checkNumber(parameter: string, written: string | undefined, faults: Fault[]): string {
  const number = readNumber(written ?? "");
  if (number !== null) return `+${number}`;
  faults.push({ parameter, message: "Write the number internationally: country code first, 7 to 15 digits." });
  return "";
}

function checkLine(parameter: string, text: string, max: number, faults: Fault[]): boolean {
  if (text.trim() !== "" && text.length <= max && isPlainText(text)) return true;
  const message = `This is one line of 1 to ${max} characters, without control characters and not only spaces.`;
  faults.push({ parameter, message });
  return false;
}

function checkFixedLine(parameter: string, text: string, max: number, faults: Fault[]): void {
  if (checkLine(parameter, text, max, faults) && !isFixed(text))
    faults.push({ parameter, message: "Variables belong in the body: a request has no values for them here." });
}

function isFixed(text: string): boolean {
  const read = readTemplateText(text);
  return !("fault" in read) && read.variables === 0;
}
