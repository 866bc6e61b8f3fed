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
import { storedPattern } from "../stored-pattern.ts";
import { plainTemplateText, renderTemplate } from "../template.ts";
import type { ChatDraft, ChatTemplateDraft } from "./read.ts";

/** The stored template that a draft names. */
type NamedTemplate = Pick<CatalogRecord, "name" | "origin"> & { content: ChatTemplate };

/**
 * Makes what is sent out of a draft and the template it names. Somebody's own template is held to; one that was only
 * learned follows the request, and is shown as its name with the values. Next: src/messages/judge.ts
 */
export function composeChat(draft: ChatDraft, template: NamedTemplate | null): ChatContent {
  if (draft.kind === "text") return { kind: "text", text: draft.text };
  const { templateName, header, params } = draft;
  const authored = template?.origin === "authored" ? template : null;
  if (authored) holdTo(authored, draft);
  const { language, footer, buttons, body } = authored?.content ?? UNKNOWN;
  const text = body === null ? plainTemplateText(templateName, params) : renderTemplate(storedPattern(body), params);
  if (text.length > CHAT_TEXT_MAX) {
    const message = `The text has ${text.length} characters with its values; at most ${CHAT_TEXT_MAX} are sent.`;
    throw new Problem("MESSAGE_TOO_LONG", { faults: [{ parameter: "components.body.params", message }] });
  }
  return { kind: "template", templateName, language, header, text, footer, buttons, params };
}

/** A template as a request shows it: the kind of its header and the number of its values, without either. */
export function shapeOfChat({ header, params }: ChatTemplateDraft): ChatTemplate {
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

function holdTo({ name, content }: NamedTemplate, { header, params }: ChatTemplateDraft): void {
  if (content.status !== "approved") {
    const message = `The template ${name} is ${content.status === "paused" ? "paused" : "a draft"}: only an approved one can be sent.`;
    throw new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateName", message }] });
  }
  const kind = kindFault(content.header, header);
  const count = countFault(content.variables, params.length);
  if (kind) throw new Problem("TEMPLATE_KIND_MISMATCH", { faults: count ? [kind, count] : [kind] });
  if (count) throw new Problem("PARAMS_MISMATCH", { faults: [count] });
}

/** The kind has to agree; which text or file the header shows is the request's to say. */
function kindFault(expected: ChatTemplateHeader | null, given: ChatHeader | null): Fault | null {
  if (expected?.type === given?.type) return null;
  const has = given ? `a header of type ${given.type}` : "no header";
  const fix = expected ? `takes one of type ${expected.type}` : "takes none: leave header out";
  return { parameter: "components.header", message: `The request has ${has}, and the template ${fix}.` };
}

function countFault(expected: number, given: number): Fault | null {
  if (expected === given) return null;
  const message = `${given} values, and the template has ${expected} variables: give one value for each, in order.`;
  return { parameter: "components.body.params", message };
}
