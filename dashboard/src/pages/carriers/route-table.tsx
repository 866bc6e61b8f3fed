import { Badge, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { CHANNELS, ChannelBadge } from "../../parts/channel.tsx";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { adapterOf } from "./adapters.ts";
import { CARRIERS, type Carrier } from "./carrier.ts";
import { useUrlState } from "../../url-state.ts";
import { PageLoading } from "../../parts/page-loading.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { QuietHoursInput } from "./quiet-hours-input.tsx";

interface Route extends RecordRow {
  channel: string | null;
  routeClasses: readonly string[];
  prefixes: readonly string[];
  senders: readonly string[];
  carrier: string;
  priority: number;
  weight: number;
  enabled: boolean;
  simulateLive: boolean;
}

const TYPES = ["OTP", "TRANS", "PROMO"].map((value) => ({ value, label: value }));

/** Upper limit of a list that fills a select input. */
const LIST = { limit: 200 } as const;
const USUAL_PRIORITY = 100;

/** The channel that a real carrier serves; null for the simulator, which serves all. */
const channelOf = (carriers: readonly Carrier[], name: unknown): Route["channel"] =>
  adapterOf(carriers.find((carrier) => carrier.name === name)?.adapter ?? "")?.line?.channel ?? null;

/** A priority ahead of every catch-all route to a simulated carrier, so that the new route gets its messages first. */
function priorityBefore(routes: readonly Route[], carriers: readonly Carrier[]): number {
  const catchAlls = routes.filter(
    ({ channel, routeClasses, prefixes, senders, carrier }) =>
      channel === null &&
      routeClasses.length + prefixes.length + senders.length === 0 &&
      channelOf(carriers, carrier) === null,
  );
  return Math.max(0, Math.min(USUAL_PRIORITY, ...catchAlls.map(({ priority }) => priority - 1)));
}

const kindWith = (carriers: readonly Carrier[], routes: readonly Route[], chosen: string): RecordKind<Route> => ({
  path: "/api/routes",
  one: "route",
  add: t("Add route"),
  starts: {
    name: chosen === "" ? "" : t("Messages by {carrier}", { carrier: chosen }),
    ...firstOf(carriers, chosen),
    routeClasses: [],
    prefixes: [],
    senders: [],
    priority: priorityBefore(routes, carriers),
    weight: 1,
    enabled: true,
    quietHours: null,
    failoverAfterSeconds: null,
    repeatPromotionsInDoubt: false,
    simulateLive: false,
  },
  fields: [
    {
      name: "name",
      label: t("Name"),
      hint: t("Shown in every message's timeline."),
      input: { kind: "text", placeholder: t("India by west") },
      required: true,
    },
    {
      name: "carrier",
      label: t("Carrier"),
      input: { kind: "choice", options: carriers.map(({ name }) => ({ value: name, label: name })) },
      required: true,
      // A real carrier serves a single channel.
      implies: (name) => ({ channel: channelOf(carriers, name) }),
    },
    {
      name: "channel",
      label: t("Channel"),
      input: {
        kind: "choice",
        options: CHANNELS.map(({ value, label }) => ({ value, label })),
        none: t("All channels"),
      },
    },
    {
      name: "routeClasses",
      label: t("Types"),
      hint: t("Leave empty for all types."),
      input: { kind: "several", options: TYPES },
    },
    {
      name: "prefixes",
      label: t("Number prefixes"),
      hint: t("Without a plus, such as 91. Leave empty for all numbers."),
      input: { kind: "list", placeholder: t("All numbers") },
    },
    {
      name: "priority",
      label: t("Priority"),
      hint: t("Lower number = tried first; the next follows if it fails. The sample route to the simulator has 1000."),
      input: { kind: "number", min: 0, max: 1000 },
    },
    {
      name: "weight",
      label: t("Weight"),
      hint: t("Share of traffic among routes with the same priority."),
      input: { kind: "number", min: 1, max: 1000 },
      more: true,
    },
    {
      name: "senders",
      label: t("Only from"),
      hint: t("Senders, bots, or business numbers with a plus. Leave empty for all."),
      input: { kind: "list", placeholder: t("All senders") },
      more: true,
    },
    {
      name: "quietHours",
      label: t("Quiet hours for promotions"),
      hint: t("In the recipient's time zone."),
      input: { kind: "own", component: QuietHoursInput },
      more: true,
    },
    {
      name: "failoverAfterSeconds",
      label: t("Fail over after"),
      hint: t("Use the next route if no delivery is reported in this time."),
      input: { kind: "number", min: 1, max: 86_400, suffix: t("seconds"), placeholder: t("Never") },
      more: true,
    },
    {
      name: "repeatPromotionsInDoubt",
      label: t("Resend promotions with unknown outcome"),
      hint: t(
        "When it is unknown whether the carrier accepted it. Otherwise the message waits for its delivery report.",
      ),
      input: { kind: "switch" },
      more: true,
    },
    {
      name: "simulateLive",
      label: t("Simulate live messages"),
      hint: t(
        "Only for routes to a simulated carrier. It accepts live messages although their channel has a real carrier, and reports them as delivered; no phone gets them.",
      ),
      input: { kind: "switch" },
      more: true,
    },
    { name: "enabled", label: t("On"), input: { kind: "switch" } },
  ],
  columns: [
    { title: t("Carrier"), render: ({ carrier }) => <Text size="sm">{carrier}</Text> },
    {
      title: t("For"),
      wide: true,
      render: ({ channel, routeClasses, prefixes, senders }) => (
        <>
          {channel !== null && <ChannelBadge channel={channel} />}
          {[...routeClasses, ...prefixes.slice(0, 3).map((prefix) => `${prefix}…`), ...senders.slice(0, 3)].map(
            (word) => (
              <Badge key={word} color="gray" ml={4}>
                {word}
              </Badge>
            ),
          )}
          {channel === null && routeClasses.length + prefixes.length + senders.length === 0 && t("everything")}
        </>
      ),
    },
    { title: t("Priority"), align: "right", render: ({ priority }) => priority },
    { title: t("Weight"), align: "right", wide: true, render: ({ weight }) => weight },
    {
      title: t("State"),
      render: ({ enabled, simulateLive }) => (
        <>
          <StatusBadge status={enabled ? "enabled" : "disabled"} />
          {simulateLive && (
            <Badge color="yellow" ml={4}>
              {t("simulates live")}
            </Badge>
          )}
        </>
      ),
    },
  ],
  compare: (a, b) => a.priority - b.priority,
  empty: {
    sentence: t("No routes yet. Messages cannot be sent without a route."),
    example: { name: "Everything", carrier: "simulator" },
  },
  removal: t("Its messages take the next matching route, or are rejected."),
});

/** Default carrier of a new route: the chosen one, or a real one if there is one. */
function firstOf(carriers: readonly Carrier[], chosen: string): Pick<Route, "carrier" | "channel"> {
  const carrier =
    carriers.find(({ name }) => name === chosen)?.name ??
    carriers.find(({ name }) => channelOf(carriers, name) !== null)?.name ??
    "simulator";
  return { carrier, channel: channelOf(carriers, carrier) };
}

/** Routes: the carrier for each kind of message. */
export function RouteTable() {
  const [{ carrier }] = useUrlState(["carrier"]);
  const { data: carriers } = useQuery({
    queryKey: [CARRIERS, "all"],
    queryFn: ({ signal }) => get<Page<Carrier>>(CARRIERS, LIST, signal),
  });
  const { data: routes } = useQuery({
    queryKey: ["/api/routes", "all"],
    queryFn: ({ signal }) => get<Page<Route>>("/api/routes", LIST, signal),
  });
  if (!carriers || !routes) return <PageLoading />;
  return <RecordTable kind={kindWith(carriers.data, routes.data, carrier)} />;
}
