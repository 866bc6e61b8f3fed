import { cheaperText } from "../../channels/sms/cheaper-text.ts";
import { chatBody } from "../../channels/chatapp/body.ts";
import { composedFor, type Draft } from "../../channels/draft.ts";
import { rcsBody } from "../../channels/rcs/body.ts";
import { withCodes, type SmsComposed } from "../../channels/sms/compose.ts";
import { smsBody } from "../../channels/sms/body.ts";
import { readSms, type SmsDraft } from "../../channels/sms/read.ts";
import { STAND_IN_CODE } from "../../channels/sms/short-link-tokens.ts";
import { nullable, Type } from "../../lib/schema.ts";
import type { Prepared } from "../../pipeline/accept/prepare.ts";
import { prepareSms } from "../../pipeline/accept/prepare-sms.ts";
import { DEFAULT_SMS_LIMITS, type SmsContent } from "../../model/message.ts";
import { splitUserData } from "../../model/user-data.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { outcomeExample, outcomeFields, outcomeOf, recipientFields } from "./outcome.ts";
import { chatEndpoint } from "./chatapp.ts";
import { rcsEndpoint } from "./rcs.ts";
import type { ChannelEndpoint } from "./send.ts";
import { SmsRequest } from "./sms.ts";

/** `POST /v1/sms/preview`: prepares a send and checks its policies, and returns the result instead of storing it. */
async function preview(services: Services, { body, caller }: AuthenticCall): Promise<object> {
  const { account, key } = caller;
  const draft = readSms(body, services.smsRules, account.settings, services.clock.now());
  const prepared = await prepareSms(services.prepareDeps, { account, test: key.mode === "test", draft, dryRun: true });
  const linkBase = services.prepareDeps.shortLinkBase();
  const { content, segments } = shownFor(prepared, 0, linkBase);
  const { recipients, ...outcome } = await outcomeOf(services, caller, prepared);
  return {
    text: content.text,
    encoding: content.encoding,
    characters: content.text.length,
    segmentCount: segments,
    segments: splitUserData(content).map((text) => ({ text })),
    // Replacing characters does not shorten a text that must be sent as Unicode.
    cheaper: draft.unicode === 1 ? null : cheaperText(content.text),
    ...outcome,
    recipients: recipients.map((view, place) => ({ ...view, ...ownTextOf(prepared, place, linkBase) })),
  };
}

/** The preview of a channel whose text a template or a platform composes: recipients, price and routes. */
const previewThrough =
  <D extends Draft>(endpoint: ChannelEndpoint<D>) =>
  async (services: Services, call: AuthenticCall): Promise<object> => {
    const { account, key } = call.caller;
    const draft = endpoint.read(services, call);
    const prepared = await endpoint.prepare(services, { account, test: key.mode === "test", draft, dryRun: true });
    const { recipients: numbers } = endpoint.echo(draft);
    const { recipients, ...outcome } = await outcomeOf(services, call.caller, prepared);
    return { ...outcome, recipients: recipients.map((view, place) => ({ ...view, recipient: numbers[place] })) };
  };

type PreparedSms = Prepared<SmsDraft, SmsContent>;

/** The text as a recipient gets it, with placeholder codes in its short links. */
function shownFor(prepared: PreparedSms, place: number, linkBase: string): SmsComposed {
  const composed = composedFor(prepared, place);
  const { targets } = prepared.subject.draft;
  if (targets === null) return composed;
  return withCodes(
    composed,
    targets.map(() => STAND_IN_CODE),
    linkBase,
  );
}

function ownTextOf(prepared: PreparedSms, place: number, linkBase: string): { text?: string; segmentCount?: number } {
  if (prepared.each.length === 0) return {};
  const { content, segments } = shownFor(prepared, place, linkBase);
  return { text: content.text, segmentCount: segments };
}

const RECIPIENTS_MEANING = "One record per recipient, in the order of the request.";

const Preview = Type.Object(
  {
    text: Type.String({ description: "Text for the first recipient. Codes of short links are zeros." }),
    encoding: Type.Union([Type.Literal("gsm7"), Type.Literal("ucs2")], { description: "Encoding of the SMS." }),
    characters: Type.Integer({ description: "Number of characters." }),
    segmentCount: Type.Integer({ description: "Number of SMS segments." }),
    segments: Type.Array(Type.Object({ text: Type.String({ description: "Text of the segment." }) }), {
      description: "SMS segments of the text.",
    }),
    cheaper: nullable(
      Type.Object({
        text: Type.String({ description: "The text in GSM-7 characters." }),
        segments: Type.Integer({ description: "Number of SMS segments of this text." }),
        replaced: Type.Array(
          Type.Object({
            found: Type.String({ description: "Character outside GSM-7." }),
            use: Type.String({ description: "Its replacement in GSM-7." }),
            letter: Type.Boolean({ description: "True if a letter loses its accent, which readers will notice." }),
          }),
          { description: "Replaced characters." },
        ),
      }),
      "A text with fewer segments; null unless replacing typographic characters is enough.",
    ),
    ...outcomeFields,
    recipients: Type.Array(
      Type.Object({
        ...recipientFields,
        text: Type.Optional(
          Type.String({ description: "Text for this recipient. Present if recipients have values of their own." }),
        ),
        segmentCount: Type.Optional(Type.Integer({ description: "Number of SMS segments of this recipient's text." })),
      }),
      { description: RECIPIENTS_MEANING },
    ),
  },
  { title: "SmsPreview" },
);

