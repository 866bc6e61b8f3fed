import { Button, Center, Group, SegmentedControl, Select, Switch, Text } from "@mantine/core";
import { IconArrowUp, IconMessageOff } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { get, usePages, type Counted } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { localTime } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { MessageExport } from "../../parts/message-export.tsx";
import { ColumnsMenu, useColumns } from "./columns.tsx";
import { FILTER_NAMES, MessageFilters } from "./filters.tsx";
import { queryOf } from "./query.ts";
import { SavedViews } from "./saved-views.tsx";
import { SelectedMessages } from "./selected-messages.tsx";
import { useTail } from "./use-tail.ts";

const STORED_SIZE = "heliograph-page-size";
const PAGE_SIZE = "50";
const PAGE_SIZES = [PAGE_SIZE, "100", "200"].map((value) => ({
  value,
  label: t("{count} per page", { count: value }),
}));

/** Messages of live keys and people, and those of test keys, which only reach the simulator. */
const MODES = [
  { value: "", label: t("All") },
  { value: "false", label: t("Live") },
  { value: "true", label: t("Test") },
];

const NONE: ReadonlySet<string> = new Set();

/** The number of rows shown, of all matches. Live messages may be newer than the count. */
function reachOf(rows: number, hasMore: boolean, total: Counted | undefined): string {
  if (!hasMore || (total?.count === rows && !total.more)) return t("{rows} in all", { rows });
  if (!total || total.count <= rows) return t("{rows} shown, there are more", { rows });
  return total.more
    ? t("{rows} of more than {count} shown", { rows, count: total.count })
    : t("{rows} of {count} shown", { rows, count: total.count });
}

/** All messages, newest or oldest first. */
export default function Messages() {
  const [filters, change] = useUrlState(FILTER_NAMES);
  const [{ order }, turn] = useUrlState(["order"]);
  const isOldestFirst = order === "oldest";
  const [live, setLive] = useState(true);
  const [, navigate] = useLocation();
  // Memoised by content, because `filters` is a new object in every render.
  const key = JSON.stringify(filters);
  const [size, setSize] = useState(() => localStorage.getItem(STORED_SIZE) ?? PAGE_SIZE);
  const filter = useMemo(() => queryOf(JSON.parse(key) as typeof filters), [key]);
  const query = useMemo(
    () => ({ ...filter, limit: size, ...(isOldestFirst && { order: "oldest" }) }),
    [filter, size, isOldestFirst],
  );
  const { table, rows, query: list } = usePages<Message>("/api/messages", query);
  // While new filters are applied, the rows are those of the filters before.
  const isCurrent = list.data !== undefined && !list.isPlaceholderData;
  const tail = useTail(query, rows, live && isCurrent);
  // A list without a next page shows its own number.
  const total = useQuery({
    queryKey: ["/api/message-count", filter],
    queryFn: ({ signal }) => get<Counted>("/api/message-count", filter, signal),
    enabled: isCurrent && table.hasMore,
    retry: false,
  });
  const columns = useColumns();
  const [time, ...others] = columns.columns;
  const sort = {
    order: isOldestFirst ? ("ascending" as const) : ("descending" as const),
    turn: () => turn({ order: isOldestFirst ? null : "oldest" }),
  };
  const client = useQueryClient();
  const [selection, setSelection] = useState({ key, messageIds: NONE });
  // A selection ends with its filters.
  const selected = selection.key === key && isCurrent ? selection.messageIds : NONE;
  const select = (messageIds: ReadonlySet<string>): void => setSelection({ key, messageIds });
  const fresh = tail.fresh.length;
  const filtered = FILTER_NAMES.some((name) => filters[name] !== "");

  return (
    <>
      <PageHeader
        title={t("Messages")}
        lead={
          isOldestFirst
            ? t("All messages with their status, oldest first.")
            : t("All messages with their status, newest first.")
        }
      >
        <SegmentedControl
          size="xs"
          aria-label={t("Mode")}
          data={MODES}
          value={filters.test}
          onChange={(test) => change({ test: test === "" ? null : test })}
        />
        <Switch
          label={t("Live updates")}
          checked={live}
          onChange={({ currentTarget }) => setLive(currentTarget.checked)}
        />
        <SavedViews filters={filters} change={change} />
        <ColumnsMenu {...columns} />
        <MessageExport query={filter} />
      </PageHeader>
      <MessageFilters filters={filters} change={change} />
      {fresh > 0 && (
        <Center mb="sm">
          <Button
            radius="xl"
            size="xs"
            leftSection={<IconArrowUp size={15} aria-hidden />}
            onClick={() => {
              tail.show();
              void total.refetch();
            }}
            data-new
          >
            {fresh}
            {fresh >= 100 ? "+" : ""} {t("new")}
          </Button>
        </Center>
      )}
      <SelectedMessages
        messages={rows.filter(({ messageId }) => selected.has(messageId))}
        clear={() => select(NONE)}
        readAgain={() => {
          void client.invalidateQueries({ queryKey: ["/api/messages"] });
          void client.invalidateQueries({ queryKey: ["/api/message-count"] });
        }}
      />
      <DataTable
        label={t("Messages")}
        columns={time ? [{ ...time, sort }, ...others] : []}
        selection={{
          keys: selected,
          change: select,
          nameOf: ({ recipient, createdAt }) => `${recipient}, ${localTime(createdAt)}`,
        }}
        rowKey={({ messageId }) => messageId}
        onRow={({ messageId }) => navigate(`/messages/${messageId}`)}
        {...table}
        empty={
          filtered ? (
            <EmptyState
              icon={IconMessageOff}
              sentence={t("No results")}
              action={
                <Button
                  variant="light"
                  onClick={() => change(Object.fromEntries(FILTER_NAMES.map((name) => [name, null])))}
                >
                  {t("Show all messages")}
                </Button>
              }
            />
          ) : (
            <EmptyState
              icon={IconMessageOff}
              sentence={t("No messages yet. Your first message appears here as soon as it is accepted.")}
              action={
                <Button component={Link} href="/composer">
                  {t("Write a message")}
                </Button>
              }
              curl={curlOf({
                path: "/v1/sms",
                body: { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" },
              })}
            />
          )
        }
      />
      {rows.length > 0 && (
        <Group justify="flex-end" mt="sm" gap="md">
          <Text size="xs" c="dimmed" role="status" aria-busy={!isCurrent}>
            {isCurrent ? reachOf(rows.length, table.hasMore, total.data) : t("Searching…")}
          </Text>
          <Select
            size="xs"
            w={150}
            aria-label={t("Messages per page")}
            data={PAGE_SIZES}
            value={size}
            onChange={(next) => {
              if (next === null) return;
              localStorage.setItem(STORED_SIZE, next);
              setSize(next);
            }}
            allowDeselect={false}
          />
        </Group>
      )}
    </>
  );
}
