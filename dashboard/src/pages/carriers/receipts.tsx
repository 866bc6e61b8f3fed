import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { IconReceipt, IconRefresh } from "@tabler/icons-react";
import { api, post, removeListed, usePages } from "../../api.ts";
import { t } from "../../i18n/t.ts";
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
import { showToast } from "../../parts/toasts.tsx";

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
  { title: t("Received"), render: ({ receivedAt }) => <TimeText at={receivedAt} size="sm" /> },
  { title: t("Carrier"), wide: true, render: ({ carrier }) => carrier },
  {
    title: t("ID"),
    render: ({ carrierMessageId, otherIds }) => (
      <>
        <Text size="sm">{carrierMessageId}</Text>
        {otherIds.length > 0 && (
          <Text size="xs" c="dimmed">
            {t("also tried:")} {otherIds.join(", ")}
          </Text>
        )}
      </>
    ),
  },
  { title: t("To"), wide: true, render: ({ recipient }) => recipient ?? "–" },
  { title: t("Status"), render: ({ state }) => <StatusBadge status={state} /> },
  {
    title: t("Description"),
    wide: true,
    render: ({ statusDescription, errCode }) =>
      [statusDescription, errCode === null ? null : `(${errCode})`].filter(Boolean).join(" ") || "–",
  },
  { title: t("Actions"), render: (receipt) => <Actions receipt={receipt} /> },
];

/** Unmatched delivery receipts, with the actions to match or delete them. */
export function Receipts() {
  const [{ carrier }, change] = useUrlState(["carrier"]);
  const { table, rows, query } = usePages<Receipt>(PATH, { carrier });
  const carriers = useNames("/api/carriers");
  const isEmpty = rows.length === 0 && carrier === "";
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t(
          "Delivery receipts name a message by the carrier's message ID. Receipts with an unknown ID are kept here for seven days.",
        )}
      </Text>
      {!query.isPending && !isEmpty && (
        <Group align="flex-end">
          <ChoiceFilter
            label={t("Carrier")}
            value={carrier}
            onChange={(name) => change({ carrier: name })}
            data={carriers}
          />
        </Group>
      )}
      <MatchAll carrier={carrier} isEmpty={rows.length === 0} />
      <DataTable
        label={t("Unmatched receipts")}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        {...table}
        empty={
          isEmpty ? (
            <EmptyState
              icon={IconReceipt}
              sentence={t("All receipts match a message. Receipts with an unknown ID appear here.")}
              curl={curlOf({ path: PATH })}
            />
          ) : (
            <EmptyState
              icon={IconReceipt}
              sentence={t("All receipts of this carrier match a message.")}
              action={<Button onClick={() => change({ carrier: null })}>{t("Show all carriers")}</Button>}
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

/** Retries all unmatched receipts, page by page, because one request covers a limited number. */
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
        tell(t("{matched} of {looked} matched…", { matched, looked }));
      } while (cursor !== null);
      return t("{matched} of {looked} matched.", { matched, looked });
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
            {t("Retry all")}
          </GuardedButton>
        </div>
      )}
      {run && <RunProgress label={t("Match retry")} run={run} stop={stop} />}
    </>
  );
}

function Actions({ receipt: { id, carrierMessageId } }: { receipt: Receipt }) {
  const client = useQueryClient();
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: [PATH] });
  const match = useMutation({
    mutationFn: () => post<{ matched: boolean; messageId: string | null }>(`${PATH}/${id}/replay`),
    onSuccess: async ({ matched, messageId }) => {
      showToast(
        matched
          ? {
              color: "green",
              title: t("Matched"),
              message: t("Message: {messageId}", { messageId: messageId ?? t("unknown") }),
            }
          : {
              color: "yellow",
              title: t("No match"),
              message: t("No message has the carrier message ID {carrierMessageId}.", { carrierMessageId }),
            },
      );
      await refresh();
    },
    onError: ({ message }) => showToast({ color: "red", title: t("Not tested"), message }),
  });
  return (
    <Group gap="xs" wrap="nowrap">
      <GuardedButton variant="default" size="compact-sm" loading={match.isPending} onClick={() => match.mutate()}>
        {t("Retry match")}
      </GuardedButton>
      <GuardedConfirm
        size="compact-sm"
        color="red"
        variant="subtle"
        question={t("Remove the receipt of {carrierMessageId}?", { carrierMessageId })}
        consequence={t("The receipt is deleted and will not update any message.")}
        yes={t("Remove")}
        run={() => removeListed(`${PATH}/${id}`, refresh)}
      >
        {t("Remove")}
      </GuardedConfirm>
    </Group>
  );
}
