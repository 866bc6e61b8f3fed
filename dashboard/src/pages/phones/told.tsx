import { Button, Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconWebhook } from "@tabler/icons-react";
import { Link } from "wouter";
import { get, type Page } from "../../api.ts";
import type { Callback } from "../../api-types.ts";
import { CallbackList } from "../../parts/callback-list.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import type { Thread } from "./threads.ts";

const LOOK_EVERY_MS = 2000;
const SHOWN = 15;

/** What your server was told of what happened on this phone: deliveries, readings, and every tap and answer. */
export function Told({ threads }: { threads: readonly Thread[] }) {
  const { data } = useQuery({
    queryKey: ["/api/callbacks", "of phones"],
    queryFn: ({ signal }) => get<Page<Callback>>("/api/callbacks", { limit: 100 }, signal),
    refetchInterval: LOOK_EVERY_MS,
  });
  const entries = threads.flatMap((thread) => thread.entries);
  const ids = new Set(entries.map((entry) => (entry.kind === "in" ? entry.message.messageId : null)));
  // What was written without being asked answers no message; its time tells it apart.
  const times = new Set(entries.map((entry) => (entry.kind === "out" ? entry.at : null)));
  const own = (data?.data ?? [])
    .filter(({ messageId, happenedAt }) => (messageId === null ? times.has(happenedAt) : ids.has(messageId)))
    .slice(0, SHOWN);
  return (
    <Paper component="section" aria-label="Callbacks">
      <Title order={2} size="h5" mb={4}>
        What your server was told
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        Tap something on the phone, and its callback shows here.
      </Text>
      {own.length > 0 ? (
        <CallbackList callbacks={own} />
      ) : (
        data && (
          <EmptyState
            icon={IconWebhook}
            sentence="No webhook was told anything of this phone."
            action={
              <Button component={Link} href="/rcs/utility/webhook" variant="light">
                Add a webhook
              </Button>
            }
          />
        )
      )}
    </Paper>
  );
}
