import { isObject } from "../../lib/json.ts";
import type { AccountSettings } from "../../model/account.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { bodyChecker, hasNoFaults, type CheckedBody } from "../check-body.ts";
import type { Draft, DraftRecipient } from "../draft.ts";
import type { SmsBody } from "../sms/body.ts";
import { addTextFaults, smsDraftOf, type SmsDraft } from "../sms/read.ts";
import { linkOf } from "../media-source.ts";
import { numberOf } from "../parse-number.ts";
import {
  allMalformed,
  malformed,
  refuseTooMany,
  uniqueRecipients,
  withoutNulls,
  type ListRules,
} from "../recipient-list.ts";
import { sendAtFaults, timeOf } from "../send-at.ts";
import { RECIPIENT_RULE, rcsBody, type RcsBody } from "./body.ts";

/** A send request whose body is right; records have not been looked up yet. */
export interface RcsDraft extends Draft {
  channel: "rcs";
  /** The bot. */
  sender: string;
  recipients: readonly RcsRecipient[];
  templateName: string;
  /** Values or images for the template, for every recipient that has none of its own; null when it is sent as it is. */
  content: RcsFilling | null;
  /** The SMS that is sent when the message does not arrive; null for none. */
  fallback: DraftFallback | null;
}

interface RcsRecipient extends DraftRecipient {
  /** Values or images of its own; absent where it takes those of the request. */
  content?: RcsFilling | null;
}

/** Values for the variables of a text, or an image for each card. */
export type RcsFilling = { params: readonly string[] } | { fileUrls: readonly string[] };

interface DraftFallback {
  afterSeconds: number;
  /** To the same numbers, of the same type and campaign. */
  sms: SmsDraft;
}

type Numbers = Pick<AccountSettings, "numbers">;

const checkRcs = bodyChecker(rcsBody({ recipientsMax: Infinity }));

/**
 * Reads the body of an RCS request. All faults are reported at once; each names its field and the fix.
 * Next: src/pipeline/accept/prepare-rcs.ts
 */
export function readRcs(given: unknown, { recipientsMax, now }: ListRules, numbers: Numbers): RcsDraft {
  const isBulk = isObject(given) && (given.recipients ?? null) !== null;
  if (isBulk) refuseTooMany("recipients", given.recipients, recipientsMax);
  const body = checkRcs(isObject(given) ? withoutNulls(given, ["recipients", "sendAt"]) : given);
  body.faults.push(...sendAtFaults(body.fields.sendAt, now));
  const { recipients, badNumbers } = isBulk ? listedRecipients(body, numbers) : soleRecipient(body, numbers);
  addContentFaults(body);
  addFallbackFaults(body);
  if (!hasNoFaults(body)) throw new Problem("INVALID_REQUEST", { faults: [...body.faults, ...badNumbers] });
  if (badNumbers.length > 0) throw new Problem("INVALID_RECIPIENT", { faults: badNumbers });
  const { fields } = body;
  return {
    channel: "rcs",
    sender: fields.botId,
    routeClass: fields.type,
    campaignName: fields.campaignName ?? null,
    sendAt: timeOf(fields.sendAt),
    recipients,
    templateName: fields.templateName,
    content: fillingOf(fields.content),
    fallback: fallbackOf(fields, recipients),
  };
}

interface ReadRecipients {
  recipients: readonly RcsRecipient[];
  badNumbers: Fault[];
}

function soleRecipient(body: CheckedBody<RcsBody>, numbers: Numbers): ReadRecipients {
  addRecipientFaults(body);
  const { number: first, from } = body.fields;
  const written = first ?? from ?? null;
  const number = written === null ? null : numberWithPlus(written, numbers);
  if (number !== null) return { recipients: [{ number, written: null, failure: null }], badNumbers: [] };
  const parameter = first === undefined ? "from" : "number";
  const isReported = written === null || body.faults.some((fault) => fault.parameter === parameter);
  return { recipients: [], badNumbers: isReported ? [] : [{ parameter, message: NUMBER_WITH_PLUS_RULE }] };
}

