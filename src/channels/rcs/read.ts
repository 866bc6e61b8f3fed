import type { AccountSettings } from "../../model/account.ts";
import { isObject } from "../../lib/plain-object.ts";
import type { RouteClass } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { CARDS_MAX, RCS_TEXT_MAX } from "../../model/rcs.ts";
import { readCampaignName } from "../campaign-name.ts";
import type { Draft, SoleRecipient } from "../draft.ts";
import { numberOf } from "../written-number.ts";
import { readSms, type SmsDraft, type SmsRules } from "../sms/read.ts";
import { isPlainText, isShowable } from "../../lib/plain-text.ts";
import { ADDRESS_MAX, isWebAddress } from "./wording.ts";

/** A send request that has been read and found right as far as it can be told without looking anything up. */
export interface RcsDraft extends Draft {
  channel: "rcs";
  /** The bot. */
  sender: string;
  recipients: SoleRecipient;
  templateName: string;
  /** What goes into the template; null when it is sent as it is. */
  content: RcsFilling | null;
  /** What is sent when the message does not arrive; null means nothing. */
  fallback: DraftFallback | null;
}

/** Values for the variables of a text, or an image for each card. */
export type RcsFilling = { params: readonly string[] } | { fileUrls: readonly string[] };

interface DraftFallback {
  afterSeconds: number;
  /** To the same number, of the same type and campaign. */
  sms: SmsDraft;
}

const RCS_ROUTE_CLASSES = ["TRANS", "PROMO"] as const satisfies readonly RouteClass[];
type RcsRouteClass = (typeof RCS_ROUTE_CLASSES)[number];

const NAME_MAX = 100;
const PARAMS_MAX = 50;
const FALLBACK_MIN_SECONDS = 10;
const FALLBACK_MAX_SECONDS = 86_400;
const FALLBACK_SECONDS = 60;
/** How long the text of a fallback may be is told where it is composed. */
const FALLBACK_RULES: SmsRules = { recipientsMax: 1, textMax: Infinity, segmentsMax: Infinity };

type Numbers = Pick<AccountSettings, "numbers">;
type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the body of an RCS request. Every fault is found before any is reported, and names its field and what it needs.
 * Next: src/messages/prepare-rcs.ts
 */
export function readRcs(body: unknown, numbers: Numbers): RcsDraft {
  if (!isObject(body))
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "", message: "The body must be a JSON object." }] });
  const faults: Fault[] = [];
  const written = readRecipient(body, faults);
  const templateName = readName("templateName", "the template to send", body.templateName, faults);
  const botId = readName("botId", "the bot that sends", body.botId, faults);
  const routeClass = readRouteClass(body.type, faults);
  const campaignName = readCampaignName(body.campaignName, faults);
  const content = readContent(body.content, faults);
  const number = written === null ? null : numberWithPlus(written.value, numbers);
  const recipient = `+${number ?? ""}`;
  const fallback = readFallback(body.fallback, { routeClass, campaignName, recipient }, faults);
  const badNumber = written !== null && number === null ? [malformed(written.parameter)] : [];
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults: [...faults, ...badNumber] });
  if (number === null) throw new Problem("INVALID_RECIPIENT", { faults: badNumber });
  return {
    channel: "rcs",
    sender: botId,
    routeClass,
    campaignName,
    sendAt: null,
    recipients: [{ number, written: null, failure: null }],
    templateName,
    content,
    fallback,
  };
}

/** `number` and `from` are two names of one field, because the API has been documented with both. */
function readRecipient({ number, from }: Fields, faults: Fault[]): { parameter: string; value: string } | null {
  if (number !== undefined && from !== undefined && !isSameNumber(number, from)) {
    const message = "number and from both name the recipient, and differ: give one of them, or the same in both.";
    faults.push({ parameter: "number", message }, { parameter: "from", message });
    return null;
  }
  const [parameter, value] = number === undefined && from !== undefined ? ["from", from] : ["number", number];
  if (typeof value === "string" && value.trim() !== "") return { parameter, value };
  faults.push({ parameter, message: "Give the recipient as a string with a leading plus, like +919876543210." });
  return null;
}

function isSameNumber(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "string" || typeof b !== "string") return false;
  const number = readNumber(a);
  return number !== null && number === readNumber(b);
}

/** The plus is asked for, so there is no other way to write a number than internationally. */
const numberWithPlus = (written: string, { numbers }: Numbers): string | null =>
  written.includes("+") ? numberOf(written, { numbers, defaultRegion: null }) : null;

const malformed = (parameter: string): Fault => ({
  parameter,
  message: "Write the number internationally: a plus, the country code, 7 to 15 digits in all, like +919876543210.",
});

function readName(parameter: string, meaning: string, value: unknown, faults: Fault[]): string {
  if (typeof value === "string" && value.trim() !== "" && value.length <= NAME_MAX && isPlainText(value)) return value;
  const message = `${parameter} names ${meaning}: a string of 1 to ${NAME_MAX} characters without control characters.`;
  faults.push({ parameter, message });
  return "";
}

