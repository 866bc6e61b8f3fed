import { Group, Stack, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import type { RealLine } from "./adapters.ts";
import { BringTemplates } from "./bring-templates.tsx";
import { CallbackAddress } from "./callback-address.tsx";
import { useCarrierState, type Bind, type Carrier, type CarrierState } from "./carrier.ts";
import { LineTrial } from "./line-trial.tsx";
import { TestEmail } from "./test-email.tsx";
import { TestMessage } from "./test-message.tsx";

/** Connection state. "Refused" needs a fix by the operator; "down" is retried automatically. */
function wordFor({ up, pausedUntil, binds }: CarrierState): string {
  if (up) return pausedUntil === null ? "up" : "paused";
  if (binds.some(({ state }) => state === "refused")) return "refused";
  return binds.some(({ state }) => state === "connecting") ? "connecting" : "down";
}

/** Connection state of a carrier. Simulated carriers have one only while they are set to be down. */
export function CarrierBadge({ carrier }: { carrier: Carrier }) {
  const { data } = useCarrierState(carrier);
  if (data) return <StatusBadge status={wordFor(data)} />;
  return carrier.chaos?.down === true ? <StatusBadge status="down" /> : <Text size="sm">–</Text>;
}

const COLUMNS: readonly Column<Bind>[] = [
  { title: t("As"), render: (bind) => bind.as },
  { title: t("State"), render: ({ state }) => <StatusBadge status={state} /> },
  { title: t("Since"), render: ({ since }) => <TimeText at={since} size="sm" /> },
  { title: t("Reason"), render: ({ reason }) => reason ?? "–" },
  { title: t("Next attempt"), render: ({ nextTryAt }) => <TimeText at={nextTryAt} size="sm" /> },
  { title: t("In flight"), align: "right", render: ({ inFlight }) => formatNumber(inFlight) },
];

/** Binds, recent refusals, callback URL and connection tests of a carrier. */
export function CarrierHealth({ carrier, line }: { carrier: Carrier; line: RealLine }) {
  const { data, error, refetch } = useCarrierState(carrier);
  if (error) return <ErrorState error={error} retry={() => void refetch()} />;
  if (!data) return <PageLoading />;
  return (
    <Stack>
      <Group gap="sm">
        <CarrierBadge carrier={carrier} />
        <Text size="sm" c="dimmed">
          {t("Reported by node {node} has it,", { node: data.node })}{" "}
          {data.nodes === 1 ? t("the only node") : t("one of {nodes} nodes", { nodes: data.nodes })}.
        </Text>
      </Group>
      {line.callback !== null && data.callbackUrl !== null && (
        <CallbackAddress url={data.callbackUrl} where={line.callback} />
      )}
      {line.trial ? (
        <LineTrial carrier={carrier} words={line.trial} />
      ) : (
        <Text size="sm" c="dimmed">
          {t("To check that the provider accepts messages, send a test message.")}
        </Text>
      )}
      {line.channel === "email" ? (
        <TestEmail carrier={carrier} />
      ) : (
        <TestMessage carrier={carrier} channel={line.channel} />
      )}
      {line.hasTemplates && <BringTemplates carrier={carrier} />}
      {line.hasBinds && <Binds binds={data.binds} />}
      <Table>
        <Table.Tbody>
          {factsOf(data, line).map(([name, fact]) => (
            <Table.Tr key={name}>
              <Table.Th fw={500}>{name}</Table.Th>
              <Table.Td>{fact}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}

const Binds = ({ binds }: Pick<CarrierState, "binds">) => (
  <DataTable
    label={t("Binds")}
    columns={COLUMNS}
    rows={binds}
    rowKey={(bind) => `${bind.as} ${binds.indexOf(bind)}`}
    empty={
      <EmptyState sentence={t("This node has no bind. Other nodes hold the binds, or this node is connecting.")} />
    }
  />
);

function factsOf(state: CarrierState, { hasBinds }: RealLine) {
  const { submitsPerSecond, speed, pausedUntil, errors, lastError, learnedIdForm } = state;
  const refusals = Object.entries(errors).map(([code, times]) => `${code}: ${formatNumber(times)}`);
  const facts: [string, ReactNode][] = [
    [t("Responses in the last second"), formatNumber(submitsPerSecond)],
    [t("Rate limit"), speed === null ? t("Unlimited") : t("{speed} per second", { speed })],
    [t("Paused until"), pausedUntil === null ? t("not paused") : <TimeText key="at" at={pausedUntil} size="sm" />],
    [t("Errors from carrier"), refusals.length === 0 ? t("none since start") : refusals.join(", ")],
  ];
  if (lastError)
    facts.push([
      t("Last error"),
      <>
        {lastError.description} ({lastError.code}), <TimeText at={lastError.at} size="sm" span />
      </>,
    ]);
  if (hasBinds) facts.push([t("Message ID format in receipts"), learnedIdForm ?? t("not learned yet")]);
  return facts;
}
