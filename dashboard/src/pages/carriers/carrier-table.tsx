import { Badge } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { ADAPTERS, adapterOf } from "./adapters.ts";
import { CarrierBadge, CarrierHealth } from "./carrier-health.tsx";
import { CARRIERS, type Carrier } from "./carrier.ts";
import { RouteNotice } from "./route-notice.tsx";

const KIND: RecordKind<Carrier> = {
  path: CARRIERS,
  one: "carrier",
  add: t("Add carrier"),
  may: "own",
  starts: Object.assign(
    { name: "", adapter: "simulator", messagesPerSecond: null },
    ...ADAPTERS.map(({ starts }) => starts),
  ) as RecordKind<Carrier>["starts"],
  fields: [
    {
      name: "name",
      label: t("Name"),
      hint: t("Letters, digits, dashes, dots and underscores. Cannot be changed later."),
      input: { kind: "text", placeholder: t("your-carrier") },
      required: true,
      fixed: true,
    },
    {
      name: "adapter",
      label: t("Protocol"),
      hint: ({ adapter }) => adapterOf(String(adapter))?.about,
      input: { kind: "choice", options: ADAPTERS.map(({ value, label }) => ({ value, label })) },
      required: true,
    },
    {
      name: "messagesPerSecond",
      label: t("Messages per second"),
      hint: t("The limit in your contract, for all nodes together."),
      input: { kind: "number", min: 1, max: 100_000, placeholder: t("Unlimited") },
    },
    ...ADAPTERS.flatMap(({ value, fields }) =>
      fields.map((field) => ({
        ...field,
        when: ({ adapter }: Readonly<Record<string, unknown>>) => adapter === value,
      })),
    ),
  ],
  columns: [
    {
      title: t("Protocol"),
      render: ({ adapter, id }) => (
        <>
          {adapterOf(adapter)?.label ?? adapter} {id === null && <Badge color="gray">{t("built in")}</Badge>}
        </>
      ),
    },
    {
      title: t("Speed"),
      wide: true,
      render: ({ messagesPerSecond }) =>
        messagesPerSecond === null ? t("Unlimited") : t("{messagesPerSecond} per second", { messagesPerSecond }),
    },
    { title: t("Health"), render: (carrier) => <CarrierBadge carrier={carrier} /> },
  ],
  empty: { sentence: t("No carriers yet"), example: { name: "line-2", messagesPerSecond: 50 } },
  removal: t("No message uses it any more. A carrier used by a route cannot be removed."),
  notice: ({ name }) => <RouteNotice carrier={name} />,
  panels: (carrier) => {
    const line = adapterOf(carrier.adapter)?.line;
    return line
      ? [{ value: "health", label: t("Health"), panel: <CarrierHealth carrier={carrier} line={line} /> }]
      : [];
  },
};

/** The table of carrier connections. */
export const CarrierTable = () => <RecordTable kind={KIND} />;
