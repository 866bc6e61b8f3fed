import { Anchor, Grid, Group, Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../api.ts";
import { ownUrl } from "../../base.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { useMay } from "../../session.tsx";
import { byLabel, readMetrics, type Figure } from "./metrics.ts";
import { SystemState } from "./system-state.tsx";

const REFRESH_MS = 5000;

async function textOf(path: string, signal: AbortSignal): Promise<{ ok: boolean; text: string }> {
  const response = await fetch(ownUrl(path), { signal });
  return { ok: response.ok, text: await response.text() };
}

async function metricsNow(signal: AbortSignal): Promise<Figure[]> {
  const { ok, text } = await textOf("/metrics", signal);
  if (!ok) throw new ApiError(0, { message: "This server does not tell its figures." });
  return readMetrics(text);
}

/** Whether the server can work, and how much of it there is to do. */
export default function System() {
  const mayLook = useMay("write");
  const metrics = useQuery({
    queryKey: ["metrics"],
    queryFn: ({ signal }) => metricsNow(signal),
    refetchInterval: REFRESH_MS,
  });
  const ready = useQuery({
    queryKey: ["ready"],
    queryFn: ({ signal }) => textOf("/readyz", signal),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <PageHeader
        title="System"
        lead="Whether the server can work, and how much there is to do. It is asked every five seconds."
      />
      <Group mb="lg" gap="md">
        {ready.data?.ok === true && <StatusBadge status="healthy" word="Ready" />}
        {ready.data?.ok === false && <StatusBadge status="failing" word="Not ready" />}
        {ready.isError && <StatusBadge status="down" word="Cannot be reached" />}
        <Anchor href={ownUrl("/metrics")} size="sm">
          Figures for Prometheus
        </Anchor>
        <Anchor href={ownUrl("/docs")} size="sm">
          API reference
        </Anchor>
        <Anchor href={ownUrl("/docs/errors")} size="sm">
          Error codes
        </Anchor>
      </Group>
      {mayLook ? (
        <SystemState refreshMs={REFRESH_MS} />
      ) : (
        <Text size="sm" c="dimmed">
          Members and owners see the nodes and what waits.
        </Text>
      )}
      {metrics.error && <ErrorState error={metrics.error} retry={() => void metrics.refetch()} />}
      {metrics.data && <Rankings figures={metrics.data} />}
    </>
  );
}

/** What this node has counted since it started. */
const Rankings = ({ figures }: { figures: readonly Figure[] }) => (
  <Grid gap="lg" mt="xl">
    <Ranking title="Accepted, by channel" bars={byLabel(figures, "heliograph_messages_accepted_total", "channel")} />
    <Ranking title="Ended, by state" bars={byLabel(figures, "heliograph_messages_ended_total", "state")} />
    <Ranking title="What carriers answered" bars={byLabel(figures, "heliograph_submit_outcomes_total", "outcome")} />
    <Ranking title="Callbacks" bars={byLabel(figures, "heliograph_callbacks_total", "state")} />
    <Ranking title="Requests refused" bars={byLabel(figures, "heliograph_requests_refused_total", "code")} />
  </Grid>
);

interface RankingProps {
  title: string;
  bars: readonly { name: string; count: number }[];
}

/** Counts since the node started; one that has counted nothing is left out. */
function Ranking({ title, bars }: RankingProps) {
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  return (
    <Grid.Col span={{ base: 12, md: 6 }}>
      <Paper component="section" aria-label={title}>
        <Title order={2} size="h5">
          {title}
        </Title>
        <Text size="xs" c="dimmed" mb="md">
          Since this node started
        </Text>
        <BarList of={total} bars={bars.map((bar) => ({ ...bar, label: bar.name }))} />
      </Paper>
    </Grid.Col>
  );
}
