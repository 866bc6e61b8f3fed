import { Badge, Group, Text } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import { channelName } from "../../parts/channel.tsx";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { CONSTANT_HEADERS } from "./constant-headers-input.tsx";
import { ALL_CHANNELS, eventsOf, type Webhook } from "./endpoint.ts";
import { EventsInput } from "./events-input.tsx";
import { HealthBadge } from "./health-panel.tsx";

/** Name of a webhook's subject: a channel, or verifications on any channel. */
export const subjectName = (subject: string): string => {
  if (subject === "system") return t("System");
  return subject === "verify" ? t("Verify") : channelName(subject);
};

/** The events after a change of channels: chosen events that still exist, and all events of a new channel. */
function eventsAfter(channels: readonly string[], before: readonly string[], chosen: readonly string[]): string[] {
  const added = eventsOf(channels.filter((channel) => !before.includes(channel)));
  return eventsOf(channels).filter((event) => chosen.includes(event) || added.includes(event));
}

export const WEBHOOK_PATH = "/api/webhooks";

/** Webhooks of one channel, or of all channels without one. A new webhook has all events selected. */
export function webhookKind(channel?: string): Omit<RecordKind<Webhook>, "panels" | "onMade"> {
  const channels = channel === undefined ? ALL_CHANNELS : [channel];
  const events = eventsOf(channels);
  return {
    path: WEBHOOK_PATH,
    one: "webhook",
    add: t("Add Webhook"),
    starts: { name: "", method: "POST", url: "", channels, events, constantHeaders: [], enabled: true },
    fields: [
      {
        name: "name",
        label: t("Name"),
        hint: t("Unique name, shown in the delivery log."),
        input: { kind: "text", placeholder: t("Shop") },
        required: true,
      },
      {
        name: "method",
        label: t("Method"),
        input: { kind: "choice", options: [{ value: "POST", label: "POST" }] },
        required: true,
      },
      {
        name: "url",
        label: t("End Point"),
        hint: t("A public URL that responds with 2xx within 15 seconds."),
        input: { kind: "text", type: "url", placeholder: "https://shop.example/events" },
        required: true,
      },
      {
        name: "channels",
        label: t("Channels"),
        input: { kind: "several", options: ALL_CHANNELS.map((value) => ({ value, label: subjectName(value) })) },
        required: true,
        implies: (value, { channels: before, events: chosen }) => ({
          events: eventsAfter(value as string[], before as string[], chosen as string[]),
        }),
      },
      {
        name: "events",
        label: t("Events"),
        input: { kind: "own", component: EventsInput },
        secretFree: true,
        required: true,
      },
      CONSTANT_HEADERS,
      {
        name: "enabled",
        label: t("On"),
        hint: t("Events that occur while disabled are not delivered later."),
        input: { kind: "switch" },
      },
    ],
    columns: [
      {
        title: t("End Point"),
        wide: true,
        render: ({ url }) => (
          <Text size="sm" lineClamp={1} maw={360}>
            {url}
          </Text>
        ),
      },
      {
        title: t("Events"),
        wide: true,
        render: (webhook) => (
          <Group gap={4}>
            {webhook.events.map((event) => (
              <Badge key={event} color="gray">
                {event}
              </Badge>
            ))}
          </Group>
        ),
      },
      { title: t("Health"), render: (webhook) => <HealthBadge path={WEBHOOK_PATH} endpoint={webhook} /> },
    ],
    belongs: (webhook) => channel === undefined || webhook.channels.includes(channel),
    empty: {
      sentence: t("No endpoints yet. Add one to receive events in real time."),
      example: { channels, name: "Shop", url: "https://shop.example/events", events },
    },
    removal: t("It gets no more events. Events that wait for delivery are discarded."),
  };
}
