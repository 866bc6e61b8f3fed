import { isShowable } from "../../lib/text.ts";
import { isObject } from "../../lib/json.ts";
import type { Dlt, SmsLimits } from "../../model/message.ts";
import type { MessageTlv } from "../../model/message-tlv.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { bodyChecker, hasNoFaults, type CheckedBody } from "../check-body.ts";
import type { Draft, DraftRecipient } from "../draft.ts";
import { numberOf, type NumberSettings } from "../parse-number.ts";
import { NUMBER_RULE, recipientOrFailure, refuseTooMany, uniqueRecipients } from "../recipient-list.ts";
import { sendAtFaults, timeOf } from "../send-at.ts";
import { smsBody, TARGETS_RULE, TO_RULE, type SmsBody } from "./body.ts";
import { firstUcs2Character } from "./segment.ts";

/** A send request whose body is right; records have not been looked up yet. */
export interface SmsDraft extends Draft {
  channel: "sms";
  /** Null when the template's own text is sent. */
  text: string | null;
  templateId: string | null;
  /** Values of the template's variables, for every recipient that has none of its own. */
  custom: readonly string[] | null;
  /** Addresses to be shortened, in the order of their tokens; null when nothing is. */
  targets: readonly string[] | null;
  /** Registration ids of the text, where the client gives them itself. */
  dlt?: Dlt;
  /** Further parameters for carriers that speak SMPP. */
  tlvs?: readonly MessageTlv[];
  /** A header before the text, or a text that is octets in hexadecimal. */
  userData?: DraftUserData;
  recipients: readonly SmsRecipient[];
  /** As given, for the echo in the answer; absent when the request had none. */
  unicode?: 0 | 1;
  flash?: 0 | 1;
}

/** Properties of the user data of a message besides the text. */
export interface DraftUserData {
  /** In hexadecimal with its length octet; empty for none. */
  udh: string;
  /** data_coding of a binary message, whose text is octets in hexadecimal; null for text. */
  dataCoding: number | null;
  /** Message waiting indication, 0 to 7. */
  waiting?: number;
  /** protocol_id, 1 to 255. */
  protocolId?: number;
}

interface SmsRecipient extends DraftRecipient {
  custom: readonly string[] | null;
}

// Without limits: too many recipients are another problem than a wrong body, and are refused first.
const checkSms = bodyChecker(smsBody({ recipientsMax: Infinity, textMax: Infinity, segmentsMax: Infinity }));

/**
 * Reads the body of an SMS request. All faults are reported at once; each names its field and the fix.
 * Next: src/pipeline/accept/prepare-sms.ts
 */
export function readSms(given: unknown, { recipientsMax }: SmsLimits, numbers: NumberSettings, now: number): SmsDraft {
  if (isObject(given)) refuseLongList(given, recipientsMax);
  const body = checkSms(given);
  addTargetFaults(body);
  body.faults.push(...sendAtFaults(body.fields.sendAt, now));
  addRecipientFaults(body);
  addTextFaults(body);
  if (!hasNoFaults(body))
    throw new Problem("INVALID_REQUEST", { faults: [...body.faults, ...numberFaults(body.fields, numbers)] });
  const draft = smsDraftOf(body.fields, numbers);
  if (draft.recipients.every(({ failure }) => failure))
    throw new Problem("INVALID_RECIPIENT", { faults: numberFaults(body.fields, numbers) });
  return draft;
}

/** The draft of a body that is right. */
export function smsDraftOf(fields: SmsBody, numbers: NumberSettings): SmsDraft {
  const { unicode, flash, templateId = null } = fields;
  const written = writtenNumbers(fields);
  const isByTemplate = templateId !== null && (fields.custom !== undefined || hasOwnValues(written));
  return {
    channel: "sms",
    sender: fields.sender,
    routeClass: fields.type,
    text: isByTemplate ? null : (fields.text ?? null),
    templateId,
    custom: fields.custom?.map(String) ?? null,
    targets: targetsOf(fields.shortenUrlData),
    sendAt: timeOf(fields.sendAt),
    campaignName: fields.campaignName ?? null,
    recipients: uniqueRecipients(
      written.map((each) => recipientOf(each, numbers)),
      ({ custom }) => custom,
    ),
    ...(unicode === undefined ? {} : { unicode }),
    ...(flash === undefined ? {} : { flash }),
  };
}

