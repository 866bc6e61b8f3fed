import { Alert, Anchor, Group, Stack, Table, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { get, patch } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";
import type { Endpoint, EndpointHealth, EndpointPath } from "./endpoint.ts";

interface Props {
  path: EndpointPath;
  endpoint: Endpoint;
}

const FRESH_MS = 15_000;

function useHealth({ path, endpoint }: Props) {
  return useQuery({
    queryKey: [path, endpoint.id, "health"],
    queryFn: ({ signal }) => get<EndpointHealth>(`${path}/${endpoint.id}/health`, {}, signal),
    staleTime: FRESH_MS,
  });
}

const BREAKERS: Readonly<Record<string, string>> = {
  closed: "It is called",
  open: "It failed nearly always, and is left alone for a moment",
  probing: "A few tries decide whether it is called again",
};

/** How an endpoint does, in a word. */
export function HealthBadge({ path, endpoint }: Props) {
  const { data } = useHealth({ path, endpoint });
  if (!endpoint.enabled) return <StatusBadge status="disabled" />;
  if (!data) return null;
  if (data.failingSince !== null) return <StatusBadge status="failing" />;
  return data.lastSuccessAt === null ? <StatusBadge status="enabled" /> : <StatusBadge status="healthy" />;
}

/** Whether what an endpoint is told arrives, and the switch that keeps it from being told anything. */
export function HealthPanel({ path, endpoint }: Props) {
  const client = useQueryClient();
  const { data, error, refetch } = useHealth({ path, endpoint });
  const toggle = useMutation({
    mutationFn: () => patch(`${path}/${endpoint.id}`, { enabled: !endpoint.enabled }),
    onSuccess: () => client.invalidateQueries({ queryKey: [path] }),
  });
  if (error) return <ErrorState error={error} retry={() => void refetch()} />;
  if (!data) return <PageLoading />;
  const { node } = data;
  const facts: readonly [string, ReactNode][] = [
    ["Last arrived", <TimeText key="at" at={data.lastSuccessAt} size="sm" />],
    ["Last failed", <TimeText key="at" at={data.lastFailureAt} size="sm" />],
    ["Nothing arrives since", <TimeText key="at" at={data.failingSince} size="sm" />],
    ...(node
      ? ([
          ["Under way now", `${node.inFlight} of at most ${node.allowed}`],
          ["Waiting on this node", node.waiting.toLocaleString()],
          ["Circuit", BREAKERS[node.breaker] ?? node.breaker],
          ...(node.openForMs > 0 ? [["Tried again in", duration(node.openForMs)] as const] : []),
        ] as [string, ReactNode][])
      : []),
  ];
  return (
    <Stack>
      <Group justify="space-between">
        <HealthBadge path={path} endpoint={endpoint} />
        <GuardedButton variant="default" size="xs" loading={toggle.isPending} onClick={() => toggle.mutate()}>
          {endpoint.enabled ? "Switch it off" : "Switch it on"}
        </GuardedButton>
      </Group>
      {endpoint.disabledReason && (
        <Alert color="yellow" title="It was switched off by itself">
          {endpoint.disabledReason}
        </Alert>
      )}
      {toggle.error && <ErrorState error={toggle.error} />}
      {data.failingSince !== null && data.lastFailure && (
        <Alert color="red" title="Why it fails">
          {data.lastFailure}
        </Alert>
      )}
      <Table>
        <Table.Tbody>
          {facts.map(([name, fact]) => (
            <Table.Tr key={name}>
              <Table.Th fw={500}>{name}</Table.Th>
              <Table.Td>{fact}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm">
        <Anchor component={Link} href={`/operations/callbacks?endpointId=${endpoint.id}`}>
          Everything it was told
        </Anchor>
      </Text>
    </Stack>
  );
}
