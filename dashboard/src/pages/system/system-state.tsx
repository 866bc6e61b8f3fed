import { Alert, Badge, SimpleGrid, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconAlertTriangle } from "@tabler/icons-react";
import { get } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";

interface Node {
  id: number;
  roles: readonly string[];
  startedAt: number;
  silentMs: number;
}

interface System {
  version: string;
  commit: string | null;
  builtAt: string | null;
  engine: string;
  node: number;
  alive: boolean;
  uptimeMs: number;
  nodes: readonly Node[];
  lanes: Readonly<Record<string, number>>;
  waitingForCommit: number;
  inFlight: number;
  waitingInStore: number;
  callbacksWaiting: number;
  databaseBytes: number;
  replica: { status: string; lagMs: number } | null;
  memoryBytes: number;
  eventLoopDelayMs: { p50: number; p99: number; max: number };
  warnings: readonly { code: string; message: string }[];
}

const WARNINGS: Readonly<Record<string, string>> = {
  UNTRUSTED_PROXY: t("Untrusted proxy"),
  DATABASE_DAMAGED: t("Database damaged"),
};
/** Warnings that the banner above every page already shows. */
const IN_BANNER = "LIVE_SIMULATED";

const PATH = "/api/system";
const MEGABYTE = 1_048_576;

function megabytes(bytes: number): string {
  const size = bytes / MEGABYTE;
  return `${size < 10 ? size.toFixed(1) : formatNumber(Math.round(size))} MB`;
}

const buildOf = ({ commit, builtAt }: System): string =>
  commit === null
    ? t("runs from its source")
    : t("commit {commit} of {date}", { commit: commit.slice(0, 7), date: builtAt?.slice(0, 10) ?? "" });

/** The table lists live nodes. A node reports only its own connection to the store as lost. */
const columnsFor = ({ node: own, alive }: System): Column<Node>[] => [
  {
    title: t("Node"),
    render: ({ id }) => (
      <>
        {id} {id === own && <Badge color="gray">{t("this node")}</Badge>}
      </>
    ),
  },
  {
    title: t("State"),
    render: ({ id }) => <StatusBadge status={id === own && !alive ? "failing" : "healthy"} />,
  },
  { title: t("Tasks"), wide: true, render: ({ roles }) => roles.join(", ") },
  { title: t("Last heartbeat"), render: ({ silentMs }) => t("{duration} ago", { duration: duration(silentMs) }) },
  { title: t("Joined"), wide: true, render: ({ startedAt }) => <TimeText at={startedAt} size="sm" /> },
];

/** Nodes, queues, and the load of the answering node. */
export function SystemState({ refreshMs }: { refreshMs: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => get<System>(PATH, {}, signal),
    refetchInterval: refreshMs,
  });
  if (error) return <ErrorState error={error} retry={() => void refetch()} title={t("Status cannot be loaded")} />;
  if (!data) return <PageLoading />;
  const lanes = Object.entries(data.lanes);
  const inLanes = lanes.reduce((sum, [, count]) => sum + count, 0);
  const { p50, p99, max } = data.eventLoopDelayMs;
  return (
    <>
      {data.warnings
        .filter(({ code }) => code !== IN_BANNER)
        .map(({ code, message }) => (
          <Alert
            key={`${code} ${message}`}
            color="yellow"
            title={WARNINGS[code] ?? code}
            icon={<IconAlertTriangle aria-hidden />}
            mb="lg"
          >
            {message}
          </Alert>
        ))}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} mb="xl">
        <FigureCard
          label={t("Queue")}
          value={formatNumber(data.waitingInStore)}
          note={t("messages waiting to be sent")}
        />
        <FigureCard
          label={t("Callbacks")}
          value={formatNumber(data.callbacksWaiting)}
          note={t("waiting for delivery or retry")}
        />
        <FigureCard
          label={t("In queue by priority")}
          value={formatNumber(inLanes)}
          note={lanes.map(([type, count]) => `${type} ${formatNumber(count)}`).join(", ")}
        />
        <FigureCard label={t("With carriers")} value={formatNumber(data.inFlight)} note={t("waiting for a response")} />
        <FigureCard
          label={t("Pending commits")}
          value={formatNumber(data.waitingForCommit)}
          note={t("waiting for the database")}
        />
        <FigureCard
          label={t("Event-loop delay p99")}
          value={t("{number} ms", { number: p99.toFixed(1) })}
          note={t("p50 {p50} ms, max {max} ms", { p50: p50.toFixed(1), max: max.toFixed(0) })}
        />
        <FigureCard label={t("Memory")} value={megabytes(data.memoryBytes)} note={t("of this process")} />
        <FigureCard
          label={t("Database")}
          value={megabytes(data.databaseBytes)}
          note={t("{engine}, running for {duration}", { engine: data.engine, duration: duration(data.uptimeMs) })}
        />
        <FigureCard label={t("Version")} value={data.version} note={buildOf(data)} />
        {data.replica && (
          <FigureCard
            label={t("Read replica")}
            value={data.replica.status}
            note={t("{lagMs} ms behind at the last list", { lagMs: data.replica.lagMs })}
          />
        )}
      </SimpleGrid>
      <Title order={2} size="h4" mb="sm">
        {t("Nodes")}
      </Title>
      <DataTable
        label={t("Nodes")}
        columns={columnsFor(data)}
        rows={data.nodes}
        rowKey={({ id }) => String(id)}
        empty={null}
      />
    </>
  );
}
