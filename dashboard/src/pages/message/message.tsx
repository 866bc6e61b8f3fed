import { Anchor, Breadcrumbs, Grid, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Link, useParams } from "wouter";
import { get, post } from "../../api.ts";
import type { Message, TimelineStep } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { ChannelBadge } from "../../parts/channel.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { isBinary } from "../../parts/phone/octets.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { useMay } from "../../session.tsx";
import { Again } from "./again.tsx";
import { Facts } from "./facts.tsx";
import { Rendered } from "./rendered.tsx";
import { Segments } from "./segments.tsx";
import { WhyTimeline } from "./why-timeline.tsx";

/** Below the fold, so it loads after the page. */
const MessageCallbacks = lazy(async () => ({ default: (await import("./message-callbacks.tsx")).MessageCallbacks }));

export type Explained = Message & { timeline: TimelineStep[] };

/** Polling interval until the message reaches a final state. */
const LOOK_EVERY_MS = 1000;
/** Polling interval afterwards: reads, clicks, replies and callbacks may follow. */
const LOOK_AFTERWARDS_MS = 5000;

/** The states of an RCS message that its platform may still call back. */
const REVOCABLE: ReadonlySet<string> = new Set(["submitted", "enroute"]);

/** One message: what it is, where it is, and why. */
export default function MessageInspector() {
  const { messageId } = useParams<{ messageId: string }>();
  const client = useQueryClient();
  const mayWrite = useMay("write");
  const { data, error, refetch } = useQuery({
    queryKey: ["message", messageId],
    queryFn: ({ signal }) => get<Explained>(`/api/messages/${messageId}`, {}, signal),
    refetchInterval: ({ state }) => (state.data?.status === "Pending" ? LOOK_EVERY_MS : LOOK_AFTERWARDS_MS),
  });
  if (error)
    return (
      <>
        <PageHeader title={t("Message")} />
        <ErrorState error={error} retry={() => void refetch()} title={t("Message cannot be loaded")} />
      </>
    );
  if (!data) return <PageLoading />;
  const waits = data.state === "accepted" || data.state === "scheduled";
  return (
    <>
      <Breadcrumbs mb="xs">
        <Anchor component={Link} href="/messages" size="sm">
          {t("Messages")}
        </Anchor>
        <Text size="sm" c="dimmed" truncate maw={{ base: 200, xs: 400 }}>
          {messageId}
        </Text>
      </Breadcrumbs>
      <PageHeader
        title={t("To {recipient}", { recipient: data.recipient })}
        lead={
          <Group gap="xs" component="span" mt={4}>
            <StatusBadge status={data.state} />
            <ChannelBadge channel={data.channel} />
            <span>{t("from {sender}", { sender: data.sender })}</span>
          </Group>
        }
      >
        {waits && mayWrite && (
          <ConfirmButton
            question={t("Cancel this message?")}
            consequence={t("It will not be sent, and its credits are released.")}
            yes={t("Cancel message")}
            no={t("Go back")}
            run={async () => {
              await post(`/v1/messages/${messageId}/cancel`);
              await client.invalidateQueries({ queryKey: ["message", messageId] });
            }}
          >
            {t("Cancel message")}
          </ConfirmButton>
        )}
        {data.channel === "rcs" && REVOCABLE.has(data.state) && mayWrite && (
          <ConfirmButton
            question={t("Call this message back?")}
            consequence={t(
              "The platform is asked to call it back. A phone that has it by then keeps it. Its cost stays.",
            )}
            yes={t("Call back")}
            no={t("Go back")}
            run={async () => {
              await post(`/v1/messages/${messageId}/cancel`);
              await client.invalidateQueries({ queryKey: ["message", messageId] });
            }}
          >
            {t("Call back")}
          </ConfirmButton>
        )}
        {mayWrite && <Again message={data} />}
        <CopyButton wide value={messageId} label={t("Copy id")} />
        <CopyButton wide value={curlOf({ path: `/v1/messages/${messageId}` })} label={t("Copy curl")} />
      </PageHeader>
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="xl">
            <Paper component="section" aria-label={t("Timeline")}>
              <Title order={2} size="h4" mb="lg">
                {t("Timeline")}
              </Title>
              <WhyTimeline steps={data.timeline} />
            </Paper>
            <Suspense fallback={null}>
              <MessageCallbacks messageId={messageId} />
            </Suspense>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="xl">
            <Rendered message={data} />
            <Facts message={data} />
            {mayWrite && data.channel === "sms" && !data.erased && data.text !== "" && !isBinary(data) && (
              <Segments message={data} />
            )}
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}
