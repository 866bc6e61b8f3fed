import { countOf } from "../../lib/text.ts";
import {
  CHAT_TEXT_MAX,
  DEFAULT_LANGUAGE,
  type ChatContent,
  type ChatHeader,
  type ChatTemplate,
  type ChatTemplateHeader,
} from "../../model/chatapp.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { plainTemplateText, renderTemplate, storedPattern } from "../template.ts";
import type { Composition } from "../draft.ts";
import type { ChatDraft, ChatFilling, ChatTemplateDraft } from "./read.ts";

/** The stored template that a draft names. */
type NamedTemplate = Pick<CatalogRecord, "name" | "origin"> & { content: ChatTemplate };

/**
 * Composes the contents from a draft and its template. An authored template is enforced; a learned one follows the
 * request, and its text is its name with the values. Next: src/pipeline/policy/check.ts
 */
export function composeChat(draft: ChatDraft, template: NamedTemplate | null): Composition<ChatContent> {
  if (draft.kind === "text") return all({ kind: "text", text: draft.text });
  const { recipients } = draft;
  if (recipients.every(({ own }) => own === undefined)) return all(composeOne(draft, draft, template, ""));
  const each = recipients.map(({ own = draft }, index) => ({
    content: composeOne(draft, own, template, own === draft ? "" : `recipients[${index}].`),
    segments: 1,
  }));
  return { shared: null, each, warning: null };
}

const all = (content: ChatContent): Composition<ChatContent> => ({
  shared: { content, segments: 1 },
  each: [],
  warning: null,
});

/** `path` leads to the components in the request, for error texts. */
function composeOne(
  { templateName }: ChatTemplateDraft,
  { header, params }: ChatFilling,
  template: NamedTemplate | null,
  path: string,
): ChatContent {
  const authored = template?.origin === "authored" ? template : null;
  if (authored) holdTo(authored, { header, params }, path);
  const { language, footer, buttons, body } = authored?.content ?? UNKNOWN;
  const text = body === null ? plainTemplateText(templateName, params) : renderTemplate(storedPattern(body), params);
  if (text.length > CHAT_TEXT_MAX) {
    const message = `The text has ${text.length} characters with its values; at most ${CHAT_TEXT_MAX} are sent.`;
    throw new Problem("MESSAGE_TOO_LONG", { faults: [{ parameter: `${path}components.body.params`, message }] });
  }
  return { kind: "template", templateName, language, header, text, footer, buttons, params };
}

/** The template that is learned from a request: the type of its header and the number of its values. */
export function shapeOfChat({ recipients, ...draft }: ChatTemplateDraft): ChatTemplate {
  const isBare = draft.header === null && draft.params.length === 0;
  const { header, params } = (isBare ? recipients.find(({ own }) => own)?.own : null) ?? draft;
  return { ...UNKNOWN, header: header && shapeOfHeader(header), variables: params.length };
}

const UNKNOWN: ChatTemplate = {
  language: DEFAULT_LANGUAGE,
  category: "utility",
  status: "approved",
  header: null,
  body: null,
  variables: 0,
  footer: null,
  buttons: [],
};

const shapeOfHeader = ({ type }: ChatHeader): ChatTemplateHeader =>
  type === "text" ? { type, text: null } : { type, link: null };

function holdTo({ name, content }: NamedTemplate, { header, params }: ChatFilling, path: string): void {
  if (content.status !== "approved") {
    const message = `The template ${name} is ${content.status === "paused" ? "paused" : "a draft"}: only an approved one can be sent.`;
    throw new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateName", message }] });
  }
  const kind = kindFault(content.header, header, path);
  const count = countFault(content.variables, params.length, path);
  if (kind) throw new Problem("TEMPLATE_KIND_MISMATCH", { faults: count ? [kind, count] : [kind] });
  if (count) throw new Problem("PARAMS_MISMATCH", { faults: [count] });
}

/** The type of the header must match; its text or file comes from the request. */
function kindFault(expected: ChatTemplateHeader | null, given: ChatHeader | null, path: string): Fault | null {
  if (expected?.type === given?.type) return null;
  const has = given ? `a header of type ${given.type}` : "no header";
  const fix = expected ? `takes one of type ${expected.type}` : "takes none: leave header out";
  return { parameter: `${path}components.header`, message: `The request has ${has}, and the template ${fix}.` };
}

function countFault(expected: number, given: number, path: string): Fault | null {
  if (expected === given) return null;
  const message = `${countOf(given, "value")}, and the template has ${countOf(expected, "variable")}: give one value for each, in order.`;
  return { parameter: `${path}components.body.params`, message };
}
