import Type from "typebox";
import { readSms } from "../../channels/sms/read.ts";
import { accept, earlierAnswer, type SendRequest } from "../../messages/accept.ts";
import { notedPolicies, prepare, refuseSingle } from "../../messages/prepare.ts";
import { Problem } from "../../model/problem.ts";
import { SENT_MESSAGE, sendEnvelope, type JsonText } from "../envelope.ts";
import type { SendCall, SendRoute, Services } from "../route.ts";

const PATH = "/v1/sms";
/** From so many recipients on, a request waits for a turn of its own: a password that comes meanwhile goes first. */
const BULK = 100;

/** `POST /v1/sms`: reads the request, has it prepared and accepted, answers the envelope. Next: src/channels/sms/read.ts */
async function postSms(services: Services, call: SendCall): Promise<JsonText> {
  const { headers, body, caller, setHeader } = call;
  const key = readIdempotencyKey(headers["idempotency-key"]);
  if (key === null) return send(services, call, null);
  const idempotency = { path: PATH, key, body };
  try {
    return await send(services, call, idempotency);
  } catch (error) {
    // What has become wrong since the first request (a STOP, a template, the time) does not change what was answered to it.
    const isLasting = error instanceof Problem && error.status < 500 && error.code !== "IDEMPOTENCY_MISMATCH";
    const earlier = isLasting ? await earlierAnswer(services.accepting, caller.account.id, idempotency) : null;
    if (earlier === null) throw error;
    setHeader("idempotent-replayed", "true");
    return { text: earlier };
  }
}

async function send(
  services: Services,
  { body, caller, setHeader }: SendCall,
  idempotency: SendRequest["idempotency"],
): Promise<JsonText> {
  const { account, key } = caller;
  const draft = readSms(body, services.smsRules, account.settings, services.clock.now());
  if (draft.recipients.length >= BULK) await services.bulkTurn();
  const prepared = await prepare(services.preparing, { account, test: key.mode === "test", draft, dryRun: false });
  refuseSingle(prepared);
  const noted = notedPolicies(prepared);
  if (noted !== "") setHeader("heliograph-would-refuse", noted);
  const { recipients, unicode, flash } = draft;
  const echo = { ...(unicode === undefined ? {} : { unicode }), ...(flash === undefined ? {} : { flash }) };
  const { answer, replayed } = await accept(services.accepting, {
    prepared,
    idempotency,
    answer: (requestId) =>
      sendEnvelope(
        requestId,
        recipients.map((recipient) => recipient.number),
        echo,
      ),
  });
  if (replayed) setHeader("idempotent-replayed", "true");
  return { text: answer };
}

const IDEMPOTENCY_KEY_MAX = 255;

function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && header.length >= 1 && header.length <= IDEMPOTENCY_KEY_MAX) return header;
  throw new Problem("INVALID_REQUEST", {
    faults: [
      {
        parameter: "Idempotency-Key",
        message: `The header Idempotency-Key has 1 to ${IDEMPOTENCY_KEY_MAX} characters.`,
      },
    ],
  });
}

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
            Type.Array(Type.String({ format: "uri" }), {
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
    campaignName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: "Groups messages, to be counted, paused and cancelled.",
      }),
    ),
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

const SendResponse = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Identifier of the send request." }),
    data: Type.Array(
      Type.Object({
        recipient: Type.String({ description: "The recipient's number, without plus." }),
        messageId: Type.String({ description: "`<id>:<n>`, n counting from 1." }),
      }),
      { description: "One record per recipient, in the order of the request." },
    ),
    totalCount: Type.Integer({ description: "Number of records in data." }),
    message: Type.Literal(SENT_MESSAGE, { description: "The outcome in words." }),
    error: Type.Null({ description: "null on success." }),
    unicode: Type.Optional(Type.Integer({ description: "Only when the request had it." })),
    flash: Type.Optional(Type.Integer({ description: "Only when the request had it." })),
  },
  { title: "SendResponse" },
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
  description:
    "Accepts a message for one or many recipients. The answer comes once the messages are on disk. " +
    "With an `Idempotency-Key` header, a repeated request within 24 hours answers what the first one did and sends nothing. " +
    "On the simulator, limits that guard money and people are not enforced; the header `heliograph-would-refuse` of the answer names those that would have been.",
  headers: {
    "Idempotency-Key": {
      meaning: "Any text of 1 to 255 characters that names this request, such as your order number.",
      example: "order-4711-shipped",
    },
  },
  problems: [
    "INVALID_RECIPIENT",
    "MESSAGE_TOO_LONG",
    "INSUFFICIENT_CREDITS",
    "SENDER_NOT_REGISTERED",
    "COUNTRY_NOT_ALLOWED",
    "RECIPIENT_OPTED_OUT",
    "TEMPLATE_NOT_FOUND",
    "TOO_MANY_RECIPIENTS",
    "PARAMS_MISMATCH",
    "TEXT_TEMPLATE_MISMATCH",
    "SHORT_LINK_MISMATCH",
    "OVERLOADED",
  ],
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
  response: SendResponse,
  responseExample: {
    id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
    data: [{ recipient: "15550100100", messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1" }],
    totalCount: 1,
    message: SENT_MESSAGE,
    error: null,
  },
  handle: postSms,
};
