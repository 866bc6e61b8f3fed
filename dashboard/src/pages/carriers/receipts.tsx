import { Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { IconReceipt, IconRefresh } from "@tabler/icons-react";
import { api, post, removeListed, usePages } from "../../api.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ChoiceFilter } from "../../parts/filters.tsx";
import { GuardedButton, GuardedConfirm } from "../../parts/guarded.tsx";
import { useNames } from "../../parts/record/use-names.ts";
import { RunProgress } from "../../parts/run/run-progress.tsx";
import { useRun } from "../../parts/run/use-run.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";

const PATH = "/api/receipts";

interface Receipt {
  id: string;
  carrier: string;
  carrierMessageId: string;
  otherIds: readonly string[];
  recipient: string | null;
  state: string;
  errCode: string | null;
  statusDescription: string | null;
  receivedAt: number;
}

const COLUMNS: readonly Column<Receipt>[] = [
  { title: "Came", render: ({ receivedAt }) => <TimeText at={receivedAt} size="sm" /> },
  { title: "Carrier", wide: true, render: ({ carrier }) => carrier },
  {
    title: "Id",
    render: ({ carrierMessageId, otherIds }) => (
      <>
        <Text size="sm">{carrierMessageId}</Text>
        {otherIds.length > 0 && (
          <Text size="xs" c="dimmed">
            also tried: {otherIds.join(", ")}
          </Text>
        )}
      </>
    ),
  },
  { title: "To", wide: true, render: ({ recipient }) => recipient ?? "–" },
  { title: "Says", render: ({ state }) => <StatusBadge status={state} /> },
  {
    title: "In words",
    wide: true,
    render: ({ statusDescription, errCode }) =>
      [statusDescription, errCode === null ? null : `(${errCode})`].filter(Boolean).join(" ") || "–",
  },
  { title: "What to do", render: (receipt) => <Actions receipt={receipt} /> },
];

/** Receipts of which nobody knows which message they are about, and what can be done about them. */
export function Receipts() {
  const [{ carrier }, change] = useUrlState(["carrier"]);
  const { table, rows, query } = usePages<Receipt>(PATH, { carrier });
  const carriers = useNames("/api/carriers");
  const isEmpty = rows.length === 0 && carrier === "";
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        A receipt names a message by the carrier&apos;s id. Those whose id nobody knows are kept for seven days.
      </Text>
      {!query.isPending && !isEmpty && (
        <Group align="flex-end">
          <ChoiceFilter
            label="Carrier"
            value={carrier}
            onChange={(name) => change({ carrier: name })}
            data={carriers}
          />
        </Group>
      )}
      <MatchAll carrier={carrier} isEmpty={rows.length === 0} />
      <DataTable
        label="Unmatched receipts"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        {...table}
        empty={
          isEmpty ? (
            <EmptyState
              icon={IconReceipt}
              sentence="Every receipt has found its message. One that names an id that nobody knows would show here."
              curl={curlOf({ path: PATH })}
            />
          ) : (
            <EmptyState
              icon={IconReceipt}
              sentence="Every receipt of this carrier has found its message."
              action={<Button onClick={() => change({ carrier: null })}>Show those of all carriers</Button>}
            />
          )
        }
      />
    </Stack>
  );
}

interface Replayed {
  looked: number;
  matched: number;
  nextCursor: string | null;
}

/** The server looks at so many in a request; this goes on until all were looked at. */
function MatchAll({ carrier, isEmpty }: { carrier: string; isEmpty: boolean }) {
  const client = useQueryClient();
  const { run, start, stop } = useRun();

  async function matchAll(): Promise<void> {
    await start(async (tell, signal) => {
      let looked = 0;
      let matched = 0;
      let cursor: string | null = null;
      do {
        const body = { ...(carrier ? { carrier } : {}), ...(cursor ? { cursor } : {}) };
        const answer: Replayed = await api<Replayed>("POST", `${PATH}/replay`, { body, signal });
        looked += answer.looked;
        matched += answer.matched;
        cursor = answer.nextCursor;
        tell(`${matched.toLocaleString()} of ${looked.toLocaleString()} have found their message…`);
      } while (cursor !== null);
      return `${matched.toLocaleString()} of ${looked.toLocaleString()} have found their message.`;
    });
    await client.invalidateQueries({ queryKey: [PATH] });
  }

  return (
    <>
      {!isEmpty && (
        <div>
          <GuardedButton
            variant="default"
            leftSection={<IconRefresh size={17} aria-hidden />}
            loading={run?.state === "running"}
            onClick={() => void matchAll()}
          >
            Match all again
          </GuardedButton>
        </div>
      )}
      {run && <RunProgress label="Matching" run={run} stop={stop} />}
    </>
  );
}

function Actions({ receipt: { id, carrierMessageId } }: { receipt: Receipt }) {
  const client = useQueryClient();
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: [PATH] });
  const match = useMutation({
    mutationFn: () => post<{ matched: boolean; messageId: string | null }>(`${PATH}/${id}/replay`),
    onSuccess: async ({ matched, messageId }) => {
      notifications.show(
        matched
          ? { color: "green", title: "Matched", message: `It is about ${messageId ?? "a message"}.` }
          : { color: "yellow", title: "Not matched", message: `Still nobody knows the id ${carrierMessageId}.` },
      );
      await refresh();
    },
    onError: ({ message }) => notifications.show({ color: "red", title: "It was not tried", message }),
  });
  return (
    <Group gap="xs" wrap="nowrap">
      <GuardedButton variant="default" size="compact-sm" loading={match.isPending} onClick={() => match.mutate()}>
        Match again
      </GuardedButton>
      <GuardedConfirm
        size="compact-sm"
        color="red"
        variant="subtle"
        question={`Remove the receipt of ${carrierMessageId}?`}
        consequence="What it says reaches no message any more."
        yes="Remove it"
        run={() => removeListed(`${PATH}/${id}`, refresh)}
      >
        Remove
      </GuardedConfirm>
    </Group>
  );
}
