import { joinWithOr, isShowable } from "../../lib/text.ts";
import { Type, type Fields, type Infer } from "../../lib/schema.ts";
import {
  CARDS_MAX,
  HEADER_TEXT_MAX,
  isTemplateName,
  LANGUAGE_CODE,
  TEMPLATE_NAME_MAX,
  type MediaType,
} from "../../model/chatapp.ts";
import { ISO_TIME } from "../../lib/iso-time.ts";
import { readNumber } from "../../model/number.ts";
import type { SmsLimits } from "../../model/message.ts";
import { PART_TYPES } from "../../model/chat-session.ts";
import { campaignName } from "../campaign-name.ts";
import { mediaId } from "../media-source.ts";
import { sendAt } from "../send-at.ts";
import { EXTENSIONS, LINK_MAX, LINK_RULE, readLink } from "./media-link.ts";
import { context, degrees, interactive, line, PLACE_MAX, SESSION_FIELDS } from "./session-body.ts";

// Strings are limited in UTF-16 units, which only a `check` can count: `maxLength` of JSON Schema counts code points.
const PARAMS_MAX = 50;
const PARAM_MAX = 1024;
const BUTTONS_MAX = 10;
/** The platform's limits of a quick reply's payload and of a code. */
const PAYLOAD_MAX = 128;
const CODE_MAX = 15;
const DATA_MAX = 5000;

const FROM_RULE = "Give the business number as a string: a plus, the country code and the number, 7 to 15 digits.";
const TO_RULE = "Give the recipient's number as a string.";

const SESSION_TYPES = ["text", ...PART_TYPES] as const;

const messageType = Type.Union(
  ["template" as const, ...SESSION_TYPES].map((type) => Type.Literal(type)),
  {
    description: `\`template\`; within 24 hours of the recipient's last message also ${SESSION_TYPES.map((type) => `\`${type}\``).join(", ")}.`,
    error: `type is template, or ${joinWithOr(SESSION_TYPES)} within 24 hours of the recipient's last message, in small letters.`,
  },
);

const from = Type.String({
  format: "phone-with-plus",
  description: "The business number, with country code and plus: `+<country code><number>`.",
  error: FROM_RULE,
  check: (value) => (value.includes("+") && readNumber(value) !== null ? null : FROM_RULE),
});

const to = Type.String({
  format: "phone",
  description: "The recipient: country code first, 7 to 15 digits, plus optional.",
  error: TO_RULE,
  check: (value) => {
    if (value.trim() === "") return TO_RULE;
    return value.includes(",") ? "Give one recipient in to, or several in recipients." : null;
  },
});

/** The fields of every message to one recipient. */
const soleFields = { type: messageType, from, to, campaignName, sendAt };

/** The platform refuses these in a value (its errors 132018 and 131008), as it refuses a blank value. */
const VALUE_REFUSED = /[\n\r\t]| {5}/;
const VALUE_RULE = `A value is a string of at most ${PARAM_MAX} characters without NUL or half a character, never null.`;

const param = Type.String({
  maxLength: PARAM_MAX,
  error: VALUE_RULE,
  check: (value) => {
    if (value.length > PARAM_MAX || !isShowable(value)) return VALUE_RULE;
    if (value.trim() !== "" && !VALUE_REFUSED.test(value)) return null;
    return "A value is not empty and has no line break, no tab and no more than four spaces in a row: the platform refuses them.";
  },
});

const HEADER_TEXT_RULE = `Give the header's text: a string of 1 to ${HEADER_TEXT_MAX} characters without NUL or half a character.`;
const mediaRule = (type: MediaType): string =>
  `A header of type ${type} has an object ${type}, whose link is ${LINK_RULE}.`;

/** The fault of a header that has not the part of its type. */
export const HEADER_RULES = {
  text: HEADER_TEXT_RULE,
  image: mediaRule("image"),
  video: mediaRule("video"),
  document: mediaRule("document"),
  location: "A header of type location has an object location with latitude, longitude, name and address.",
};

const place = Type.Object(
  {
    latitude: degrees(90, "Latitude"),
    longitude: degrees(180, "Longitude"),
    name: line(PLACE_MAX, "Name of the place."),
    address: line(PLACE_MAX, "Address of the place."),
  },
  { description: "Required when type is location, and only then.", error: HEADER_RULES.location },
);

