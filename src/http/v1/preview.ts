import { cheaperSpelling } from "../../channels/sms/cheaper-spelling.ts";
import { composedFor } from "../../channels/draft.ts";
import { withCodes, type SmsComposed } from "../../channels/sms/compose.ts";
import { readSms, type SmsDraft } from "../../channels/sms/read.ts";
import { splitIntoParts } from "../../channels/sms/segment.ts";
import { STAND_IN_CODE } from "../../channels/sms/short-link-tokens.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import { routesFor } from "../../messages/choose-route.ts";
import { type Judgement } from "../../messages/judge.ts";
import { notedPolicies, type Prepared } from "../../messages/prepare.ts";
import { prepareSms } from "../../messages/prepare-sms.ts";
import { SIMULATOR } from "../../model/catalog.ts";
import type { SmsContent } from "../../model/message.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { SmsRequest } from "./sms.ts";

/** `POST /v1/sms/preview`: goes the way of a send as far as the judgement, and shows what it found instead of storing it. */
async function preview(services: Services, { body, caller }: AuthenticCall): Promise<object> {
  const { account, key } = caller;
  const draft = readSms(body, services.smsRules, account.settings, services.clock.now());
  const prepared = await prepareSms(services.preparing, { account, test: key.mode === "test", draft, dryRun: true });
  const linkBase = services.preparing.shortLinkBase();
  const { content, segments } = shownFor(prepared, 0, linkBase);
  const recipients = draft.recipients.map((_, place) => recipientView(prepared, place, linkBase));
  const credits = recipients.reduce((sum, recipient) => sum + recipient.credits, 0);
  const metered = account.settings.credits === "metered";
  const balance = metered ? (await services.store.findBalance(account.id)).balance : null;
  const noted = notedPolicies(prepared);
  return {
    text: content.text,
    encoding: content.encoding,
    characters: content.text.length,
    segmentCount: segments,
    segments: splitIntoParts(content.text, content.encoding).map((text) => ({ text })),
    // A text that is to be sent as Unicode stays dear however it is spelt.
    cheaper: draft.unicode === 1 ? null : cheaperSpelling(content.text),
    credits,
    balance,
    affordable: balance === null || balance >= credits,
    wouldRefuse: noted === "" ? [] : noted.split(", "),
    recipients,
  };
}

type PreparedSms = Prepared<SmsDraft, SmsContent>;

/** The text as a recipient gets it, with codes in its short links that lead nowhere. */
function shownFor(prepared: PreparedSms, place: number, linkBase: string): SmsComposed {
  const composed = composedFor(prepared, place);
  const { targets } = prepared.sending.draft;
  if (targets === null) return composed;
  return withCodes(
    composed,
    targets.map(() => STAND_IN_CODE),
    linkBase,
  );
}

interface RecipientView {
  recipient: string;
  failure: string | null;
  credits: number;
  heldUntil: number | null;
  verdicts: readonly object[];
  routes: readonly { name: string; carrier: string }[];
  text?: string;
  segmentCount?: number;
}

function recipientView(prepared: PreparedSms, place: number, linkBase: string): RecipientView {
  const { sending, verdicts, warning, each } = prepared;
  const { failure = null, credits = 0, heldUntil = null, judgements = [] } = verdicts[place] ?? {};
  const { number = "" } = sending.draft.recipients[place] ?? {};
  const mismatch: Judgement[] = warning === null ? [] : [{ policy: "template", verdict: "noted", detail: warning }];
  const own = each.length > 0 ? shownFor(prepared, place, linkBase) : null;
  return {
    recipient: number,
    failure,
    credits: failure ? 0 : credits,
    heldUntil: failure ? null : (heldUntil ?? sending.draft.sendAt),
    verdicts: [...judgements, ...mismatch].map(({ policy, verdict, detail }) => ({ policy, verdict, detail })),
    routes: failure ? [] : routesOf(prepared, number),
    ...(own ? { text: own.content.text, segmentCount: own.segments } : {}),
  };
}

