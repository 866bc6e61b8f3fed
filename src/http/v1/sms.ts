import { readSms, type SmsDraft } from "../../channels/sms/read.ts";
import { Type } from "../../lib/schema.ts";
import { prepareSms } from "../../messages/prepare-sms.ts";
import type { SendRoute } from "../route.ts";
import {
  CampaignName,
  SEND_DESCRIPTION,
  SEND_HEADERS,
  SEND_PROBLEMS,
  sendThrough,
  sentExample,
  SmsSendResponse,
  type Door,
} from "./send.ts";

const PATH = "/v1/sms";

/** `POST /v1/sms`: reads the request, has it prepared and accepted, answers the envelope. Next: src/channels/sms/read.ts */
export const smsDoor: Door<SmsDraft> = {
  path: PATH,
  read: ({ smsRules, clock }, { body, caller }) => readSms(body, smsRules, caller.account.settings, clock.now()),
  prepare: ({ preparing }, request) => prepareSms(preparing, request),
  echo: ({ recipients, unicode, flash }) => ({
    recipients: recipients.map(({ number }) => number),
    ...(unicode === undefined ? {} : { unicode }),
    ...(flash === undefined ? {} : { flash }),
  }),
};

const postSms = sendThrough(smsDoor);

const Recipient = Type.String({ description: "Phone number: country code first, 7 to 15 digits, plus optional." });
const Flag = (description: string) => Type.Union([Type.Literal(0), Type.Literal(1)], { description });
const Value = Type.Union([Type.String({ maxLength: 1600 }), Type.Number()], { description: "A value, never null." });
const Values = (description: string) => Type.Array(Value, { maxItems: 50, description });

/** The body of a send, and of the preview of one. */
export const SmsRequest = Type.Object(
  {
    sender: Type.String({ minLength: 1, maxLength: 20, description: "Originator or alphanumeric sender id." }),
    to: Type.Optional(
      Type.Union([Recipient, Type.Array(Recipient, { minItems: 1 })], {
        description:
          "One recipient, several with commas between them, or an array. At most 1,000 in one request. Required unless `recipients` is given.",
      }),
    ),
    text: Type.Optional(
      Type.String({
        description:
          "The message. At most 1,600 characters and 12 segments. Required unless a template is filled in by `templateId` and `custom`.",
      }),
    ),
    type: Type.Union([Type.Literal("TRANS"), Type.Literal("PROMO"), Type.Literal("OTP")], {
      description: "Route type. OTP goes before TRANS, TRANS before PROMO.",
    }),
    unicode: Type.Optional(
      Flag("1 sends the text as Unicode whatever it holds; 0 refuses a text that would need it. Echoed in the answer."),
    ),
    flash: Type.Optional(Flag("1 shows the message directly on the screen. Echoed in the answer.")),
    templateId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: "The template to fill in with `custom`, or that the finished `text` must match.",
      }),
    ),
    custom: Type.Optional(
      Values("One value per variable of the template, in order; empty if it has none. `text` is then not used."),
    ),
    shortenUrlData: Type.Optional(
      Type.Object(
        {
          shortenUrl: Type.Boolean({ description: "Whether to shorten." }),
          targetUrl: Type.Optional(
            Type.Array(Type.String({ pattern: "^[Hh][Tt][Tt][Pp][Ss]?://", maxLength: 2000 }), {
              maxItems: 10,
              description: "http and https addresses; the k-th `{SORT}` in the text takes the code for the k-th.",
            }),
          ),
        },
        { description: "Short links, one code per recipient. The text carries `{SORT}` inside each link." },
      ),
    ),
    sendAt: Type.Optional(
      Type.Union([Type.Integer(), Type.String({ format: "date-time" })], {
        description: "When to send, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone.",
      }),
    ),
    campaignName: CampaignName,
    recipients: Type.Optional(
      Type.Array(Type.Object({ to: Recipient, custom: Type.Optional(Values("This recipient's own values.")) }), {
        minItems: 1,
        description:
          "In the place of `to`: recipients with values of their own, for the template or for placeholders such as `{{1}}` in `text`.",
      }),
    ),
  },
  { title: "SmsRequest" },
);

const example = { sender: "HELIOG", to: "15550100100", text: "Your order 4711 is on its way.", type: "TRANS" };

export const sendSms: SendRoute = {
  express: true,
  method: "POST",
  path: PATH,
  family: "send",
  scope: "sms",
  group: "SMS",
  summary: "Send SMS",
  description: `Accepts a message for one or many recipients. The answer comes once the messages are on disk. ${SEND_DESCRIPTION}`,
  headers: SEND_HEADERS,
  problems: [...SEND_PROBLEMS, "TOO_MANY_RECIPIENTS", "TEXT_TEMPLATE_MISMATCH", "SHORT_LINK_MISMATCH"],
  body: SmsRequest,
  checkBody: false,
  requestExamples: {
    single: example,
    "one-time password": { ...example, text: "482913 is your code. It is valid for 5 minutes.", type: "OTP" },
    bulk: { ...example, to: ["15550100100", "15550100101", "15550100102"], type: "PROMO", campaignName: "autumn" },
    unicode: { ...example, text: "आपका ऑर्डर रास्ते में है।", unicode: 1 },
    flash: { ...example, text: "Your taxi is at the door.", flash: 1 },
    template: {
      ...example,
      templateId: "welcome",
      text: "Hello Ada, welcome! Your order 4711 is on its way.",
    },
    "template by id": {
      sender: example.sender,
      to: example.to,
      type: example.type,
      templateId: "welcome",
      custom: ["Ada", "4711"],
    },
    "short link": {
      ...example,
      text: "Track your order: {SORT}",
      shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/orders/4711"] },
    },
    "each recipient in its own words": {
      sender: example.sender,
      type: example.type,
      text: "Hello {{1}}, your order {{2}} is ready.",
      recipients: [
        { to: "15550100100", custom: ["Ada", "4711"] },
        { to: "15550100101", custom: ["Bob", "4712"] },
      ],
    },
  },
  response: SmsSendResponse,
  responseExample: sentExample(example.to),
  handle: postSms,
};
