import { Badge, Text } from "@mantine/core";
import { CHANNELS, ChannelBadge } from "../../parts/channel.tsx";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { useNames } from "../../parts/record/use-names.ts";
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
}

const TYPES = ["OTP", "TRANS", "PROMO"].map((value) => ({ value, label: value }));

const kindWith = (carriers: readonly string[]): RecordKind<Route> => ({
  path: "/api/routes",
  one: "route",
  add: "Add route",
  starts: {
    name: "",
    carrier: carriers[0] ?? "simulator",
    channel: null,
    routeClasses: [],
    prefixes: [],
    senders: [],
    priority: 100,
    weight: 1,
    enabled: true,
    quietHours: null,
    failoverAfterSeconds: null,
    repeatPromotionsInDoubt: false,
  },
  fields: [
    {
      name: "name",
      label: "Name",
      hint: "The trail of every message shows it.",
      input: { kind: "text", placeholder: "India by line-2" },
      required: true,
    },
    {
      name: "carrier",
      label: "Carrier",
      input: { kind: "choice", options: carriers.map((value) => ({ value, label: value })) },
      required: true,
    },
    {
      name: "channel",
      label: "Channel",
      input: {
        kind: "choice",
        options: CHANNELS.map(({ value, label }) => ({ value, label })),
        none: "Every channel",
      },
    },
    { name: "routeClasses", label: "Types", hint: "None fits every type.", input: { kind: "several", options: TYPES } },
    {
      name: "prefixes",
      label: "Numbers that begin with",
      hint: "Without a plus, like 91; none fits every number.",
      input: { kind: "list", placeholder: "Every number" },
    },
    {
      name: "priority",
      label: "Priority",
      hint: "Lower ones are tried first; the others follow when it fails.",
      input: { kind: "number", min: 0, max: 1000 },
    },
    {
      name: "weight",
      label: "Weight",
      hint: "Its share among routes of the same priority.",
      input: { kind: "number", min: 1, max: 1000 },
      more: true,
    },
    {
      name: "senders",
      label: "Only from",
      hint: "Senders, bots, or business numbers with their plus; none fits every sender.",
      input: { kind: "list", placeholder: "Every sender" },
      more: true,
    },
    {
      name: "quietHours",
      label: "Promotions wait at night",
      hint: "On the recipient's clock.",
      input: { kind: "own", component: QuietHoursInput },
      more: true,
    },
    {
      name: "failoverAfterSeconds",
      label: "The next route after",
      hint: "When no delivery is reported within so long.",
      input: { kind: "number", min: 1, max: 86_400, suffix: "seconds", placeholder: "It waits for ever" },
      more: true,
    },
    {
      name: "repeatPromotionsInDoubt",
      label: "Repeat promotions in doubt",
      hint: "When nobody knows if the carrier took one. Otherwise it waits for the delivery report.",
      input: { kind: "switch" },
      more: true,
    },
    { name: "enabled", label: "On", input: { kind: "switch" } },
  ],
  columns: [
    { title: "Carrier", render: ({ carrier }) => <Text size="sm">{carrier}</Text> },
    {
      title: "For",
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
          {channel === null && routeClasses.length + prefixes.length + senders.length === 0 && "everything"}
        </>
      ),
    },
    { title: "Priority", align: "right", render: ({ priority }) => priority },
    { title: "Weight", align: "right", wide: true, render: ({ weight }) => weight },
    { title: "State", render: ({ enabled }) => <StatusBadge status={enabled ? "enabled" : "disabled"} /> },
  ],
  compare: (a, b) => a.priority - b.priority,
  empty: {
    sentence: "No route leads anywhere, so nothing can be sent.",
    example: { name: "Everything", carrier: "simulator" },
  },
  removal: "Messages that it would take go by the next route that fits, or are refused.",
});

/** Which messages take which line. */
export function RouteTable() {
  return <RecordTable kind={kindWith(useNames("/api/carriers"))} />;
}
