import type { EndpointRecord } from "../../catalog/catalog.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import { WEBHOOK_EVENTS, type Callback, type Push, type WebhookEvent } from "../../model/callback.ts";
import type { Fault } from "../../model/problem.ts";
import { sampleFor } from "../../webhooks/sample-event.ts";
import { requestFor } from "../../webhooks/tell.ts";
import { refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { findEndpoint } from "./find-endpoint.ts";
import type { Telling } from "./record-shapes.ts";

/** The doors by which an endpoint is tried out: a look at what it would be told, and a request that is really sent. */
export function trialRoutes(
  telling: Telling,
  ofOne: Pick<KeyedRoute, "family" | "scope" | "group" | "params" | "problems">,
): readonly KeyedRoute[] {
  const { one, many, kinds } = telling.shelf;
  const hasEvents = Object.hasOwn(kinds[0].fields, "events");
  return [
    {
      ...ofOne,
      method: "POST",
      path: `/api/${many}/:id/test`,
      summary: `Send a test event to a ${one}`,
      description: `Sends something that might have happened, right now and once, whether or not the ${one} is on, and answers what was sent and what came back. It is about no message that there is, and no callback of it is kept.`,
      ...(hasEvents && { body: TestBody, requestExamples: { "the first of its events": {} } }),
      response: TrialView,
      responseExample: { ...sentExample(hasEvents), response: answerExample },
      handle: async (services, call) => {
        const { event } = (call.body ?? {}) as { event?: WebhookEvent };
        const trial = await prepare(telling, services, call, event);
        const result = await services.telling.pusher.push(trial.request);
        const { kind, status, excerpt } = result;
        const response = {
          delivered: kind === "delivered",
          status,
          ms: result.ms,
          excerpt,
          reason: result.kind === "failed" ? result.reason : null,
        };
        return { ...trial, response };
      },
    },
    {
      ...ofOne,
      method: "GET",
      path: `/api/${many}/:id/preview`,
      summary: `Preview what a ${one} is told`,
      description:
        "The exact request of something that might have happened, signed as it would be now. Nothing is sent.",
      ...(hasEvents && { query: { event: "One of its events; the first unless given." } }),
      response: PreviewView,
      responseExample: sentExample(hasEvents),
      handle: async (services, call) => prepare(telling, services, call, call.query.event as WebhookEvent | undefined),
    },
  ];
}

interface Trial {
  eventId: string;
  request: Push;
}

async function prepare(
  telling: Telling,
  services: Services,
  call: AuthenticCall,
  event: WebhookEvent | undefined,
): Promise<Trial> {
  const endpoint = await findEndpoint(telling, services, call);
  const sample = sampleFor(endpoint, readEvent(endpoint, event), services.clock.now());
  const request = requestFor(services.telling, endpoint, sample);
  if (!request) throw new Error("an endpoint does not want to know what it asks for");
  return { eventId: sample.eventId, request: requestView(request) };
}

function readEvent({ content }: EndpointRecord, asked: WebhookEvent | undefined): WebhookEvent | null {
  if (asked === undefined || !("events" in content)) return null;
  const faults: Fault[] = [];
  if (!content.events.includes(asked)) {
    const message = `event is one of what the webhook is told: ${content.events.join(", ")}.`;
    faults.push({ parameter: "event", message });
  }
  refuseFaults(faults);
  return asked;
}

/** The request that tells an endpoint of something, as it would be made now; null when it would not be told. */
export function requestNow(services: Services, endpoint: EndpointRecord, callback: Callback): Push | null {
  const request = requestFor(services.telling, endpoint, callback);
  return request && requestView(request);
}

const requestView = ({ method, url, headers, body }: Push): Push => ({ method, url, headers, body });

const TestBody = Type.Object({
  event: Type.Optional(
    Type.Union(
      WEBHOOK_EVENTS.map((event) => Type.Literal(event)),
      { description: "One of its events; the first unless given." },
    ),
  ),
});

/** A request as it goes over the line. */
export const requestFields = Type.Object(
  {
    method: Type.String({ description: "GET or POST." }),
    url: Type.String({ description: "The whole address, with its query." }),
    headers: Type.Record(Type.String(), {
      description: "With the signature: webhook-id, webhook-timestamp and webhook-signature.",
    }),
    body: nullable(Type.String(), "The exact bytes as text; null for a GET."),
  },
  { description: "The request." },
);

const preview = {
  eventId: Type.String({ description: "The `webhook-id`." }),
  request: requestFields,
};

const PreviewView = Type.Object(preview, { title: "CallbackPreview" });

const TrialView = Type.Object(
  {
    ...preview,
    response: Type.Object(
      {
        delivered: Type.Boolean({ description: "Whether the answer was a 2xx." }),
        status: nullable(Type.Integer(), "Of the answer; null when there was none."),
        ms: Type.Integer({ description: "How long it took." }),
        excerpt: Type.String({ description: "The beginning of what was answered." }),
        reason: nullable(Type.String(), "Why it failed; null when it did not."),
      },
      { description: "What came back." },
    ),
  },
  { title: "CallbackTrial" },
);

const EVENT_ID = "0198f3a2-7c60-7a1e-8a51-3f0c8e2b6d47";
const MESSAGE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1";

/** What an example shows of a request. */
export const sentExample = (hasEvents: boolean): Trial => ({
  eventId: EVENT_ID,
  request: {
    method: "POST",
    url: hasEvents ? "https://shop.example/rcs" : "https://shop.example/reports",
    headers: {
      "content-type": "application/json",
      "webhook-id": EVENT_ID,
      "webhook-timestamp": "1767225600",
      "webhook-signature": "v1,cHVyZWx5IGFuIGV4YW1wbGUgb2YgYSBzaWduYXR1cmU=",
    },
    body: hasEvents
      ? `{"botId":"heliograph","channel":"rcs","event":"message_status","messageId":"${MESSAGE_ID}","statuses":{"eventId":"${EVENT_ID}","status":"delivered","timestamp":1767225600}}`
      : `{"messageId":"${MESSAGE_ID}","status":"Delivered"}`,
  },
});

const answerExample = { delivered: true, status: 200, ms: 41, excerpt: "ok", reason: null };
