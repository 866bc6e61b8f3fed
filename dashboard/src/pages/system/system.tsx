import { Anchor, Grid, Group, Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../api.ts";
import { ownUrl } from "../../base.ts";
import { t } from "../../i18n/t.ts";
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
  if (!ok)
    throw new ApiError(0, { message: t("Metrics cannot be loaded, or are protected by HELIOGRAPH_METRICS_KEY.") });
  return readMetrics(text);
}

/** Health and load of the server. */
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
      <PageHeader title={t("System")} lead={t("Server health and queues, updated every five seconds.")} />
      <Group mb="lg" gap="md">
        {ready.data?.ok === true && <StatusBadge status="healthy" word={t("Ready")} />}
        {ready.data?.ok === false && <StatusBadge status="failing" word={t("Not ready")} />}
        {ready.isError && <StatusBadge status="down" word={t("Unreachable")} />}
        <Anchor href={ownUrl("/metrics")} size="sm">
          {t("Prometheus metrics")}
        </Anchor>
        <Anchor href={ownUrl("/docs/reference")} size="sm">
          {t("API reference")}
        </Anchor>
        <Anchor href={ownUrl("/docs/errors")} size="sm">
          {t("Error codes")}
        </Anchor>
      </Group>
      {mayLook ? (
        <SystemState refreshMs={REFRESH_MS} />
      ) : (
        <Text size="sm" c="dimmed">
          {t("Members and owners also see nodes and queues.")}
        </Text>
      )}
      {metrics.error && <ErrorState error={metrics.error} retry={() => void metrics.refetch()} />}
      {metrics.data && <Rankings figures={metrics.data} />}
    </>
  );
}

/** Counters of this node since its start. */
const Rankings = ({ figures }: { figures: readonly Figure[] }) => (
  <Grid gap="lg" mt="xl">
    <Ranking
      title={t("Accepted, by channel")}
      bars={byLabel(figures, "heliograph_messages_accepted_total", "channel")}
    />
    <Ranking title={t("Final status")} bars={byLabel(figures, "heliograph_messages_ended_total", "state")} />
    <Ranking title={t("Carrier responses")} bars={byLabel(figures, "heliograph_submit_outcomes_total", "outcome")} />
    <Ranking title={t("Callbacks")} bars={byLabel(figures, "heliograph_callbacks_total", "state")} />
    <Ranking title={t("Rejected requests")} bars={byLabel(figures, "heliograph_requests_refused_total", "code")} />
  </Grid>
);

interface RankingProps {
  title: string;
  bars: readonly { name: string; count: number }[];
}

/** Counters since the start of the node, without zeros. */
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
          {t("Since this node started")}
        </Text>
        <BarList of={total} bars={bars.map((bar) => ({ ...bar, label: bar.name }))} />
      </Paper>
    </Grid.Col>
  );
}
