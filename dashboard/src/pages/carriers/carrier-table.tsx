import { Badge, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import type { Chaos } from "../../parts/chaos-knobs.ts";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { ADAPTERS, adapterOf } from "./adapters.ts";

const PATH = "/api/carriers";

interface Carrier extends RecordRow {
  adapter: string;
  messagesPerSecond: number | null;
  chaos?: Chaos | null;
}

/** What a line tells of itself: a state in a word, and whatever figures it has. */
type CarrierState = { state?: string } & Record<string, unknown>;

function useCarrierState({ id, adapter }: Carrier) {
  return useQuery({
    queryKey: [PATH, id, "state"],
    queryFn: ({ signal }) => get<CarrierState>(`${PATH}/${id ?? ""}/state`, {}, signal),
    enabled: id !== null && adapterOf(adapter)?.tellsState === true,
    refetchInterval: 10_000,
    retry: false,
  });
}

/** How a line does, where anybody knows. */
function CarrierHealth({ carrier }: { carrier: Carrier }) {
  const { data } = useCarrierState(carrier);
  if (data?.state !== undefined) return <StatusBadge status={data.state} />;
  return carrier.chaos?.down === true ? <StatusBadge status="down" /> : <Text size="sm">–</Text>;
}

/** Everything that a line tells of itself. */
function CarrierFacts({ carrier }: { carrier: Carrier }) {
  const { data } = useCarrierState(carrier);
  const facts = Object.entries(data ?? {}).filter(([, fact]) => fact !== null && typeof fact !== "object");
  return (
    <Table>
      <Table.Tbody>
        {facts.map(([name, fact]) => (
          <Table.Tr key={name}>
            <Table.Th fw={500}>{name}</Table.Th>
            <Table.Td>{String(fact)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

const KIND: RecordKind<Carrier> = {
  path: PATH,
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
    { title: "Health", render: (carrier) => <CarrierHealth carrier={carrier} /> },
  ],
  empty: { sentence: "There is no line.", example: { name: "line-2", messagesPerSecond: 50 } },
  removal: "No message takes it any more. A carrier that a route leads to cannot be removed.",
  panels: (carrier) =>
    adapterOf(carrier.adapter)?.tellsState === true
      ? [{ value: "health", label: "Health", panel: <CarrierFacts carrier={carrier} /> }]
      : [],
};

/** The lines to networks. */
export const CarrierTable = () => <RecordTable kind={KIND} />;
