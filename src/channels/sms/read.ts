import { isPossiblePhoneNumber, parsePhoneNumberFromString, type CountryCode } from "libphonenumber-js/max";
import type { AccountSettings } from "../../model/account.ts";
import { ROUTE_CLASSES, type RouteClass } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { firstUcs2Character, segment, type Encoding } from "./segment.ts";

/** A send request that has been read and found right. */
export interface SmsDraft {
  sender: string;
  routeClass: RouteClass;
  text: string;
  encoding: Encoding;
  segments: number;
  campaignName: string | null;
  /** In the order given, without exact repetitions. */
  recipients: readonly SmsRecipient[];
  /** As given, for the echo in the answer; absent when the request had none. */
  unicode?: 0 | 1;
  flash?: 0 | 1;
}

interface SmsRecipient {
  /** Digits without plus; of a malformed number, what was written. */
  number: string;
  failure: "INVALID_RECIPIENT" | null;
}

export interface SmsRules {
  recipientsMax: number;
  textMax: number;
  segmentsMax: number;
}

const SENDER_MAX = 20;
const CAMPAIGN_MAX = 100;
const MALFORMED_SHOWN_MAX = 30;

type Numbers = Pick<AccountSettings, "numbers" | "defaultRegion">;

/**
 * Reads the body of an SMS request. Every fault is found before any is reported, and names its field and what it needs.
 * Next: src/messages/accept.ts
 */
export function readSms(body: unknown, rules: SmsRules, numbers: Numbers): SmsDraft {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "", message: "The body must be a JSON object." }] });
  }
  const fields = body as Record<string, unknown>;
  const faults: Fault[] = [];
  const sender = readSender(fields.sender, faults);
  const routeClass = readRouteClass(fields.type, faults);
  const unicode = readFlag("unicode", fields.unicode, faults);
  const flash = readFlag("flash", fields.flash, faults);
  const campaignName = readCampaignName(fields.campaignName, faults);
  const text = readText(fields.text, unicode, faults);
  const written = readRecipientList(fields.to, rules.recipientsMax, faults);
  const recipients = uniqueRecipients(written, numbers);
  const badNumbers = recipients.every((recipient) => recipient.failure) ? numberFaults(written, numbers) : [];
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults: [...faults, ...badNumbers] });
  if (badNumbers.length > 0) throw new Problem("INVALID_RECIPIENT", { faults: badNumbers });

  const { encoding, segments } = segment(text, unicode === 1);
  refuseTooLong(text, encoding, segments, rules);
  return {
    sender,
    routeClass,
    text,
    encoding,
    segments,
    campaignName,
    recipients,
    ...(unicode === undefined ? {} : { unicode }),
    ...(flash === undefined ? {} : { flash }),
  };
}

function readSender(value: unknown, faults: Fault[]): string {
  if (typeof value !== "string" || value.trim() === "") {
    faults.push({
      parameter: "sender",
      message: "Give the sender as a string: an alphanumeric sender id or a number.",
    });
    return "";
  }
  if (value.length > SENDER_MAX)
    faults.push({ parameter: "sender", message: `A sender has at most ${SENDER_MAX} characters.` });
  if (!isPlainText(value)) faults.push({ parameter: "sender", message: "A sender has no control characters." });
  return value;
}

function readRouteClass(value: unknown, faults: Fault[]): RouteClass {
  const known = ROUTE_CLASSES.find((routeClass) => routeClass === value);
  if (known) return known;
  const near =
    typeof value === "string" && ROUTE_CLASSES.find((routeClass) => routeClass === value.trim().toUpperCase());
  faults.push({
    parameter: "type",
    message: `type is one of TRANS, PROMO or OTP${near ? `; write it as ${near}` : ""}.`,
  });
  return "TRANS";
}

function readFlag(parameter: string, value: unknown, faults: Fault[]): 0 | 1 | undefined {
  if (value === undefined || value === 0 || value === 1) return value;
  faults.push({ parameter, message: `${parameter} is the integer 1 or 0, or is left out.` });
  return undefined;
}

function readCampaignName(value: unknown, faults: Fault[]): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && value !== "" && value.length <= CAMPAIGN_MAX && isPlainText(value)) return value;
  faults.push({
    parameter: "campaignName",
    message: `campaignName is a string of 1 to ${CAMPAIGN_MAX} characters, or is left out.`,
  });
  return null;
}

