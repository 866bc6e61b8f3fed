import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { get } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";

const LOOK_EVERY_MS = 400;

type Told = Message & { timeline: { at: number; event: string; detail: string }[] };

/** The timeline of a message, updated until its final state. */
export function DeliverySteps({ messageId }: { messageId: string }) {
  const { data } = useQuery({
    queryKey: ["delivery", messageId],
    queryFn: ({ signal }) => get<Told>(`/v1/messages/${messageId}`, {}, signal),
    refetchInterval: ({ state }) => (state.data && state.data.status !== "Pending" ? false : LOOK_EVERY_MS),
  });
  if (!data) return <Text size="sm">…</Text>;
  return (
    <Stack gap="xs" data-delivery>
      {data.timeline.map(({ at, event, detail }) => (
        <Group key={event + String(at)} gap="sm" wrap="nowrap" align="flex-start">
          <StatusBadge status={event} />
          <Text size="sm" flex={1}>
            {detail}
          </Text>
          <Text size="sm" c="dimmed" component="span">
            {at === data.createdAt ? <TimeText at={at} size="sm" /> : `+ ${duration(at - data.createdAt)}`}
          </Text>
        </Group>
      ))}
      <Group mt="xs">
        <Button component={Link} href={`/messages/${messageId}`} variant="light" size="xs">
          {t("View message details")}
        </Button>
      </Group>
    </Stack>
  );
}
