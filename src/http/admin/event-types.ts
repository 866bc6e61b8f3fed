import type { EndpointRecord } from "../../records/catalog.ts";
import { Type } from "../../lib/schema.ts";
import {
  CHANNEL_EVENTS,
  EVERY_PROVIDER,
  WEBHOOK_CHANNELS,
  type WebhookChannel,
  type WebhookEvent,
} from "../../model/callback.ts";
import { sampleFor } from "../../webhooks/payloads/sample-event.ts";
import { unsignedFor } from "../../webhooks/deliver.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

/** The URL of the endpoint that the samples are built for; nothing is sent. */
const URL = "https://shop.example/events";
const NIL = "00000000-0000-0000-0000-000000000000";
const REPORT = "delivery_report";

/** An endpoint of the account that is not stored. */
function endpointFor(accountId: number, channel: WebhookChannel, event: WebhookEvent | null): EndpointRecord {
  const record = { accountId, id: NIL, name: "", origin: "authored", createdAt: 0, updatedAt: 0 } as const;
  const common = { method: "POST", url: URL, enabled: true, disabledReason: null, secrets: [] } as const;
  if (event === null)
    return { ...record, kind: "dlrConfig", content: { ...common, provider: EVERY_PROVIDER, headers: [] } };
  return { ...record, kind: "webhook", content: { ...common, channel, events: [event] } };
}

function exampleOf(services: Services, endpoint: EndpointRecord, event: WebhookEvent | null): unknown {
  const request = unsignedFor(services.deliverDeps, endpoint, sampleFor(endpoint, event, services.clock.now()));
  return JSON.parse(request?.body ?? "{}");
}

function listTypes(services: Services, { caller }: AuthenticCall): object[] {
  const { id } = caller.account;
  const kinds: (readonly [WebhookChannel, WebhookEvent | null])[] = [
    ["sms", null],
    ...WEBHOOK_CHANNELS.flatMap((channel) => CHANNEL_EVENTS[channel].map((event) => [channel, event] as const)),
  ];
  return kinds.map(([channel, event]) => ({
    channel,
    event: event ?? REPORT,
    endpoints: event === null ? "dlr-configs" : "webhooks",
    example: exampleOf(services, endpointFor(id, channel, event), event),
  }));
}

export const listEventTypes: KeyedRoute = {
  method: "GET",
  path: "/api/event-types",
  family: "plain",
  scope: "manage",
  testKeys: null,
  group: "Webhooks",
  summary: "List event types",
  description:
    "Lists every event that endpoints can receive, with the body of a sample. Delivery reports go to `/api/dlr-configs`, all other events to `/api/webhooks`.",
  response: Type.Object({
    data: Type.Array(
      Type.Object({
        channel: Type.Union(
          WEBHOOK_CHANNELS.map((channel) => Type.Literal(channel)),
          { description: "Channel of the event; verify for one-time passwords, system for alerts." },
        ),
        event: Type.String({ description: "Name of the event, as in the `events` of a webhook." }),
        endpoints: Type.Union([Type.Literal("webhooks"), Type.Literal("dlr-configs")], {
          description: "Kind of endpoint that receives it.",
        }),
        example: Type.Record(Type.Unknown(), { description: "Body of a sample event." }),
      }),
      { description: "All event types." },
    ),
  }),
  responseExample: {
    data: [
      {
        channel: "sms",
        event: "link_click",
        endpoints: "webhooks",
        example: { sender: "HELIOG", channel: "sms", event: "link_click", agent: "person" },
      },
    ],
  },
  handle: async (services, call) => ({ data: listTypes(services, call) }),
};
