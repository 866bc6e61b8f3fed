import { Anchor, Badge, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "wouter";
import { post, usePages } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ChoiceFilter, FilterBar } from "../../parts/filters.tsx";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { AGENT_SENDS, STATE_WORDS, type AgentSend } from "./agent-send.ts";

const REFRESH_MS = 5000;
const STATES = Object.entries(STATE_WORDS).map(([value, label]) => ({ value, label }));

const COLUMNS: readonly Column<AgentSend>[] = [
  { title: t("Time"), wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
  { title: t("Key"), wide: true, render: ({ keyName }) => <Text size="sm">{keyName ?? "–"}</Text> },
  { title: t("Content"), render: (send) => <Content send={send} /> },
  {
    title: t("Size"),
    wide: true,
    render: ({ recipients, credits }) => (
      <Text size="sm">{t("Recipients: {recipients}, credits: {credits}", { recipients, credits })}</Text>
    ),
  },
  { title: t("State"), render: (send) => <State send={send} /> },
  { title: t("Actions"), render: (send) => send.state === "waiting" && <Decision send={send} /> },
];

/** Lists the sends of AI agents. A person approves or declines those that are pending. */
export default function AgentSends() {
  const [filters, change] = useUrlState(["state"] as const);
  const { state } = filters;
  const query = useMemo(() => ({ state }), [state]);
  const { table } = usePages<AgentSend>(AGENT_SENDS, query, { refreshMs: REFRESH_MS });
  return (
    <>
      <PageHeader
        title={t("Agent sends")}
        lead={t(
          "What AI assistants sent through this account, and what they want to send. A message that waits is sent only after you approve it.",
        )}
      />
      <FilterBar values={filters} change={change}>
        <ChoiceFilter label={t("State")} value={state} data={STATES} onChange={(given) => change({ state: given })} />
      </FilterBar>
      <DataTable
        label={t("Agent sends")}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        {...table}
        empty={
          <EmptyState sentence={t("No agent has sent anything. Create a key for an AI assistant under API keys.")} />
        }
      />
    </>
  );
}

function Content({ send: { operation, request, result } }: { send: AgentSend }) {
  if (request) return <CodeBlock code={JSON.stringify({ channel: operation, ...request }, null, 2)} />;
  if (result === null || operation === "verify") return <Text size="sm">{operation}</Text>;
  return (
    <Anchor component={Link} href={`/messages/${encodeURIComponent(`${result}:1`)}`} size="sm">
      {operation}
    </Anchor>
  );
}

function State({ send: { state, reason, decidedBy } }: { send: AgentSend }) {
  const color = state === "sent" ? "green" : state === "waiting" ? "yellow" : state === "sending" ? "blue" : "gray";
  return (
    <Stack gap={4}>
      <Badge color={state === "failed" ? "red" : color}>{STATE_WORDS[state] ?? state}</Badge>
      {(reason ?? decidedBy) !== null && (
        <Text size="xs" c="dimmed">
          {reason ?? decidedBy}
        </Text>
      )}
    </Stack>
  );
}

function Decision({ send: { id, recipients, credits } }: { send: AgentSend }) {
  const client = useQueryClient();
  const decide = async (decision: "approve" | "decline"): Promise<void> => {
    await post(`${AGENT_SENDS}/${id}/${decision}`);
    await client.invalidateQueries({ queryKey: [AGENT_SENDS] });
  };
  return (
    <Stack gap="xs" align="start">
      <GuardedConfirm
        may="write"
        size="compact-sm"
        variant="filled"
        question={t("Send this message?")}
        consequence={t("Recipients: {recipients}, credits: {credits}", { recipients, credits })}
        yes={t("Approve and send")}
        run={() => decide("approve")}
      >
        {t("Approve")}
      </GuardedConfirm>
      <GuardedConfirm
        may="write"
        size="compact-sm"
        variant="subtle"
        color="red"
        question={t("Decline this message?")}
        consequence={t("It is not sent, and the assistant is told so when it asks.")}
        yes={t("Decline")}
        run={() => decide("decline")}
      >
        {t("Decline")}
      </GuardedConfirm>
    </Stack>
  );
}
