import { Alert, Badge, SimpleGrid, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconAlertTriangle } from "@tabler/icons-react";
import { get } from "../../api.ts";
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
  memoryBytes: number;
  eventLoopDelayMs: { p50: number; p99: number; max: number };
  warnings: readonly { code: string; message: string }[];
}

const WARNINGS: Readonly<Record<string, string>> = { UNTRUSTED_PROXY: "A proxy that is not trusted" };

const PATH = "/api/system";
const MEGABYTE = 1_048_576;

function megabytes(bytes: number): string {
  const size = bytes / MEGABYTE;
  return `${size < 10 ? size.toFixed(1) : Math.round(size).toLocaleString()} MB`;
}

/** Nodes that are listed live; only the one that answers knows that it has lost touch with the store. */
const columnsFor = ({ node: own, alive }: System): Column<Node>[] => [
  {
    title: "Node",
    render: ({ id }) => (
      <>
        {id} {id === own && <Badge color="gray">answers you</Badge>}
      </>
    ),
  },
  {
    title: "State",
    render: ({ id }) => <StatusBadge status={id === own && !alive ? "failing" : "healthy"} />,
  },
  { title: "Does", wide: true, render: ({ roles }) => roles.join(", ") },
  { title: "Last heard of", render: ({ silentMs }) => `${duration(silentMs)} ago` },
  { title: "Joined", wide: true, render: ({ startedAt }) => <TimeText at={startedAt} size="sm" /> },
];

/** The nodes, what waits, and whether the one that answers keeps up. */
export function SystemState({ refreshMs }: { refreshMs: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => get<System>(PATH, {}, signal),
    refetchInterval: refreshMs,
  });
  if (error) return <ErrorState error={error} retry={() => void refetch()} title="The state cannot be read" />;
  if (!data) return <PageLoading />;
  const lanes = Object.entries(data.lanes);
  const inLanes = lanes.reduce((sum, [, count]) => sum + count, 0);
  const { p50, p99, max } = data.eventLoopDelayMs;
  return (
    <>
      {data.warnings.map(({ code, message }) => (
        <Alert
          key={code}
          color="yellow"
          title={WARNINGS[code] ?? code}
          icon={<IconAlertTriangle aria-hidden />}
          mb="lg"
        >
          {message}
        </Alert>
      ))}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} mb="xl">
        <FigureCard label="Queue" value={data.waitingInStore.toLocaleString()} note="messages that are not sent yet" />
        <FigureCard label="Callbacks" value={data.callbacksWaiting.toLocaleString()} note="to be told or tried again" />
        <FigureCard
          label="In the lanes"
          value={inLanes.toLocaleString()}
          note={lanes.map(([type, count]) => `${type} ${count.toLocaleString()}`).join(", ")}
        />
        <FigureCard label="With carriers" value={data.inFlight.toLocaleString()} note="waiting for their answer" />
        <FigureCard
          label="Being written"
          value={data.waitingForCommit.toLocaleString()}
          note="waiting for their commit"
        />
        <FigureCard
          label="Work waits for its turn"
          value={`${p99.toFixed(1)} ms`}
          note={`at most, 99 of 100 times; ${p50.toFixed(1)} usually, ${max.toFixed(0)} at worst`}
        />
        <FigureCard label="Memory" value={megabytes(data.memoryBytes)} note={`version ${data.version}`} />
        <FigureCard
          label="Database"
          value={megabytes(data.databaseBytes)}
          note={`${data.engine}, running for ${duration(data.uptimeMs)}`}
        />
      </SimpleGrid>
      <Title order={2} size="h4" mb="sm">
        Nodes
      </Title>
      <DataTable
        label="Nodes"
        columns={columnsFor(data)}
        rows={data.nodes}
        rowKey={({ id }) => String(id)}
        empty={null}
      />
    </>
  );
}
