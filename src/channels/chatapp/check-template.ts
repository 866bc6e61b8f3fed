import {
  HEADER_TEXT_MAX,
  type ChatButton,
  type ChatTemplate,
  type ChatTemplateHeader,
  type MediaType,
} from "../../model/chatapp.ts";
import { readNumber } from "../../model/number.ts";
import type { Fault } from "../../model/problem.ts";
import { readTemplateText } from "../sms/template.ts";
import { extensionFault, LINK_RULE, readLink } from "./media-link.ts";
import { isPlainText, isShowable } from "../../lib/plain-text.ts";

/** What people give of a template; the number of its variables follows from the body. */
type ChatTemplateFields = Omit<ChatTemplate, "variables">;

const BODY_MAX = 1024;
const FOOTER_MAX = 60;
const BUTTON_TEXT_MAX = 25;
const BUTTONS_MAX = 10;
const URL_BUTTONS_MAX = 2;
const CALL_BUTTONS_MAX = 1;

/** As the platform writes them: `en`, `pt_BR`. */
const LANGUAGE = /^[a-z]{2,3}(_[A-Z]{2})?$/;

/**
 * Makes a template out of what somebody gave, by the platform's limits: what could not be sent is not stored. What is
 * wrong goes to `faults`.
 */
export function checkChatTemplate(given: ChatTemplateFields, faults: Fault[]): ChatTemplate {
  const { language, status, header, body, footer, buttons } = given;
  if (!LANGUAGE.test(language))
    faults.push({ parameter: "language", message: "Write the language as the platform does: en, or pt_BR." });
  const checkedHeader = header && checkHeader(header, faults);
  const variables = checkBody(body, faults);
  if (footer !== null) checkFixedLine("footer", footer, FOOTER_MAX, faults);
  const checkedButtons = checkButtons(buttons, faults);
  return { language, status, header: checkedHeader, body, variables, footer, buttons: checkedButtons };
}

/** The number of variables in a body. */
function checkBody(body: string | null, faults: Fault[]): number {
  const fault = (message: string): number => {
    faults.push({ parameter: "body", message });
    return 0;
  };
  if (body === null) return fault("Give the body: so far only the number of its variables is known.");
  if (body.trim() === "" || body.length > BODY_MAX)
    return fault(`The body has 1 to ${BODY_MAX} characters, and not only spaces.`);
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

function checkHeader(header: ChatTemplateHeader, faults: Fault[]): ChatTemplateHeader {
  if (header.type !== "text") {
    const { type, link } = header;
    return { type, link: link === null ? null : checkExample(type, link, faults) };
  }
  const { text } = header;
  if (text === null)
    faults.push({ parameter: "header.text", message: "Give the header's text: so far only its kind is known." });
  else if (
    checkLine("header.text", text, HEADER_TEXT_MAX, faults) &&
    countPlaceholders("header.text", text, faults) > 1
  )
    faults.push({ parameter: "header.text", message: "A header has one variable at most, {{1}}." });
  return header;
}

function checkExample(type: MediaType, written: string, faults: Fault[]): string {
  const link = readLink(written);
  const message = link === null ? `A link is ${LINK_RULE}.` : extensionFault(type, link);
  if (message !== null) faults.push({ parameter: "header.link", message });
  return link ?? written;
}

function checkButtons(buttons: readonly ChatButton[], faults: Fault[]): readonly ChatButton[] {
  const count = (type: ChatButton["type"]): number => buttons.filter((button) => button.type === type).length;
  if (buttons.length > BUTTONS_MAX || count("url") > URL_BUTTONS_MAX || count("call") > CALL_BUTTONS_MAX)
    faults.push({
      parameter: "buttons",
      message: `A template has at most ${BUTTONS_MAX} buttons, of which ${URL_BUTTONS_MAX} may be of type url and ${CALL_BUTTONS_MAX} of type call.`,
    });
  return buttons.map((button, index) => checkButton(`buttons[${index}]`, button, faults));
}

function checkButton(parameter: string, button: ChatButton, faults: Fault[]): ChatButton {
  const { text } = button;
  checkFixedLine(`${parameter}.text`, text, BUTTON_TEXT_MAX, faults);
  if (button.type === "reply") return { type: "reply", text };
  if (button.type === "url") return { type: "url", text, url: checkUrl(`${parameter}.url`, button.url, faults) };
  return { type: "call", text, number: checkNumber(`${parameter}.number`, button.number, faults) };
}

function checkUrl(parameter: string, written: string, faults: Fault[]): string {
  const url = readLink(written);
  if (url !== null && isFixed(written)) return url;
  faults.push({
    parameter,
    message: `A button's url is ${LINK_RULE}, without variables: a request has no values for it.`,
  });
  return written;
}

function checkNumber(parameter: string, written: string, faults: Fault[]): string {
  const number = readNumber(written);
  if (number !== null) return `+${number}`;
  faults.push({ parameter, message: "Write the number internationally: country code first, 7 to 15 digits." });
  return written;
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
