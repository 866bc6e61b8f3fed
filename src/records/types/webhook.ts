import { Type } from "../../lib/schema.ts";
import {
  CHANNEL_EVENTS,
  channelsOf,
  WEBHOOK_CHANNELS,
  WEBHOOK_EVENTS,
  type WebhookChannel,
  type WebhookContent,
} from "../../model/callback.ts";
import type { Fault } from "../../model/problem.ts";
import { defineRecord, plainName } from "../record-type.ts";
import { constantHeaders, readConstantHeaders } from "./constant-headers.ts";
import { completeEndpoint, enabled, hiddenInEndpoint, NEW_ENDPOINT, showEndpoint, url } from "./endpoint.ts";
import { oneOf } from "./shared-fields.ts";

const choices = WEBHOOK_CHANNELS.map((channel) => `${channel}: ${CHANNEL_EVENTS[channel].join(", ")}`).join("; ");

export const webhook = defineRecord({
  kind: "webhook",
  name: plainName("Name for your reference, shown in the callback log."),
  fields: {
    channel: Type.Optional(
      oneOf(
        WEBHOOK_CHANNELS,
        "The only channel, or the first of `channels`; verify for one-time passwords, system for alerts.",
      ),
    ),
    channels: Type.Optional(
      Type.Array(oneOf(WEBHOOK_CHANNELS, "Channel of the events; verify for one-time passwords, system for alerts."), {
        minItems: 1,
        description: "Channels of the events, for a webhook of several channels. Required without `channel`.",
      }),
    ),
    method: Type.Default(Type.Literal("POST", { description: "HTTP method. Defaults to POST." }), "POST"),
    url,
    events: Type.Array(oneOf(WEBHOOK_EVENTS, "Event type."), {
      minItems: 1,
      description: `Subscribed events. Each is sent for the channels that have it. ${choices}.`,
    }),
    constantHeaders,
    enabled,
  },
  dependsOn: { events: ["channel", "channels"], channel: ["channels"], constantHeaders: ["url"] },
  read: ({ fields, named, known, stored, faults }) => {
    const { method } = fields;
    const channels = readChannels(
      { channel: fields.channel, channels: fields.channels },
      named,
      known?.content,
      faults,
    );
    checkEvents(channels, fields.events, faults);
    // Removes duplicates and sorts.
    const events = WEBHOOK_EVENTS.filter((event) => fields.events.includes(event));
    const newHeaders = readConstantHeaders({
      given: fields.constantHeaders ?? [],
      url: fields.url,
      stored: stored?.content ?? null,
      others: [],
      faults,
    });
    const [channel = "sms"] = channels;
    const content = { channel, channels, method, url: fields.url, events, enabled: fields.enabled, ...NEW_ENDPOINT };
    return { ...content, newHeaders };
  },
  complete: completeEndpoint,
  show: (content) => ({ ...showEndpoint(content), channels: channelsOf(content) }),
  hidden: hiddenInEndpoint,
});

interface GivenChannels {
  channel: WebhookChannel | undefined;
  channels: readonly WebhookChannel[] | undefined;
}

/** The channels of a request in a fixed order. `channel` alone means one; with `channels` it must be one of them. */
function readChannels(
  { channel, channels }: GivenChannels,
  named: ReadonlySet<string>,
  known: WebhookContent | undefined,
  faults: Fault[],
): readonly WebhookChannel[] {
  if (named.has("channels") && channels) {
    if (named.has("channel") && channel && !channels.includes(channel)) {
      const message = `channel must be one of channels (${channels.join(", ")}): omit it, or name it there too.`;
      faults.push({ parameter: "channel", message });
    }
    return WEBHOOK_CHANNELS.filter((each) => channels.includes(each));
  }
  if (channel && (named.has("channel") || !known)) return [channel];
  if (known) return channelsOf(known);
  const message = `channel is required: one of ${WEBHOOK_CHANNELS.join(", ")}, or several as channels.`;
  faults.push({ parameter: "channel", message });
  return [];
}

function checkEvents(channels: readonly WebhookChannel[], events: WebhookContent["events"], faults: Fault[]): void {
  if (channels.length === 0) return;
  const known = channels.flatMap((channel) => CHANNEL_EVENTS[channel]);
  events.forEach((event, index) => {
    if (known.includes(event)) return;
    const instead =
      channels.includes("sms") && event === "message_status"
        ? " The status of text messages is the event delivery_report; /api/dlr-configs sends it with fields of your choice."
        : "";
    const which = channels.length === 1 ? `channel ${channels[0]}` : `channels ${channels.join(", ")}`;
    const message = `A webhook of ${which} supports ${[...new Set(known)].join(", ")}, not ${event}.${instead}`;
    faults.push({ parameter: `events[${index}]`, message });
  });
}
