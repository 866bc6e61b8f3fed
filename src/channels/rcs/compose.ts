import { countOf } from "../../lib/text.ts";
import type { Origin } from "../../model/catalog.ts";
import { Problem } from "../../model/problem.ts";
import { RCS_TEXT_MAX, type RcsCard, type RcsContent, type RcsKind, type RcsTemplate } from "../../model/rcs.ts";
import { plainTemplateText, renderTemplate, storedPattern } from "../template.ts";
import type { Composed, Composition } from "../draft.ts";
import type { RcsDraft, RcsFilling } from "./read.ts";

interface StoredTemplate {
  origin: Origin;
  content: RcsTemplate;
}

/**
 * Composes the contents from a draft and its template. Only an authored template is enforced; a learned one follows the
 * request, so the content shows the request's values. Next: src/pipeline/policy/check.ts
 */
export function composeRcs(draft: RcsDraft, template: StoredTemplate | null): Composition<RcsContent> {
  if (draft.recipients.every(({ content }) => content === undefined))
    return { shared: composedOf(draft, draft.content, template, ""), each: [], warning: null };
  const each = draft.recipients.map(({ content }, index) =>
    content === undefined
      ? composedOf(draft, draft.content, template, "")
      : composedOf(draft, content, template, `recipients[${index}].`),
  );
  return { shared: null, each, warning: null };
}

const composedOf = (...args: Parameters<typeof composeOne>): Composed<RcsContent> => ({
  content: composeOne(...args),
  segments: 1,
});

/** `path` leads to the content in the request, for error texts. */
function composeOne(
  { sender: botId, templateName }: RcsDraft,
  content: RcsFilling | null,
  template: StoredTemplate | null,
  path: string,
): RcsContent {
  const params = paramsOf(content);
  const fileUrls = fileUrlsOf(content);
  if (template === null || template.origin === "learned") {
    const kind = kindOf(content);
    const text = withinLimit(plainTemplateText(templateName, params), path);
    return { botId, templateName, kind, text, suggestions: [], cards: fileUrls.map(bareCard), params };
  }
  const { kind, suggestions, cards, status } = template.content;
  if (status !== "approved") throw notApproved(templateName, status);
  refuseOtherKind(templateName, kind, { params, fileUrls }, path);
  const text = fillIn(template.content, params, path);
  return { botId, templateName, kind, text, suggestions, cards: withImages(cards, fileUrls, path), params };
}

/** The template that is learned from a request: its shape, without URLs, which differ in every request. */
export function shapeOfRcs(draft: RcsDraft): RcsTemplate {
  const content = fillingIn(draft);
  return {
    kind: kindOf(content),
    text: null,
    variables: paramsOf(content).length,
    suggestions: [],
    cards: fileUrlsOf(content).map(() => bareCard(null)),
    status: "approved",
  };
}

/** The values or images of a request, or of its first recipient that has some. */
export const fillingIn = ({ content, recipients }: RcsDraft): RcsFilling | null =>
  content ?? recipients.find((recipient) => recipient.content)?.content ?? null;

const paramsOf = (content: RcsFilling | null): readonly string[] =>
  content !== null && "params" in content ? content.params : [];

const fileUrlsOf = (content: RcsFilling | null): readonly string[] =>
  content !== null && "fileUrls" in content ? content.fileUrls : [];

function kindOf(content: RcsFilling | null): RcsKind {
  const images = fileUrlsOf(content).length;
  if (images === 0) return "text";
  return images === 1 ? "card" : "carousel";
}

const bareCard = (fileUrl: string | null): RcsCard => ({ title: "", description: "", fileUrl, suggestions: [] });

function notApproved(templateName: string, status: "draft" | "paused"): Problem {
  const state = status === "draft" ? "still a draft" : "paused";
  const message = `The template ${JSON.stringify(templateName)} is ${state}: set its status to approved at /api/templates, or use another.`;
  return new Problem("TEMPLATE_NOT_FOUND", { message, faults: [{ parameter: "templateName", message }] });
}

function refuseOtherKind(
  templateName: string,
  kind: RcsKind,
  { params, fileUrls }: { params: readonly string[]; fileUrls: readonly string[] },
  path: string,
): void {
  const hasCards = kind === "card" || kind === "carousel";
  if (hasCards ? params.length === 0 : fileUrls.length === 0) return;
  const takes = hasCards ? "items with fileUrl, or no content" : "one item with params, or no content";
  const message = `The template ${JSON.stringify(templateName)} is of kind ${kind}: it takes ${takes}.`;
  throw new Problem("TEMPLATE_KIND_MISMATCH", { faults: [{ parameter: `${path}content`, message }] });
}

function fillIn({ text }: RcsTemplate, params: readonly string[], path: string): string {
  const pattern = storedPattern(text ?? "");
  if (params.length !== pattern.variables) {
    const message = `${countOf(params.length, "value")}, and the template has ${countOf(pattern.variables, "variable")}: give one value for each, in order.`;
    throw new Problem("PARAMS_MISMATCH", { faults: [{ parameter: `${path}content[0].params`, message }] });
  }
  return withinLimit(renderTemplate(pattern, params), path);
}

function withinLimit(filled: string, path: string): string {
  if (filled.length <= RCS_TEXT_MAX) return filled;
  const message = `The text has ${filled.length} characters with its values; at most ${RCS_TEXT_MAX} are sent.`;
  throw new Problem("MESSAGE_TOO_LONG", { faults: [{ parameter: `${path}content[0].params`, message }] });
}

/** Replaces all images or none: fewer images than cards would be ambiguous. */
function withImages(cards: readonly RcsCard[], fileUrls: readonly string[], path: string): readonly RcsCard[] {
  if (fileUrls.length === 0) return cards;
  if (fileUrls.length === cards.length)
    return cards.map((card, index) => ({ ...card, fileUrl: fileUrls[index] ?? card.fileUrl }));
  const message = `${countOf(fileUrls.length, "item")} with fileUrl, and the template has ${countOf(cards.length, "card")}: give one for each, in order, or no content to keep its images.`;
  throw new Problem("PARAMS_MISMATCH", {
    message: "The number of images differs from the number of the template's cards.",
    faults: [{ parameter: `${path}content`, message }],
  });
}
