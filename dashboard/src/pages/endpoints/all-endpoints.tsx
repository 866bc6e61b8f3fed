import { Anchor, Badge, Button, Group, Menu, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconChevronDown, IconWebhook } from "@tabler/icons-react";
import { lazy, Suspense } from "react";
import { Link, useLocation } from "wouter";
import { get, type Page } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { EventCatalogue } from "./event-catalogue.tsx";
import type { DlrConfig, EndpointPath, Webhook } from "./endpoint.ts";
import { HealthBadge } from "./health-panel.tsx";

const DeliveryCharts = lazy(() => import("./delivery-charts.tsx"));

/** The page on which each kind of endpoint is added and changed. */
const PLACES = [
  {
    channel: "sms-reports",
    label: t("Delivery reports of SMS"),
    path: "/message-app/utility-manager/dlr-push-configuration",
  },
  { channel: "sms", label: t("Incoming SMS and link clicks"), path: "/message-app/utility-manager/webhook" },
  { channel: "rcs", label: t("RCS messages and status"), path: "/rcs/utility/webhook" },
  { channel: "chatapp", label: t("Chat-app messages and status"), path: "/chat-app/utility/webhook" },
  { channel: "verify", label: t("Verification status"), path: "/verify?tab=webhook" },
] as const;

type Place = (typeof PLACES)[number];

interface Row {
  id: string;
  name: string;
  url: string;
  place: Place;
  events: readonly string[];
  api: EndpointPath;
  endpoint: Webhook | DlrConfig;
}

const LIST = { limit: 200 } as const;

/** Where an endpoint opens, on the page of its kind. */
const opened = ({ path }: Place, id: string): string => `${path}${path.includes("?") ? "&" : "?"}open=${id}`;

const placeOf = (channel: string): Place => PLACES.find((place) => place.channel === channel) ?? PLACES[0];

async function readAll(signal: AbortSignal): Promise<Row[]> {
  const [reports, webhooks] = await Promise.all([
    get<Page<DlrConfig>>("/api/dlr-configs", LIST, signal),
    get<Page<Webhook>>("/api/webhooks", LIST, signal),
  ]);
  return [
    ...reports.data.map((endpoint) => ({
      id: endpoint.id,
      name: endpoint.name,
      url: endpoint.url,
      place: placeOf("sms-reports"),
      events: ["delivery_report"],
      api: "/api/dlr-configs" as const,
      endpoint,
    })),
    ...webhooks.data.map((endpoint) => ({
      id: endpoint.id,
      name: endpoint.name,
      url: endpoint.url,
      place: placeOf(endpoint.channel),
      events: endpoint.events,
      api: "/api/webhooks" as const,
      endpoint,
    })),
  ];
}

const COLUMNS: readonly Column<Row>[] = [
  {
    title: t("Name"),
    render: ({ id, name, place }) => (
      <Anchor component={Link} href={opened(place, id)} size="sm">
        {name}
      </Anchor>
    ),
  },
  { title: t("Receives"), render: ({ place }) => <Text size="sm">{place.label}</Text> },
  {
    title: t("Events"),
    wide: true,
    render: ({ events }) => (
      <Group gap={4}>
        {events.map((event) => (
          <Badge key={event} color="gray">
            {event}
          </Badge>
        ))}
      </Group>
    ),
  },
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

/** Every endpoint of the account, whatever it receives, with how its deliveries do. */
export default function AllEndpoints() {
  return (
    <>
      <PageHeader
        title={t("All webhooks")}
        lead={t("Your endpoints that receive events, of every channel, and how their deliveries do.")}
      >
        <AddMenu />
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

function AddMenu() {
  const [, navigate] = useLocation();
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <GuardedButton rightSection={<IconChevronDown size={16} aria-hidden />}>{t("Add endpoint")}</GuardedButton>
      </Menu.Target>
      <Menu.Dropdown>
        {PLACES.map((place) => (
          <Menu.Item key={place.channel} onClick={() => navigate(opened(place, "new"))}>
            {place.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Endpoints() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["/api/webhooks", "/api/dlr-configs", "all"],
    queryFn: ({ signal }) => readAll(signal),
  });
  const rows = data ?? [];
  return (
    <>
      <DataTable
        label={t("Endpoints")}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        loading={isPending}
        error={error}
        retry={() => void refetch()}
        empty={
          <EmptyState
            icon={IconWebhook}
            sentence={t("No endpoints yet. Add one to receive events in real time.")}
            action={
              <Button component={Link} href={opened(PLACES[0], "new")} variant="light">
                {t("Add delivery reports")}
              </Button>
            }
          />
        }
      />
      {rows.length > 0 && (
        <Suspense fallback={<PageLoading />}>
          <DeliveryCharts endpoints={rows} />
        </Suspense>
      )}
    </>
  );
}
