import { Paper, SimpleGrid, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";

const REFRESH_MS = 5000;
const MEGABYTE = 1_048_576;

interface SystemNode {
  id: number;
  roles: string[];
  startedAt: number;
  silentMs: number;
}

/** What `GET /api/system` answers, as far as it is shown. */
interface SystemState {
  version: string;
  engine: string;
  node: number;
  startedAt: number;
  nodes: SystemNode[];
  lanes: Record<string, number>;
  callbacksWaiting: number;
  databaseBytes: number;
  eventLoopDelayMs: { p50: number; p99: number; max: number };
}

const ENGINES: Readonly<Record<string, string>> = { sqlite: "SQLite", postgres: "PostgreSQL" };

/** The nodes that share the work and what waits for them. */
export function Health() {
  const { data, error, refetch } = useQuery({
    queryKey: ["/api/system"],
    queryFn: ({ signal }) => get<SystemState>("/api/system", undefined, signal),
    refetchInterval: REFRESH_MS,
  });
  if (error) return <ErrorState error={error} retry={() => void refetch()} title="The system cannot be read" />;
  if (!data) return <PageLoading />;
  const { version, engine, startedAt, lanes, callbacksWaiting, databaseBytes, eventLoopDelayMs: late } = data;
  const waiting = Object.values(lanes).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 4 }} mb="lg">
        <FigureCard
          label="Version"
          value={version}
          note={
            <>
              since <TimeText at={startedAt} size="xs" span />
            </>
          }
        />
        <FigureCard
          label="Store"
          value={`${Math.ceil(databaseBytes / MEGABYTE).toLocaleString()} MB`}
          note={ENGINES[engine] ?? engine}
        />
        <FigureCard label="Callbacks" value={callbacksWaiting.toLocaleString()} note="to be told or tried again" />
        <FigureCard label="Event loop" value={`${late.p99} ms`} note={`late at p99, ${late.max} ms at the worst`} />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" mb="xl">
        <Nodes nodes={data.nodes} answering={data.node} />
        <Paper component="section" aria-label="Waiting by type">
          <Title order={2} size="h5">
            Waiting by type
          </Title>
          <Text size="xs" c="dimmed" mb="md">
            In the memory of this node, in the order in which they are served
          </Text>
          <BarList
            of={waiting}
            bars={Object.entries(lanes).map(([name, count]) => ({ name, label: name, count, color: "blue" }))}
          />
        </Paper>
      </SimpleGrid>
    </>
  );
}

const Nodes = ({ nodes, answering }: { nodes: readonly SystemNode[]; answering: number }) => (
  <Paper component="section" aria-label="Nodes">
    <Title order={2} size="h5" mb="md">
      Nodes
    </Title>
    <Table.ScrollContainer minWidth={300}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Node</Table.Th>
            <Table.Th>Does</Table.Th>
            <Table.Th>Last heard of</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {nodes.map(({ id, roles, silentMs }) => (
            <Table.Tr key={id}>
              <Table.Td>
                {id} {id === answering && <StatusBadge status="healthy" word="This one" />}
              </Table.Td>
              <Table.Td>{roles.length === 0 ? "–" : roles.join(", ")}</Table.Td>
              <Table.Td>{duration(silentMs)} ago</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </Paper>
);
