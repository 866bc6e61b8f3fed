import { SUGGESTION_MAX } from "../../channels/rcs/check-suggestions.ts";
import { checkRcsTemplate, RCS_TEMPLATE_MAX } from "../../channels/rcs/check-template.ts";
import { ADDRESS_MAX } from "../../channels/rcs/wording.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import { CARDS_MAX, RCS_KINDS, RCS_TEXT_MAX, type RcsTemplate } from "../../model/rcs.ts";
import type { RecordKind } from "../record-kind.ts";
import { oneOf, status } from "./words.ts";

const optionalText = (maxLength: number, description: string): Schema =>
  Type.Optional(Type.String({ maxLength, description }));

const time = (description: string): Schema =>
  Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ maxLength: 30 })], { description }));

const suggestion = Type.Object({
  type: oneOf(
    ["reply", "url", "dial", "viewLocation", "shareLocation", "calendar"],
    "What a tap does: answers, opens a page, calls, shows a place, tells where the phone is, or notes an event.",
  ),
  text: Type.String({ minLength: 1, maxLength: SUGGESTION_MAX.text, description: "What it says." }),
  data: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SUGGESTION_MAX.data,
      description: "What the bot gets to know of the tap; the same as `text` unless given.",
    }),
  ),
  url: optionalText(ADDRESS_MAX, "An http:// or https:// address. Required when type is url."),
  number: Type.Optional(
    Type.String({ description: "An international phone number with its plus. Required when type is dial." }),
  ),
  latitude: Type.Optional(
    Type.Number({ minimum: -90, maximum: 90, description: "In degrees. Required when type is viewLocation." }),
  ),
  longitude: Type.Optional(
    Type.Number({ minimum: -180, maximum: 180, description: "In degrees. Required when type is viewLocation." }),
  ),
  label: optionalText(SUGGESTION_MAX.label, "The name of the place, when type is viewLocation."),
  title: optionalText(SUGGESTION_MAX.title, "What the event is called. Required when type is calendar."),
  startAt: time(
    "When the event begins: epoch milliseconds, or ISO 8601 with its zone. Required when type is calendar.",
  ),
  endAt: time("When it ends, in the same way."),
  description: optionalText(SUGGESTION_MAX.description, "More about the event."),
});

const card = Type.Object({
  title: optionalText(RCS_TEMPLATE_MAX.title, "Its heading."),
  description: optionalText(RCS_TEMPLATE_MAX.description, "Its words."),
  fileUrl: nullable(
    Type.String({ maxLength: ADDRESS_MAX }),
    "Public http:// or https:// address of its image or video, which a request may replace. Null only while it is learned.",
  ),
  suggestions: Type.Optional(
    Type.Array(suggestion, { maxItems: RCS_TEMPLATE_MAX.cardSuggestions, description: "What can be tapped on it." }),
  ),
});

const fields: Readonly<Record<keyof Omit<RcsTemplate, "variables">, Schema>> = {
  kind: oneOf(
    RCS_KINDS,
    "`text` is words alone, `rich` words with suggestions, `card` one card, `carousel` 2 to 10 of them.",
  ),
  text: nullable(
    Type.String({ minLength: 1, maxLength: RCS_TEXT_MAX }),
    "The words, with `{{1}}`, `{{2}}` for the variables, when kind is text or rich; null where cards hold the words.",
  ),
  suggestions: Type.Array(suggestion, {
    maxItems: RCS_TEMPLATE_MAX.suggestions,
    description: "What can be tapped under the text, when kind is rich.",
  }),
  cards: Type.Array(card, { maxItems: CARDS_MAX, description: "The cards, when kind is card or carousel." }),
  status,
};

/** What RCS requests name by `templateName`. */
export const rcsTemplate: RecordKind<"rcsTemplate", Omit<RcsTemplate, "variables">> = {
  kind: "rcsTemplate",
  channel: "rcs",
  name: { meaning: "The `templateName` of requests." },
  fields,
  defaults: { text: null, suggestions: [], cards: [], status: "approved" },
  read: (given) => checkRcsTemplate(given.fields, given.faults),
};
