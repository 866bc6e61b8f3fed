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
import type { MessageReference } from "../../model/chat-session.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { withNumbers } from "../../model/template-names.ts";
import { plainTemplateText, renderTemplate, storedPattern } from "../template.ts";
import type { Composition } from "../draft.ts";
import { buttonFaults, fillButtons } from "./fill-buttons.ts";
import type { ChatDraft, ChatFilling, ChatTemplateDraft } from "./read.ts";
import type { ChatSessionDraft } from "./read-session.ts";

/** The stored template that a draft names. */
type NamedTemplate = Pick<CatalogRecord, "name" | "origin"> & { content: ChatTemplate };

/**
 * Composes the contents from a draft and its template. An authored template is enforced; a learned one follows the
 * request, and its text is its name with the values. Next: src/pipeline/policy/check.ts
 */
export function composeChat(
  draft: ChatDraft,
  template: NamedTemplate | null,
  reference: MessageReference | null = null,
): Composition<ChatContent> {
  if (draft.kind === "text") return all(sessionContent(draft, reference));
  const { recipients } = draft;
  if (recipients.every(({ own }) => own === undefined)) return all(composeOne(draft, draft, template, ""));
  const each = recipients.map(({ own = draft }, index) => ({
    content: composeOne(draft, own, template, own === draft ? "" : `recipients[${index}].`),
    segments: 1,
  }));
  return { shared: null, each, warning: null };
}

const sessionContent = (
  { text, previewUrl, part }: ChatSessionDraft,
  reference: MessageReference | null,
): ChatContent => ({
  kind: "text",
  text,
  ...(previewUrl && { previewUrl }),
  ...(part && { part }),
  ...(reference && { reference }),
});

const all = (content: ChatContent): Composition<ChatContent> => ({
  shared: { content, segments: 1 },
  each: [],
  warning: null,
});

/** `path` leads to the components in the request, for error texts. */
function composeOne(
  { templateName }: ChatTemplateDraft,
  { buttons: values = [], ...filling }: ChatFilling,
  template: NamedTemplate | null,
  path: string,
): ChatContent {
  const authored = template?.origin === "authored" ? template : null;
  const { header } = filling;
  const params = inOrder(filling, authored, path);
  if (authored) holdTo(authored, { header, params, buttons: values }, path);
  const { language, footer, buttons, body, names } = authored?.content ?? UNKNOWN;
  const pattern = body === null || !names ? body : withNumbers(body, names);
  const text =
    pattern === null ? plainTemplateText(templateName, params) : renderTemplate(storedPattern(pattern), params);
  if (text.length > CHAT_TEXT_MAX) {
    const message = `The text has ${text.length} characters with its values; at most ${CHAT_TEXT_MAX} are sent.`;
    throw new Problem("MESSAGE_TOO_LONG", { faults: [{ parameter: `${path}components.body.params`, message }] });
  }
  return {
    kind: "template",
    templateName,
    language,
    header,
    text,
    footer,
    buttons: fillButtons(buttons, values),
    params,
    ...(values.length > 0 && { buttonValues: values }),
  };
}

/** The values in the order of the template's variables. */
function inOrder({ params, values }: ChatFilling, template: NamedTemplate | null, path: string): readonly string[] {
  if (!values) return params;
  const given = Object.keys(values);
  if (!template) return given.map((name) => values[name] ?? "");
  const { names } = template.content;
  const at = `${path}components.body.values`;
  const refuse = (faults: Fault[]): never => {
    throw new Problem("PARAMS_MISMATCH", { faults });
  };
  if (!names)
    return refuse([
      { parameter: at, message: "The template's variables have no names: give the values in order, in params." },
    ]);
  const missing = names.filter((name) => !Object.hasOwn(values, name));
  const unknown = given.filter((name) => !names.includes(name));
  if (missing.length + unknown.length > 0)
    refuse([
      ...missing.map((name) => ({ parameter: `${at}.${name}`, message: `Give the value of ${name}.` })),
      ...unknown.map((name) => ({
        parameter: `${at}.${name}`,
        message: names.length === 0 ? "The template has no variables." : `The template has ${names.join(", ")}.`,
      })),
    ]);
  return names.map((name) => values[name] ?? "");
}

/** The template that is learned from a request: the type of its header and the number of its values. */
export function shapeOfChat({ recipients, ...draft }: ChatTemplateDraft): ChatTemplate {
  const isBare = draft.header === null && draft.params.length === 0 && draft.values === undefined;
  const { header, params, values } = (isBare ? recipients.find(({ own }) => own)?.own : null) ?? draft;
  const variables = values ? Object.keys(values).length : params.length;
  return { ...UNKNOWN, header: header && shapeOfHeader(header), variables };
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

function holdTo({ name, content }: NamedTemplate, { header, params, buttons = [] }: ChatFilling, path: string): void {
  if (content.status !== "approved") {
    const reason = content.platform?.reason ? ` The platform's reason: ${content.platform.reason}.` : "";
    const message = `The template ${name} is ${content.status === "paused" ? "paused" : "a draft"}: only an approved one can be sent.${reason}`;
    throw new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateName", message }] });
  }
  const kind = kindFault(content.header, header, path);
  const count = countFault(content.variables, params.length, path);
  const counts = [...(count ? [count] : []), ...buttonFaults(content.buttons, buttons, `${path}components.buttons`)];
  if (kind) throw new Problem("TEMPLATE_KIND_MISMATCH", { faults: [kind, ...counts] });
  if (counts.length > 0) throw new Problem("PARAMS_MISMATCH", { faults: counts });
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
