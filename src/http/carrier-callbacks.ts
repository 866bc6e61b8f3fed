import { Type } from "../lib/schema.ts";
import { callbackPath } from "../model/catalog.ts";
import { Problem } from "../model/problem.ts";
import { EXAMPLE_ID } from "./api/records.ts";
import type { Call, OpenRoute, Services } from "./route.ts";

/** Where platforms call back: the address is told by `callbackUrl` of a carrier. */
const PATH = callbackPath(":carrierId");

async function take(services: Services, { request, reply, body, params }: Call): Promise<string> {
  const carrier = services.carriers.byId(params.carrierId ?? "");
  if (!carrier?.called) throw new Problem("ROUTE_NOT_FOUND");
  const { method, url, headers } = request;
  const question = url.indexOf("?");
  const { status, text } = await carrier.called({
    method: method === "GET" ? "GET" : "POST",
    query: question < 0 ? "" : url.slice(question + 1),
    headers,
    body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  });
  void reply.code(status).type("text/plain; charset=utf-8").header("x-content-type-options", "nosniff");
  return text;
}

const common = {
  path: PATH,
  family: "plain",
  scope: null,
  group: "Carriers",
  raw: true,
  audit: false,
  params: { carrierId: { meaning: "The carrier's `id`.", example: EXAMPLE_ID } },
  contentType: "text/plain",
  response: Type.String({ description: "What the platform expects to hear." }),
  handle: take,
} as const;

/** Doors for platforms, which show who they are by their signatures and not by keys. */
export const carrierCallbackRoutes: readonly OpenRoute[] = [
  {
    ...common,
    method: "POST",
    summary: "Take receipts and replies",
    description:
      "For the platform behind a carrier, not for you: put the carrier's `callbackUrl` where the platform asks for a webhook. What is not signed as the carrier's settings say is refused with 401. The answer comes once everything is on disk; anything but a 200 makes the platform repeat it.",
    responseExample: "OK",
  },
  {
    ...common,
    method: "GET",
    summary: "Answer a platform's handshake",
    description:
      "For the platform behind a carrier: some ask once whether the address is yours, and some report by GET.",
    responseExample: "1158201444",
  },
];
