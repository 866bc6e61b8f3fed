import { Anchor, Box, Button, Drawer, Text } from "@mantine/core";
import { IconWebhook } from "@tabler/icons-react";
import { useMemo } from "react";
import { Link } from "wouter";
import { usePages } from "../../api.ts";
import type { Callback } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { CallbackDetail } from "../../parts/callback-detail.tsx";
import { CallbackBadge } from "../../parts/callback-badge.tsx";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { DrawerTitle } from "../../parts/drawer-title.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ChoiceFilter, DayFilter, FilterBar, spanOf, TypedFilter } from "../../parts/filters.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { SignatureHelp } from "../../parts/signature-help.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { FailingEndpoints } from "./failing-endpoints.tsx";
import { RecoverButton } from "./recover-button.tsx";
import { useEndpoints } from "./use-endpoints.ts";

const FILTERS = ["messageId", "endpointId", "state", "from", "until"] as const;

const STATES = [
  { value: "waiting", label: t("Waiting") },
  { value: "delivered", label: t("Delivered") },
  { value: "exhausted", label: t("Failed") },
  { value: "dropped", label: t("Discarded") },
];

const eventOf = ({ event, status }: Pick<Callback, "event" | "status">): string =>
  [event, status].filter(Boolean).join(" ");

const columnsWith = (open: (id: string) => void): Column<Callback>[] => [
  { title: t("Time"), render: ({ happenedAt }) => <TimeText at={happenedAt} size="sm" /> },
  { title: t("State"), render: (callback) => <CallbackBadge {...callback} /> },
  {
    title: t("Event"),
    render: ({ id, event, status }) => (
      <Anchor component="button" type="button" size="sm" ta="left" onClick={() => open(id)}>
        {eventOf({ event, status })}
      </Anchor>
    ),
  },
  { title: t("Endpoint"), wide: true, render: ({ endpoint }) => endpoint ?? <Text size="sm">{t("deleted")}</Text> },
  { title: t("Attempts"), wide: true, align: "right", render: ({ tries }) => tries },
  {
    title: t("Last response"),
    wide: true,
    render: ({ lastAttempt }) => (
      <Text size="sm" lineClamp={1} maw={280}>
        {lastAttempt ? (lastAttempt.reason ?? lastAttempt.status) : "–"}
      </Text>
    ),
  },
  { title: t("Next attempt"), wide: true, render: ({ nextTryAt }) => <TimeText at={nextTryAt} size="sm" /> },
];

/** Webhook deliveries with every attempt and its response. */
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
        title={t("Webhook deliveries")}
        lead={t(
          "Every webhook and delivery report sent to your servers, with each attempt and the response. Failed deliveries are retried ten times over three days.",
        )}
      >
        <RecoverButton endpoints={endpoints} chosen={endpointId} />
      </PageHeader>
      <FailingEndpoints endpoints={endpoints} />
      <FilterBar values={filters} change={change}>
        <TypedFilter
          label={t("Message")}
          value={messageId}
          onChange={(text) => change({ messageId: text })}
          placeholder={t("Message id")}
          leading
        />
        <ChoiceFilter
          label={t("Endpoint")}
          value={endpointId}
          onChange={(id) => change({ endpointId: id })}
          data={endpoints.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <ChoiceFilter label={t("State")} value={state} onChange={(word) => change({ state: word })} data={STATES} />
        <DayFilter label={t("From")} value={from} onChange={(day) => change({ from: day })} />
        <DayFilter label={t("To (inclusive)")} value={until} onChange={(day) => change({ until: day })} />
      </FilterBar>
      <DataTable
        label={t("Webhook deliveries")}
        columns={columnsWith(show)}
        rowKey={({ id }) => id}
        onRow={({ id }) => show(id)}
        {...table}
        empty={
          <EmptyState
            icon={IconWebhook}
            sentence={
              filtered ? t("No results") : t("No deliveries yet. Add an endpoint, and its deliveries appear here.")
            }
            action={
              !filtered && (
                <Button component={Link} href="/message-app/utility-manager/dlr-push-configuration">
                  {t("Set up delivery reports")}
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
        title={<DrawerTitle>{opened ? eventOf(opened) : t("Callback")}</DrawerTitle>}
      >
        {opened?.messageId && (
          <Text size="sm" mb="md">
            {t("About")}{" "}
            <Anchor component={Link} href={`/messages/${opened.messageId}`}>
              {t("this message")}
            </Anchor>
            {t(", sent to")} {opened.endpoint ?? t("a deleted endpoint")}.
          </Text>
        )}
        {open !== "" && <CallbackDetail id={open} />}
      </Drawer>
    </>
  );
}
