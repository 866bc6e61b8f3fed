import { isObject } from "../../lib/plain-object.ts";
import { isPlainText, isShowable } from "../../lib/plain-text.ts";
import { ROUTE_CLASSES, type RouteClass } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { readCampaignName } from "../campaign-name.ts";
import type { Draft, DraftRecipient } from "../draft.ts";
import { isSpeltOut, numberOf, printable, type Numbers } from "../written-number.ts";
import { firstUcs2Character } from "./segment.ts";

/** A send request that has been read and found right as far as it can be told without looking anything up. */
export interface SmsDraft extends Draft {
  channel: "sms";
  /** Null when the template's own text is sent. */
  text: string | null;
  templateId: string | null;
  /** Values of the template's variables, for every recipient that has none of its own. */
  custom: readonly string[] | null;
  /** Addresses to be shortened, in the order of their tokens; null when nothing is. */
  targets: readonly string[] | null;
  recipients: readonly SmsRecipient[];
  /** As given, for the echo in the answer; absent when the request had none. */
  unicode?: 0 | 1;
  flash?: 0 | 1;
}

interface SmsRecipient extends DraftRecipient {
  custom: readonly string[] | null;
}

export interface SmsRules {
  recipientsMax: number;
  textMax: number;
  segmentsMax: number;
}

const SENDER_MAX = 20;
const TEMPLATE_ID_MAX = 100;
const VALUES_MAX = 50;
const VALUE_MAX = 1600;
const TARGETS_MAX = 10;
const TARGET_MAX = 2000;
const SEND_AHEAD_MAX_MS = 30 * 86_400_000;

/**
 * Reads the body of an SMS request. Every fault is found before any is reported, and names its field and what it needs.
 * Next: src/messages/prepare-sms.ts
 */
export function readSms(body: unknown, rules: SmsRules, numbers: Numbers, now: number): SmsDraft {
  if (!isObject(body))
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "", message: "The body must be a JSON object." }] });
  const fields = body;
  const faults: Fault[] = [];
  const sender = readSender(fields.sender, faults);
  const routeClass = readRouteClass(fields.type, faults);
  const unicode = readFlag("unicode", fields.unicode, faults);
  const flash = readFlag("flash", fields.flash, faults);
  const campaignName = readCampaignName(fields.campaignName, faults);
  const templateId = readTemplateId(fields.templateId, faults);
  const custom = fields.custom === undefined ? null : readValues("custom", fields.custom, faults);
  const targets = readTargets(fields.shortenUrlData, faults);
  const sendAt = readSendAt(fields.sendAt, now, faults);
  const written =
    fields.recipients === undefined
      ? readRecipientList(fields.to, rules.recipientsMax, faults)
      : readOwnRecipients(fields.recipients, fields.to, rules.recipientsMax, faults);
  const ownValues = written.some((each) => each.custom !== null);
  const byId = templateId !== null && (custom !== null || ownValues);
  const text = byId ? null : readText(fields.text, templateId, faults);
  if (byId && fields.text !== undefined && typeof fields.text !== "string")
    faults.push({ parameter: "text", message: "text is a string, or is left out: the template's own text is sent." });
  const outside = text === null || ownValues ? null : outsideGsm(text, unicode);
  if (outside) faults.push(outside);
  if (custom !== null && templateId === null && text !== null)
    faults.push({ parameter: "templateId", message: "custom fills the variables of a template: give its templateId." });
  const recipients = uniqueRecipients(written, numbers);
  const badNumbers = recipients.every((recipient) => recipient.failure) ? numberFaults(written, numbers) : [];
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults: [...faults, ...badNumbers] });
  if (badNumbers.length > 0) throw new Problem("INVALID_RECIPIENT", { faults: badNumbers });

  return {
    channel: "sms",
    sender,
    routeClass,
    text,
    templateId,
    custom,
    targets,
    sendAt,
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

function readTemplateId(value: unknown, faults: Fault[]): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && value.trim() !== "" && value.length <= TEMPLATE_ID_MAX && isPlainText(value))
    return value;
  faults.push({
    parameter: "templateId",
    message: `templateId is a string of 1 to ${TEMPLATE_ID_MAX} characters, or is left out.`,
  });
  return null;
}

/** Numbers are taken as they are written: an order number is a value too. */
function readValues(parameter: string, value: unknown, faults: Fault[]): readonly string[] {
  if (!Array.isArray(value) || value.length > VALUES_MAX) {
    faults.push({
      parameter,
      message: `${parameter} is an array with one value per variable, at most ${VALUES_MAX}; it is empty when the template has none.`,
    });
    return [];
  }
  return value.map((each: unknown, index) => {
    if (typeof each === "number" && Number.isFinite(each)) return String(each);
    if (typeof each === "string" && each.length <= VALUE_MAX && isShowable(each)) return each;
    faults.push({
      parameter: `${parameter}[${index}]`,
      message: `A value is a string of at most ${VALUE_MAX} characters, never null.`,
    });
    return "";
  });
}

function readTargets(value: unknown, faults: Fault[]): readonly string[] | null {
  if (value === undefined) return null;
  const { shortenUrl, targetUrl } = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (typeof shortenUrl !== "boolean") {
    faults.push({
      parameter: "shortenUrlData.shortenUrl",
      message: "shortenUrlData is an object with shortenUrl (true or false) and targetUrl (an array of addresses).",
    });
    return null;
  }
  if (!shortenUrl && targetUrl === undefined) return [];
  if (!Array.isArray(targetUrl) || targetUrl.length > TARGETS_MAX) {
    faults.push({
      parameter: "shortenUrlData.targetUrl",
      message: `targetUrl is an array of at most ${TARGETS_MAX} addresses, one per {SORT} in the text.`,
    });
    return null;
  }
  const targets = targetUrl.map((each: unknown, index) => {
    const target = typeof each === "string" && each.length <= TARGET_MAX ? readTarget(each) : null;
    if (target === null)
      faults.push({
        parameter: `shortenUrlData.targetUrl[${index}]`,
        message: `A target is an address that starts with http:// or https://, at most ${TARGET_MAX} characters.`,
      });
    return target ?? "";
  });
  return shortenUrl ? targets : [];
}