const media = (type: MediaType, size: string) =>
  Type.Object(
    {
      link: Type.Optional(
        Type.String({
          maxLength: LINK_MAX,
          description: `URL (http or https) of the ${type}: ${joinWithOr(EXTENSIONS[type])} of at most ${size}. Required unless \`mediaId\` is given.`,
          error: HEADER_RULES[type],
          check: (link) => (readLink(link) === null ? HEADER_RULES[type] : null),
        }),
      ),
      mediaId: mediaId("link"),
    },
    { description: `Required when type is ${type}, and only then.`, error: HEADER_RULES[type] },
  );

const header = Type.Object(
  {
    type: Type.Union(
      [
        Type.Literal("text"),
        Type.Literal("image"),
        Type.Literal("video"),
        Type.Literal("document"),
        Type.Literal("location"),
      ],
      {
        description: "Type of the header, which must be that of the template.",
        error: "type is one of text, image, video, document or location.",
      },
    ),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: HEADER_TEXT_MAX,
        description: "Required when type is text, and only then.",
        error: HEADER_TEXT_RULE,
        check: (value) => (value.length <= HEADER_TEXT_MAX && isShowable(value) ? null : HEADER_TEXT_RULE),
      }),
    ),
    image: Type.Optional(media("image", "5 MB")),
    video: Type.Optional(media("video", "16 MB")),
    document: Type.Optional(media("document", "100 MB")),
    location: Type.Optional(place),
  },
  {
    description: "The template's header; left out when it has none.",
    error: "header is an object with type and what it shows; leave it out when the template has none.",
  },
);

const ownValue = (max: number, description: string) => {
  const rule = (parameter: string): string =>
    `${parameter} is a string of 1 to ${max} characters without NUL or half a character.`;
  return Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: max,
      description,
      error: rule,
      check: (written) => (written.length <= max && isShowable(written) ? null : rule),
    }),
  );
};

const BUTTONS_RULE = `buttons is an array of at most ${BUTTONS_MAX} objects, each with the index of a button and its value.`;

const buttonValues = Type.Array(
  Type.Object(
    {
      index: Type.Integer({
        minimum: 0,
        maximum: BUTTONS_MAX - 1,
        description: "Place of the button in the template, from 0.",
        error: (parameter) => `${parameter} is the place of a button in the template, from 0.`,
      }),
      text: ownValue(LINK_MAX, "Link: value of the variable at the end of its URL."),
      payload: ownValue(PAYLOAD_MAX, "Quick reply: comes back when it is tapped."),
      code: ownValue(CODE_MAX, "Copy-code button: the code that it copies."),
      flowToken: ownValue(PARAM_MAX, "Form (a flow): comes back with its answers."),
      data: Type.Optional(
        Type.Record(Type.Unknown(), {
          description: `Form: data of its first screen, at most ${DATA_MAX} characters as JSON.`,
          error: (parameter) => `${parameter} is an object.`,
          check: (data) =>
            JSON.stringify(data).length <= DATA_MAX
              ? null
              : (parameter) => `${parameter} has at most ${DATA_MAX} characters as JSON.`,
        }),
      ),
      productId: ownValue(PARAM_MAX, "Catalogue: product whose picture is shown."),
    },
    { error: BUTTONS_RULE },
  ),
  {
    maxItems: BUTTONS_MAX,
    description: "Values of the template's buttons. A link with a variable and a copy-code button need one.",
    error: BUTTONS_RULE,
  },
);

/** The fault of a body without `params`, too. */
export const PARAMS_RULE = `params is an array with one string per variable, at most ${PARAMS_MAX}; it is empty when the template has none.`;

const VALUES_RULE = `values is an object with one string per variable, under its name, at most ${PARAMS_MAX}.`;

const bodyValues = (description: string, error: string) =>
  Type.Object(
    {
      params: Type.Optional(
        Type.Array(param, {
          maxItems: PARAMS_MAX,
          description:
            "One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given.",
          error: PARAMS_RULE,
        }),
      ),
      values: Type.Optional(
        Type.Record(param, {
          description: "In place of `params` where the template's variables have names: each name with its value.",
          error: VALUES_RULE,
          check: (values) => (Object.keys(values).length <= PARAMS_MAX ? null : VALUES_RULE),
        }),
      ),
    },
    { description, error },
  );

const EXPIRES_RULE =
  "expiresAt is the time at which the offer ends: epoch milliseconds, or like 2026-01-31T18:00:00Z with its zone.";

const offer = Type.Object(
  {
    expiresAt: Type.Union([Type.Integer(), Type.String({ format: "date-time" })], {
      description:
        "When the offer ends: epoch milliseconds, or ISO 8601 with its zone. Phones show the time that is left.",
      error: EXPIRES_RULE,
      check: (time) => (typeof time === "number" || ISO_TIME.test(time) ? null : EXPIRES_RULE),
    }),
  },
  {
    description: "The end of a limited-time offer; left out where the template shows none.",
    error: "offer is an object with expiresAt.",
  },
);

