import { lineKind } from "../../catalog/kinds/lines.ts";
import { carriers } from "../../catalog/shelves.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import { tryCarrier } from "../../messages/try-carrier.ts";
import type { CarrierContent } from "../../model/catalog.ts";
import type { Channel } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { chatDoor } from "../v1/chatapp.ts";
import { rcsDoor } from "../v1/rcs.ts";
import type { Door } from "../v1/send.ts";
import { smsDoor } from "../v1/sms.ts";
import { EXAMPLE_ID, find } from "./records.ts";

const DOORS: Record<Channel, Door> = { sms: smsDoor, chatapp: chatDoor, rcs: rcsDoor };

async function send(services: Services, call: AuthenticCall): Promise<object> {
  const record = await find(carriers, services, call);
  const { adapter } = record.content as CarrierContent;
  const carrier = services.carriers.find(record.accountId, record.name);
  if (adapter === "simulator" || !carrier)
    throw new Problem("INVALID_REQUEST", { message: "Only a line to a real carrier can be tried: send as usual." });
  const { account, key } = call.caller;
  if (key.mode === "test")
    throw new Problem("INVALID_REQUEST", { message: "What a test key sends never leaves the simulator." });
  const door = DOORS[lineKind(adapter).channels[0] ?? "sms"];
  const draft = door.read(services, { ...call, headers: { "idempotency-key": undefined }, setHeader: () => undefined });
  const prepared = await door.prepare(services, { account, test: false, draft, dryRun: true });
  const began = services.clock.monotonic();
  const outcome = await tryCarrier(services.clock, prepared, carrier);
  return {
    outcome: outcome.kind,
    carrierMessageId: outcome.kind === "taken" ? outcome.carrierMessageId : null,
    code: outcome.kind === "refused" ? outcome.code : null,
    description: "description" in outcome ? outcome.description : null,
    exchange: outcome.exchange ?? null,
    ms: Math.round(services.clock.monotonic() - began),
  };
}

/** One message through a line, for whoever sets it up. */
export const sendThroughCarrier: KeyedRoute = {
  method: "POST",
  path: "/api/carriers/:id/send",
  family: "plain",
  scope: "manage",
  role: "owner",
  group: "Carriers",
  summary: "Send one message through a carrier",
  description:
    "Hands one message straight to the carrier, past routes, credits and records, and answers what the carrier said. The phone really gets it, and the carrier charges for it. The body is that of a send on the carrier's channel. What the carrier reports later is found at `/api/receipts`.",
  params: { id: { meaning: "The carrier's `id`.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND", "SENDER_NOT_REGISTERED", "TEMPLATE_NOT_FOUND"],
  body: Type.Object(
    {},
    { description: "As for `POST /v1/sms`, `/v1/rcs` or `/v1/chatapp`, whichever the carrier carries." },
  ),
  checkBody: false,
  requestExamples: {
    "a text message": { sender: "HELIOG", to: "919876543210", text: "Can you read this?", type: "TRANS" },
  },
  response: Type.Object(
    {
      outcome: Type.String({
        description:
          "taken; busy (come again later); refused; down (it was certainly not taken); or unknown (the line broke before the answer).",
      }),
      carrierMessageId: nullable(Type.String(), "The carrier's id of the message; null when it was not taken."),
      code: nullable(Type.String(), "The carrier's code; null where it gave none."),
      description: nullable(Type.String(), "What happened, in words; null when it was taken."),
      exchange: nullable(Type.String(), "What went over the line, without the text."),
      ms: Type.Integer({ description: "How long it took." }),
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
