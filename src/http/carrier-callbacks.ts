import type { Carrier } from "../carriers/carrier.ts";
import { Type } from "../lib/schema.ts";
import { callbackPath } from "../model/catalog.ts";
import { Problem } from "../model/problem.ts";
import { EXAMPLE_ID } from "./admin/records.ts";
import { decodeUtf8 } from "./read-json.ts";
import type { Call, OpenRoute, OtherResponse, Services } from "./route.ts";

/** Webhook path for platforms; `callbackUrl` of a carrier shows it. */
const PATH = callbackPath(":carrierId");

function receiverOf({ carriers }: Services, { carrierId = "" }: Call["params"]): NonNullable<Carrier["handleWebhook"]> {
  const carrier = carriers.byId(carrierId);
  if (!carrier?.handleWebhook)
    throw new Problem("ROUTE_NOT_FOUND", {
      message: "No carrier with this id accepts callbacks: compare the path with the carrier's `callbackUrl`.",
    });
  return carrier.handleWebhook.bind(carrier);
}

const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json\b/i;

async function receiveCallback(services: Services, { request, reply, body, params }: Call): Promise<string> {
  const receive = receiverOf(services, params);
  const { method, url, headers } = request;
  const queryAt = url.indexOf("?");
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  if (JSON_TYPE.test(headers["content-type"] ?? "") && decodeUtf8(bytes) === null)
    throw new Problem("INVALID_JSON", { message: "The body is not UTF-8." });
  const { status, text } = await receive({
    method: method === "GET" ? "GET" : "POST",
    query: queryAt < 0 ? "" : url.slice(queryAt + 1),
    headers,
    body: bytes,
  });
  void reply.code(status).type("text/plain; charset=utf-8").header("x-content-type-options", "nosniff");
  return text;
}

const PlainText = Type.String({ description: "Response in the platform's format." });
const plain = (description: string, example: string): OtherResponse => ({
  description,
  contentType: "text/plain",
  schema: PlainText,
  example,
});

const common = {
  path: PATH,
  family: "plain",
  scope: null,
  group: "Carriers",
  raw: true,
  audit: false,
  params: { carrierId: { meaning: "Carrier ID.", example: EXAMPLE_ID } },
  contentType: "text/plain",
  response: PlainText,
  otherResponses: {
    400: plain("The body or method does not match the platform's format.", "The body is no JSON"),
    401: plain("The signature is missing or wrong.", "The signature is not right"),
    403: plain("The verify token of the handshake is wrong.", "Forbidden"),
    503: plain("Not stored: the platform repeats the request later.", "Not now"),
  },
  problems: ["ROUTE_NOT_FOUND", "BODY_TOO_LARGE"],
  before: (services: Services, params: Call["params"]) => void receiverOf(services, params),
  handle: receiveCallback,
} as const;

/** Callbacks of platforms. They authenticate by signatures, not by API keys. */
export const carrierCallbackRoutes: readonly OpenRoute[] = [
  {
    ...common,
    method: "POST",
    summary: "Receive receipts and replies",
    description:
      "Called by the platform of a carrier: configure the carrier's `callbackUrl` as webhook URL there. Requests without a valid signature are refused with 401. The response is sent once everything is stored; on any other status than 200 the platform repeats the request.",
    responseExample: "OK",
  },
  {
    ...common,
    method: "GET",
    summary: "Verify a webhook URL",
    description:
      "Called by the platform of a carrier: some platforms verify the webhook URL once, others send reports by GET.",
    responseExample: "1158201444",
  },
];
