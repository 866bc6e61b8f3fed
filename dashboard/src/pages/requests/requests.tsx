import { Alert, Anchor, Badge, Drawer, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconListDetails } from "@tabler/icons-react";
import { useMemo } from "react";
import { get, usePages, type Page } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { DrawerTitle } from "../../parts/drawer-title.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ChoiceFilter, FilterBar, TypedFilter } from "../../parts/filters.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { RequestDetail } from "./request-detail.tsx";
import type { LoggedRequest } from "./logged-request.ts";

const PATH = "/api/requests";
const FILTERS = ["requestId", "actorId", "result", "code"] as const;

const RESULTS = [
  { value: "success", label: t("Success") },
  { value: "error", label: t("Error") },
];

interface Key {
  id: string;
  name: string;
}

const columnsWith = (open: (id: string) => void): Column<LoggedRequest>[] => [
  { title: t("Time"), render: ({ at }) => <TimeText at={at} size="sm" /> },
  {
    title: t("Request"),
    render: ({ id, method, path }) => (
      <Anchor component="button" type="button" size="sm" ta="left" ff="monospace" onClick={() => open(id)}>
        {method} {path}
      </Anchor>
    ),
  },
  {
    title: t("Status"),
    render: ({ status, code }) => <Badge color={code === null ? "green" : "red"}>{status}</Badge>,
  },
  { title: t("Code"), render: ({ code }) => <Text size="sm">{code ?? "–"}</Text> },
  { title: t("Key"), wide: true, render: ({ actor }) => <Text size="sm">{actor.name ?? "–"}</Text> },
  { title: t("Duration"), wide: true, align: "right", render: ({ durationMs }) => duration(durationMs) },
];

/** Request log: the latest requests of each API key, with their responses. */
export default function Requests() {
  const [filters, change] = useUrlState(FILTERS);
  const [{ open }, changeOpen] = useUrlState(["open"]);
  const { requestId, actorId, result, code } = filters;
  const query = useMemo(() => ({ requestId, actorId, result, code }), [requestId, actorId, result, code]);
  const { table, rows, query: state } = usePages<LoggedRequest>(PATH, query);
  const { data: keys } = useQuery({
    queryKey: ["/api/keys", "names"],
    queryFn: ({ signal }) => get<Page<Key>>("/api/keys", {}, signal),
  });
  const [first] = (state.data?.pages ?? []) as (Page<LoggedRequest> & Listed)[];
  const show = (id: string): void => changeOpen({ open: id });
  const opened = rows.find(({ id }) => id === open);
  const filtered = FILTERS.some((name) => filters[name] !== "");
  return (
    <>
      <PageHeader
        title={t("Request log")}
        lead={t(
          "The last requests of each API key: up to 100 successes and 100 errors. Texts, numbers and secrets are not recorded.",
        )}
      />
      {first && first.nodes > 1 && (
        <Alert color="blue" mb="md">
          {t("These are the requests of node {node}. {nodes} nodes answer requests, and each keeps its own list.", {
            node: first.node,
            nodes: first.nodes,
          })}
        </Alert>
      )}
      {first && first.omitted > 0 && (
        <Alert color="gray" mb="md">
          {t("{count} further requests are not listed: of each key at most ten successes per second are.", {
            count: first.omitted,
          })}
        </Alert>
      )}
      <FilterBar values={filters} change={change}>
        <TypedFilter
          label={t("Request ID")}
          value={requestId}
          onChange={(text) => change({ requestId: text })}
          placeholder={t("requestId of an error")}
          leading
        />
        <ChoiceFilter
          label={t("Key")}
          value={actorId}
          onChange={(id) => change({ actorId: id })}
          data={(keys?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        />
        <ChoiceFilter label={t("Result")} value={result} onChange={(word) => change({ result: word })} data={RESULTS} />
        <TypedFilter
          label={t("Code")}
          value={code}
          onChange={(text) => change({ code: text })}
          placeholder={t("Error code")}
        />
      </FilterBar>
      <DataTable
        label={t("Request log")}
        columns={columnsWith(show)}
        rowKey={({ id }) => id}
        onRow={({ id }) => show(id)}
        {...table}
        empty={
          <EmptyState
            icon={IconListDetails}
            sentence={
              filtered
                ? t("No results. The log keeps the last requests only, until the server restarts.")
                : t("No requests with an API key since the server started")
            }
            {...(filtered ? {} : { curl: curlOf({ path: "/v1/messages" }) })}
          />
        }
      />
      <Drawer
        opened={opened !== undefined}
        onClose={() => changeOpen({ open: null })}
        position="right"
        size="lg"
        title={<DrawerTitle>{opened ? `${opened.method} ${opened.path}` : t("Request")}</DrawerTitle>}
      >
        {opened && <RequestDetail request={opened} />}
      </Drawer>
    </>
  );
}

interface Listed {
  node: number;
  nodes: number;
  omitted: number;
}
