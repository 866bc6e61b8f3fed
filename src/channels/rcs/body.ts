import { isPlainText, isShowable } from "../../lib/text.ts";
import { Type, type Infer } from "../../lib/schema.ts";
import { CARDS_MAX, RCS_TEXT_MAX } from "../../model/rcs.ts";
import type { SmsLimits } from "../../model/message.ts";
import { campaignName } from "../campaign-name.ts";
import { mediaId } from "../media-source.ts";
import { sendAt } from "../send-at.ts";
import { sender, templateId, text, values } from "../sms/body.ts";
import { ADDRESS_MAX, isWebAddress } from "./fixed-text.ts";

const NAME_MAX = 100;
const PARAMS_MAX = 50;
const FALLBACK_MIN_SECONDS = 10;
const FALLBACK_MAX_SECONDS = 86_400;
const FALLBACK_SECONDS = 60;

export const RECIPIENT_RULE = "Give the recipient as a string with a leading plus, like +919876543210.";

const recipient = (description: string) =>
  Type.String({
    format: "phone-with-plus",
    description,
    error: RECIPIENT_RULE,
    check: (value) => (value.trim() === "" ? RECIPIENT_RULE : null),
  });

function name(meaning: string, description: string) {
  const error = (parameter: string): string =>
    `${parameter} names ${meaning}: a string of 1 to ${NAME_MAX} characters without control characters.`;
  const isName = (value: string): boolean => value.trim() !== "" && value.length <= NAME_MAX && isPlainText(value);
  return Type.String({
    minLength: 1,
    maxLength: NAME_MAX,
    description,
    error,
    check: (value) => (isName(value) ? null : error),
  });
}

function routeClassText(_: string, value: unknown): string {
  const meant = typeof value === "string" ? value.trim().toUpperCase() : "";
  const near = meant === "TRANS" || meant === "PROMO" ? `; write it as ${meant}` : "";
  return `type is one of TRANS or PROMO${meant === "OTP" ? "; send a one-time password as TRANS, or as an SMS" : near}.`;
}

const VALUE_RULE = `A value is a string of at most ${RCS_TEXT_MAX} characters, never null.`;
const ITEM_RULE = "An item is an object that has either params or fileUrl, or mediaId in its place.";
const FILE_RULE = `fileUrl is a public address that starts with http:// or https://, at most ${ADDRESS_MAX} characters.`;

const item = Type.Object(
  {
    params: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: RCS_TEXT_MAX,
          error: VALUE_RULE,
          check: (value) => (value.length <= RCS_TEXT_MAX && isShowable(value) ? null : VALUE_RULE),
        }),
        {
          maxItems: PARAMS_MAX,
          description: "One value per placeholder of the text, in order; empty if it has none. Never null.",
          error: `params is an array with one string per variable, at most ${PARAMS_MAX}; it is empty when the template has none.`,
        },
      ),
    ),
    fileUrl: Type.Optional(
      Type.String({
        maxLength: ADDRESS_MAX,
        description: "Public URL (http or https) of the card's image or video.",
        error: FILE_RULE,
        check: (value) => (isWebAddress(value) ? null : FILE_RULE),
      }),
    ),
    mediaId: mediaId("fileUrl"),
  },
  {
    error: ITEM_RULE,
    check: ({ params, fileUrl, mediaId: id }) =>
      [params, fileUrl, id].filter((each) => each !== undefined).length === 1 ? null : ITEM_RULE,
  },
);

/** An SMS of its own; it is checked like one, so that it cannot turn out wrong when it is needed. */
const fallback = Type.Object(
  {
    type: Type.Literal("sms", { description: "sms.", error: "type of a fallback is sms." }),
    afterSeconds: Type.Default(
      Type.Integer({
        minimum: FALLBACK_MIN_SECONDS,
        maximum: FALLBACK_MAX_SECONDS,
        description: `Seconds to wait for a delivery, ${FALLBACK_SECONDS} unless given. Numbers without RCS get the fallback at once.`,
        error: `afterSeconds is a whole number from ${FALLBACK_MIN_SECONDS} to ${FALLBACK_MAX_SECONDS}; ${FALLBACK_SECONDS} unless given.`,
      }),
      FALLBACK_SECONDS,
    ),
    sender,
    text: Type.Optional(text("The text, unless a template is filled in.")),
    templateId: Type.Optional(templateId("SMS template.")),
    custom: Type.Optional(values("One value per variable of that template.")),
  },
  {
    description:
      "SMS that is sent instead if the number has no RCS or no delivery arrives in time. It has the same `messageId` and is not charged twice: the higher price applies.",
    error: "fallback is an object with type, sender and text, or with templateId and custom for text.",
  },
);

const content = (description: string) =>
  Type.Optional(
    Type.Array(item, {
      maxItems: CARDS_MAX,
      description,
      error: `content is an array with one item with params, or an item with fileUrl for each card, at most ${CARDS_MAX}; leave it out to send the template as it is.`,
    }),
  );

const recipients = (max: number) =>
  Type.Array(
    Type.Object(
      {
        number: recipient("The recipient with country code and plus."),
        content: content("Values or images of this recipient. Default: those of the request."),
      },
      { error: "A recipient is an object with number and perhaps content." },
    ),
    {
      minItems: 1,
      maxItems: max,
      description: `Replaces \`number\`: at most ${max.toLocaleString("en-US")} recipients, each optionally with content of its own.`,
      error: "recipients is an array of objects with number and perhaps content.",
    },
  );

/**
 * The body of `POST /v1/rcs`. Faults are reported in the order of the fields. `maxItems` of the recipients is published and
 * refused by `readRcs` as TOO_MANY_RECIPIENTS.
 */
export const rcsBody = ({ recipientsMax }: Pick<SmsLimits, "recipientsMax">) =>
  Type.Object(
    {
      number: Type.Optional(
        recipient(
          "The recipient with country code and plus. Required, here or as `from`, unless `recipients` is given.",
        ),
      ),
      from: Type.Optional(recipient("Another name of `number`. If both are given, they must be equal.")),
      templateName: name("the template to send", "The template to send."),
      botId: name("the bot that sends", "The bot that sends."),
      type: Type.Union([Type.Literal("TRANS"), Type.Literal("PROMO")], {
        description: "Route type.",
        error: routeClassText,
      }),
      campaignName,
      content: content(
        "One item with `params` for a text with variables, or one item with `fileUrl` per card; left out, the template is sent as it is.",
      ),
      recipients: Type.Optional(recipients(recipientsMax)),
      sendAt,
      fallback: Type.Optional(fallback),
    },
    { title: "RcsRequest" },
  );

export type RcsBody = Infer<ReturnType<typeof rcsBody>>;
