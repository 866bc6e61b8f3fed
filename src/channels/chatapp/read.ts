import { isObject } from "../../lib/json.ts";
import { HEADER_TYPES, type ChatHeader } from "../../model/chatapp.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { bodyChecker, hasNoFaults, type CheckedBody } from "../check-body.ts";
import type { Draft, DraftRecipient } from "../draft.ts";
import type { NumberSettings } from "../parse-number.ts";
import {
  allMalformed,
  NUMBER_RULE,
  recipientOrFailure,
  refuseTooMany,
  uniqueRecipients,
  withoutNulls,
  type ListRules,
} from "../recipient-list.ts";
import { sendAtFaults, timeOf } from "../send-at.ts";
import {
  chatBody,
  chatTemplateBody,
  chatTemplateListBody,
  chatTextBody,
  chatTextListBody,
  HEADER_RULES,
  type ChatComponents,
  type ChatTemplateBody,
} from "./body.ts";
import { extensionFault, readLink } from "./media-link.ts";

/** A send request whose body is right; records have not been looked up yet. */
export type ChatDraft = ChatTemplateDraft | ChatTextDraft;

/** `sender` is the business number: a plus and its digits. */
interface Addressed extends Draft {
  channel: "chatapp";
}

export interface ChatTemplateDraft extends Addressed {
  kind: "template";
  recipients: readonly ChatRecipient[];
  templateName: string;
  header: ChatHeader | null;
  /** Values of the template's variables; empty when the request has no components. */
  params: readonly string[];
}

/** Values and header of a template. */
export interface ChatFilling {
  header: ChatHeader | null;
  params: readonly string[];
}

interface ChatRecipient extends DraftRecipient {
  /** Values and header of its own; absent where it takes those of the request. */
  own?: ChatFilling;
}

/** A free text. The platform takes it only within 24 hours of the recipient's own last message. */
interface ChatTextDraft extends Addressed {
  kind: "text";
  text: string;
}

const KNOWN = Object.keys(chatBody({ recipientsMax: 0 }).properties);
const checkTemplate = bodyChecker(chatTemplateBody, KNOWN);
const checkTemplateList = bodyChecker(chatTemplateListBody, KNOWN);
const checkText = bodyChecker(chatTextBody, KNOWN);
const checkTextList = bodyChecker(chatTextListBody, KNOWN);

/**
 * Reads the body of a chat-app request. All faults are reported at once; each names its field and the fix.
 * Next: src/pipeline/accept/prepare-chat.ts
 */
export function readChat(written: unknown, { recipientsMax, now }: ListRules, numbers: NumberSettings): ChatDraft {
  const given = isObject(written) ? withoutNulls(written, ["recipients", "sendAt"]) : written;
  const isList = isObject(given) && given.recipients !== undefined;
  if (isList) refuseTooMany("recipients", given.recipients, recipientsMax);
  if (isObject(given) && isMeantAsText(given.type)) {
    const { fields, recipients } = addressed(isList ? checkTextList(given) : checkText(given), "text", numbers, now);
    const unique = uniqueRecipients(recipients, () => null);
    return { kind: "text", text: fields.text.body, ...envelopeOf(fields), recipients: unique };
  }
  const body: CheckedBody<TemplateBody> = isList ? checkTemplateList(given) : checkTemplate(given);
  addHeaderFaults(body);
  const { fields, recipients } = addressed(body, "template", numbers, now);
  return {
    kind: "template",
    templateName: fields.templateName,
    ...fillingOf(fields.components, ""),
    ...envelopeOf(fields),
    recipients: uniqueRecipients(withOwnFillings(recipients, fields.recipients), ({ own = null }) => own),
  };
}

/** Any other type is read as a template. A type in other letters is one fault and not several. */
const isMeantAsText = (type: unknown): boolean => typeof type === "string" && type.trim().toLowerCase() === "text";

interface CommonFields {
  type: "template" | "text";
  from: string;
  campaignName?: string;
  sendAt?: string | number;
  /** Either of these names the recipients. */
  to?: string;
  recipients?: readonly { to: string; components?: ChatComponents }[];
}

type TemplateBody = CommonFields & Pick<ChatTemplateBody, "templateName" | "components">;