function readRouteClass(value: unknown, faults: Fault[]): RcsRouteClass {
  const known = RCS_ROUTE_CLASSES.find((routeClass) => routeClass === value);
  if (known) return known;
  const meant = typeof value === "string" ? value.trim().toUpperCase() : "";
  const near = RCS_ROUTE_CLASSES.find((routeClass) => routeClass === meant);
  const isOtp = meant === "OTP";
  const hint = isOtp ? "; send a one-time password as TRANS, or as an SMS" : near ? `; write it as ${near}` : "";
  faults.push({ parameter: "type", message: `type is one of TRANS or PROMO${hint}.` });
  return "TRANS";
}

type Item = { params: readonly string[] } | { fileUrl: string };

/** One item with params fills a text in, items with fileUrl replace the images of cards; nothing else makes sense. */
function readContent(value: unknown, faults: Fault[]): RcsFilling | null {
  if (value === undefined) return null;
  if (!Array.isArray(value) || value.length > CARDS_MAX) {
    const message = `content is an array with one item with params, or an item with fileUrl for each card, at most ${CARDS_MAX}; leave it out to send the template as it is.`;
    faults.push({ parameter: "content", message });
    return null;
  }
  let params: readonly string[] | null = null;
  const fileUrls: string[] = [];
  for (const [index, each] of value.entries()) {
    const parameter = `content[${index}]`;
    const item = readItem(parameter, each, faults);
    if (item === null) continue;
    const hasParams = "params" in item;
    if (hasParams ? fileUrls.length > 0 : params !== null) {
      const message = "params fills a text in and fileUrl replaces images: a content has the one or the other.";
      faults.push({ parameter, message });
    } else if (!hasParams) fileUrls.push(item.fileUrl);
    else if (params === null) params = item.params;
    else faults.push({ parameter, message: "Only one item has params: put all values into it, in order." });
  }
  if (params !== null) return { params };
  return fileUrls.length > 0 ? { fileUrls } : null;
}

function readItem(parameter: string, value: unknown, faults: Fault[]): Item | null {
  const { params, fileUrl } = isObject(value) ? value : {};
  if ((params === undefined) === (fileUrl === undefined)) {
    faults.push({ parameter, message: "An item is an object that has either params or fileUrl." });
    return null;
  }
  if (params !== undefined) return { params: readParams(`${parameter}.params`, params, faults) };
  if (isWebAddress(fileUrl)) return { fileUrl };
  faults.push({
    parameter: `${parameter}.fileUrl`,
    message: `fileUrl is a public address that starts with http:// or https://, at most ${ADDRESS_MAX} characters.`,
  });
  return { fileUrl: "" };
}

function readParams(parameter: string, value: unknown, faults: Fault[]): readonly string[] {
  if (!Array.isArray(value) || value.length > PARAMS_MAX) {
    const message = `params is an array with one string per variable, at most ${PARAMS_MAX}; it is empty when the template has none.`;
    faults.push({ parameter, message });
    return [];
  }
  return value.map((each: unknown, index) => {
    if (typeof each === "string" && each.length <= RCS_TEXT_MAX && isShowable(each)) return each;
    const message = `A value is a string of at most ${RCS_TEXT_MAX} characters, never null.`;
    faults.push({ parameter: `${parameter}[${index}]`, message });
    return "";
  });
}

/** A fallback is an SMS of its own and is read like one, so that it cannot turn out wrong when it is needed. */
function readFallback(
  value: unknown,
  { routeClass, campaignName, recipient }: Pick<RcsDraft, "routeClass" | "campaignName"> & { recipient: string },
  faults: Fault[],
): DraftFallback | null {
  if (value === undefined) return null;
  if (!isObject(value)) {
    const message = "fallback is an object with type, sender and text, or with templateId and custom for text.";
    faults.push({ parameter: "fallback", message });
    return null;
  }
  const { type, sender, text, templateId, custom } = value;
  if (type !== "sms") faults.push({ parameter: "fallback.type", message: "type of a fallback is sms." });
  const afterSeconds = readAfterSeconds(value.afterSeconds, faults);
  const rest = campaignName === null ? {} : { campaignName };
  const sms = { sender, text, templateId, custom, type: routeClass, to: recipient, ...rest };
  try {
    return { afterSeconds, sms: readSms(sms, FALLBACK_RULES, { numbers: "lenient", defaultRegion: null }, 0) };
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    // The number is the message's own, and judged there.
    const own = problem.faults.filter(({ parameter }) => parameter !== "to");
    faults.push(...own.map(({ parameter, message }) => ({ parameter: `fallback.${parameter}`, message })));
    return null;
  }
}

function readAfterSeconds(value: unknown, faults: Fault[]): number {
  if (value === undefined) return FALLBACK_SECONDS;
  const isWhole = typeof value === "number" && Number.isInteger(value);
  if (isWhole && value >= FALLBACK_MIN_SECONDS && value <= FALLBACK_MAX_SECONDS) return value;
  const message = `afterSeconds is a whole number from ${FALLBACK_MIN_SECONDS} to ${FALLBACK_MAX_SECONDS}; ${FALLBACK_SECONDS} unless given.`;
  faults.push({ parameter: "fallback.afterSeconds", message });
  return FALLBACK_SECONDS;
}