function listedRecipients({ given, fields, faults }: CheckedBody<RcsBody>, numbers: Numbers): ReadRecipients {
  for (const parameter of ["number", "from"] as const)
    if (given[parameter] !== undefined) faults.push({ parameter, message: RECIPIENTS_INSTEAD_RULE });
  const recipients = (fields.recipients ?? []).map(({ number: written, content }): RcsRecipient => {
    const number = numberWithPlus(written, numbers);
    const recipient = number === null ? malformed(written) : { number, written: null, failure: null };
    return content === undefined ? recipient : { ...recipient, content: fillingOf(content) };
  });
  return {
    recipients: uniqueRecipients(recipients, ({ content = null }) => content),
    badNumbers: allMalformed(recipients, "number", NUMBER_WITH_PLUS_RULE),
  };
}

/** `number` and `from` are two names of one field, because the API has been documented with both. */
function addRecipientFaults({ given: { number, from }, faults }: CheckedBody<RcsBody>): void {
  if (number === undefined && from === undefined) faults.unshift({ parameter: "number", message: RECIPIENT_RULE });
  if (number === undefined || from === undefined || isSameNumber(number, from)) return;
  const message = "number and from both name the recipient, and differ: give one of them, or the same in both.";
  const others = faults.filter(({ parameter }) => parameter !== "number" && parameter !== "from");
  faults.splice(0, faults.length, { parameter: "number", message }, { parameter: "from", message }, ...others);
}

function isSameNumber(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "string" || typeof b !== "string") return false;
  const number = readNumber(a);
  return number !== null && number === readNumber(b);
}

/** The plus is required, so a number cannot be national. */
const numberWithPlus = (written: string, { numbers }: Numbers): string | null =>
  written.includes("+") ? numberOf(written, { numbers, defaultRegion: null }) : null;

const NUMBER_WITH_PLUS_RULE =
  "Write the number internationally: a plus, the country code, 7 to 15 digits in all, like +919876543210.";

const RECIPIENTS_INSTEAD_RULE = "Give either number or recipients, not both.";

function addContentFaults({ fields: { content, recipients = [] }, faults }: CheckedBody<RcsBody>): void {
  faults.push(...contentFaults(content));
  for (const [index, own] of recipients.entries()) faults.push(...contentFaults(own.content, `recipients[${index}].`));
}

/** One item with params fills in a text; items with fileUrl replace the images of cards. They do not mix. */
function contentFaults(content: RcsBody["content"] = [], path = ""): Fault[] {
  const faults: Fault[] = [];
  const isText = content[0]?.params !== undefined;
  for (const [index, { params }] of content.entries()) {
    if (index === 0) continue;
    const parameter = `${path}content[${index}]`;
    if ((params !== undefined) !== isText) {
      const message = "params fills a text in and fileUrl replaces images: a content has the one or the other.";
      faults.push({ parameter, message });
    } else if (isText)
      faults.push({ parameter, message: "Only one item has params: put all values into it, in order." });
  }
  return faults;
}

function fillingOf(content: RcsBody["content"] = []): RcsFilling | null {
  const [first] = content;
  if (first === undefined) return null;
  if (first.params !== undefined) return { params: first.params };
  return { fileUrls: content.map(({ fileUrl, mediaId }) => linkOf({ link: fileUrl, mediaId }, (url) => url)) };
}

function addFallbackFaults({ given, faults }: CheckedBody<RcsBody>): void {
  if (!isObject(given.fallback)) return;
  const { text, templateId, custom } = given.fallback;
  const own: Fault[] = [];
  const fields = typeof text === "string" ? { text } : {};
  addTextFaults({ given: { text, templateId, custom }, fields, faults: own });
  faults.push(...own.map(({ parameter, message }) => ({ parameter: `fallback.${parameter}`, message })));
}

function fallbackOf(
  { fallback, type, campaignName }: RcsBody,
  recipients: readonly DraftRecipient[],
): DraftFallback | null {
  if (fallback === undefined) return null;
  const { afterSeconds, sender, text, templateId, custom } = fallback;
  // Named one by one: a body may have other fields, such as sendAt, which would be followed here.
  const sms: SmsBody = {
    sender,
    type,
    to: recipients.filter(({ failure }) => failure === null).map(({ number }) => number),
    ...(text === undefined ? {} : { text }),
    ...(templateId === undefined ? {} : { templateId }),
    ...(custom === undefined ? {} : { custom }),
    ...(campaignName === undefined ? {} : { campaignName }),
  };
  return { afterSeconds, sms: smsDraftOf(sms, { numbers: "lenient", defaultRegion: null }) };
}