/** Refuses a body with faults, or without a valid number. The recipients are in the order of the request. */
function addressed<T extends CommonFields>(
  body: CheckedBody<T>,
  kind: ChatDraft["kind"],
  numbers: NumberSettings,
  now: number,
): { fields: T; recipients: readonly DraftRecipient[] } {
  const { given } = body;
  const { to, recipients: list, sendAt }: Partial<CommonFields> = body.fields;
  if (given.recipients !== undefined && given.to !== undefined)
    body.faults.push({ parameter: "to", message: "Give either to or recipients, not both." });
  body.faults.push(...sendAtFaults(sendAt, now));
  const recipients = (list ?? (to === undefined ? [] : [{ to }])).map((each) => recipientOrFailure(each.to, numbers));
  const badNumbers = list ? allMalformed(recipients, "to", NUMBER_RULE) : soleMalformed(recipients);
  const faults = [...body.faults, ...badNumbers];
  if (typeof given.type === "string" && given.type !== kind) throw new Problem("UNSUPPORTED_TYPE", { faults });
  if (!hasNoFaults(body)) throw new Problem("INVALID_REQUEST", { faults });
  if (badNumbers.length > 0) throw new Problem("INVALID_RECIPIENT", { faults });
  return { fields: body.fields, recipients };
}

const soleMalformed = ([only]: readonly DraftRecipient[]): Fault[] =>
  only?.failure ? [{ parameter: "to", message: NUMBER_RULE }] : [];

const envelopeOf = ({ from, campaignName, sendAt }: CommonFields): Omit<Addressed, "recipients"> => ({
  channel: "chatapp",
  sender: `+${readNumber(from) ?? ""}`,
  // The class follows from the template's category, once the template has been looked up.
  routeClass: "TRANS",
  campaignName: campaignName ?? null,
  sendAt: timeOf(sendAt),
});

/** Both lists are in the order of the request. */
const withOwnFillings = (
  recipients: readonly DraftRecipient[],
  written: CommonFields["recipients"] = [],
): readonly ChatRecipient[] =>
  recipients.map((recipient, index) => {
    const components = written[index]?.components;
    return components ? { ...recipient, own: fillingOf(components, `recipients[${index}].`) } : recipient;
  });

function addHeaderFaults({ given, faults }: CheckedBody<unknown>): void {
  faults.push(...headerFaults(given.components, ""));
  if (!Array.isArray(given.recipients)) return;
  for (const [index, each] of given.recipients.entries())
    if (isObject(each)) faults.push(...headerFaults(each.components, `recipients[${index}].`));
}

/** A header has the part that its type names, and no other. */
function headerFaults(components: unknown, path: string): Fault[] {
  const header = isObject(components) && isObject(components.header) ? components.header : {};
  const type = HEADER_TYPES.find((each) => each === header.type);
  if (!type) return [];
  const at = `${path}components.header.`;
  const faults: Fault[] = [];
  if (header[type] === undefined) faults.push({ parameter: `${at}${type}`, message: HEADER_RULES[type] });
  for (const other of HEADER_TYPES)
    if (other !== type && header[other] !== undefined)
      faults.push({
        parameter: `${at}${other}`,
        message: `The header's type is ${type}: leave ${other} out, or change the type.`,
      });
  return faults;
}

/** Values and header of a request or of one recipient, to which `path` leads. */
function fillingOf(components: ChatComponents, path: string): ChatFilling {
  const header = headerOf(components?.header);
  refuseOtherMedia(header, path);
  return { header, params: components?.body.params ?? [] };
}

function headerOf(header: NonNullable<ChatTemplateBody["components"]>["header"]): ChatHeader | null {
  if (header === undefined) return null;
  const { type, text = "" } = header;
  return type === "text" ? { type, text } : { type, link: readLink(header[type]?.link ?? "") ?? "" };
}

function refuseOtherMedia(header: ChatHeader | null, path: string): void {
  if (header === null || header.type === "text") return;
  const message = extensionFault(header.type, header.link);
  if (message === null) return;
  throw new Problem("MEDIA_TYPE_UNSUPPORTED", {
    faults: [{ parameter: `${path}components.header.${header.type}.link`, message }],
  });
}
