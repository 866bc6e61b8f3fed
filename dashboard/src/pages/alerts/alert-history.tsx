import { Badge, Group, Stack, Text } from "@mantine/core";
import { IconBellOff } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { post, usePages } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ChoiceFilter, FilterBar } from "../../parts/filters.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { ALERTS, sentenceOf, type Alert } from "./alert.ts";

const REFRESH_MS = 5000;
const MUTE_MINUTES = 24 * 60;
const STATES = [
  { value: "open", label: t("Open") },
  { value: "resolved", label: t("Resolved") },
];

const COLUMNS: readonly Column<Alert>[] = [
  { title: t("Opened"), wide: true, render: ({ openedAt }) => <TimeText at={openedAt} size="sm" /> },
  { title: t("Alert"), render: (alert) => <Content alert={alert} /> },
  { title: t("State"), render: (alert) => <State alert={alert} /> },
  { title: t("Actions"), render: (alert) => <Actions alert={alert} /> },
];

/** The alerts of the account, newest first. */
export function AlertHistory() {
  const [filters, change] = useUrlState(["state"] as const);
  const { state } = filters;
  const query = useMemo(() => ({ state }), [state]);
  const { table } = usePages<Alert>(ALERTS, query, { refreshMs: REFRESH_MS });
  return (
    <>
      <FilterBar values={filters} change={change}>
        <ChoiceFilter label={t("State")} value={state} data={STATES} onChange={(given) => change({ state: given })} />
      </FilterBar>
      <DataTable
        label={t("Alerts")}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        {...table}
        empty={<EmptyState sentence={t("No alerts. The rules watch the service all the time.")} />}
      />
    </>
  );
}

const Content = ({ alert }: { alert: Alert }) => (
  <Stack gap={2}>
    <Text size="sm" fw={600}>
      {alert.rule}
    </Text>
    <Text size="sm">{sentenceOf(alert)}</Text>
  </Stack>
);

function State({ alert: { state, resolvedAt, acknowledgedBy, mutedUntil } }: { alert: Alert }) {
  return (
    <Stack gap={4} align="flex-start">
      <Badge color={state === "open" ? "red" : "green"}>{state === "open" ? t("Open") : t("Resolved")}</Badge>
      {resolvedAt !== null && <TimeText at={resolvedAt} size="xs" />}
      {acknowledgedBy !== null && (
        <Text size="xs" c="dimmed">
          {t("Acknowledged by {name}", { name: acknowledgedBy })}
        </Text>
      )}
      {isMuted(mutedUntil) && (
        <Badge color="gray" leftSection={<IconBellOff size={12} aria-hidden />}>
          {t("Muted")}
        </Badge>
      )}
    </Stack>
  );
}

const isMuted = (until: number | null): boolean => until !== null && until > Date.now();

function Actions({ alert: { id, state, acknowledgedAt, mutedUntil } }: { alert: Alert }) {
  const client = useQueryClient();
  const act = async (action: string, body?: object): Promise<void> => {
    await post(`${ALERTS}/${id}/${action}`, body);
    await client.invalidateQueries({ queryKey: [ALERTS] });
  };
  const muted = isMuted(mutedUntil);
  return (
    <Group gap="xs">
      {state === "open" && acknowledgedAt === null && (
        <GuardedButton size="compact-sm" variant="default" onClick={() => void act("acknowledge")}>
          {t("Acknowledge")}
        </GuardedButton>
      )}
      <GuardedButton
        size="compact-sm"
        variant="subtle"
        onClick={() => void act("mute", { minutes: muted ? null : MUTE_MINUTES })}
      >
        {muted ? t("Unmute") : t("Mute for a day")}
      </GuardedButton>
    </Group>
  );
}
