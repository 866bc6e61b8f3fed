import { Alert, Anchor, Group, Stack, Table, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { get, patch } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
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
  closed: t("closed (delivering)"),
  open: t("open (paused after repeated failures)"),
  probing: t("half-open (testing with a few requests)"),
};

/** The state of an endpoint as a badge. */
export function HealthBadge({ path, endpoint }: Props) {
  const { data } = useHealth({ path, endpoint });
  if (!endpoint.enabled) return <StatusBadge status="disabled" />;
  if (!data) return null;
  if (data.failingSince !== null) return <StatusBadge status="failing" />;
  return data.lastSuccessAt === null ? <StatusBadge status="enabled" /> : <StatusBadge status="healthy" />;
}

/** Delivery health of an endpoint, with the button that disables it. */
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
    [t("Last success"), <TimeText key="at" at={data.lastSuccessAt} size="sm" />],
    [t("Last failure"), <TimeText key="at" at={data.lastFailureAt} size="sm" />],
    [t("Failing since"), <TimeText key="at" at={data.failingSince} size="sm" />],
    ...(node
      ? ([
          [t("In flight"), t("{inFlight} of at most {allowed}", { inFlight: node.inFlight, allowed: node.allowed })],
          [t("Queued on this node"), formatNumber(node.waiting)],
          [t("Circuit"), BREAKERS[node.breaker] ?? node.breaker],
          ...(node.openForMs > 0 ? [[t("Retries in"), duration(node.openForMs)] as const] : []),
        ] as [string, ReactNode][])
      : []),
  ];
  return (
    <Stack>
      <Group justify="space-between">
        <HealthBadge path={path} endpoint={endpoint} />
        <GuardedButton variant="default" size="xs" loading={toggle.isPending} onClick={() => toggle.mutate()}>
          {endpoint.enabled ? t("Turn off") : t("Turn on")}
        </GuardedButton>
      </Group>
      {endpoint.disabledReason && (
        <Alert color="yellow" title={t("Disabled automatically")}>
          {endpoint.disabledReason}
        </Alert>
      )}
      {toggle.error && <ErrorState error={toggle.error} />}
      {data.failingSince !== null && data.lastFailure && (
        <Alert color="red" title={t("Failure reason")}>
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
          {t("View all deliveries")}
        </Anchor>
      </Text>
    </Stack>
  );
}