/** As the redirect will say it; a user name in an address is only ever there to deceive. */
function readTarget(written: string): string | null {
  if (!/^https?:\/\//i.test(written) || !URL.canParse(written)) return null;
  const url = new URL(written);
  return url.username === "" && url.password === "" ? url.href : null;
}

function readSendAt(value: unknown, now: number, faults: Fault[]): number | null {
  if (value === undefined) return null;
  const time = typeof value === "string" && ISO_TIME.test(value) ? Date.parse(value) : value;
  if (typeof time === "number" && Number.isSafeInteger(time) && time > now && time <= now + SEND_AHEAD_MAX_MS)
    return time;
  faults.push({
    parameter: "sendAt",
    message:
      "sendAt is a time within the next 30 days: epoch milliseconds, or like 2026-01-31T18:00:00Z with its zone.",
  });
  return null;
}

/** With its zone: a time without one means another moment on every machine. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

function readText(value: unknown, templateId: string | null, faults: Fault[]): string | null {
  if (value === undefined && templateId !== null) {
    faults.push({
      parameter: "custom",
      message:
        "Give custom with one value per variable of the template (an empty array if it has none), or the finished text.",
    });
    return null;
  }
  if (typeof value !== "string" || value === "") {
    faults.push({ parameter: "text", message: "Give the message text as a non-empty string." });
    return null;
  }
  if (!isShowable(value)) {
    faults.push({
      parameter: "text",
      message: "The text holds half a character (a lone surrogate) or a NUL, which no phone can show.",
    });
  }
  return value;
}

/** What is wrong with a text that was to be sent without Unicode and cannot be. */
export function outsideGsm(text: string, unicode: SmsDraft["unicode"]): Fault | null {
  const outside = unicode === 0 ? firstUcs2Character(text) : null;
  if (outside === null) return null;
  return {
    parameter: "unicode",
    message: `The text has ${JSON.stringify(outside)}, which is not in the GSM alphabet: leave unicode out or set it to 1, or change that character.`,
  };
}

function splitList(written: string): string[] {
  const list = written.includes(",") ? written.split(",") : [written];
  return list.filter((each) => each.trim() !== "");
}

interface WrittenNumber {
  parameter: string;
  written: string;
  custom: readonly string[] | null;
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
  refuseTooMany("to", list.length, max);
  const numbered = list.length > 1 || typeof value !== "string";
  const numbers: WrittenNumber[] = [];
  for (const [index, written] of (list as readonly unknown[]).entries()) {
    const parameter = numbered ? `to[${index}]` : "to";
    if (typeof written === "string") numbers.push({ parameter, written, custom: null });
    else faults.push({ parameter, message: "A recipient is a string." });
  }
  return numbers;
}

function refuseTooMany(parameter: string, count: number, max: number): void {
  if (count <= max) return;
  throw new Problem("TOO_MANY_RECIPIENTS", {
    faults: [{ parameter, message: `${count} recipients; a request takes at most ${max}.` }],
  });
}

/** `recipients` names each recipient with values of its own; it stands in the place of `to`. */
function readOwnRecipients(value: unknown, to: unknown, max: number, faults: Fault[]): WrittenNumber[] {
  if (to !== undefined) faults.push({ parameter: "to", message: "Give either to or recipients, not both." });
  if (!Array.isArray(value) || value.length === 0) {
    faults.push({ parameter: "recipients", message: "recipients is an array of objects with to and custom." });
    return [];
  }
  refuseTooMany("recipients", value.length, max);
  return value.flatMap((each: unknown, index) => {
    const { to: written, custom } = (typeof each === "object" && each !== null ? each : {}) as Record<string, unknown>;
    const values = custom === undefined ? null : readValues(`recipients[${index}].custom`, custom, faults);
    if (typeof written === "string") return [{ parameter: `recipients[${index}].to`, written, custom: values }];
    faults.push({ parameter: `recipients[${index}].to`, message: "A recipient is a string." });
    return [];
  });
}

function uniqueRecipients(list: readonly WrittenNumber[], numbers: Numbers): SmsRecipient[] {
  const recipients = list.map((each) => recipientOf(each, numbers));
  if (recipients.length === 1) return recipients;
  const seen = new Map<string, SmsRecipient>();
  for (const recipient of recipients) {
    const { number, custom, failure } = recipient;
    // A malformed number may be shown like a good one, and must not take its place.
    const same = failure === null ? number : `malformed ${number}`;
    const key = custom === null ? same : `${same} ${JSON.stringify(custom)}`;
    if (!seen.has(key)) seen.set(key, recipient);
  }
  return [...seen.values()];
}

function recipientOf({ written, custom }: WrittenNumber, numbers: Numbers): SmsRecipient {
  const number = numberOf(written, numbers);
  if (number === null) return { number: printable(written), written: null, custom, failure: "INVALID_RECIPIENT" };
  return { number, written: isSpeltOut(written, number) ? null : printable(written), custom, failure: null };
}

const numberFaults = (list: readonly WrittenNumber[], numbers: Numbers): Fault[] =>
  list
    .filter(({ written }) => numberOf(written, numbers) === null)
    .map(({ parameter }) => ({
      parameter,
      message: "Write the number internationally: country code first, 7 to 15 digits, with or without a plus.",
    }));
