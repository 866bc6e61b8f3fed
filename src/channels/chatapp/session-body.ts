import { isShowable, joinWithOr } from "../../lib/text.ts";
import { Type, type Fields, type SchemasOf, type Typed } from "../../lib/schema.ts";
import { isEmoji } from "../../model/emoji.ts";
import { HEADER_TEXT_MAX } from "../../model/chatapp.ts";
import type { FileType, Interactive, SessionFile, SessionHeader, SessionPart } from "../../model/chat-session.ts";
import { mediaId, type WrittenFile } from "../media-source.ts";
import { EXTENSIONS, LINK_MAX, LINK_RULE, readLink } from "./media-link.ts";

/**
 * Contents of session messages, in the shapes and limits of the WhatsApp Cloud API (its pages "Text messages" to
 * "Interactive call-to-action URL button messages"). Lengths are UTF-16 units, as in every limit on a text.
 */

const TEXT_MAX = 4096;
const CAPTION_MAX = 1024;
const FILE_NAME_MAX = 240;
const FOOTER_MAX = 60;
const LABEL_MAX = 20;
const BODY_MAX = 1024;
const BUTTON_ID_MAX = 256;
const ROW_ID_MAX = 200;
const ROW_TITLE_MAX = 24;
const ROW_DESCRIPTION_MAX = 72;
const BUTTONS_MAX = 3;
/** The rows of all sections of a list together. */
const ROWS_MAX = 10;
const CONTACTS_MAX = 257;
/** Every recipient's row has the contacts, so a bulk send would multiply longer ones. */
const CONTACTS_LENGTH_MAX = 50_000;
const ENTRIES_MAX = 20;
export const PLACE_MAX = 1000;
const DETAIL_MAX = 500;
const MESSAGE_ID_MAX = 500;

const TEXT_RULE = `A message of type text has an object text, whose body is a string of 1 to ${TEXT_MAX} characters without NUL or half a character.`;

/** A string with something to see in it. */
export function line(max: number, description: string): Typed<string> {
  const rule = (parameter: string): string =>
    `${parameter} is a string of 1 to ${max} characters without NUL or half a character.`;
  return Type.String({
    minLength: 1,
    maxLength: max,
    description,
    error: rule,
    check: (value) => (value.length <= max && value.trim() !== "" && isShowable(value) ? null : rule),
  });
}

function link(description: string): Typed<string> {
  const rule = (parameter: string): string => `${parameter} is ${LINK_RULE}.`;
  return Type.String({
    maxLength: LINK_MAX,
    description,
    error: rule,
    check: (value) => (readLink(value) === null ? rule : null),
  });
}

const SIZES: Record<FileType, string> = {
  image: "5 MB",
  video: "16 MB",
  document: "100 MB",
  audio: "16 MB",
  sticker: "500 KB",
};

const fileFields = (type: FileType) => ({
  link: Type.Optional(
    link(
      `URL (http or https) of the ${type}: ${joinWithOr(EXTENSIONS[type])} of at most ${SIZES[type]}. Required unless \`mediaId\` is given.`,
    ),
  ),
  mediaId: mediaId("link"),
});

const partOptions = (type: string, holds: string) => ({
  description: `Required when type is ${type}, and only then.`,
  error: `A message of type ${type} has ${holds}.`,
});

const fileOptions = (type: FileType) => partOptions(type, `an object ${type} with a link`);

const caption = Type.Optional(line(CAPTION_MAX, "Text below the file."));
const filename = Type.Optional(line(FILE_NAME_MAX, "Name of the document on the phone."));

const image = Type.Object({ ...fileFields("image"), caption }, fileOptions("image"));
const video = Type.Object({ ...fileFields("video"), caption }, fileOptions("video"));
const document = Type.Object({ ...fileFields("document"), caption, filename }, fileOptions("document"));
const audio = Type.Object(
  {
    ...fileFields("audio"),
    voice: Type.Optional(
      Type.Boolean({
        description: "True for a voice message, which the phone shows with a microphone. OGG with OPUS.",
      }),
    ),
  },
  fileOptions("audio"),
);
const sticker = Type.Object(fileFields("sticker"), fileOptions("sticker"));

export const degrees = (max: number, name: string) =>
  Type.Number({
    minimum: -max,
    maximum: max,
    description: `${name} in degrees.`,
    error: (parameter) => `${parameter} is a number from -${max} to ${max}.`,
  });

