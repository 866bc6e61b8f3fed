import { Button, Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconWebhook } from "@tabler/icons-react";
import { Link } from "wouter";
import { get, type Page } from "../../api.ts";
import type { Callback } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { CallbackList } from "../../parts/callback-list.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";

const LOOK_EVERY_MS = 3000;
const SHOWN = 15;

/** Webhook deliveries about events on this phone: receipts, reads, taps and replies. */
export function Told({ number }: { number: string }) {
  const { data } = useQuery({
    queryKey: ["/api/callbacks", { phone: number }],
    queryFn: ({ signal }) => get<Page<Callback>>("/api/callbacks", { phone: number, limit: SHOWN }, signal),
    refetchInterval: LOOK_EVERY_MS,
  });
  const own = data?.data ?? [];
  return (
    <Paper component="section" aria-label={t("Callbacks")}>
      <Title order={2} size="h5" mb={4}>
        {t("Webhook deliveries")}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {t("Tap a button on the phone to see its webhook delivery here.")}
      </Text>
      {own.length > 0 ? (
        <CallbackList callbacks={own} />
      ) : (
        data && (
          <EmptyState
            icon={IconWebhook}
            sentence={t("No webhook deliveries for this phone.")}
            action={
              <Button component={Link} href="/rcs/utility/webhook" variant="light">
                {t("Add webhook")}
              </Button>
            }
          />
        )
      )}
    </Paper>
  );
}
