import type { Carrier, Outcome } from "../../carriers/carrier.ts";
import { connectionType } from "../../records/types/connections.ts";
import { carriers } from "../../records/record-types.ts";
import { readTestEmail, testEmailBody } from "../../channels/email/test-email.ts";
import { chatBody } from "../../channels/chatapp/body.ts";
import { rcsBody } from "../../channels/rcs/body.ts";
import { smsBody } from "../../channels/sms/body.ts";
import { nullable, Type, type Schema } from "../../lib/schema.ts";
import { tryCarrier, tryEmail } from "../../pipeline/dispatch/try-carrier.ts";
import type { CarrierContent } from "../../model/catalog.ts";
import { DEFAULT_SMS_LIMITS, type SendChannel, type SmsLimits } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { chatEndpoint } from "../public/chatapp.ts";
import { rcsEndpoint } from "../public/rcs.ts";
import type { ChannelEndpoint } from "../public/send.ts";
import { smsEndpoint } from "../public/sms.ts";
import { EXAMPLE_ID, find } from "./records.ts";

const ENDPOINTS: Record<SendChannel, ChannelEndpoint> = { sms: smsEndpoint, chatapp: chatEndpoint, rcs: rcsEndpoint };

async function send(services: Services, call: AuthenticCall): Promise<object> {
  const record = await find(carriers, services, call);
  const { adapter } = record.content as CarrierContent;
  const carrier = services.carriers.find(record.accountId, record.name);
  if (adapter === "simulator" || !carrier)
    throw new Problem("INVALID_REQUEST", {
      message: "Only a connection to a real carrier can be tested this way. For the simulator, use the send endpoints.",
    });
  const channel = connectionType(adapter).channels[0] ?? "sms";
  const submit =
    channel === "email"
      ? submitEmail(services, call, carrier)
      : await submitBy(ENDPOINTS[channel], services, call, carrier);
  const began = services.clock.monotonic();
  const outcome = await submit();
  return {
    outcome: outcome.kind,
    carrierMessageId: outcome.kind === "taken" ? outcome.carrierMessageId : null,
    code: outcome.kind === "refused" ? outcome.code : null,
    description: "description" in outcome ? outcome.description : null,
    exchange: outcome.exchange ?? null,
    ms: Math.round(services.clock.monotonic() - began),
  };
}

type Submit = () => Promise<Outcome>;

function submitEmail({ clock }: Services, { body, caller }: AuthenticCall, carrier: Carrier): Submit {
  const email = readTestEmail(body);
  return () => tryEmail(clock, caller.account.id, email, carrier);
}

async function submitBy(
  endpoint: ChannelEndpoint,
  services: Services,
  call: AuthenticCall,
  carrier: Carrier,
): Promise<Submit> {
  const { account } = call.caller;
  const draft = endpoint.read(services, call);
  const prepared = await endpoint.prepare(services, { account, test: false, draft, dryRun: true, isTrial: true });
  return () => tryCarrier(services.clock, prepared, carrier);
}

/** Sends one message directly through a connection, for testing its settings. */
const anySend = (limits: SmsLimits): Schema =>
  Type.Union([smsBody(limits), chatBody(limits), rcsBody(limits), testEmailBody], {
    description:
      "Same as the body of `POST /v1/sms`, `/v1/chatapp` or `/v1/rcs`, according to the carrier's channel. For e-mail an object with `from`, `to`, `subject` and `text`.",
  });

export const sendThroughCarrier: KeyedRoute = {
  method: "POST",
  path: "/api/carriers/:id/send",
  family: "plain",
  scope: "manage",
  testKeys: null,
  role: "owner",
  group: "Carriers",
  summary: "Send a test through a carrier",
  description:
    "Submits one message directly to the carrier, without routes, credits or stored records, and returns the carrier's response. The phone receives the message and the carrier charges for it. The body is the same as for a send on the carrier's channel. Delivery receipts for it appear at `/api/receipts`.",
  params: { id: { meaning: "Carrier ID.", example: EXAMPLE_ID } },
  problems: [
    "RECORD_NOT_FOUND",
    "INVALID_RECIPIENT",
    "MESSAGE_TOO_LONG",
    "UNSUPPORTED_TYPE",
    "SENDER_NOT_REGISTERED",
    "COUNTRY_NOT_ALLOWED",
    "RECIPIENT_OPTED_OUT",
    "SESSION_CLOSED",
    "TEMPLATE_NOT_FOUND",
    "BOT_NOT_FOUND",
    "TOO_MANY_RECIPIENTS",
    "PARAMS_MISMATCH",
    "TEMPLATE_KIND_MISMATCH",
    "TEXT_TEMPLATE_MISMATCH",
    "SHORT_LINK_MISMATCH",
    "MEDIA_NOT_FOUND",
    "MEDIA_TYPE_UNSUPPORTED",
    "MEDIA_TOO_LARGE",
  ],
  body: anySend(DEFAULT_SMS_LIMITS),
  bodyFor: anySend,
  checkBody: false,
  requestExamples: {
    "a text message": { sender: "HELIOG", to: "919876543210", text: "Can you read this?", type: "TRANS" },
  },
  response: Type.Object(
    {
      outcome: Type.String({
        description:
          "taken: accepted by the carrier. busy: rejected for now, retry later. refused: rejected. down: not submitted. unknown: the connection broke before the response.",
      }),
      carrierMessageId: nullable(Type.String(), "Carrier's message ID; null if not taken."),
      code: nullable(Type.String(), "Carrier's error code; null if it gave none."),
      description: nullable(Type.String(), "Failure description; null if taken."),
      exchange: nullable(Type.String(), "Protocol summary of the request and response, without the text."),
      ms: Type.Integer({ description: "Duration of the request." }),
    },
    { title: "CarrierTry" },
  ),
  responseExample: {
    outcome: "taken",
    carrierMessageId: "4711",
    code: null,
    description: null,
    exchange: "submit_sm to=********3210 from=HELIOG data_coding=0 parts=1 -> taken 4711",
    ms: 84,
  },
  handle: send,
};
