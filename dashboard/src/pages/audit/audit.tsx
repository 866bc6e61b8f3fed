import { Badge, Group, Text } from "@mantine/core";
import { IconListSearch } from "@tabler/icons-react";
import { useMemo } from "react";
import { usePages } from "../../api.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { DayFilter, FilterBar, spanOf, TypedFilter } from "../../parts/filters.tsx";
import { OwnersOnly } from "../../parts/owners-only.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";

const PATH = "/api/audit";
const FILTERS = ["who", "what", "from", "until"] as const;

interface Entry {
  id: string;
  at: number;
  actor: { kind: "user" | "key" | "nobody"; id: string | null; name: string | null };
  action: string;
  kind: string;
  recordId: string | null;
  recordName: string | null;
  fields: readonly string[];
  address: string;
}

const COLUMNS: readonly Column<Entry>[] = [
  { title: "Time", render: ({ at }) => <TimeText at={at} size="sm" /> },
  {
    title: "Who",
    render: ({ actor }) => (
      <Group gap={6} wrap="nowrap">
        <Text size="sm">{actor.name ?? "somebody"}</Text>
        {actor.kind !== "user" && <Badge color="gray">{actor.kind === "key" ? "key" : "did not get in"}</Badge>}
      </Group>
    ),
  },
  { title: "What", render: ({ action }) => <Text size="sm">{action}</Text> },
  {
    title: "Which",
    wide: true,
    render: ({ recordName, recordId }) => (
      <Text size="sm" maw={260} truncate>
        {recordName ?? recordId ?? "–"}
      </Text>
    ),
  },
  {
    title: "Fields",
    wide: true,
    render: ({ fields }) => (
      <Text size="sm" maw={260} lineClamp={2}>
        {fields.join(", ") || "–"}
      </Text>
    ),
  },
  { title: "From", wide: true, render: ({ address }) => <Text size="sm">{address}</Text> },
];

/** Who changed what, and when. */
export default function Audit() {
  return (
    <OwnersOnly title="Audit log">
      <AuditTable />
    </OwnersOnly>
  );
}

function AuditTable() {
  const [filters, change] = useUrlState(FILTERS);
  const { who, what, from, until } = filters;
  const query = useMemo(() => {
    const span = spanOf(from, until);
    return { who, what, from: span.from, to: span.until };
  }, [who, what, from, until]);
  const { table } = usePages<Entry>(PATH, query);
  const filtered = FILTERS.some((name) => filters[name] !== "");
  return (
    <>
      <PageHeader
        title="Audit log"
        lead="Every change by people and by keys, every login and every failed one. Secrets, texts and whole numbers are never in it."
      />
      <FilterBar values={filters} change={change}>
        <TypedFilter
          label="Who"
          value={who}
          onChange={(text) => change({ who: text })}
          placeholder="E-mail or name of a key"
          leading
        />
        <TypedFilter
          label="What"
          value={what}
          onChange={(text) => change({ what: text })}
          placeholder="keys, login failed"
        />
        <DayFilter label="From" value={from} onChange={(day) => change({ from: day })} />
        <DayFilter label="Until the end of" value={until} onChange={(day) => change({ until: day })} />
      </FilterBar>
      <DataTable
        label="Audit log"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        {...table}
        empty={
          <EmptyState
            icon={IconListSearch}
            sentence={filtered ? "No change is like that." : "Nobody has changed anything yet."}
            {...(filtered ? {} : { curl: curlOf({ path: PATH }) })}
          />
        }
      />
    </>
  );
}
