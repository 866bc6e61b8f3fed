import { isObject } from "../../lib/json.ts";
import type { Fields, Schema } from "../../lib/schema.ts";
import { onlyKnown } from "../../lib/shape.ts";
import {
  FILE_TYPES,
  linkedFileOf,
  PART_TYPES,
  wordsOfPart,
  type SessionFile,
  type SessionHeader,
  type SessionPart,
} from "../../model/chat-session.ts";
import { mediaIdIn } from "../../model/media.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { bodyChecker, type CheckedBody } from "../check-body.ts";
import { linkOf, sourceFaults } from "../media-source.ts";
import type { NumberSettings } from "../parse-number.ts";
import { uniqueRecipients } from "../recipient-list.ts";
import { addressed, envelopeOf, type AddressedChat, type CommonFields } from "./addressed.ts";
import { chatBody, sessionBodies } from "./body.ts";
import { headerPartFaults, otherContentFaults } from "./content-faults.ts";
import { extensionFault, LINK_RULE, readLink } from "./media-link.ts";
import { INTERACTIVE_FIELDS, SESSION_FIELDS } from "./session-body.ts";

/** A message without a template. The platform takes it only within 24 hours of the recipient's own last message. */
export interface ChatSessionDraft extends AddressedChat {
  kind: "text";
  /** The text, or the words of the part. */
  text: string;
  previewUrl?: true;
  /** The content of a message that is no text. */
  part?: SessionPart;
  /** The message that it replies to or reacts to, as the request names it. */
  about?: { id: string; parameter: string };
}

const TYPES = ["text", ...PART_TYPES] as const;
type SessionType = (typeof TYPES)[number];

/** The type that a request means, in any letters; null for a template and anything else. */
export function meantSessionType(type: unknown): SessionType | null {
  const meant = typeof type === "string" ? type.trim().toLowerCase() : "";
  return TYPES.find((each) => each === meant) ?? null;
}

const KNOWN = Object.keys(chatBody({ recipientsMax: 0 }).properties);

interface Checker {
  /** The field that has the content, and its schema. */
  content: Schema;
  sole(body: unknown): CheckedBody<SessionBody>;
  list(body: unknown): CheckedBody<SessionBody>;
}

type SessionBody = CommonFields & { context?: { message_id: string } };

function checkerOf(fields: Fields): Checker {
  const { sole, list } = sessionBodies(fields);
  const [content = {}] = Object.values(fields);
  return { content, sole: bodyChecker(sole, KNOWN), list: bodyChecker(list, KNOWN) };
}

const mapped = <T extends object>(fields: T): { [K in keyof T]: Checker } =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, checkerOf({ [name]: field as Schema })])) as {
    [K in keyof T]: Checker;
  };

const CHECKERS = mapped(SESSION_FIELDS);
const INTERACTIVE_CHECKERS = {
  button: checkerOf({ interactive: INTERACTIVE_FIELDS.button }),
  list: checkerOf({ interactive: INTERACTIVE_FIELDS.list }),
  cta_url: checkerOf({ interactive: INTERACTIVE_FIELDS.cta_url }),
};

/**
 * Reads the body of a session message. All faults are reported at once; each names its field and the fix.
 * Next: src/pipeline/accept/prepare-chat.ts
 */
export function readSession(
  given: Readonly<Record<string, unknown>>,
  type: SessionType,
  numbers: NumberSettings,
  now: number,
): ChatSessionDraft {
  const checker = checkerFor(given, type);
  const isList = given.recipients !== undefined;
  const body = isList ? checker.list(given) : checker.sole(given);
  body.faults.push(...otherContentFaults(given, type), ...faultsOfPart(given, type));
  if (isList && (type === "reaction" || given.context !== undefined))
    body.faults.push({ parameter: "recipients", message: "A reply or a reaction has one recipient: give it in to." });
  if (type === "reaction" && given.context !== undefined)
    body.faults.push({
      parameter: "context",
      message: "A reaction names its message in message_id: leave context out.",
    });
  const { fields, recipients } = addressed(body, type, numbers, now);
  const content = onlyKnown(checker.content, given[type]);
  const about = aboutOf(fields, content);
  const unique = uniqueRecipients(recipients, () => null);
  const common = { kind: "text", ...envelopeOf(fields), recipients: unique, ...(about && { about }) } as const;
  if (type === "text") {
    const { body: text, preview_url: previewUrl } = content as { body: string; preview_url?: boolean };
    return { ...common, text, ...(previewUrl === true && { previewUrl }) };
  }
  const part = partOf(type, content);
  refuseOtherMedia(part, type);
  return { ...common, text: wordsOfPart(part), part };
}

/** An interactive message of an unknown type is checked as one with buttons, which names the right types. */
function checkerFor(given: Readonly<Record<string, unknown>>, type: SessionType): Checker {
  if (type !== "interactive") return CHECKERS[type];
  const { interactive } = given;
  const kind = isObject(interactive) ? interactive.type : null;
  return kind === "list" || kind === "cta_url" ? INTERACTIVE_CHECKERS[kind] : INTERACTIVE_CHECKERS.button;
}

function faultsOfPart(given: Readonly<Record<string, unknown>>, type: SessionType): Fault[] {
  const { interactive } = given;
  if (type === "interactive")
    return isObject(interactive) ? headerPartFaults(interactive.header, "interactive.header") : [];
  return FILE_TYPES.some((each) => each === type)
    ? sourceFaults(given[type], type, `${type}.link is ${LINK_RULE}.`)
    : [];
}

function aboutOf({ context }: SessionBody, content: unknown): ChatSessionDraft["about"] | null {
  if (context) return { id: context.message_id, parameter: "context.message_id" };
  const id = isObject(content) ? content.message_id : null;
  return typeof id === "string" ? { id, parameter: "reaction.message_id" } : null;
}

/** The schema of the type has checked the content. Links get their normal form. */
function partOf(type: Exclude<SessionType, "text">, content: unknown): SessionPart {
  if (type === "reaction") {
    const { emoji } = content as { emoji: string };
    return { type, reaction: { emoji } };
  }
  const part = { type, [type]: content } as SessionPart;
  if (FILE_TYPES.some((each) => each === type))
    return { type, [type]: normalFile(content as SessionFile) } as SessionPart;
  if (part.type !== "interactive" || !part.interactive.header) return part;
  const { header } = part.interactive;
  return { type: "interactive", interactive: { ...part.interactive, header: normalHeader(header) } };
}

const normalFile = ({ mediaId, ...file }: SessionFile & { mediaId?: string }): SessionFile => ({
  ...file,
  link: linkOf({ link: file.link, mediaId }, readLink),
});

function normalHeader(header: SessionHeader): SessionHeader {
  const file = header.type === "text" ? undefined : header[header.type];
  return file ? { ...header, [header.type]: normalFile(file) } : header;
}

function refuseOtherMedia(part: SessionPart, type: string): void {
  const file = linkedFileOf(part);
  const message =
    file &&
    mediaIdIn(file.link) === null &&
    extensionFault(file.type, file.link, type === "interactive" ? "header" : "message");
  if (!message) return;
  const parameter = `${type === "interactive" ? `interactive.header.${file.type}` : type}.link`;
  throw new Problem("MEDIA_TYPE_UNSUPPORTED", { faults: [{ parameter, message }] });
}
