import { Anchor, Box, Button, Drawer, Text } from "@mantine/core";
import { IconWebhook } from "@tabler/icons-react";
import { useMemo } from "react";
import { Link } from "wouter";
import { usePages } from "../../api.ts";
import type { Callback } from "../../api-types.ts";
import { CallbackDetail } from "../../parts/callback-detail.tsx";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { DrawerTitle } from "../../parts/drawer-title.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ChoiceFilter, DayFilter, FilterBar, spanOf, TypedFilter } from "../../parts/filters.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { SignatureHelp } from "../../parts/signature-help.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { RecoverButton } from "./recover-button.tsx";
import { useEndpoints } from "./use-endpoints.ts";

const FILTERS = ["messageId", "endpointId", "state", "from", "until"] as const;

const STATES = [
  { value: "waiting", label: "Waiting" },
  { value: "delivered", label: "Delivered" },
  { value: "exhausted", label: "Given up" },
  { value: "dropped", label: "Dropped" },
];

const eventOf = ({ event, status }: Pick<Callback, "event" | "status">): string =>
  [event, status].filter(Boolean).join(" ");

const columnsWith = (open: (id: string) => void): Column<Callback>[] => [
  { title: "Time", render: ({ happenedAt }) => <TimeText at={happenedAt} size="sm" /> },
  { title: "State", render: ({ state }) => <StatusBadge status={state} /> },
  {
    title: "Event",
    render: ({ id, event, status }) => (
      <Anchor component="button" type="button" size="sm" ta="left" onClick={() => open(id)}>
        {eventOf({ event, status })}
      </Anchor>
    ),
  },
  { title: "Told", wide: true, render: ({ endpoint }) => endpoint ?? <Text size="sm">gone</Text> },
  { title: "Tries", wide: true, align: "right", render: ({ tries }) => tries },
  {
    title: "Last answer",
    wide: true,
    render: ({ lastAttempt }) => (
      <Text size="sm" lineClamp={1} maw={280}>
        {lastAttempt ? (lastAttempt.reason ?? lastAttempt.status) : "–"}
      </Text>
    ),
  },
  { title: "Next try", wide: true, render: ({ nextTryAt }) => <TimeText at={nextTryAt} size="sm" /> },
];

/** What your servers were told, or are to be told, with every try and what they answered. */
export default function Callbacks() {
  const [filters, change] = useUrlState(FILTERS);
  const [{ open }, changeOpen] = useUrlState(["open"]);
  const { messageId, endpointId, state, from, until } = filters;
  const query = useMemo(() => {
    const span = spanOf(from, until);
    return { messageId, endpointId, state, from: span.from, to: span.until };
  }, [messageId, endpointId, state, from, until]);
  const { table, rows } = usePages<Callback>("/api/callbacks", query);
  const endpoints = useEndpoints();
  const show = (id: string): void => changeOpen({ open: id });
  const opened = rows.find(({ id }) => id === open);
  const filtered = FILTERS.some((name) => filters[name] !== "");
  return (
    <>
      <PageHeader
        title="Callback deliveries"
        lead="What your servers were told, every try, and what they answered. What does not arrive is tried ten times in three days."
      >
        <RecoverButton endpoints={endpoints} chosen={endpointId} />
      </PageHeader>
      <FilterBar values={filters} change={change}>
        <TypedFilter
          label="Message"
          value={messageId}
          onChange={(text) => change({ messageId: text })}
          placeholder="Message id"
          leading
        />
        <ChoiceFilter
          label="Told"
          value={endpointId}
          onChange={(id) => change({ endpointId: id })}
          data={endpoints.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <ChoiceFilter label="State" value={state} onChange={(word) => change({ state: word })} data={STATES} />
        <DayFilter label="From" value={from} onChange={(day) => change({ from: day })} />
        <DayFilter label="Until the end of" value={until} onChange={(day) => change({ until: day })} />
      </FilterBar>
      <DataTable
        label="Callback deliveries"
        columns={columnsWith(show)}
        rowKey={({ id }) => id}
        onRow={({ id }) => show(id)}
        {...table}
        empty={
          <EmptyState
            icon={IconWebhook}
            sentence={
              filtered
                ? "No callback is like that."
                : "Nobody has been told anything yet. Add an address, and what it is told appears here."
            }
            action={
              !filtered && (
                <Button component={Link} href="/message-app/utility-manager/dlr-push-configuration">
                  Set up delivery reports
                </Button>
              )
            }
            {...(filtered ? {} : { curl: curlOf({ path: "/api/callbacks" }) })}
          />
        }
      />
      <Box mt="lg">
        <SignatureHelp order={2} />
      </Box>
      <Drawer
        opened={open !== ""}
        onClose={() => changeOpen({ open: null })}
        position="right"
        size="lg"
        title={<DrawerTitle>{opened ? eventOf(opened) : "Callback"}</DrawerTitle>}
      >
        {opened?.messageId && (
          <Text size="sm" mb="md">
            About{" "}
            <Anchor component={Link} href={`/messages/${opened.messageId}`}>
              this message
            </Anchor>
            , told to {opened.endpoint ?? "an address that is gone"}.
          </Text>
        )}
        {open !== "" && <CallbackDetail id={open} />}
      </Drawer>
    </>
  );
}
