import { isObject } from "../../lib/json.ts";
import type { ButtonValue, ChatHeader } from "../../model/chatapp.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { bodyChecker, type CheckedBody } from "../check-body.ts";
import type { DraftRecipient } from "../draft.ts";
import type { NumberSettings } from "../parse-number.ts";
import { refuseTooMany, uniqueRecipients, withoutNulls, type ListRules } from "../recipient-list.ts";
import { addressed, envelopeOf, type AddressedChat, type CommonFields } from "./addressed.ts";
import {
  chatBody,
  chatTemplateBody,
  chatTemplateListBody,
  PARAMS_RULE,
  type ChatComponents,
  type ChatTemplateBody,
} from "./body.ts";
import { headerPartFaults, otherContentFaults } from "./content-faults.ts";
import { extensionFault, readLink } from "./media-link.ts";
import { meantSessionType, readSession, type ChatSessionDraft } from "./read-session.ts";

/** A send request whose body is right; records have not been looked up yet. */
export type ChatDraft = ChatTemplateDraft | ChatSessionDraft;

export interface ChatTemplateDraft extends AddressedChat {
  kind: "template";
  recipients: readonly ChatRecipient[];
  templateName: string;
  header: ChatHeader | null;
  /** Values of the template's variables; empty when the request has no components. */
  params: readonly string[];
  /** By the names of the variables, in place of `params`. */
  values?: NamedValues;
  buttons?: readonly ButtonValue[];
}

type NamedValues = Readonly<Record<string, string>>;

/** Values and header of a template. */
export interface ChatFilling {
  header: ChatHeader | null;
  params: readonly string[];
  values?: NamedValues;
  buttons?: readonly ButtonValue[];
}

interface ChatRecipient extends DraftRecipient {
  /** Values and header of its own; absent where it takes those of the request. */
  own?: ChatFilling;
}

const KNOWN = Object.keys(chatBody({ recipientsMax: 0 }).properties);
const checkTemplate = bodyChecker(chatTemplateBody, KNOWN);
const checkTemplateList = bodyChecker(chatTemplateListBody, KNOWN);

/**
 * Reads the body of a chat-app request. All faults are reported at once; each names its field and the fix.
 * Next: src/pipeline/accept/prepare-chat.ts
 */
export function readChat(written: unknown, { recipientsMax, now }: ListRules, numbers: NumberSettings): ChatDraft {
  const given = isObject(written) ? withoutNulls(written, ["recipients", "sendAt", "context"]) : written;
  const isList = isObject(given) && given.recipients !== undefined;
  if (isList) refuseTooMany("recipients", given.recipients, recipientsMax);
  // Any other type is read as a template. A type in other letters is one fault and not several.
  const type = isObject(given) ? meantSessionType(given.type) : null;
  if (isObject(given) && type !== null) return readSession(given, type, numbers, now);
  const body: CheckedBody<TemplateBody> = isList ? checkTemplateList(given) : checkTemplate(given);
  addHeaderFaults(body);
  body.faults.push(...otherContentFaults(body.given, "template"));
  const { fields, recipients } = addressed(body, "template", numbers, now);
  return {
    kind: "template",
    templateName: fields.templateName,
    ...fillingOf(fields.components, ""),
    ...envelopeOf(fields),
    recipients: uniqueRecipients(withOwnFillings(recipients, fields.recipients), ({ own = null }) => own),
  };
}

type TemplateBody = CommonFields & Pick<ChatTemplateBody, "templateName" | "components">;

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
  faults.push(...headerFaults(given.components, ""), ...valueFaults(given.components, ""));
  if (!Array.isArray(given.recipients)) return;
  for (const [index, each] of given.recipients.entries())
    if (isObject(each)) {
      const path = `recipients[${index}].`;
      faults.push(...headerFaults(each.components, path), ...valueFaults(each.components, path));
    }
}

/** A body has either values in order or values by name. */
function valueFaults(components: unknown, path: string): Fault[] {
  if (!isObject(components) || !isObject(components.body)) return [];
  const { params, values } = components.body;
  const at = `${path}components.body.`;
  if (params === undefined && values === undefined) return [{ parameter: `${at}params`, message: PARAMS_RULE }];
  return params === undefined || values === undefined
    ? []
    : [{ parameter: `${at}values`, message: "Give either params or values: params in order, or values by name." }];
}

const headerFaults = (components: unknown, path: string): Fault[] =>
  isObject(components) ? headerPartFaults(components.header, `${path}components.header`) : [];

/** Values and header of a request or of one recipient, to which `path` leads. */
function fillingOf(components: ChatComponents, path: string): ChatFilling {
  const header = headerOf(components?.header);
  refuseOtherMedia(header, path);
  const buttons = components?.buttons ?? [];
  const { params = [], values } = components?.body ?? {};
  return { header, params, ...(values && { values }), ...(buttons.length > 0 && { buttons }) };
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
