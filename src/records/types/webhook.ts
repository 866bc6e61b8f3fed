import { Type } from "../../lib/schema.ts";
import {
  CHANNEL_EVENTS,
  WEBHOOK_CHANNELS,
  WEBHOOK_EVENTS,
  type WebhookChannel,
  type WebhookContent,
} from "../../model/callback.ts";
import type { Fault } from "../../model/problem.ts";
import { defineRecord, plainName } from "../record-type.ts";
import { completeEndpoint, enabled, NEW_ENDPOINT, showEndpoint, url } from "./endpoint.ts";
import { oneOf } from "./shared-fields.ts";

const choices = WEBHOOK_CHANNELS.map((channel) => `${channel}: ${CHANNEL_EVENTS[channel].join(", ")}`).join("; ");

export const webhook = defineRecord({
  kind: "webhook",
  name: plainName("Name for your reference, shown in the callback log."),
  fields: {
    channel: oneOf(WEBHOOK_CHANNELS, "Channel of the events; verify for one-time passwords."),
    method: Type.Default(Type.Literal("POST", { description: "HTTP method. Defaults to POST." }), "POST"),
    url,
    events: Type.Array(oneOf(WEBHOOK_EVENTS, "Event type."), {
      minItems: 1,
      description: `Subscribed events. ${choices}.`,
    }),
    enabled,
  },
  dependsOn: { events: ["channel"] },
  read: ({ fields, faults }) => {
    const { channel, method } = fields;
    checkEvents(channel, fields.events, faults);
    // Removes duplicates and sorts.
    const events = CHANNEL_EVENTS[channel].filter((event) => fields.events.includes(event));
    return { channel, method, url: fields.url, events, enabled: fields.enabled, ...NEW_ENDPOINT };
  },
  complete: completeEndpoint,
  show: showEndpoint,
});

function checkEvents(channel: WebhookChannel, events: WebhookContent["events"], faults: Fault[]): void {
  const known = CHANNEL_EVENTS[channel];
  events.forEach((event, index) => {
    if (known.includes(event)) return;
    const instead =
      channel === "sms" && event === "message_status"
        ? " The status of text messages is sent to delivery reports: create one at /api/dlr-configs."
        : "";
    const message = `A webhook of channel ${channel} supports ${known.join(", ")}, not ${event}.${instead}`;
    faults.push({ parameter: `events[${index}]`, message });
  });
}