/** In the order of their priorities; among equals, which are drawn by weight, the likelier first. */
function routesOf({ sending }: PreparedSms, recipient: string): RecipientView["routes"] {
  const { test, catalog, draft } = sending;
  if (test) return [{ name: "test key", carrier: SIMULATOR }];
  const { routeClass, sender } = draft;
  return routesFor(catalog, { channel: "sms", routeClass, sender, recipient })
    .toSorted(({ content: a }, { content: b }) => a.priority - b.priority || b.weight - a.weight)
    .map(({ name, content }) => ({ name, carrier: content.carrier }));
}

const Preview = Type.Object(
  {
    text: Type.String({ description: "As the first recipient gets it; short links have a code of zeros." }),
    encoding: Type.Union([Type.Literal("gsm7"), Type.Literal("ucs2")], { description: "How it goes over the air." }),
    characters: Type.Integer({ description: "Length of the text." }),
    segmentCount: Type.Integer({ description: "How many SMS it takes." }),
    segments: Type.Array(Type.Object({ text: Type.String({ description: "What this part carries." }) }), {
      description: "The text as it is cut into parts.",
    }),
    cheaper: nullable(
      Type.Object({
        text: Type.String({ description: "The text in the letters of an ordinary phone." }),
        segments: Type.Integer({ description: "How many SMS it takes then." }),
        replaced: Type.Array(
          Type.Object({
            found: Type.String({ description: "The character that makes the text dear." }),
            use: Type.String({ description: "What stands for it." }),
            letter: Type.Boolean({ description: "A letter loses its accent, which readers will notice." }),
          }),
          { description: "What was replaced." },
        ),
      }),
      "The same text for fewer segments, when only typography stands in the way.",
    ),
    credits: Type.Integer({ description: "What all recipients together cost; those that fail cost nothing." }),
    balance: nullable(Type.Integer(), "What a metered account has; null when credits are not counted."),
    affordable: Type.Boolean({ description: "False when a send would be refused with 402." }),
    wouldRefuse: Type.Array(Type.String(), {
      description: "Policies that the simulator only notes and a real carrier would not let pass.",
    }),
    recipients: Type.Array(
      Type.Object({
        recipient: Type.String({ description: "The number as it was read." }),
        failure: nullable(Type.String(), "Why this one would fail; null when it would be sent."),
        credits: Type.Integer({ description: "What this one costs." }),
        heldUntil: nullable(Type.Integer(), "Not sent before this time, in epoch milliseconds; null means at once."),
        verdicts: Type.Array(
          Type.Object({
            policy: Type.String({ description: "Who was asked." }),
            verdict: Type.String({ description: "passed, held, refused or noted." }),
            detail: Type.String({ description: "Why." }),
          }),
          { description: "What each policy says." },
        ),
        routes: Type.Array(
          Type.Object({
            name: Type.String({ description: "The route." }),
            carrier: Type.String({ description: "Where it leads." }),
          }),
          { description: "In the order they would be tried; among equals the likelier first." },
        ),
        text: Type.Optional(Type.String({ description: "Only where recipients have values of their own." })),
        segmentCount: Type.Optional(Type.Integer({ description: "Of its own text." })),
      }),
      { description: "One record per recipient, in the order of the request." },
    ),
  },
  { title: "SmsPreview" },
);

const example = { sender: "HELIOG", to: "15550100100", text: "It’s on its way.", type: "PROMO" };

export const previewSms: KeyedRoute = {
  method: "POST",
  audit: false,
  path: "/v1/sms/preview",
  family: "send",
  scope: "sms",
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
    credits: 1,
    balance: null,
    affordable: true,
    wouldRefuse: [],
    recipients: [
      {
        recipient: example.to,
        failure: null,
        credits: 1,
        heldUntil: null,
        verdicts: [{ policy: "opt-out", verdict: "passed", detail: "Not on the list" }],
        routes: [{ name: "Everything to the simulator", carrier: "simulator" }],
      },
    ],
  },
  handle: preview,
};
