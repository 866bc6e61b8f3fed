import { Badge, Group, Text } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { SendChannel } from "../../parts/channel.tsx";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { EVENT_NAMES, type Webhook } from "./endpoint.ts";
import { HealthBadge } from "./health-panel.tsx";
import { useEndpointParts } from "./use-endpoint-parts.tsx";

interface Told {
  /** Left out where it is one part of a page. */
  title?: string;
  lead: string;
  events: readonly string[];
}

/** Codes are told of like a channel, whichever one brings them. */
type ToldChannel = SendChannel | "verify";

const TOLD: Readonly<Record<ToldChannel, Told>> = {
  rcs: {
    title: t("Webhook"),
    lead: t("Your endpoints that receive incoming RCS messages and RCS message status."),
    events: ["user_message", "message_status"],
  },
  chatapp: {
    title: t("Chat app webhook"),
    lead: t("Your endpoints that receive incoming chat-app messages and chat-app message status."),
    events: ["user_message", "message_status", "message_sent"],
  },
  sms: {
    title: t("SMS webhook"),
    lead: t("Your endpoints that receive incoming SMS and short-link clicks. Delivery reports have their own page."),
    events: ["user_message", "link_click"],
  },
  verify: {
    lead: t(
      "Your endpoints that receive verification status: sent, verified, expired or failed. The code itself is never included.",
    ),
    events: ["verification_status"],
  },
};

const PATH = "/api/webhooks";

function kindFor(channel: ToldChannel): Omit<RecordKind<Webhook>, "panels" | "onMade"> {
  const { events } = TOLD[channel];
  return {
    path: PATH,
    one: "webhook",
    add: t("Add Webhook"),
    always: { channel },
    starts: { name: "", method: "POST", url: "", events, enabled: true },
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
        name: "events",
        label: t("Events"),
        input: {
          kind: "several",
          options: events.map((value) => ({ value, label: `${EVENT_NAMES[value] ?? value} (${value})` })),
        },
        required: true,
      },
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
      { title: t("Health"), render: (webhook) => <HealthBadge path={PATH} endpoint={webhook} /> },
    ],
    belongs: (webhook) => webhook.channel === channel,
    empty: {
      sentence: t("No endpoints yet. Add one to receive events in real time."),
      example: { name: "Shop", url: "https://shop.example/events", events },
    },
    removal: t("It gets no more events. Events that wait for delivery are discarded."),
  };
}

function Webhooks({ channel }: { channel: ToldChannel }) {
  const { parts, dialog } = useEndpointParts<Webhook>(PATH);
  const { title, lead } = TOLD[channel];
  return (
    <>
      {title === undefined && (
        <Text size="sm" c="dimmed" mb="md">
          {lead}
        </Text>
      )}
      <RecordTable kind={{ ...kindFor(channel), ...parts }} {...(title === undefined ? {} : { title, lead })} />
      {dialog}
    </>
  );
}

export const RcsWebhooks = () => <Webhooks channel="rcs" />;
export const ChatWebhooks = () => <Webhooks channel="chatapp" />;
export const SmsWebhooks = () => <Webhooks channel="sms" />;
export const VerifyWebhooks = () => <Webhooks channel="verify" />;