/** The answer of channels other than SMS. */
const TemplatePreview = Type.Object(
  {
    ...outcomeFields,
    recipients: Type.Array(Type.Object(recipientFields), { description: RECIPIENTS_MEANING }),
  },
  { title: "TemplatePreview" },
);

const example = { sender: "HELIOG", to: "15550100100", text: "It’s on its way.", type: "PROMO" };

export const previewSms: KeyedRoute = {
  method: "POST",
  audit: false,
  path: "/v1/sms/preview",
  family: "send",
  scope: "sms",
  testKeys: "sms",
  group: "SMS",
  summary: "Preview SMS",
  description:
    "Takes the body of a send and shows what would become of it: the finished text, its parts and its price, what every " +
    "policy says of every recipient, and the routes. Nothing is sent, stored, learned or counted. A body that a send " +
    "would refuse is refused alike; a recipient or a balance that it would refuse is shown.",
  problems: [
    "INVALID_RECIPIENT",
    "MESSAGE_TOO_LONG",
    "SENDER_NOT_REGISTERED",
    "TEMPLATE_NOT_FOUND",
    "TOO_MANY_RECIPIENTS",
    "PARAMS_MISMATCH",
    "TEXT_TEMPLATE_MISMATCH",
    "SHORT_LINK_MISMATCH",
  ],
  body: SmsRequest,
  bodyFor: smsBody,
  checkBody: false,
  requestExamples: { single: example },
  response: Preview,
  responseExample: {
    text: example.text,
    encoding: "ucs2",
    characters: 16,
    segmentCount: 1,
    segments: [{ text: example.text }],
    cheaper: null,
    ...outcomeExample(example.to),
  },
  handle: preview,
};

const TEMPLATE_DESCRIPTION =
  "Takes the body of a send and shows what would become of it: its price, what every policy says of every recipient, and " +
  "the routes. Nothing is sent, stored, learned or counted. A body that a send would refuse is refused alike; a recipient " +
  "or a balance that it would refuse is shown.";

const rcsExample = {
  botId: "heliograph",
  templateName: "store-opening",
  type: "PROMO",
  recipients: [{ number: "+15550100100" }, { number: "+15550100101" }],
};

export const previewRcs: KeyedRoute = {
  method: "POST",
  audit: false,
  path: "/v1/rcs/preview",
  family: "send",
  scope: "rcs",
  testKeys: "rcs",
  group: "RCS",
  summary: "Preview an RCS message",
  description: TEMPLATE_DESCRIPTION,
  problems: [
    "INVALID_RECIPIENT",
    "TOO_MANY_RECIPIENTS",
    "BOT_NOT_FOUND",
    "TEMPLATE_NOT_FOUND",
    "TEMPLATE_KIND_MISMATCH",
    "PARAMS_MISMATCH",
    "SENDER_NOT_REGISTERED",
    "TEXT_TEMPLATE_MISMATCH",
    "MESSAGE_TOO_LONG",
  ],
  body: rcsBody(DEFAULT_SMS_LIMITS),
  bodyFor: rcsBody,
  checkBody: false,
  requestExamples: { several: rcsExample },
  response: TemplatePreview,
  responseExample: outcomeExample("+15550100100"),
  handle: previewThrough(rcsEndpoint),
};

const chatExample = {
  from: "+15550100199",
  type: "template",
  templateName: "store_opening",
  recipients: [{ to: "15550100100" }, { to: "15550100101" }],
};

export const previewChat: KeyedRoute = {
  method: "POST",
  audit: false,
  path: "/v1/chatapp/preview",
  family: "send",
  scope: "chatapp",
  testKeys: "chatapp",
  group: "Chat app",
  summary: "Preview a chat-app message",
  description: `${TEMPLATE_DESCRIPTION} A media link is looked at, for at most a second.`,
  problems: [
    "INVALID_RECIPIENT",
    "TOO_MANY_RECIPIENTS",
    "UNSUPPORTED_TYPE",
    "SENDER_NOT_REGISTERED",
    "TEMPLATE_NOT_FOUND",
    "TEMPLATE_KIND_MISMATCH",
    "PARAMS_MISMATCH",
    "SESSION_CLOSED",
    "MEDIA_NOT_FOUND",
    "MEDIA_TYPE_UNSUPPORTED",
    "MEDIA_TOO_LARGE",
    "MESSAGE_TOO_LONG",
  ],
  body: chatBody(DEFAULT_SMS_LIMITS),
  bodyFor: chatBody,
  checkBody: false,
  requestExamples: { several: chatExample },
  response: TemplatePreview,
  responseExample: outcomeExample("15550100100"),
  handle: previewThrough(chatEndpoint),
};
