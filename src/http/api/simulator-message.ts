import { splitIntoParts } from "../../channels/sms/segment.ts";
import { Type } from "../../lib/schema.ts";
import { CHANNELS, isRcs, isSms, type MessageContent } from "../../model/message.ts";
import type { PhoneMessage } from "../../model/phone.ts";

/** A message as its phone received it; what its channel has not is left out. */
export function phoneMessageView(message: PhoneMessage): object {
  const { id, messageId, number, sender, channel, content, receivedAt } = message;
  return { id, messageId, to: number, sender, channel, ...shown(content), receivedAt };
}

function shown(content: MessageContent): object {
  const { text } = content;
  if (isSms(content)) {
    const { encoding, flash } = content;
    return { text, encoding, flash, parts: splitIntoParts(text, encoding) };
  }
  if (isRcs(content)) {
    const { kind, templateName, suggestions, cards } = content;
    return { kind, templateName, text, suggestions, cards };
  }
  if (!("templateName" in content)) return { text };
  const { templateName, language, header, footer, buttons } = content;
  return { templateName, language, header, text, footer, buttons };
}

const labelled = {
  type: Type.String({ description: "What a tap does." }),
  text: Type.String({ description: "The label." }),
};

const Suggestions = Type.Array(
  Type.Object({
    ...labelled,
    data: Type.String({ description: "What the sender gets to know of a tap; nobody sees it." }),
    url: Type.Optional(Type.String({ description: "Where `url` leads." })),
    number: Type.Optional(Type.String({ description: "Whom `dial` calls." })),
    latitude: Type.Optional(Type.Number({ description: "Of the place that `viewLocation` shows." })),
    longitude: Type.Optional(Type.Number({ description: "Of the same." })),
    label: Type.Optional(Type.String({ description: "The name of that place." })),
    title: Type.Optional(Type.String({ description: "Of the event that `calendar` adds." })),
    startAt: Type.Optional(Type.Integer({ description: "When it begins, in epoch milliseconds." })),
    endAt: Type.Optional(Type.Integer({ description: "When it ends." })),
    description: Type.Optional(Type.String({ description: "What it is about." })),
  }),
  { description: "RCS: what can be tapped: reply, url, dial, viewLocation, shareLocation, calendar." },
);

const Cards = Type.Array(
  Type.Object({
    title: Type.String({ description: "The heading." }),
    description: Type.String({ description: "The words below it." }),
    fileUrl: Type.Union([Type.String(), Type.Null()], { description: "The image or video; null when it has none." }),
    suggestions: Suggestions,
  }),
  { description: "RCS: the cards, from left to right." },
);

const Header = Type.Union(
  [
    Type.Object({
      type: Type.String({ description: "text, image, video or document." }),
      text: Type.Optional(Type.String({ description: "Of a header of type text." })),
      link: Type.Optional(Type.String({ description: "The file of any other." })),
    }),
    Type.Null(),
  ],
  { description: "Chat app: what stands above the text; null when nothing does." },
);

const Buttons = Type.Array(
  Type.Object({
    ...labelled,
    url: Type.Optional(Type.String({ description: "Where `url` leads." })),
    number: Type.Optional(Type.String({ description: "Whom `call` calls." })),
  }),
  { description: "Chat app: what can be tapped: reply, url, call." },
);

export const PhoneMessageView = Type.Object(
  {
    id: Type.String({ description: "The simulated carrier's id." }),
    messageId: Type.String({ description: "As in the send response." }),
    to: Type.String({ description: "The phone's number." }),
    sender: Type.String({ description: "Who the phone shows it is from: the sender, the bot or the business number." }),
    channel: Type.String({ description: `${CHANNELS.join(", ")}. It decides about the fields below.` }),
    text: Type.String({ description: "The whole text, put together; empty where cards hold the words." }),
    encoding: Type.Optional(Type.String({ description: "SMS: gsm7 or ucs2." })),
    flash: Type.Optional(Type.Boolean({ description: "SMS: shown directly on the screen." })),
    parts: Type.Optional(Type.Array(Type.String(), { description: "SMS: the text as it went over the air." })),
    templateName: Type.Optional(Type.String({ description: "RCS, and chat app unless it is a free text." })),
    kind: Type.Optional(Type.String({ description: "RCS: text, rich, card or carousel." })),
    suggestions: Type.Optional(Suggestions),
    cards: Type.Optional(Cards),
    language: Type.Optional(Type.String({ description: "Chat app: the template's, like en." })),
    header: Type.Optional(Header),
    footer: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: "Chat app: the small print; null when there is none." }),
    ),
    buttons: Type.Optional(Buttons),
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
