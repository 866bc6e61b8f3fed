import { Anchor, Grid, Group, Paper, SimpleGrid, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../../api.ts";
import { ownUrl } from "../../base.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { duration } from "../../parts/time-text.tsx";
import { byLabel, readMetrics, sumOf, type Figure } from "./metrics.ts";

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
      {metrics.error && <ErrorState error={metrics.error} retry={() => void metrics.refetch()} />}
      {metrics.isPending && <PageLoading />}
      {metrics.data && <Figures figures={metrics.data} />}
    </>
  );
}

const MEGABYTE = 1_048_576;

function Figures({ figures }: { figures: readonly Figure[] }) {
  const shown = (name: string, write: (value: number) => ReactNode = (value) => value.toLocaleString()): ReactNode => {
    const value = sumOf(figures, name);
    return value === undefined ? "–" : write(value);
  };
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} mb="xl">
        <FigureCard label="Nodes" value={shown("heliograph_nodes")} note="that share the store and live" />
        <FigureCard
          label="Queue"
          value={shown("heliograph_store_waiting_messages")}
          note="messages that are not sent yet"
        />
        <FigureCard label="In the lanes" value={shown("heliograph_lane_messages")} note="of this node" />
        <FigureCard
          label="With carriers"
          value={shown("heliograph_dispatch_in_flight")}
          note="waiting for their answer"
        />
        <FigureCard label="Being written" value={shown("heliograph_accept_backlog")} note="waiting for their commit" />
        <FigureCard
          label="Running for"
          value={shown("process_uptime_seconds", (seconds) => duration(seconds * 1000))}
        />
        <FigureCard
          label="Memory"
          value={shown("process_resident_memory_bytes", (bytes) => `${Math.round(bytes / MEGABYTE)} MB`)}
        />
      </SimpleGrid>
      <Grid gap="lg">
        <Ranking
          title="Accepted, by channel"
          bars={byLabel(figures, "heliograph_messages_accepted_total", "channel")}
        />
        <Ranking title="Ended, by state" bars={byLabel(figures, "heliograph_messages_ended_total", "state")} />
        <Ranking
          title="What carriers answered"
          bars={byLabel(figures, "heliograph_submit_outcomes_total", "outcome")}
        />
        <Ranking title="Callbacks" bars={byLabel(figures, "heliograph_callbacks_total", "state")} />
        <Ranking title="Requests refused" bars={byLabel(figures, "heliograph_requests_refused_total", "code")} />
      </Grid>
    </>
  );
}

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
