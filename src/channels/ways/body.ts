import { Type } from "../../lib/schema.ts";
import { SEND_CHANNELS, DEFAULT_SMS_LIMITS } from "../../model/message.ts";
import { campaignName } from "../campaign-name.ts";
import { chatBody } from "../chatapp/body.ts";
import { rcsBody } from "../rcs/body.ts";
import { sendAt } from "../send-at.ts";
import { smsBody } from "../sms/body.ts";

const MOVE_ON_MIN_SECONDS = 10;
const MOVE_ON_MAX_SECONDS = 86_400;
const MOVE_ON_SECONDS = 60;

const WAYS_RULE = `ways is an array of 1 to ${SEND_CHANNELS.length} objects, each with a channel of its own (${SEND_CHANNELS.join(", ")}) and the content for it.`;
const CHANNEL_RULE = `channel is one of ${SEND_CHANNELS.join(", ")}.`;
const TO_RULE = "Give the recipient's number as a string.";

const to = Type.String({
  format: "phone",
  description: "The recipient: country code first, 7 to 15 digits, plus optional.",
  error: TO_RULE,
  check: (value) => (value.trim() === "" ? TO_RULE : null),
});

const type = Type.Union([Type.Literal("TRANS"), Type.Literal("PROMO")], {
  description: "Route type on every channel. A marketing template of the chat app needs PROMO.",
  error: "type is one of TRANS or PROMO.",
});

export const moveOnAfterSeconds = Type.Default(
  Type.Integer({
    minimum: MOVE_ON_MIN_SECONDS,
    maximum: MOVE_ON_MAX_SECONDS,
    description: `Seconds to wait for a delivery on one channel before the next one, ${MOVE_ON_SECONDS} by default. After a failure the next one follows at once.`,
    error: `moveOnAfterSeconds is a whole number from ${MOVE_ON_MIN_SECONDS} to ${MOVE_ON_MAX_SECONDS}; ${MOVE_ON_SECONDS} unless given.`,
  }),
  MOVE_ON_SECONDS,
);

const WAY_DESCRIPTION = "Channel.";

const channel = Type.Union([Type.Literal("rcs"), Type.Literal("chatapp"), Type.Literal("sms")], {
  description: WAY_DESCRIPTION,
  error: CHANNEL_RULE,
});

const { botId, templateName: rcsTemplate, content } = rcsBody(DEFAULT_SMS_LIMITS).properties;
const { from, templateName: chatTemplate, language, components, ...chat } = chatBody(DEFAULT_SMS_LIMITS).properties;
const { image, video, document, audio, sticker, location, contacts, interactive, reaction, context } = chat;
const { sender, text, templateId, custom, unicode, flash } = smsBody(DEFAULT_SMS_LIMITS).properties;

const channelOf = <const Name extends string>(name: Name) => Type.Literal(name, { description: WAY_DESCRIPTION });

/** A template of the chat app. Campaigns have no other way on it. */
export const chatTemplateWay = Type.Object({
  channel: channelOf("chatapp"),
  from,
  templateName: chatTemplate,
  language,
  components,
});

/** In place of a template, within 24 hours of the recipient's own message: the field of one session type. */
const session = {
  text: chat.text,
  image,
  video,
  document,
  audio,
  sticker,
  location,
  contacts,
  interactive,
  reaction,
  context,
};

/** Ways as they are published. `readWays` checks each by the rules of its own channel. */
export const wayBodies = {
  rcs: Type.Object({ channel: channelOf("rcs"), botId, templateName: rcsTemplate, content }),
  chatapp: Type.Object({ ...chatTemplateWay.properties, ...session }),
  sms: Type.Object({ channel: channelOf("sms"), sender, text, templateId, custom, unicode, flash }),
};
const way = Type.Union([wayBodies.rcs, wayBodies.chatapp, wayBodies.sms]);

const common = { to, type, moveOnAfterSeconds, campaignName, sendAt };
const listOptions = { minItems: 1, maxItems: SEND_CHANNELS.length, error: WAYS_RULE } as const;

/** The fields that all ways share, and the channels of the ways. */
export const waysEnvelope = Type.Object({
  ...common,
  ways: Type.Array(Type.Object({ channel }, { error: WAYS_RULE }), listOptions),
});

/** The body of `POST /v1/messages` as it is published. */
export const waysBody = Type.Object(
  {
    ...common,
    ways: Type.Array(way, {
      ...listOptions,
      description:
        "Channels in order, each at most once. The message takes the next one if the number cannot be reached on this one, if it fails, or if no delivery arrives in time. " +
        "A chat-app way without a template is left out unless the recipient wrote within 24 hours.",
    }),
  },
  { title: "MessageRequest" },
);
