import { Anchor, Breadcrumbs, Grid, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { get, post } from "../../api.ts";
import type { Message, TimelineStep } from "../../api-types.ts";
import { ChannelBadge } from "../../parts/channel.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { useMay } from "../../session.tsx";
import { Facts } from "./facts.tsx";
import { MessageCallbacks } from "./message-callbacks.tsx";
import { Rendered } from "./rendered.tsx";
import { Segments } from "./segments.tsx";
import { WhyTimeline } from "./why-timeline.tsx";

export type Explained = Message & { timeline: TimelineStep[] };

/** While a message is on its way it is looked at again. */
const LOOK_EVERY_MS = 1000;
/** After its end there may still come a reading, a click, an answer or a callback. */
const LOOK_AFTERWARDS_MS = 5000;

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
        <PageHeader title="Message" />
        <ErrorState error={error} retry={() => void refetch()} title="This message cannot be shown" />
      </>
    );
  if (!data) return <PageLoading />;
  const waits = data.state === "accepted" || data.state === "scheduled";
  return (
    <>
      <Breadcrumbs mb="xs">
        <Anchor component={Link} href="/messages" size="sm">
          Messages
        </Anchor>
        <Text size="sm" c="dimmed" truncate maw={{ base: 200, xs: 400 }}>
          {messageId}
        </Text>
      </Breadcrumbs>
      <PageHeader
        title={`To ${data.recipient}`}
        lead={
          <Group gap="xs" component="span" mt={4}>
            <StatusBadge status={data.state} />
            <ChannelBadge channel={data.channel} />
            <span>from {data.sender}</span>
          </Group>
        }
      >
        {waits && mayWrite && (
          <ConfirmButton
            question="Cancel this message?"
            consequence="It will not be sent, and what it would have cost is given back."
            yes="Cancel the message"
            run={async () => {
              await post(`/v1/messages/${messageId}/cancel`);
              await client.invalidateQueries({ queryKey: ["message", messageId] });
            }}
          >
            Cancel it
          </ConfirmButton>
        )}
        <CopyButton wide value={messageId} label="Copy id" />
        <CopyButton wide value={curlOf({ path: `/v1/messages/${messageId}` })} label="Copy curl" />
      </PageHeader>
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="xl">
            <Paper component="section" aria-label="Timeline">
              <Title order={2} size="h4" mb="lg">
                What happened, and why
              </Title>
              <WhyTimeline steps={data.timeline} />
            </Paper>
            <MessageCallbacks messageId={messageId} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="xl">
            <Rendered message={data} />
            <Facts message={data} />
            {mayWrite && data.channel === "sms" && !data.erased && data.text !== "" && <Segments message={data} />}
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}
