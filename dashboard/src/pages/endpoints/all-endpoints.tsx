import { Anchor, Badge, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconPlus, IconWebhook } from "@tabler/icons-react";
import { Link } from "wouter";
import { get, type Page } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RecordDrawer } from "../../parts/record/record-drawer.tsx";
import { useNames } from "../../parts/record/use-names.ts";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { useUrlState } from "../../url-state.ts";
import { DeliveryCharts } from "./delivery-charts.tsx";
import { DLR_PATH, dlrKind } from "./dlr-kind.tsx";
import type { DlrConfig, EndpointPath, Webhook } from "./endpoint.ts";
import { EventCatalogue } from "./event-catalogue.tsx";
import { HealthBadge } from "./health-panel.tsx";
import { useEndpointParts } from "./use-endpoint-parts.tsx";
import { subjectName, WEBHOOK_PATH, webhookKind } from "./webhook-kind.tsx";

interface Row {
  id: string;
  name: string;
  url: string;
  channels: readonly string[];
  events: readonly string[];
  api: EndpointPath;
  endpoint: Webhook | DlrConfig;
}

const LIST = { limit: 200 } as const;
/** Values of the `open` URL parameter for new endpoints; others are ids. */
const NEW = { webhook: "new", report: "new-report" } as const;

const rowOf = (endpoint: Webhook | DlrConfig): Row => {
  const { id, name, url } = endpoint;
  return "events" in endpoint
    ? { id, name, url, channels: endpoint.channels, events: endpoint.events, api: WEBHOOK_PATH, endpoint }
    : { id, name, url, channels: ["sms"], events: ["delivery_report"], api: DLR_PATH, endpoint };
};

/** One kind of endpoint. Saving a form invalidates the list through its key. */
const useList = <T,>(path: EndpointPath) =>
  useQuery({ queryKey: [path, "all"], queryFn: ({ signal }) => get<Page<T>>(path, LIST, signal) });

const badges = (words: readonly string[]) => (
  <Group gap={4}>
    {words.map((word) => (
      <Badge key={word} color="gray">
        {word}
      </Badge>
    ))}
  </Group>
);

const columnsWith = (open: (id: string) => void): readonly Column<Row>[] => [
  {
    title: t("Name"),
    render: ({ id, name }) => (
      <Anchor component="button" type="button" size="sm" ta="left" onClick={() => open(id)}>
        {name}
      </Anchor>
    ),
  },
  { title: t("Channels"), render: ({ channels }) => badges(channels.map(subjectName)) },
  { title: t("Events"), wide: true, render: ({ events }) => badges(events) },
  {
    title: t("Endpoint URL"),
    wide: true,
    render: ({ url }) => (
      <Text size="sm" lineClamp={1} maw={320}>
        {url}
      </Text>
    ),
  },
  { title: t("Health"), render: ({ api, endpoint }) => <HealthBadge path={api} endpoint={endpoint} /> },
  {
    title: t("Deliveries"),
    render: ({ id }) => (
      <Anchor component={Link} href={`/operations/callbacks?endpointId=${id}`} size="sm">
        {t("View")}
      </Anchor>
    ),
  },
];

/** Every endpoint of the account with its delivery health. */
export default function AllEndpoints() {
  return (
    <>
      <PageHeader
        title={t("All webhooks")}
        lead={t("Your endpoints that receive events, of every channel, and how their deliveries do.")}
      >
        <AddButtons />
      </PageHeader>
      <UrlTabs
        label={t("Webhooks")}
        tabs={[
          { value: "endpoints", label: t("Endpoints"), panel: <Endpoints /> },
          { value: "events", label: t("Event catalogue"), panel: <EventCatalogue /> },
        ]}
      />
    </>
  );
}

function AddButtons() {
  const [, change] = useUrlState(["open"]);
  return (
    <Group gap="sm">
      <GuardedButton variant="default" onClick={() => change({ open: NEW.report })}>
        {t("Add delivery report")}
      </GuardedButton>
      <GuardedButton leftSection={<IconPlus size={17} aria-hidden />} onClick={() => change({ open: NEW.webhook })}>
        {t("Add Webhook")}
      </GuardedButton>
    </Group>
  );
}

function Endpoints() {
  const [{ open }, change] = useUrlState(["open"]);
  const reports = useList<DlrConfig>(DLR_PATH);
  const webhooks = useList<Webhook>(WEBHOOK_PATH);
  const rows = [...(reports.data?.data ?? []), ...(webhooks.data?.data ?? [])].map(rowOf);
  const opened = rows.find(({ id }) => id === open);
  const show = (id: string | null): void => change({ open: id });
  const isReport = open === NEW.report || opened?.api === DLR_PATH;
  return (
    <>
      <DataTable
        label={t("Endpoints")}
        columns={columnsWith(show)}
        rows={rows}
        rowKey={({ id }) => id}
        onRow={({ id }) => show(id)}
        loading={reports.isPending || webhooks.isPending}
        error={reports.error ?? webhooks.error}
        retry={() => {
          void reports.refetch();
          void webhooks.refetch();
        }}
        empty={
          <EmptyState
            icon={IconWebhook}
            sentence={t("No endpoints yet. Add one to receive events in real time.")}
            action={
              <GuardedButton variant="light" onClick={() => show(NEW.webhook)}>
                {t("Add Webhook")}
              </GuardedButton>
            }
          />
        }
      />
      {rows.length > 0 && <DeliveryCharts endpoints={rows} />}
      <WebhookDrawer open={isReport ? "" : open} row={opened?.endpoint as Webhook | undefined} change={show} />
      <ReportDrawer
        open={!isReport ? "" : open === NEW.report ? "new" : open}
        row={opened?.endpoint as DlrConfig | undefined}
        change={show}
      />
    </>
  );
}

interface DrawerProps<T> {
  open: string;
  row: T | undefined;
  change: (open: string | null) => void;
}

function WebhookDrawer(props: DrawerProps<Webhook>) {
  const { parts, dialog } = useEndpointParts<Webhook>(WEBHOOK_PATH);
  return (
    <>
      <RecordDrawer kind={{ ...webhookKind(), ...parts }} {...props} />
      {dialog}
    </>
  );
}

function ReportDrawer(props: DrawerProps<DlrConfig>) {
  const { parts, dialog } = useEndpointParts<DlrConfig>(DLR_PATH);
  const carriers = useNames("/api/carriers");
  return (
    <>
      <RecordDrawer kind={{ ...dlrKind(carriers), ...parts }} {...props} />
      {dialog}
    </>
  );
}
