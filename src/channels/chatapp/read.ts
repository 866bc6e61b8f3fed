import { ISO_TIME, parseIsoTime } from "../../lib/iso-time.ts";
import { isObject } from "../../lib/json.ts";
import { TEMPLATE_HEADER_TYPES, type ButtonValue, type ChatHeader, type ChatMedia } from "../../model/chatapp.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { bodyChecker, type CheckedBody } from "../check-body.ts";
import { mediaIdIn } from "../../model/media.ts";
import type { DraftRecipient } from "../draft.ts";
import { linkOf } from "../media-source.ts";
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
import { timeOf } from "../send-at.ts";
import { meantSessionType, readSession, type ChatSessionDraft } from "./read-session.ts";

/** A send request whose body is right; records have not been looked up yet. */
export type ChatDraft = ChatTemplateDraft | ChatSessionDraft;

export interface ChatTemplateDraft extends AddressedChat, ChatFilling {
  kind: "template";
  recipients: readonly ChatRecipient[];
  templateName: string;
  /** The language of recipients without one of their own; absent if the request names none. */
  language?: string;
}

type NamedValues = Readonly<Record<string, string>>;

/** Values of a text and its buttons. */
export interface TextFilling {
  /** Values of the variables in order; empty when the request has none. */
  params: readonly string[];
  /** By the names of the variables, in place of `params`. */
  values?: NamedValues;
  buttons?: readonly ButtonValue[];
}

/** Values and header of a template. */
export interface ChatFilling extends TextFilling {
  header: ChatHeader | null;
  /** When a limited-time offer ends. */
  expiresAt?: number;
  /** The cards of a carousel. */
  cards?: readonly CardFilling[];
}

export interface CardFilling extends TextFilling {
  header: ChatMedia;
}

interface ChatRecipient extends DraftRecipient {
  /** Values and header of its own; absent where it takes those of the request. */
  own?: ChatFilling;
  /** Absent where it takes that of the request. */
  language?: string;
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
  addHeaderFaults(body, now);
  body.faults.push(...otherContentFaults(body.given, "template"));
  const { fields, recipients } = addressed(body, "template", numbers, now);
  return {
    kind: "template",
    templateName: fields.templateName,
    ...(fields.language !== undefined && { language: fields.language }),
    ...fillingOf(fields.components, ""),
    ...envelopeOf(fields),
    recipients: uniqueRecipients(withOwnFillings(recipients, fields.recipients), ({ own, language }) =>
      own || language !== undefined ? { own, language } : null,
    ),
  };
}

type TemplateBody = CommonFields & Pick<ChatTemplateBody, "templateName" | "language" | "components">;

/** Both lists are in the order of the request. */
const withOwnFillings = (
  recipients: readonly DraftRecipient[],
  written: CommonFields["recipients"] = [],
): readonly ChatRecipient[] =>
  recipients.map((recipient, index) => {
    const { components, language } = written[index] ?? {};
    if (!components && language === undefined) return recipient;
    return {
      ...recipient,
      ...(language !== undefined && { language }),
      ...(components && { own: fillingOf(components, `recipients[${index}].`) }),
    };
  });

function addHeaderFaults({ given, faults }: CheckedBody<unknown>, now: number): void {
  faults.push(...componentFaults(given.components, "components.", now));
  if (!Array.isArray(given.recipients)) return;
  for (const [index, each] of given.recipients.entries())
    if (isObject(each)) faults.push(...componentFaults(each.components, `recipients[${index}].components.`, now));
}

function componentFaults(components: unknown, path: string, now: number): Fault[] {
  if (!isObject(components)) return [];
  const { header, offer, cards } = components;
  const faults = [
    ...headerPartFaults(header, `${path}header`, TEMPLATE_HEADER_TYPES),
    ...valueFaults(components, path),
    ...offerFaults(offer, path, now),
  ];
  for (const [index, card] of Array.isArray(cards) ? cards.entries() : [])
    if (isObject(card)) {
      const at = `${path}cards[${index}].`;
      faults.push(...headerPartFaults(card.header, `${at}header`), ...cardHeaderFaults(card.header, at));
      faults.push(...valueFaults(card, at));
    }
  return faults;
}

function offerFaults(offer: unknown, path: string, now: number): Fault[] {
  const at = isObject(offer) ? offer.expiresAt : null;
  const time = typeof at === "string" && ISO_TIME.test(at) ? parseIsoTime(at) : at;
  return typeof time === "number" && !(time > now)
    ? [{ parameter: `${path}offer.expiresAt`, message: "The offer ends in the future: give a later time." }]
    : [];
}

function cardHeaderFaults(header: unknown, path: string): Fault[] {
  const type = isObject(header) ? TEMPLATE_HEADER_TYPES.find((each) => each === header.type) : undefined;
  const file = isObject(header) && type !== undefined ? header[type] : undefined;
  if (isObject(file) && file.mediaId !== undefined)
    return [{ parameter: `${path}header.${type}.mediaId`, message: "The file of a card is a link: give link." }];
  return type === undefined || type === "image" || type === "video"
    ? []
    : [{ parameter: `${path}header.type`, message: "The header of a card is an image or a video." }];
}

/** A body has either values in order or values by name. */
function valueFaults({ body }: Readonly<Record<string, unknown>>, path: string): Fault[] {
  if (!isObject(body)) return [];
  const { params, values } = body;
  const at = `${path}body.`;
  if (params === undefined && values === undefined) return [{ parameter: `${at}params`, message: PARAMS_RULE }];
  return params === undefined || values === undefined
    ? []
    : [{ parameter: `${at}values`, message: "Give either params or values: params in order, or values by name." }];
}

/** Values and header of a request or of one recipient, to which `path` leads. */
function fillingOf(components: ChatComponents, path: string): ChatFilling {
  if (!components) return { header: null, params: [] };
  const header = components.header ? headerOf(components.header) : null;
  refuseOtherMedia(header, `${path}components.`);
  const { offer, cards } = components;
  return {
    header,
    ...textFillingOf(components),
    ...(offer && { expiresAt: timeOf(offer.expiresAt) ?? 0 }),
    ...(cards && { cards: cards.map((card, index) => cardFillingOf(card, `${path}components.cards[${index}].`)) }),
  };
}

type WrittenComponents = NonNullable<ChatTemplateBody["components"]>;
type WrittenCard = NonNullable<WrittenComponents["cards"]>[number];

function textFillingOf({ body, buttons = [] }: Pick<WrittenCard, "body" | "buttons">): TextFilling {
  const { params = [], values } = body ?? {};
  return { params, ...(values && { values }), ...(buttons.length > 0 && { buttons }) };
}

function cardFillingOf(card: WrittenCard, path: string): CardFilling {
  const header = headerOf(card.header);
  refuseOtherMedia(header, path);
  if (!("link" in header)) throw new Error("a checked card has a file");
  return { header, ...textFillingOf(card) };
}

function headerOf(header: WrittenCard["header"]): ChatHeader {
  const { type, text = "", location } = header;
  if (type === "text") return { type, text };
  if (type === "location") return { type, location: location ?? { latitude: 0, longitude: 0, name: "", address: "" } };
  return { type, link: linkOf(header[type] ?? {}, readLink) };
}

/** `path` leads to the header. */
function refuseOtherMedia(header: ChatHeader | null, path: string): void {
  if (header === null || !("link" in header) || mediaIdIn(header.link) !== null) return;
  const message = extensionFault(header.type, header.link);
  if (message === null) return;
  throw new Problem("MEDIA_TYPE_UNSUPPORTED", {
    faults: [{ parameter: `${path}header.${header.type}.link`, message }],
  });
}