const location = Type.Object(
  {
    latitude: degrees(90, "Latitude"),
    longitude: degrees(180, "Longitude"),
    name: Type.Optional(line(PLACE_MAX, "Name of the place.")),
    address: Type.Optional(line(PLACE_MAX, "Address of the place.")),
  },
  partOptions("location", "an object location with latitude and longitude"),
);

const detail = (description: string) => Type.Optional(line(DETAIL_MAX, description));

const entries = <T>(item: Typed<T>, description: string) =>
  Type.Optional(
    Type.Array(item, {
      maxItems: ENTRIES_MAX,
      description,
      error: (parameter) => `${parameter} is an array of at most ${ENTRIES_MAX} objects.`,
    }),
  );

const BIRTHDAY_RULE = "birthday is a date such as 1990-12-31.";

const contact = Type.Object(
  {
    name: Type.Object(
      {
        formatted_name: line(DETAIL_MAX, "The whole name."),
        first_name: detail("First name."),
        last_name: detail("Last name."),
        middle_name: detail("Middle name."),
        suffix: detail("Suffix of the name."),
        prefix: detail("Prefix of the name."),
      },
      {
        description: "The name: formatted_name and at least one other part.",
        error: (parameter) => `${parameter} is an object with formatted_name and at least one part of the name.`,
        check: (name) =>
          Object.keys(name).some((part) => NAME_PARTS.has(part))
            ? null
            : (parameter) => `${parameter} needs a part of the name besides formatted_name, such as first_name.`,
      },
    ),
    birthday: Type.Optional(
      Type.String({
        pattern: String.raw`^\d{4}-\d{2}-\d{2}$`,
        description: "Year, month and day.",
        error: BIRTHDAY_RULE,
        check: (value) => (isDay(value) ? null : BIRTHDAY_RULE),
      }),
    ),
    phones: entries(
      Type.Object({
        phone: detail("The number as the phone shows it."),
        type: detail("Such as CELL, HOME or WORK."),
        wa_id: detail("The number on the platform, so that the phone offers a chat."),
      }),
      "Phone numbers.",
    ),
    emails: entries(Type.Object({ email: detail("Address."), type: detail("Such as HOME or WORK.") }), "E-mails."),
    urls: entries(Type.Object({ url: detail("URL."), type: detail("Such as HOME or WORK.") }), "Web pages."),
    addresses: entries(
      Type.Object({
        street: detail("Street and number."),
        city: detail("City."),
        state: detail("State."),
        zip: detail("Postal code."),
        country: detail("Country."),
        country_code: detail("Two letters of the country."),
        type: detail("Such as HOME or WORK."),
      }),
      "Addresses.",
    ),
    org: Type.Optional(
      Type.Object(
        { company: detail("Company."), department: detail("Department."), title: detail("Position.") },
        { description: "Employer.", error: (parameter) => `${parameter} is an object.` },
      ),
    ),
  },
  { error: (parameter) => `${parameter} is an object with a name.` },
);

const NAME_PARTS: ReadonlySet<string> = new Set(["first_name", "last_name", "middle_name", "suffix", "prefix"]);

/** A day that the calendar has. */
const isDay = (value: string): boolean =>
  !Number.isNaN(Date.parse(`${value}T00:00:00Z`)) && new Date(`${value}T00:00:00Z`).toISOString().startsWith(value);

const CONTACTS_RULE = `The contacts have at most ${CONTACTS_LENGTH_MAX} characters in all, as JSON.`;

const contacts = Type.Array(contact, {
  minItems: 1,
  maxItems: CONTACTS_MAX,
  check: (list) => (JSON.stringify(list).length <= CONTACTS_LENGTH_MAX ? null : CONTACTS_RULE),
  ...partOptions("contacts", `an array contacts with 1 to ${CONTACTS_MAX} objects, each with a name`),
});

const headerFile = <F extends Fields>(type: "image" | "video" | "document", own: F) =>
  Type.Optional(
    Type.Object(
      { ...fileFields(type), ...own },
      { description: `Required when the header's type is ${type}.`, error: (at) => `${at} is an object with a link.` },
    ),
  );

const headerText = Type.Optional(line(HEADER_TEXT_MAX, "Required when the header's type is text."));

const HEADER_TYPE_RULE = "The header's type is one of text, image, video or document.";