function readText(value: unknown, unicode: 0 | 1 | undefined, faults: Fault[]): string {
  if (typeof value !== "string" || value === "") {
    faults.push({ parameter: "text", message: "Give the message text as a non-empty string." });
    return "";
  }
  if (!value.isWellFormed() || value.includes("\0")) {
    faults.push({
      parameter: "text",
      message: "The text holds half a character (a lone surrogate) or a NUL, which no phone can show.",
    });
  }
  const outside = unicode === 0 ? firstUcs2Character(value) : null;
  if (outside !== null) {
    faults.push({
      parameter: "unicode",
      message: `The text has ${JSON.stringify(outside)}, which is not in the GSM alphabet: leave unicode out or set it to 1, or change that character.`,
    });
  }
  return value;
}

function splitList(written: string): string[] {
  const list = written.includes(",") ? written.split(",") : [written];
  return list.filter((each) => each.trim() !== "");
}

interface WrittenNumber {
  parameter: string;
  written: string;
}

/** `to` is one number, several with commas between them, or an array of numbers. */
function readRecipientList(value: unknown, max: number, faults: Fault[]): WrittenNumber[] {
  const list = typeof value === "string" ? splitList(value) : value;
  if (!Array.isArray(list) || list.length === 0) {
    faults.push({
      parameter: "to",
      message: "Give the recipient as a string, several with commas between them or as an array of strings.",
    });
    return [];
  }
  if (list.length > max) {
    throw new Problem("TOO_MANY_RECIPIENTS", {
      faults: [{ parameter: "to", message: `${list.length} recipients; a request takes at most ${max}.` }],
    });
  }
  const numbered = list.length > 1 || typeof value !== "string";
  return list.flatMap((written: unknown, index) => {
    const parameter = numbered ? `to[${index}]` : "to";
    if (typeof written === "string") return [{ parameter, written }];
    faults.push({ parameter, message: "A recipient is a string." });
    return [];
  });
}

function uniqueRecipients(list: readonly WrittenNumber[], numbers: Numbers): SmsRecipient[] {
  const seen = new Map<string, SmsRecipient>();
  for (const { written } of list) {
    const number = numberOf(written, numbers);
    const recipient: SmsRecipient = number
      ? { number, failure: null }
      : { number: printable(written), failure: "INVALID_RECIPIENT" };
    // A malformed number may be shown like a good one, and must not take its place.
    const same = number ?? `malformed ${recipient.number}`;
    if (!seen.has(same)) seen.set(same, recipient);
  }
  return [...seen.values()];
}

const numberFaults = (list: readonly WrittenNumber[], numbers: Numbers): Fault[] =>
  list
    .filter(({ written }) => numberOf(written, numbers) === null)
    .map(({ parameter }) => ({
      parameter,
      message: "Write the number internationally: country code first, 7 to 15 digits, with or without a plus.",
    }));

function numberOf(written: string, { numbers, defaultRegion }: Numbers): string | null {
  const national = defaultRegion !== null && !written.trimStart().startsWith("+");
  const parsed = national ? parsePhoneNumberFromString(written, defaultRegion as CountryCode) : undefined;
  const number = parsed?.isPossible() ? parsed.number.slice(1) : readNumber(written);
  if (number === null || numbers === "lenient") return number;
  return isPossiblePhoneNumber(`+${number}`) ? number : null;
}

function refuseTooLong(text: string, encoding: Encoding, segments: number, rules: SmsRules): void {
  if (text.length <= rules.textMax && segments <= rules.segmentsMax) return;
  const culprit = encoding === "ucs2" ? firstUcs2Character(text) : null;
  const advice =
    culprit === null ? "" : ` Without ${JSON.stringify(culprit)} and its like more than twice as much would fit.`;
  throw new Problem("MESSAGE_TOO_LONG", {
    faults: [
      {
        parameter: "text",
        message: `The text has ${text.length} characters in ${segments} segments; at most ${rules.textMax} characters and ${rules.segmentsMax} segments are sent.${advice}`,
      },
    ],
  });
}

const CONTROL = /\p{Cc}/u;

const isPlainText = (value: string): boolean => value.isWellFormed() && !CONTROL.test(value);

/** A malformed number is kept for the record, cut short and without what could break a page or a log. */
const printable = (written: string): string =>
  written
    .replaceAll(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, MALFORMED_SHOWN_MAX)
    .toWellFormed();
