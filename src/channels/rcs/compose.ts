import type { Origin } from "../../model/catalog.ts";
import { Problem } from "../../model/problem.ts";
import { RCS_TEXT_MAX, type RcsCard, type RcsContent, type RcsKind, type RcsTemplate } from "../../model/rcs.ts";
import { storedPattern } from "../stored-pattern.ts";
import { plainTemplateText, renderTemplate } from "../template.ts";
import type { RcsDraft, RcsFilling } from "./read.ts";

interface StoredTemplate {
  origin: Origin;
  content: RcsTemplate;
}

/**
 * Makes what is sent out of a draft and the template it names. Only an authored template binds; what is known of any
 * other comes from requests, so the request itself is shown. Next: src/messages/judge.ts
 */
export function composeRcs(draft: RcsDraft, template: StoredTemplate | null): RcsContent {
  const { sender: botId, templateName } = draft;
  const params = paramsOf(draft.content);
  const fileUrls = fileUrlsOf(draft.content);
  if (template === null || template.origin === "learned") {
    const kind = kindOf(draft.content);
    const text = withinLimit(plainTemplateText(templateName, params));
    return { botId, templateName, kind, text, suggestions: [], cards: fileUrls.map(bareCard), params };
  }
  const { kind, suggestions, cards, status } = template.content;
  if (status !== "approved") throw notApproved(templateName, status);
  refuseOtherKind(templateName, kind, params, fileUrls);
  const text = fillIn(template.content, params);
  return { botId, templateName, kind, text, suggestions, cards: withImages(cards, fileUrls), params };
}

/** A template as a request shows it. Addresses are left out: they change with every request, and its shape does not. */
export function shapeOfRcs({ content }: RcsDraft): RcsTemplate {
  return {
    kind: kindOf(content),
    text: null,
    variables: paramsOf(content).length,
    suggestions: [],
    cards: fileUrlsOf(content).map(() => bareCard(null)),
    status: "approved",
  };
}

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
  params: readonly string[],
  fileUrls: readonly string[],
): void {
  const hasCards = kind === "card" || kind === "carousel";
  if (hasCards ? params.length === 0 : fileUrls.length === 0) return;
  const takes = hasCards ? "items with fileUrl, or no content" : "one item with params, or no content";
  const message = `The template ${JSON.stringify(templateName)} is of kind ${kind}: it takes ${takes}.`;
  throw new Problem("TEMPLATE_KIND_MISMATCH", { faults: [{ parameter: "content", message }] });
}

function fillIn({ text }: RcsTemplate, params: readonly string[]): string {
  const pattern = storedPattern(text ?? "");
  if (params.length !== pattern.variables) {
    const message = `${params.length} values, and the template has ${pattern.variables} variables: give one value for each, in order.`;
    throw new Problem("PARAMS_MISMATCH", { faults: [{ parameter: "content[0].params", message }] });
  }
  return withinLimit(renderTemplate(pattern, params));
}

function withinLimit(filled: string): string {
  if (filled.length <= RCS_TEXT_MAX) return filled;
  const message = `The text has ${filled.length} characters with its values; at most ${RCS_TEXT_MAX} are sent.`;
  throw new Problem("MESSAGE_TOO_LONG", { faults: [{ parameter: "content[0].params", message }] });
}

/** All images or none: with fewer than there are cards, nobody could tell which ones are meant. */
function withImages(cards: readonly RcsCard[], fileUrls: readonly string[]): readonly RcsCard[] {
  if (fileUrls.length === 0) return cards;
  if (fileUrls.length === cards.length)
    return cards.map((card, index) => ({ ...card, fileUrl: fileUrls[index] ?? card.fileUrl }));
  const message = `${fileUrls.length} items with fileUrl, and the template has ${cards.length} cards: give one for each, in order, or no content to keep its images.`;
  throw new Problem("PARAMS_MISMATCH", {
    message: "The number of images differs from the number of the template's cards.",
    faults: [{ parameter: "content", message }],
  });
}
