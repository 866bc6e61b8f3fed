import { Badge, Group, Text } from "@mantine/core";
import type { Channel } from "../../parts/channel.tsx";
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
type ToldChannel = Channel | "verify";

const TOLD: Readonly<Record<ToldChannel, Told>> = {
  rcs: {
    title: "Webhook",
    lead: "Addresses of yours that hear what users send to your bots, and what becomes of RCS messages.",
    events: ["user_message", "message_status"],
  },
  chatapp: {
    title: "Chat app webhook",
    lead: "Addresses of yours that hear what users write to your numbers, and what becomes of chat-app messages.",
    events: ["user_message", "message_status", "message_sent"],
  },
  sms: {
    title: "SMS webhook",
    lead: "Addresses of yours that hear which texts come in, and who follows short links. Delivery reports have a page of their own.",
    events: ["user_message", "link_click"],
  },
  verify: {
    lead: "Addresses of yours that hear what becomes of codes: made, and then verified, expired or given up. The code itself is never told.",
    events: ["verification_status"],
  },
};

const PATH = "/api/webhooks";

function kindFor(channel: ToldChannel): Omit<RecordKind<Webhook>, "panels" | "onMade"> {
  const { events } = TOLD[channel];
  return {
    path: PATH,
    one: "webhook",
    add: "Add Webhook",
    always: { channel },
    starts: { name: "", method: "POST", url: "", events, enabled: true },
    fields: [
      {
        name: "name",
        label: "Name",
        hint: "Unique: the log of callbacks shows it.",
        input: { kind: "text", placeholder: "Shop" },
        required: true,
      },
      {
        name: "method",
        label: "Method",
        input: { kind: "choice", options: [{ value: "POST", label: "POST" }] },
        required: true,
      },
      {
        name: "url",
        label: "End Point",
        hint: "A public address that answers with a 2xx within 15 seconds.",
        input: { kind: "text", type: "url", placeholder: "https://shop.example/events" },
        required: true,
      },
      {
        name: "events",
        label: "Events",
        input: {
          kind: "several",
          options: events.map((value) => ({ value, label: `${EVENT_NAMES[value] ?? value} (${value})` })),
        },
        required: true,
      },
      {
        name: "enabled",
        label: "On",
        hint: "What happens while it is off is not told later.",
        input: { kind: "switch" },
      },
    ],
    columns: [
      {
        title: "End Point",
        wide: true,
        render: ({ url }) => (
          <Text size="sm" lineClamp={1} maw={360}>
            {url}
          </Text>
        ),
      },
      {
        title: "Events",
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
      { title: "Health", render: (webhook) => <HealthBadge path={PATH} endpoint={webhook} /> },
    ],
    belongs: (webhook) => webhook.channel === channel,
    empty: {
      sentence: "No address is told anything yet. Add one, and it hears of events the moment they happen.",
      example: { name: "Shop", url: "https://shop.example/events", events },
    },
    removal: "It is told nothing more, and what still waits for it is dropped.",
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