const header = Type.Optional(
  Type.Object(
    {
      type: Type.Union([Type.Literal("text"), Type.Literal("image"), Type.Literal("video"), Type.Literal("document")], {
        description: "Type of the header.",
        error: HEADER_TYPE_RULE,
      }),
      text: headerText,
      image: headerFile("image", {}),
      video: headerFile("video", {}),
      document: headerFile("document", { filename }),
    },
    { description: "Above the text.", error: "header is an object with type and the part of that type." },
  ),
);

const LIST_HEADER_RULE = "The header of a list is a text: an object with type text and text.";

const listHeader = Type.Optional(
  Type.Object(
    { type: Type.Literal("text", { description: "Always text.", error: LIST_HEADER_RULE }), text: headerText },
    { description: "Above the text.", error: LIST_HEADER_RULE },
  ),
);

const body = (max: number) =>
  Type.Object(
    { text: line(max, "The text.") },
    { description: "The text.", error: (parameter) => `${parameter} is an object with a text.` },
  );

const footer = Type.Optional(
  Type.Object(
    { text: line(FOOTER_MAX, "The footer.") },
    { description: "Below the text.", error: (parameter) => `${parameter} is an object with a text.` },
  ),
);

const INTERACTIVE_TYPE_RULE = "interactive.type is one of button, list or cta_url.";

const kind = <const T extends string>(type: T) =>
  Type.Literal(type, { description: "button, list or cta_url.", error: INTERACTIVE_TYPE_RULE });

const interactiveOptions = partOptions("interactive", "an object interactive with type, body and action");

const BUTTONS_RULE = `buttons is an array of 1 to ${BUTTONS_MAX} objects with type reply and reply.`;

const button = Type.Object(
  {
    type: Type.Literal("reply", { description: "Always reply.", error: (at) => `${at} is reply.` }),
    reply: Type.Object(
      {
        id: line(BUTTON_ID_MAX, "Comes back when the button is tapped."),
        title: line(LABEL_MAX, "Label."),
      },
      { description: "The button.", error: (parameter) => `${parameter} is an object with id and title.` },
    ),
  },
  { error: BUTTONS_RULE },
);

const repeated = (values: readonly string[]): string | null =>
  values.find((value, index) => values.indexOf(value) !== index) ?? null;

const interactiveButtons = Type.Object(
  {
    type: kind("button"),
    header,
    body: body(BODY_MAX),
    footer,
    action: Type.Object(
      {
        buttons: Type.Array(button, {
          minItems: 1,
          maxItems: BUTTONS_MAX,
          description: `1 to ${BUTTONS_MAX} reply buttons.`,
          error: BUTTONS_RULE,
          check: (buttons) => {
            const twice =
              repeated(buttons.map(({ reply }) => reply.id)) ?? repeated(buttons.map(({ reply }) => reply.title));
            return twice === null ? null : `Each button has an id and a title of its own: ${twice} occurs twice.`;
          },
        }),
      },
      { description: "The buttons.", error: "action is an object with buttons." },
    ),
  },
  interactiveOptions,
);

const SECTIONS_RULE = `sections is an array of 1 to ${ROWS_MAX} objects with rows.`;

const row = Type.Object(
  {
    id: line(ROW_ID_MAX, "Comes back when the row is chosen."),
    title: line(ROW_TITLE_MAX, "Label."),
    description: Type.Optional(line(ROW_DESCRIPTION_MAX, "Below the label.")),
  },
  { error: (parameter) => `${parameter} is an object with id and title.` },
);

const section = Type.Object(
  {
    title: Type.Optional(line(ROW_TITLE_MAX, "Heading; required if there are several sections.")),
    rows: Type.Array(row, {
      minItems: 1,
      maxItems: ROWS_MAX,
      description: `Rows; at most ${ROWS_MAX} in all sections together.`,
      error: (parameter) => `${parameter} is an array of 1 to ${ROWS_MAX} objects with id and title.`,
    }),
  },
  { error: SECTIONS_RULE },
);

