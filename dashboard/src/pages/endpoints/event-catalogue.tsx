import { Accordion, Badge, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { EVENT_NAMES } from "./endpoint.ts";
import { subjectName } from "./webhook-kind.tsx";

const PATH = "/api/event-types";

interface EventType {
  channel: string;
  event: string;
  /** The kind of endpoint that receives the event. */
  endpoints: string;
  example: unknown;
}

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
      {data.data.map(({ channel, event, endpoints, example }) => (
        <Accordion.Item key={`${endpoints} ${channel} ${event}`} value={`${endpoints}-${channel}-${event}`}>
          <Accordion.Control>
            <Group gap="sm">
              <Text fw={600} size="sm">
                {EVENT_NAMES[event] ?? event}
              </Text>
              <Badge color="gray">{event}</Badge>
              <Badge>{subjectName(channel)}</Badge>
              {endpoints === "dlr-configs" && <Badge color="gray">{t("DLR Push Configuration")}</Badge>}
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
