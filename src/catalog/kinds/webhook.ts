import { Type } from "../../lib/schema.ts";
import {
  CHANNEL_EVENTS,
  WEBHOOK_CHANNELS,
  WEBHOOK_EVENTS,
  type WebhookChannel,
  type WebhookContent,
} from "../../model/callback.ts";
import type { Fault } from "../../model/problem.ts";
import type { RecordKind } from "../record-kind.ts";
import { checkUrl, completeEndpoint, enabled, INCOMPLETE, showEndpoint, url, type EndpointFields } from "./endpoint.ts";
import { oneOf } from "./words.ts";

const choices = WEBHOOK_CHANNELS.map((channel) => `${channel}: ${CHANNEL_EVENTS[channel].join(", ")}`).join("; ");

/** Where the events of a channel are told. */
export const webhook: RecordKind<"webhook", EndpointFields<WebhookContent>> = {
  kind: "webhook",
  name: { meaning: "For people, and in the log of callbacks." },
  fields: {
    channel: oneOf(WEBHOOK_CHANNELS, "The channel whose events it is told; verify for those of one-time passwords."),
    method: Type.Literal("POST", { description: "How it is called: POST, which it is unless given." }),
    url,
    events: Type.Array(oneOf(WEBHOOK_EVENTS, "One event."), {
      minItems: 1,
      description: `What it is told. ${choices}.`,
    }),
    enabled,
  },
  defaults: { method: "POST", enabled: true },
  read: ({ fields, faults }) => {
    const { channel, method } = fields;
    checkUrl(fields.url, faults);
    checkEvents(channel, fields.events, faults);
    // Always in the same order, and none twice.
    const events = CHANNEL_EVENTS[channel].filter((event) => fields.events.includes(event));
    return { channel, method, url: fields.url, events, enabled: fields.enabled, ...INCOMPLETE };
  },
  complete: completeEndpoint,
  show: showEndpoint,
};

function checkEvents(channel: WebhookChannel, events: WebhookContent["events"], faults: Fault[]): void {
  const known = CHANNEL_EVENTS[channel];
  events.forEach((event, index) => {
    if (known.includes(event)) return;
    const instead =
      channel === "sms" && event === "message_status"
        ? " The status of text messages goes to delivery reports: make one at /api/dlr-configs."
        : "";
    const message = `A webhook of channel ${channel} is told ${known.join(", ")}, and not ${event}.${instead}`;
    faults.push({ parameter: `events[${index}]`, message });
  });
}
