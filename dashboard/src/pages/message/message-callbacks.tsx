import { Button, Group, Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { get, type Page } from "../../api.ts";
import type { Callback } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { CallbackList } from "../../parts/callback-list.tsx";

const LOOK_EVERY_MS = 3000;

/** The webhook deliveries of a message. */
export function MessageCallbacks({ messageId }: { messageId: string }) {
  const { data } = useQuery({
    queryKey: ["/api/callbacks", { messageId }],
    queryFn: ({ signal }) => get<Page<Callback>>("/api/callbacks", { messageId, limit: 100 }, signal),
    refetchInterval: LOOK_EVERY_MS,
  });
  if (!data) return null;
  return (
    <Paper component="section" aria-label={t("Callbacks")}>
      <Title order={2} size="h4" mb="md">
        {t("Webhook deliveries")}
      </Title>
      {data.data.length > 0 ? (
        <CallbackList callbacks={data.data} />
      ) : (
        <Group justify="space-between">
          <Text size="sm" c="dimmed" flex={1}>
            {t("No endpoint receives events of this message.")}
          </Text>
          <Button component={Link} href="/message-app/utility-manager/dlr-push-configuration" variant="light" size="xs">
            {t("Add delivery report")}
          </Button>
        </Group>
      )}
    </Paper>
  );
}
