import { ADDRESS_RULE, fixedText, webAddress } from "../../channels/rcs/fixed-text.ts";
import { readTemplateText } from "../../channels/template.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { isShowable } from "../../lib/text.ts";
import type { Fault } from "../../model/problem.ts";
import {
  CARDS_MAX,
  IMAGE_HEIGHTS,
  IMAGE_SIDES,
  ORIENTATIONS,
  RCS_KINDS,
  RCS_TEXT_MAX,
  type RcsCard,
  type RcsKind,
} from "../../model/rcs.ts";
import { defineRecord, plainName, type MergedFields } from "../record-type.ts";
import { suggestion, toSuggestion } from "./rcs-suggestion.ts";
import { oneOf, status } from "./shared-fields.ts";

/** Limits of phones and platforms. */
const SUGGESTIONS_MAX = 11;
const CARD_SUGGESTIONS_MAX = 4;
const CAROUSEL_MIN = 2;
const LENGTH_RULE = `The text has 1 to ${RCS_TEXT_MAX} characters, and not only spaces.`;

const card = Type.Object({
  title: Type.Default(fixedText({ max: 200 }, "Card title."), ""),
  description: Type.Default(fixedText({ max: 2000, lines: true }, "Card text."), ""),
  fileUrl: Type.Union([webAddress(), Type.Null()], {
    description:
      "Public http:// or https:// URL of the image or video. Requests may replace it. Null only while the template is learned.",
    error: ADDRESS_RULE,
    check: (url) => (url === null ? ADDRESS_RULE : null),
  }),
  thumbnailUrl: Type.Optional(webAddress("URL of a small picture that is shown until the file is loaded.")),
  height: Type.Optional(
    oneOf(IMAGE_HEIGHTS, "Height of the image. Defaults to medium. Only a single card may have a tall one."),
  ),
  orientation: Type.Optional(oneOf(ORIENTATIONS, "Orientation, if kind is card. Defaults to vertical.")),
  imageSide: Type.Optional(oneOf(IMAGE_SIDES, "Side of the image. Required if orientation is horizontal.")),
  suggestions: Type.Default(
    Type.Array(suggestion, { maxItems: CARD_SUGGESTIONS_MAX, description: "Suggestions of the card." }),
    [],
  ),
});

const fields = {
  kind: oneOf(
    RCS_KINDS,
    "`text`: text only. `rich`: text with suggestions. `card`: one card. `carousel`: 2 to 10 cards.",
  ),
  text: Type.Default(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: RCS_TEXT_MAX,
        error: { minLength: LENGTH_RULE, maxLength: LENGTH_RULE },
        check: textFault,
      }),
      "Text, with `{{1}}`, `{{2}}` for the variables, if kind is text or rich; null if cards contain it.",
    ),
    null,
  ),
  suggestions: Type.Default(
    Type.Array(suggestion, {
      maxItems: SUGGESTIONS_MAX,
      description: "Suggestions below the text, if kind is rich.",
    }),
    [],
  ),
  cards: Type.Default(
    Type.Array(card, { maxItems: CARDS_MAX, description: "Cards, if kind is card or carousel." }),
    [],
  ),
  status: Type.Default(status, "approved"),
};

export const rcsTemplate = defineRecord({
  kind: "rcsTemplate",
  channel: "rcs",
  name: plainName("`templateName` of requests."),
  fields,
  dependsOn: { text: ["kind"], suggestions: ["kind"], cards: ["kind"] },
  read: ({ fields: given, faults }) => {
    checkKind(given, faults);
    const { kind, text, suggestions, cards, status: approval } = given;
    return {
      kind,
      text,
      variables: variablesIn(text),
      suggestions: suggestions.map((each, index) => toSuggestion(each, `suggestions[${index}]`, faults)),
      cards: cards.map((each, index) => toCard(each, kind, `cards[${index}]`, faults)),
      status: approval,
    };
  },
});

function textFault(text: string): string | null {
  if (text.trim() === "" || text.length > RCS_TEXT_MAX) return LENGTH_RULE;
  if (!isShowable(text)) return "The text holds half a character (a lone surrogate) or a NUL, which no phone can show.";
  const read = readTemplateText(text);
  if ("fault" in read) return read.fault;
  // Only a text with {#var#} has a limit on its values.
  return read.valueMax === null ? null : "Variables are numbered on RCS: write {{1}}, {{2}} and so on for {#var#}.";
}

function variablesIn(text: string | null): number {
  const read = text === null ? null : readTemplateText(text);
  return read && "variables" in read ? read.variables : 0;
}

type Given = MergedFields<"rcsTemplate", typeof fields>;

/** The kind decides which of text, suggestions and cards a template has. */
function checkKind({ kind, text, suggestions, cards }: Given, faults: Fault[]): void {
  const fault = (parameter: string, message: string): void => void faults.push({ parameter, message });
  if (kind === "text" || kind === "rich") {
    if (text === null) fault("text", "Give the text as a string, with {{1}}, {{2}} and so on for its variables.");
    if (kind === "rich" && suggestions.length === 0)
      fault("suggestions", "A rich text has suggestions: give at least one.");
    if (kind === "text" && suggestions.length > 0)
      fault("suggestions", "A text with suggestions is of kind rich: give that kind.");
    if (cards.length > 0) fault("cards", "Cards make a template of kind card or carousel: give that kind.");
    return;
  }
  if (text !== null) fault("text", "The text of a card is its title and description: leave text out, or give null.");
  if (suggestions.length > 0) fault("suggestions", "Cards have suggestions of their own: put them there.");
  if (kind === "card" && cards.length !== 1) fault("cards", "A template of kind card has an array of one card.");
  if (kind === "carousel" && cards.length < CAROUSEL_MIN)
    fault("cards", `A template of kind carousel has an array of ${CAROUSEL_MIN} to ${CARDS_MAX} cards.`);
}

function toCard(
  { title, description, fileUrl, suggestions, ...layout }: Infer<typeof card>,
  kind: RcsKind,
  parameter: string,
  faults: Fault[],
): RcsCard {
  // The cards of a learned template have no address yet. A person who changes it has to add them.
  if (fileUrl === null) faults.push({ parameter: `${parameter}.fileUrl`, message: ADDRESS_RULE });
  for (const [field, message] of layoutFaults(layout, kind))
    faults.push({ parameter: `${parameter}.${field}`, message });
  const { thumbnailUrl, height, orientation, imageSide } = layout;
  return {
    title,
    description,
    fileUrl,
    ...(thumbnailUrl !== undefined && { thumbnailUrl }),
    ...(height && { height }),
    ...(orientation && { orientation }),
    ...(imageSide && { imageSide }),
    suggestions: suggestions.map((each, index) => toSuggestion(each, `${parameter}.suggestions[${index}]`, faults)),
  };
}

type Layout = Pick<Infer<typeof card>, "height" | "orientation" | "imageSide">;

function layoutFaults({ height, orientation = "vertical", imageSide }: Layout, kind: RcsKind): [string, string][] {
  const faults: [string, string][] = [];
  if (kind === "carousel") {
    if (height === "tall") faults.push(["height", "Images of a carousel are short or medium."]);
    if (orientation === "horizontal") faults.push(["orientation", "Cards of a carousel are vertical."]);
  }
  if (orientation === "horizontal" && imageSide === undefined)
    faults.push(["imageSide", "A horizontal card needs the side of its image: give left or right."]);
  if (orientation === "vertical" && imageSide !== undefined)
    faults.push(["imageSide", "Only a horizontal card has its image on a side: leave imageSide out."]);
  return faults;
}
