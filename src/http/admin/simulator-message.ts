import type { Caller } from "../../accounts/caller.ts";
import { maskAddress } from "../../email/address.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { CHANNELS, isEmail, isRcs, isSessionContent, isSms, type MessageContent } from "../../model/message.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import { splitUserData } from "../../model/user-data.ts";
import { SESSION_VIEW, sessionView } from "../session-view.ts";
import { hideCodes, seesMasked } from "../hide-numbers.ts";

/** Phone message for responses: only fields of its channel; codes are masked for viewers. */
export function phoneMessageView(message: PhoneMessage, caller: Caller): object {
  const { id, messageId, number, sender, channel, content, receivedAt } = message;
  return {
    id,
    messageId,
    to: number,
    sender,
    channel,
    ...(seesMasked(caller) ? (hideCodes(shown(content, maskAddress)) as object) : shown(content, String)),
    receivedAt,
  };
}

function shown(content: MessageContent, showAddress: (address: string) => string): object {
  const { text } = content;
  if (isSms(content)) {
    const { encoding, flash, udh, dataCoding } = content;
    return {
      text,
      encoding,
      flash,
      parts: splitUserData(content),
      ...(udh !== undefined && { udh }),
      ...(dataCoding !== undefined && { dataCoding }),
    };
  }
  if (isRcs(content)) {
    const { kind, templateName, suggestions, cards } = content;
    return { kind, templateName, text, suggestions, cards };
  }
  if (isEmail(content)) {
    const { to, subject, html } = content;
    return { email: showAddress(to), subject, text, html };
  }
  if (isSessionContent(content)) return { text, ...sessionView(content) };
  if (!("templateName" in content)) return { text };
  const { templateName, language, header, footer, buttons, offer, cards } = content;
  return {
    templateName,
    language,
    header,
    text,
    footer,
    buttons,
    ...(offer && { offer }),
    ...(cards && { carousel: cards.map((card) => ({ header: card.header, text: card.text, buttons: card.buttons })) }),
  };
}

const labelled = {
  type: Type.String({ description: "Action type." }),
  text: Type.String({ description: "Label." }),
};

const Suggestions = Type.Array(
  Type.Object({
    ...labelled,
    data: Type.String({ description: "Postback data sent to the sender on a tap; not shown on the phone." }),
    url: Type.Optional(Type.String({ description: "Target of `url`." })),
    webview: Type.Optional(
      Type.String({ description: "Height of the webview in which `url` opens: full, tall or half." }),
    ),
    number: Type.Optional(Type.String({ description: "Number that `dial` calls, or `compose` writes to." })),
    message: Type.Optional(Type.String({ description: "Text that `compose` prefills." })),
    recording: Type.Optional(Type.String({ description: "Recording that `compose` starts: audio or video." })),
    latitude: Type.Optional(Type.Number({ description: "Latitude for `viewLocation`." })),
    longitude: Type.Optional(Type.Number({ description: "Longitude for `viewLocation`." })),
    label: Type.Optional(Type.String({ description: "Name of the location for `viewLocation`." })),
    query: Type.Optional(Type.String({ description: "Words that `viewLocation` searches for around the user." })),
    title: Type.Optional(Type.String({ description: "Title of the event for `calendar`." })),
    startAt: Type.Optional(Type.Integer({ description: "Start of the event, in epoch milliseconds." })),
    endAt: Type.Optional(Type.Integer({ description: "End of the event, in epoch milliseconds." })),
    description: Type.Optional(Type.String({ description: "Description of the event." })),
  }),
  { description: "RCS suggestions: reply, url, dial, viewLocation, shareLocation, calendar, compose." },
);

const Cards = Type.Array(
  Type.Object({
    title: Type.String({ description: "Card title." }),
    description: Type.String({ description: "Card text." }),
    fileUrl: Type.Union([Type.String(), Type.Null()], {
      description: "URL of the image or video, or `media:` and the id of uploaded media; null if the card has none.",
    }),
    thumbnailUrl: Type.Optional(Type.String({ description: "Small picture that is shown until the file is loaded." })),
    height: Type.Optional(
      Type.String({ description: "Height of the image: short, medium or tall; medium if absent." }),
    ),
    orientation: Type.Optional(Type.String({ description: "vertical or horizontal; vertical if absent." })),
    imageSide: Type.Optional(Type.String({ description: "Side of the image on a horizontal card: left or right." })),
    suggestions: Suggestions,
  }),
  { description: "RCS cards, from left to right." },
);