const interactiveList = Type.Object(
  {
    type: kind("list"),
    header: listHeader,
    body: body(TEXT_MAX),
    footer,
    action: Type.Object(
      {
        button: line(LABEL_MAX, "Label of the button that opens the list."),
        sections: Type.Array(section, {
          minItems: 1,
          maxItems: ROWS_MAX,
          description: "Sections of the list.",
          error: SECTIONS_RULE,
          check: (sections) => {
            const rows = sections.flatMap((each) => each.rows);
            if (rows.length > ROWS_MAX)
              return `A list has at most ${ROWS_MAX} rows in all; this one has ${rows.length}.`;
            if (sections.length > 1 && sections.some(({ title }) => title === undefined))
              return "Give every section a title: a list with several sections needs them.";
            const twice = repeated(rows.map(({ id }) => id));
            return twice === null ? null : `Each row has an id of its own: ${twice} occurs twice.`;
          },
        }),
      },
      { description: "The list.", error: "action is an object with button and sections." },
    ),
  },
  interactiveOptions,
);

const interactiveUrl = Type.Object(
  {
    type: kind("cta_url"),
    header,
    body: body(BODY_MAX),
    footer,
    action: Type.Object(
      {
        name: Type.Literal("cta_url", { description: "Always cta_url.", error: "action.name is cta_url." }),
        parameters: Type.Object(
          { display_text: line(LABEL_MAX, "Label of the button."), url: link("URL that the button opens.") },
          { description: "The button.", error: "parameters is an object with display_text and url." },
        ),
      },
      { description: "The button.", error: "action is an object with name cta_url and parameters." },
    ),
  },
  interactiveOptions,
);

const messageId = Type.String({
  minLength: 1,
  maxLength: MESSAGE_ID_MAX,
  description: "A `messageId` of a message to this recipient, an `id` of `GET /v1/inbound`, or the platform's own id.",
  error: (parameter) => `${parameter} is the id of a message of this conversation.`,
});

const EMOJI_RULE = "emoji is one emoji; empty to take the reaction back.";

const reaction = Type.Object(
  {
    message_id: messageId,
    emoji: Type.String({
      maxLength: 40,
      description: "One emoji; empty to take the reaction back.",
      error: EMOJI_RULE,
      check: (value) => (value === "" || isEmoji(value) ? null : EMOJI_RULE),
    }),
  },
  partOptions("reaction", "an object reaction with message_id and emoji"),
);

export const context = Type.Optional(
  Type.Object(
    { message_id: messageId },
    {
      description: "The message that this one replies to; the phone quotes it. For session messages to one recipient.",
      error: "context is an object with message_id.",
    },
  ),
);

const text = Type.Object(
  {
    body: Type.String({
      minLength: 1,
      maxLength: TEXT_MAX,
      description: "The message.",
      error: TEXT_RULE,
      check: (value) => (value.length <= TEXT_MAX && isShowable(value) ? null : TEXT_RULE),
    }),
    preview_url: Type.Optional(
      Type.Boolean({
        description: "True to show a preview of the first link.",
        error: "preview_url is true or false.",
      }),
    ),
  },
  { description: "Required when type is text, and only then.", error: TEXT_RULE },
);

interface PartFields {
  text: { readonly body: string; readonly preview_url?: boolean };
  image: WrittenFile<SessionFile>;
  video: WrittenFile<SessionFile>;
  document: WrittenFile<SessionFile>;
  audio: WrittenFile<SessionFile>;
  sticker: WrittenFile<SessionFile>;
  location: Extract<SessionPart, { type: "location" }>["location"];
  contacts: Extract<SessionPart, { type: "contacts" }>["contacts"];
  reaction: { readonly message_id: string; readonly emoji: string };
}

/** The field of each type of session message. A message has only the field of its own type. */
export const SESSION_FIELDS = {
  text,
  image,
  video,
  document,
  audio,
  sticker,
  location,
  contacts,
  reaction,
} satisfies SchemasOf<PartFields>;

/** An interactive message as requests write it. */
type WrittenInteractive<I> = I extends { readonly header?: SessionHeader }
  ? Omit<I, "header"> & { readonly header?: WrittenHeader }
  : I;

type WrittenHeader = {
  readonly [K in keyof SessionHeader]: NonNullable<SessionHeader[K]> extends SessionFile
    ? WrittenFile<SessionFile>
    : SessionHeader[K];
};

/** The field of an interactive message, by its own type. */
export const INTERACTIVE_FIELDS = {
  button: interactiveButtons,
  list: interactiveList,
  cta_url: interactiveUrl,
} satisfies Record<Interactive["type"], Typed<WrittenInteractive<Interactive>>>;

/** As it is published. */
export const interactive = Type.Union([interactiveButtons, interactiveList, interactiveUrl], interactiveOptions);
