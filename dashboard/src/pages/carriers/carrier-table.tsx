import { Badge } from "@mantine/core";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { ADAPTERS, adapterOf } from "./adapters.ts";
import { CarrierBadge, CarrierHealth } from "./carrier-health.tsx";
import { CARRIERS, type Carrier } from "./carrier.ts";

const KIND: RecordKind<Carrier> = {
  path: CARRIERS,
  one: "carrier",
  add: "Add carrier",
  may: "own",
  starts: Object.assign(
    { name: "", adapter: "simulator", messagesPerSecond: null },
    ...ADAPTERS.map(({ starts }) => starts),
  ) as RecordKind<Carrier>["starts"],
  fields: [
    {
      name: "name",
      label: "Name",
      hint: "Letters, digits, dashes, dots and underscores. It stays: messages and receipts carry it.",
      input: { kind: "text", placeholder: "line-2" },
      required: true,
      fixed: true,
    },
    {
      name: "adapter",
      label: "It speaks",
      hint: ADAPTERS.map(({ label, about }) => `${label}: ${about}`).join(" "),
      input: { kind: "choice", options: ADAPTERS.map(({ value, label }) => ({ value, label })) },
      required: true,
    },
    {
      name: "messagesPerSecond",
      label: "Messages in a second",
      hint: "As the contract says, over all nodes together.",
      input: { kind: "number", min: 1, max: 100_000, placeholder: "As fast as it goes" },
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
      title: "Speaks",
      render: ({ adapter, id }) => (
        <>
          {adapterOf(adapter)?.label ?? adapter} {id === null && <Badge color="gray">built in</Badge>}
        </>
      ),
    },
    {
      title: "Speed",
      wide: true,
      render: ({ messagesPerSecond }) =>
        messagesPerSecond === null ? "as fast as it goes" : `${messagesPerSecond.toLocaleString()} a second`,
    },
    { title: "Health", render: (carrier) => <CarrierBadge carrier={carrier} /> },
  ],
  empty: { sentence: "There is no line.", example: { name: "line-2", messagesPerSecond: 50 } },
  removal: "No message takes it any more. A carrier that a route leads to cannot be removed.",
  panels: (carrier) => {
    const line = adapterOf(carrier.adapter)?.line;
    return line ? [{ value: "health", label: "Health", panel: <CarrierHealth carrier={carrier} line={line} /> }] : [];
  },
};

/** The lines to networks. */
export const CarrierTable = () => <RecordTable kind={KIND} />;