const Header = Type.Union(
  [
    Type.Object({
      type: Type.String({ description: "text, image, video, document or location." }),
      text: Type.Optional(Type.String({ description: "Text of a text header." })),
      link: Type.Optional(
        Type.String({
          description: "URL of an image, video or document header, or `media:` and the id of uploaded media.",
        }),
      ),
      location: Type.Optional(
        Type.Object(
          {
            latitude: Type.Number({ description: "Latitude." }),
            longitude: Type.Number({ description: "Longitude." }),
            name: Type.String({ description: "Name of the place." }),
            address: Type.String({ description: "Address of the place." }),
          },
          { description: "Place of a location header." },
        ),
      ),
    }),
    Type.Null(),
  ],
  { description: "Chat-app header above the text; null if there is none." },
);

const Buttons = Type.Array(
  Type.Object({
    ...labelled,
    url: Type.Optional(Type.String({ description: "Target of `url`." })),
    number: Type.Optional(Type.String({ description: "Number that `call` calls." })),
    value: Type.Optional(
      Type.String({ description: "Code that `copyCode` copies, or data that `reply` sends to the sender." }),
    ),
  }),
  { description: "Chat-app buttons: reply, url, call, copyCode, flow, catalog." },
);

const Offer = Type.Object(
  {
    text: Type.String({ description: "Words of the offer." }),
    expiresAt: nullable(Type.Integer(), "When it ends, in epoch milliseconds. Null if it shows no end."),
  },
  { description: "Chat app: limited-time offer above the text." },
);

const Carousel = Type.Array(
  Type.Object({
    header: Type.Object(
      {
        type: Type.String({ description: "image or video." }),
        link: Type.String({ description: "URL of the file." }),
      },
      { description: "File above the text." },
    ),
    text: nullable(Type.String(), "Text with its values. Null if there is none."),
    buttons: Buttons,
  }),
  { description: "Chat-app cards, from left to right." },
);

export const PhoneMessageView = Type.Object(
  {
    id: Type.String({ description: "Simulated carrier's message ID." }),
    messageId: Type.String({ description: "Message ID as in the send response." }),
    to: Type.String({ description: "Phone number." }),
    sender: Type.String({ description: "Sender shown on the phone: sender ID, bot or business number." }),
    channel: Type.String({
      description: `${CHANNELS.join(", ")}. It determines which of the following fields are present.`,
    }),
    email: Type.Optional(Type.String({ description: "E-mail: the address. Masked for viewers." })),
    subject: Type.Optional(Type.String({ description: "E-mail: the subject." })),
    html: Type.Optional(Type.String({ description: "E-mail: the HTML beside the text." })),
    text: Type.String({ description: "Complete text; empty if cards contain it." }),
    encoding: Type.Optional(
      Type.String({ description: "SMS: gsm7, ucs2, or binary with the octets of text and parts in hexadecimal." }),
    ),
    udh: Type.Optional(Type.String({ description: "SMS: user data header of the client, in hexadecimal." })),
    dataCoding: Type.Optional(Type.Integer({ description: "SMS: data_coding of a binary message." })),
    flash: Type.Optional(Type.Boolean({ description: "SMS: true for a flash message, shown directly on the screen." })),
    parts: Type.Optional(Type.Array(Type.String(), { description: "SMS: text of each segment." })),
    templateName: Type.Optional(
      Type.String({ description: "Template of an RCS message, or of a chat-app message that is not free text." }),
    ),
    kind: Type.Optional(Type.String({ description: "RCS: text, rich, card or carousel." })),
    suggestions: Type.Optional(Suggestions),
    cards: Type.Optional(Cards),
    language: Type.Optional(Type.String({ description: "Chat app: language of the template, such as en." })),
    header: Type.Optional(Header),
    footer: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: "Chat app: footer; null if there is none." }),
    ),
    buttons: Type.Optional(Buttons),
    offer: Type.Optional(Offer),
    carousel: Type.Optional(Carousel),
    ...SESSION_VIEW,
    receivedAt: Type.Integer({ description: "Epoch milliseconds." }),
  },
  { title: "PhoneMessage" },
);

export const phoneMessageExample = {
  id: "0198f3a2-7c50-7b1e-8a51-3f0c8e2b6d47",
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
  to: "15550100100",
  sender: "HELIOG",
  channel: "sms",
  text: "Your order 4711 is on its way.",
  encoding: "gsm7",
  flash: false,
  parts: ["Your order 4711 is on its way."],
  receivedAt: 1767225600016,
};