const CARD_RULE = `cards is an array of 2 to ${CARDS_MAX} objects, one per card of the template, each with a header and perhaps body and buttons.`;

const card = Type.Object(
  {
    header,
    body: Type.Optional(bodyValues("Values of the card's text.", "body is an object with params.")),
    buttons: Type.Optional(buttonValues),
  },
  { error: CARD_RULE },
);

const components = (description: string) =>
  Type.Object(
    {
      body: bodyValues("The template's body.", "Give components a body: an object with params."),
      header: Type.Optional(header),
      buttons: Type.Optional(buttonValues),
      offer: Type.Optional(offer),
      cards: Type.Optional(
        Type.Array(card, {
          minItems: 2,
          maxItems: CARDS_MAX,
          description: "The cards of a carousel, in order. Each has the image or video of its header.",
          error: CARD_RULE,
        }),
      ),
    },
    {
      description,
      error: "components is an object with body and perhaps header; leave it out when the template has neither.",
    },
  );

const NAME_RULE = `Give the template's name: lowercase letters a to z, digits and underscores only, 1 to ${TEMPLATE_NAME_MAX} of them.`;

const LANGUAGE_RULE = "language is a language code such as en or pt_BR.";

const language = Type.Optional(
  Type.String({
    pattern: LANGUAGE_CODE,
    description:
      "Language of the template. Left out, that of the recipient's contact, then of the account. A template without it is sent in its closest language.",
    error: LANGUAGE_RULE,
  }),
);

const templateFields = {
  language,
  templateName: Type.String({
    minLength: 1,
    maxLength: TEMPLATE_NAME_MAX,
    pattern: "^[a-z0-9_]+$",
    description: "The template: lowercase letters, digits and underscores. Required when type is template.",
    error: NAME_RULE,
    check: (value) => (isTemplateName(value) ? null : NAME_RULE),
  }),
  components: Type.Optional(
    components("Values and header; left out when the template has neither variables nor a header."),
  ),
};

const RECIPIENT_RULE = "A recipient is an object with to and perhaps language and components.";

const listedTo = Type.String({
  format: "phone",
  description: "The recipient: country code first, 7 to 15 digits, plus optional.",
  error: TO_RULE,
});

/** `maxItems` is published and refused by `readChat` as TOO_MANY_RECIPIENTS. */
const recipients = <F extends Fields>(own: F, max: number) =>
  Type.Array(Type.Object({ to: listedTo, ...own }, { error: RECIPIENT_RULE }), {
    minItems: 1,
    maxItems: max,
    description: `Replaces \`to\`: at most ${max.toLocaleString("en-US")} recipients, each optionally with language and components of its own.`,
    error: "recipients is an array of objects with to and perhaps language and components.",
  });

const listFields = { type: messageType, from, campaignName, sendAt };

const OWN_COMPONENTS = {
  language: Type.Optional(
    Type.String({
      pattern: LANGUAGE_CODE,
      description: "This recipient's language; left out, that of the request.",
      error: LANGUAGE_RULE,
    }),
  ),
  components: Type.Optional(components("This recipient's own values and header; left out, those of the request.")),
};

/** The body of a template message to one recipient. */
export const chatTemplateBody = Type.Object({ ...soleFields, ...templateFields });

/** The body of a template message to several recipients. */
export const chatTemplateListBody = Type.Object({
  ...listFields,
  recipients: recipients(OWN_COMPONENTS, Infinity),
  ...templateFields,
});

/** The bodies of a session message with one kind of content: to one recipient, and to several. */
export const sessionBodies = (content: Fields) => ({
  sole: Type.Object({ ...content, ...soleFields, context }),
  list: Type.Object({ ...content, ...listFields, recipients: recipients({}, Infinity) }),
});

/** The body of `POST /v1/chatapp` as it is published: of either type, to one recipient or several. */
export const chatBody = ({ recipientsMax }: Pick<SmsLimits, "recipientsMax">) =>
  Type.Object(
    {
      ...listFields,
      to: Type.Optional({ ...to, description: `${to.description} Required unless \`recipients\` is given.` }),
      recipients: Type.Optional(recipients(OWN_COMPONENTS, recipientsMax)),
      ...Type.Partial(Type.Object({ ...templateFields, ...SESSION_FIELDS, interactive })).properties,
      context,
    },
    { title: "ChatRequest" },
  );

export type ChatTemplateBody = Infer<typeof chatTemplateBody>;
export type ChatComponents = ChatTemplateBody["components"];
