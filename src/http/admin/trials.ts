import type { EndpointRecord } from "../../records/catalog.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { WEBHOOK_EVENTS, type Callback, type WebhookRequest, type WebhookEvent } from "../../model/callback.ts";
import { refuseFaults, type Fault } from "../../model/problem.ts";
import { sampleFor } from "../../webhooks/payloads/sample-event.ts";
import { maskConstantHeaders } from "../../webhooks/constant-headers.ts";
import { requestFor } from "../../webhooks/deliver.ts";
import { choiceParameter } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services } from "../route.ts";
import { findEndpoint } from "./find-endpoint.ts";
import type { RecordDocs } from "./record-shapes.ts";

/** Operations for testing an endpoint: preview a request, and send a test event. */
export function trialRoutes(
  docs: RecordDocs,
  item: Pick<KeyedRoute, "family" | "scope" | "testKeys" | "group" | "params" | "problems">,
): readonly KeyedRoute[] {
  const { singular, plural, definitions } = docs.type;
  const hasEvents = Object.hasOwn(definitions[0].fields, "events");
  const test = {
    ...item,
    method: "POST",
    path: `/api/${plural}/:id/test`,
    summary: `Send a test ${singular} event`,
    description: `Sends one sample event to the ${singular} immediately, even if it is disabled, and returns the request and the response. The event belongs to no message and is not recorded in the callback log.`,
    response: TrialView,
    responseExample: { ...sentExample(hasEvents), response: answerExample },
  } as const;
  return [
    hasEvents
      ? keyedRoute({
          ...test,
          body: TestBody,
          requestExamples: { "its first event": {} },
          handle: (services, call) => sendTrial(docs, services, call, call.body.event),
        })
      : { ...test, handle: (services, call) => sendTrial(docs, services, call, undefined) },
    {
      ...item,
      method: "GET",
      path: `/api/${plural}/:id/preview`,
      summary: `Preview a ${singular} request`,
      description:
        "Returns the exact request for a sample event, signed as of now. The signature is masked for viewers. Nothing is sent.",
      ...(hasEvents && {
        query: {
          event: {
            ...choiceParameter(WEBHOOK_EVENTS, "One of its subscribed events. Defaults to the first."),
            example: "message_status",
          },
        },
      }),
      response: PreviewView,
      responseExample: sentExample(hasEvents),
      handle: (services, call) => previewTrial(docs, services, call, call.query.event as WebhookEvent | undefined),
    },
  ];
}

async function sendTrial(
  docs: RecordDocs,
  services: Services,
  call: AuthenticCall,
  event: WebhookEvent | undefined,
): Promise<object> {
  const { eventId, endpoint, request } = await prepare(docs, services, call, event);
  const result = await services.deliverDeps.transport.sendWebhook(request);
  const { kind, status, ms, excerpt } = result;
  const reason = result.kind === "failed" ? result.reason : null;
  const response = { delivered: kind === "delivered", status, ms, excerpt, reason };
  return { eventId, request: requestView(endpoint, request), response };
}

async function previewTrial(
  docs: RecordDocs,
  services: Services,
  call: AuthenticCall,
  event: WebhookEvent | undefined,
): Promise<object> {
  const { eventId, endpoint, request } = await prepare(docs, services, call, event);
  return { eventId, request: requestView(endpoint, request) };
}

interface Trial {
  eventId: string;
  request: WebhookRequest;
}

async function prepare(
  docs: RecordDocs,
  services: Services,
  call: AuthenticCall,
  event: WebhookEvent | undefined,
): Promise<Trial & { endpoint: EndpointRecord }> {
  const endpoint = await findEndpoint(docs, services, call);
  const sample = sampleFor(endpoint, readEvent(endpoint, event), services.clock.now());
  const request = requestFor(services.deliverDeps, endpoint, sample);
  if (!request) throw new Error("an endpoint does not want to know what it asks for");
  return { eventId: sample.eventId, endpoint, request };
}

function readEvent({ content }: EndpointRecord, asked: WebhookEvent | undefined): WebhookEvent | null {
  if (asked === undefined || !("events" in content)) return null;
  const faults: Fault[] = [];
  if (!content.events.includes(asked)) {
    const message = `event must be one of the webhook's events: ${content.events.join(", ")}.`;
    faults.push({ parameter: "event", message });
  }
  refuseFaults(faults);
  return asked;
}

/** Builds the request for an event as it would be sent now; null if the endpoint does not subscribe to it. */
export function requestNow(services: Services, endpoint: EndpointRecord, callback: Callback): WebhookRequest | null {
  const request = requestFor(services.deliverDeps, endpoint, callback);
  return request && requestView(endpoint, request);
}

function requestView({ content }: EndpointRecord, request: WebhookRequest): WebhookRequest {
  const { method, url, headers, body } = maskConstantHeaders(request, content);
  return { method, url, headers, body };
}

const TestBody = Type.Object({
  event: Type.Optional(
    Type.Union(
      WEBHOOK_EVENTS.map((event) => Type.Literal(event)),
      { description: "One of its subscribed events. Defaults to the first." },
    ),
  ),
});

/** Schema of a callback request. */
export const requestFields = Type.Object(
  {
    method: Type.String({ description: "GET or POST." }),
    url: Type.String({ description: "Complete URL with query." }),
    headers: Type.Record(Type.String(), {
      description:
        "Headers including webhook-id, webhook-timestamp and webhook-signature. Values of constant headers are masked, and the signature for viewers.",
    }),
    body: nullable(Type.String(), "Exact body; null for GET."),
  },
  { description: "Request that was sent." },
);

const preview = {
  eventId: Type.String({ description: "`webhook-id` of the event." }),
  request: requestFields,
};

const PreviewView = Type.Object(preview, { title: "CallbackPreview" });

const TrialView = Type.Object(
  {
    ...preview,
    response: Type.Object(
      {
        delivered: Type.Boolean({ description: "True if the response status was 2xx." }),
        status: nullable(Type.Integer(), "HTTP status of the response; null if there was none."),
        ms: Type.Integer({ description: "Duration of the request." }),
        excerpt: Type.String({ description: "First part of the response body." }),
        reason: nullable(Type.String(), "Reason of the failure; null if it succeeded."),
      },
      { description: "Response." },
    ),
  },
  { title: "CallbackTrial" },
);

const EVENT_ID = "0198f3a2-7c60-7a1e-8a51-3f0c8e2b6d47";
const MESSAGE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1";

/** Request in examples. */
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
