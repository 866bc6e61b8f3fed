import { Badge, Button, Drawer, Group, Stack, Table, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, removeListed } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { PduList } from "./pdu-list.tsx";
import { BINDS, type SmppBind } from "./smpp-bind.ts";

const REFRESH_MS = 2000;

/** The binds to the SMPP server on all nodes. */
export default function SmppBinds() {
  const [watched, setWatched] = useState<SmppBind | null>(null);
  const { data, error, refetch } = useQuery({
    queryKey: [BINDS],
    queryFn: ({ signal }) => get<{ data: SmppBind[] }>(BINDS, {}, signal),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Stack>
      <PageHeader
        title={t("SMPP clients")}
        lead={t(
          "Clients that are bound to the SMPP server now, on all nodes. Create their system ids under Credentials.",
        )}
      />
      {error && <ErrorState error={error} retry={() => void refetch()} title={t("The binds cannot be shown")} />}
      {!data && !error && <PageLoading />}
      {data?.data.length === 0 && (
        <EmptyState sentence={t("No client is bound. The server listens on HELIOGRAPH_SMPP_PORT.")} />
      )}
      {data && data.data.length > 0 && <BindTable binds={data.data} onWatch={setWatched} />}
      <Drawer
        opened={watched !== null}
        onClose={() => setWatched(null)}
        position="right"
        size="xl"
        title={t("Last PDUs of {systemId}", { systemId: watched?.systemId ?? "" })}
      >
        {watched && <PduList bindId={watched.id} />}
      </Drawer>
    </Stack>
  );
}

function BindTable({ binds, onWatch }: { binds: readonly SmppBind[]; onWatch: (bind: SmppBind) => void }) {
  return (
    <Table.ScrollContainer minWidth={820} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("System ID")}</Table.Th>
            <Table.Th>{t("Address")}</Table.Th>
            <Table.Th>{t("Bound since")}</Table.Th>
            <Table.Th>{t("Accepted")}</Table.Th>
            <Table.Th>{t("Refused")}</Table.Th>
            <Table.Th>{t("Throttled")}</Table.Th>
            <Table.Th>{t("Receipts and texts")}</Table.Th>
            <Table.Th>{t("Actions")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {binds.map((bind) => (
            <BindRow key={bind.id} bind={bind} onWatch={() => onWatch(bind)} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function BindRow({ bind, onWatch }: { bind: SmppBind; onWatch: () => void }) {
  const client = useQueryClient();
  const {
    id,
    systemId,
    kind,
    address,
    tls,
    node,
    boundAt,
    accepted,
    refused,
    throttled,
    delivered,
    pendingDeliveries,
  } = bind;
  return (
    <Table.Tr data-bind={systemId}>
      <Table.Td>
        <Text size="sm" ff="monospace">
          {systemId}
        </Text>
        <Text size="xs" c="dimmed">
          {kind}
        </Text>
      </Table.Td>
      <Table.Td>
        <Group gap="xs">
          <Text size="sm">{address}</Text>
          {tls && <Badge color="green">TLS</Badge>}
        </Group>
        <Text size="xs" c="dimmed">
          {t("Node {node}", { node })}
        </Text>
      </Table.Td>
      <Table.Td>
        <TimeText at={boundAt} size="sm" />
      </Table.Td>
      <Table.Td>{accepted}</Table.Td>
      <Table.Td>{refused}</Table.Td>
      <Table.Td>{throttled}</Table.Td>
      <Table.Td>{t("{delivered} delivered, {pending} pending", { delivered, pending: pendingDeliveries })}</Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          <Button size="compact-sm" variant="default" onClick={onWatch}>
            {t("PDUs")}
          </Button>
          <GuardedConfirm
            may="write"
            size="compact-sm"
            variant="subtle"
            color="red"
            question={t("Disconnect {systemId}?", { systemId })}
            consequence={t("The client may bind again. Revoke its credential to keep it away.")}
            yes={t("Disconnect")}
            run={() => removeListed(`${BINDS}/${id}`, () => client.invalidateQueries({ queryKey: [BINDS] }))}
          >
            {t("Disconnect")}
          </GuardedConfirm>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