function refuseLongList({ to, recipients }: Readonly<Record<string, unknown>>, max: number): void {
  if (recipients !== undefined) refuseTooMany("recipients", recipients, max);
  else refuseTooMany("to", typeof to === "string" && to.includes(",") ? splitList(to) : to, max);
}

function addTargetFaults({ fields: { shortenUrlData }, faults }: CheckedBody<SmsBody>): void {
  if (shortenUrlData?.shortenUrl && !shortenUrlData.targetUrl)
    faults.push({ parameter: "shortenUrlData.targetUrl", message: TARGETS_RULE });
}

/** `recipients` stands in the place of `to`. */
function addRecipientFaults({ given, fields: { to }, faults }: CheckedBody<SmsBody>): void {
  if (given.recipients !== undefined) {
    if (given.to !== undefined) faults.push({ parameter: "to", message: "Give either to or recipients, not both." });
  } else if (given.to === undefined || (typeof to === "string" && !/[^\s,]/.test(to)))
    faults.push({ parameter: "to", message: TO_RULE });
}

type TextFields = Pick<SmsBody, "text" | "templateId" | "custom" | "unicode" | "recipients">;

/** Adds faults in the way in which text, template and values go together. */
export function addTextFaults({ given, fields, faults }: CheckedBody<TextFields>): void {
  const { text, unicode, recipients = [] } = fields;
  const hasTemplate = given.templateId !== undefined;
  const ownValues = hasOwnValues(recipients);
  // Wrong recipients may have values of their own or not.
  if (given.recipients !== undefined && fields.recipients === undefined) return;
  if (hasTemplate && (given.custom !== undefined || ownValues)) return;
  if (given.text === undefined) faults.push(hasTemplate ? VALUES_REQUIRED : TEXT_REQUIRED);
  if (text === undefined) return;
  if (text === "") faults.push(TEXT_REQUIRED);
  else if (given.custom !== undefined) faults.push(TEMPLATE_REQUIRED);
  if (!isShowable(text)) faults.push(TEXT_UNSHOWABLE);
  const outside = ownValues ? null : outsideGsm(text, unicode);
  if (outside) faults.push(outside);
}

const TEXT_REQUIRED: Fault = { parameter: "text", message: "Give the message text as a non-empty string." };
const TEXT_UNSHOWABLE: Fault = {
  parameter: "text",
  message: "The text holds half a character (a lone surrogate) or a NUL, which no phone can show.",
};
const VALUES_REQUIRED: Fault = {
  parameter: "custom",
  message:
    "Give custom with one value per variable of the template (an empty array if it has none), or the finished text.",
};
const TEMPLATE_REQUIRED: Fault = {
  parameter: "templateId",
  message: "custom fills the variables of a template: give its templateId.",
};

/** The fault of a text that is to be sent without Unicode and needs it; null when there is none. */
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

/** One number that a request names, with values of its own. */
interface WrittenNumber {
  to: string;
  custom?: readonly (string | number)[];
}

function writtenNumbers({ to = [], recipients }: Partial<SmsBody>): readonly WrittenNumber[] {
  if (recipients !== undefined) return recipients;
  const list = typeof to === "string" ? splitList(to) : to;
  return list.map((written) => ({ to: written }));
}

const hasOwnValues = (list: readonly WrittenNumber[]): boolean => list.some(({ custom }) => custom !== undefined);

/** The addresses in the form in which a redirect gives them. */
function targetsOf(data: SmsBody["shortenUrlData"]): readonly string[] | null {
  if (data === undefined) return null;
  return data.shortenUrl ? (data.targetUrl ?? []).map((target) => new URL(target).href) : [];
}

function recipientOf({ to, custom }: WrittenNumber, numbers: NumberSettings): SmsRecipient {
  return { ...recipientOrFailure(to, numbers), custom: custom?.map(String) ?? null };
}

/** A request fails for its numbers only when all of them are malformed. */
function numberFaults(fields: Partial<SmsBody>, numbers: NumberSettings): Fault[] {
  const list = writtenNumbers(fields);
  const isListed = list.length > 1 || typeof fields.to !== "string";
  const parameterOf = (index: number): string =>
    fields.recipients ? `recipients[${index}].to` : isListed ? `to[${index}]` : "to";
  if (list.some(({ to }) => numberOf(to, numbers) !== null)) return [];
  return list.map((_, index) => ({
    parameter: parameterOf(index),
    message: NUMBER_RULE,
  }));
}
