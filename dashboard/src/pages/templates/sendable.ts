import type { Template } from "../../api-types.ts";
import { EMPTY, KINDS, type Draft, type Kind } from "../compose/kinds.ts";

const kindNamed = (id: string): Kind => {
  const found = KINDS.find((kind) => kind.id === id);
  if (!found) throw new Error(`There is no kind of message called ${id}.`);
  return found;
};

/** The composer's kind of message for a template. */
export function kindFor(template: Template): Kind {
  if (template.channel === "sms") return kindNamed("sms-template-by-id");
  if (template.channel === "rcs") {
    if (template.kind === "card" || template.kind === "carousel") return kindNamed(`rcs-${template.kind}`);
    if (template.variables > 0) return kindNamed("rcs-variables");
    return kindNamed(template.kind === "rich" ? "rcs-rich" : "rcs-text");
  }
  if (template.cards && template.cards.length > 0) return kindNamed("chatapp-carousel");
  if (template.offer) return kindNamed("chatapp-offer");
  if (template.header) return kindNamed(`chatapp-${template.header.type}`);
  return kindNamed(template.variables > 0 ? "chatapp-variables" : "chatapp-plain");
}

const SAMPLE_FILES: Readonly<Record<string, string>> = {
  image: "https://shop.example/autumn.jpg",
  video: "https://shop.example/shelf.mp4",
  document: "https://shop.example/invoice.pdf",
};

/** For the variable of a button's URL, and for a code. */
const SAMPLE_VALUE = "4711";

/** A draft from a template and sample values, for previews and test sends. */
export function draftOf(template: Template, params: readonly string[]): Draft {
  const header = template.channel === "chatapp" ? template.header : null;
  return {
    ...EMPTY,
    templateName: template.name,
    params: Array.from({ length: template.variables }, (_, index) => params[index] ?? ""),
    buttons: template.channel === "chatapp" ? template.buttons.map(() => SAMPLE_VALUE) : [],
    headerText: header?.text ?? "",
    link: header?.link ?? SAMPLE_FILES[header?.type ?? ""] ?? "",
    cards: (template.channel === "chatapp" ? (template.cards ?? []) : []).map((card) => ({
      link: card.header.link ?? SAMPLE_FILES[card.header.type] ?? "",
      params: Array.from({ length: card.variables ?? 0 }, (_, index) => params[index] ?? SAMPLE_VALUE),
      buttons: card.buttons.map(() => SAMPLE_VALUE),
    })),
  };
}
