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
import { templateFor } from "../../model/template-language.ts";
import { plainTemplateText } from "../template.ts";
import type { Composition } from "../draft.ts";
import { buttonFaults, fillButtons } from "./fill-buttons.ts";
import { cardFaults, fillCards } from "./fill-cards.ts";
import { countFault, fillText, inOrder } from "./fill-text.ts";
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
  languages: RecipientLanguages | null = null,
): Composition<ChatContent> {
  if (draft.kind === "text") return all(sessionContent(draft, reference));
  const { recipients } = draft;
  const languageOf = (place: number): string | null =>
    recipients[place]?.language ?? draft.language ?? languages?.(place) ?? null;
  const isShared =
    recipients.every(({ own, language }) => own === undefined && language === undefined) &&
    (languages === null || recipients.every((_, place) => languageOf(place) === languageOf(0)));
  const inLanguage = (language: string | null): NamedTemplate | null =>
    template?.content.languages ? { ...template, content: templateFor(template.content, language) } : template;
  const compose = (place: number, filling: ChatFilling, path: string): ChatContent => {
    const language = languageOf(place);
    const { templateName } = draft;
    const isRequested = (recipients[place]?.language ?? draft.language ?? null) !== null;
    try {
      return composeOne({ templateName, language }, filling, inLanguage(language), path);
    } catch (error) {
      // The request was written for the template's own language: another one may have other variables.
      if (isRequested || language === null || !(error instanceof Problem)) throw error;
      return composeOne({ templateName, language: null }, filling, template, path);
    }
  };
  if (isShared) return all(compose(0, draft, ""));
  const each = recipients.map(({ own = draft }, index) => ({
    content: compose(index, own, own === draft ? "" : `recipients[${index}].`),
    segments: 1,
  }));
  return { shared: null, each, warning: null };
}

/** The language of the recipient at an index, where the request names none; null if it is not known. */
export type RecipientLanguages = (place: number) => string | null;

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
  { templateName, language: wanted }: { templateName: string; language: string | null },
  filling: ChatFilling,
  template: NamedTemplate | null,
  path: string,
): ChatContent {
  const authored = template?.origin === "authored" ? template : null;
  const { header, buttons: values = [] } = filling;
  const params = inOrder(filling, authored?.content ?? null, `${path}components.`);
  if (authored) holdTo(authored, { ...filling, params }, path);
  const { language, footer, buttons, body, names, offer, cards } = authored?.content ?? {
    ...UNKNOWN,
    language: wanted ?? DEFAULT_LANGUAGE,
  };
  const text = body === null ? plainTemplateText(templateName, params) : fillText({ body, names }, params);
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
    ...((offer ?? filling.expiresAt !== undefined) && {
      offer: { text: offer?.text ?? "", expiresAt: filling.expiresAt ?? null },
    }),
    ...(filling.cards && { cards: fillCards(cards, filling.cards, `${path}components.`) }),
  };
}

/** The template that is learned from a request: the type of its header and the number of its values. */
export function shapeOfChat({ recipients, ...draft }: ChatTemplateDraft): ChatTemplate {
  const isBare = draft.header === null && draft.params.length === 0 && draft.values === undefined;
  const { header, params, values } = (isBare ? recipients.find(({ own }) => own)?.own : null) ?? draft;
  const variables = values ? Object.keys(values).length : params.length;
  return {
    ...UNKNOWN,
    language: draft.language ?? DEFAULT_LANGUAGE,
    header: header && shapeOfHeader(header),
    variables,
  };
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

function shapeOfHeader({ type }: ChatHeader): ChatTemplateHeader {
  if (type === "location") return { type };
  return type === "text" ? { type, text: null } : { type, link: null };
}

function holdTo({ name, content }: NamedTemplate, filling: ChatFilling, path: string): void {
  const { header, params, buttons = [] } = filling;
  if (content.status !== "approved") {
    const reason = content.platform?.reason ? ` The platform's reason: ${content.platform.reason}.` : "";
    const message = `The template ${name} is ${content.status === "paused" ? "paused" : "a draft"}: only an approved one can be sent.${reason}`;
    throw new Problem("TEMPLATE_NOT_FOUND", { faults: [{ parameter: "templateName", message }] });
  }
  const kind = kindFault(content.header, header, path);
  const kinds = [...(kind ? [kind] : []), ...partFaults(content, filling, path)];
  const count = countFault(content.variables, params.length, `${path}components.`);
  const counts = [
    ...(count ? [count] : []),
    ...buttonFaults(content.buttons, buttons, `${path}components.buttons`),
    ...cardFaults(content.cards ?? [], filling.cards ?? [], `${path}components.`),
  ];
  if (kinds.length > 0) throw new Problem("TEMPLATE_KIND_MISMATCH", { faults: [...kinds, ...counts] });
  if (counts.length > 0) throw new Problem("PARAMS_MISMATCH", { faults: counts });
}

/** The type of the header must match; its text or file comes from the request. */
function kindFault(expected: ChatTemplateHeader | null, given: ChatHeader | null, path: string): Fault | null {
  if (expected?.type === given?.type) return null;
  const has = given ? `a header of type ${given.type}` : "no header";
  const fix = expected ? `takes one of type ${expected.type}` : "takes none: leave header out";
  return { parameter: `${path}components.header`, message: `The request has ${has}, and the template ${fix}.` };
}

/** The end of an offer and the cards of a carousel, which only templates with these parts take. */
function partFaults({ offer, cards }: ChatTemplate, { expiresAt, cards: given }: ChatFilling, path: string): Fault[] {
  const faults: Fault[] = [];
  const fault = (field: string, message: string): void =>
    void faults.push({ parameter: `${path}components.${field}`, message });
  if (offer?.expires === true && expiresAt === undefined)
    fault("offer", "The template shows the time that is left: give offer with expiresAt.");
  if (offer?.expires !== true && expiresAt !== undefined)
    fault("offer", "The template has no offer that ends: leave it out.");
  if (cards && !given)
    fault("cards", `The template has ${countOf(cards.length, "card")}: give one entry for each, in order.`);
  if (!cards && given) fault("cards", "The template has no cards: leave them out.");
  return faults;
}
