import type { Fault } from "../../model/problem.ts";
import { isObject } from "../../lib/plain-object.ts";
import {
  CARDS_MAX,
  RCS_KINDS,
  RCS_TEMPLATE_STATUSES,
  RCS_TEXT_MAX,
  type RcsCard,
  type RcsKind,
  type RcsTemplate,
  type RcsTemplateStatus,
  type Suggestion,
} from "../../model/rcs.ts";
import { readTemplateText } from "../template.ts";
import { checkSuggestions } from "./check-suggestions.ts";
import { readAddress, readWords } from "./check-words.ts";
import { isShowable } from "../../lib/plain-text.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What phones and platforms take at most. */
export const RCS_TEMPLATE_MAX = { suggestions: 11, title: 200, description: 2000, cardSuggestions: 4 } as const;
const CAROUSEL_MIN = 2;

/**
 * Reads a template that somebody makes or changes, within the limits of phones and platforms, so that what is stored
 * can be sent. What is wrong goes to `faults`, by field.
 */
export function checkRcsTemplate(given: unknown, faults: Fault[]): RcsTemplate {
  if (!isObject(given)) {
    faults.push({ parameter: "", message: "A template is an object." });
    return { kind: "text", text: null, variables: 0, suggestions: [], cards: [], status: "draft" };
  }
  const kind = readKind(given, faults);
  const status = readStatus(given.status, faults);
  const hasCards = kind === "card" || kind === "carousel";
  const { text, variables } = hasCards ? withoutText(given.text, faults) : readText(given.text, faults);
  const suggestions = readSuggestions(kind, given.suggestions, faults);
  const cards = hasCards ? readCards(kind, given.cards, faults) : withoutCards(given.cards, faults);
  return { kind, text, variables, suggestions, cards, status };
}

/** A kind that is none is guessed from the rest, so that the rest can be held against something. */
function readKind({ kind, suggestions, cards }: Fields, faults: Fault[]): RcsKind {
  const known = RCS_KINDS.find((each) => each === kind);
  if (known) return known;
  faults.push({ parameter: "kind", message: "kind is one of text, rich, card or carousel." });
  if (Array.isArray(cards) && cards.length > 0) return cards.length === 1 ? "card" : "carousel";
  return Array.isArray(suggestions) && suggestions.length > 0 ? "rich" : "text";
}

function readStatus(status: unknown, faults: Fault[]): RcsTemplateStatus {
  if (status === undefined) return "approved";
  const known = RCS_TEMPLATE_STATUSES.find((each) => each === status);
  if (known) return known;
  faults.push({ parameter: "status", message: "status is one of draft, approved or paused; approved unless given." });
  return "draft";
}

type Text = Pick<RcsTemplate, "text" | "variables">;

function readText(text: unknown, faults: Fault[]): Text {
  const fault = (message: string): Text => {
    faults.push({ parameter: "text", message });
    return { text: null, variables: 0 };
  };
  if (typeof text !== "string")
    return fault("Give the text as a string, with {{1}}, {{2}} and so on for its variables.");
  if (text.trim() === "" || text.length > RCS_TEXT_MAX)
    return fault(`The text has 1 to ${RCS_TEXT_MAX} characters, and not only spaces.`);
  if (!isShowable(text))
    return fault("The text holds half a character (a lone surrogate) or a NUL, which no phone can show.");
  const read = readTemplateText(text);
  if ("fault" in read) return fault(read.fault);
  // Only a text with {#var#} has a limit on its values.
  if (read.valueMax !== null) return fault("Variables are numbered on RCS: write {{1}}, {{2}} and so on for {#var#}.");
  return { text, variables: read.variables };
}

function withoutText(text: unknown, faults: Fault[]): Text {
  if (text !== undefined && text !== null)
    faults.push({
      parameter: "text",
      message: "The words of a card are its title and description: leave text out, or give null.",
    });
  return { text: null, variables: 0 };
}

function readSuggestions(kind: RcsKind, given: unknown, faults: Fault[]): Suggestion[] {
  const suggestions = checkSuggestions("suggestions", given, RCS_TEMPLATE_MAX.suggestions, faults);
  const count = Array.isArray(given) ? given.length : 0;
  if (kind === "rich" && (given === undefined || (Array.isArray(given) && count === 0)))
    faults.push({ parameter: "suggestions", message: "A rich text has suggestions: give at least one." });
  if (kind === "text" && count > 0)
    faults.push({ parameter: "suggestions", message: "A text with suggestions is of kind rich: give that kind." });
  if ((kind === "card" || kind === "carousel") && count > 0)
    faults.push({ parameter: "suggestions", message: "Cards have suggestions of their own: put them there." });
  return suggestions;
}

function readCards(kind: "card" | "carousel", given: unknown, faults: Fault[]): RcsCard[] {
  const [min, max] = kind === "card" ? [1, 1] : [CAROUSEL_MIN, CARDS_MAX];
  if (Array.isArray(given) && given.length >= min && given.length <= max)
    return given.map((each: unknown, index) => readCard(`cards[${index}]`, each, faults));
  const needs = kind === "card" ? "one card" : `${min} to ${max} cards`;
  faults.push({ parameter: "cards", message: `A template of kind ${kind} has an array of ${needs}.` });
  return [];
}

function readCard(parameter: string, given: unknown, faults: Fault[]): RcsCard {
  if (!isObject(given)) {
    const message = "A card is an object with title, description, fileUrl and suggestions.";
    faults.push({ parameter, message });
    return { title: "", description: "", fileUrl: null, suggestions: [] };
  }
  const { title = "", description = "", fileUrl, suggestions } = given;
  const many = { min: 0, max: RCS_TEMPLATE_MAX.description, lines: true } as const;
  return {
    title: readWords(`${parameter}.title`, title, { min: 0, max: RCS_TEMPLATE_MAX.title }, faults),
    description: readWords(`${parameter}.description`, description, many, faults),
    fileUrl: readAddress(`${parameter}.fileUrl`, fileUrl, faults),
    suggestions: checkSuggestions(`${parameter}.suggestions`, suggestions, RCS_TEMPLATE_MAX.cardSuggestions, faults),
  };
}

function withoutCards(given: unknown, faults: Fault[]): RcsCard[] {
  if (given !== undefined && !(Array.isArray(given) && given.length === 0))
    faults.push({ parameter: "cards", message: "Cards make a template of kind card or carousel: give that kind." });
  return [];
}
