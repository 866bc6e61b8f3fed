import { Accordion, Badge, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { channelName } from "../../parts/channel.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { EVENT_NAMES } from "./endpoint.ts";

const PATH = "/api/event-types";

interface EventType {
  channel: string;
  event: string;
  example: unknown;
}

const nameOf = (event: string): string => EVENT_NAMES[event] ?? t("Delivery report");

const ofChannel = (channel: string): string => (channel === "verify" ? t("Verify") : channelName(channel));

/** Every event that endpoints can receive, with a sample as this server sends it. */
export function EventCatalogue() {
  const { data, error, refetch } = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => get<{ data: EventType[] }>(PATH, {}, signal),
  });
  if (error) return <ErrorState error={error} retry={() => void refetch()} title={t("The events cannot be shown")} />;
  if (!data) return <PageLoading />;
  return (
    <Accordion variant="separated" order={2}>
      {data.data.map(({ channel, event, example }) => (
        <Accordion.Item key={`${channel} ${event}`} value={`${channel}-${event}`}>
          <Accordion.Control>
            <Group gap="sm">
              <Text fw={600} size="sm">
                {nameOf(event)}
              </Text>
              <Badge color="gray">{event}</Badge>
              <Badge>{ofChannel(channel)}</Badge>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <CodeBlock heading={t("Example")} code={JSON.stringify(example, null, 2)} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}
