import { Badge, Group, Stack, Text } from "@mantine/core";
import { IconListSearch } from "@tabler/icons-react";
import { useMemo } from "react";
import { usePages } from "../../api.ts";
import { t } from "../../i18n/t.ts";
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
  actor: { kind: "user" | "key" | "agent" | "nobody"; id: string | null; name: string | null };
  action: string;
  /** The action as a sentence. */
  summary: string;
  kind: string;
  recordId: string | null;
  recordName: string | null;
  fields: readonly string[];
  changes: readonly { field: string; before: string | null; after: string | null }[];
  address: string;
}

const KIND_WORDS = { key: t("key"), agent: t("agent"), nobody: t("failed sign-in") } as const;

const COLUMNS: readonly Column<Entry>[] = [
  { title: t("Time"), render: ({ at }) => <TimeText at={at} size="sm" /> },
  {
    title: t("Who"),
    render: ({ actor }) => (
      <Group gap={6} wrap="nowrap">
        <Text size="sm">{actor.name ?? t("Unknown user")}</Text>
        {actor.kind !== "user" && <Badge color="gray">{KIND_WORDS[actor.kind]}</Badge>}
      </Group>
    ),
  },
  {
    title: t("What"),
    render: ({ action, summary }) => (
      <>
        <Text size="sm">{summary}</Text>
        {summary !== action && (
          <Text size="xs" c="dimmed">
            {action}
          </Text>
        )}
      </>
    ),
  },
  {
    title: t("Which"),
    wide: true,
    render: ({ recordName, recordId }) => (
      <Text size="sm" maw={260} truncate>
        {recordName ?? recordId ?? "–"}
      </Text>
    ),
  },
  {
    title: t("Changes"),
    wide: true,
    render: ({ fields, changes }) => <Changes fields={fields} changes={changes} />,
  },
  { title: t("From"), wide: true, render: ({ address }) => <Text size="sm">{address}</Text> },
];

/** Changed values, then the fields whose values are not recorded. */
function Changes({ fields, changes }: Pick<Entry, "fields" | "changes">) {
  const shown = new Set(changes.map(({ field }) => field.split(".")[0]));
  const others = fields.filter((field) => !shown.has(field));
  return (
    <Stack gap={2} maw={300}>
      {changes.map(({ field, before, after }) => (
        <Text key={field} size="sm">
          {t("{field}: {before} → {after}", { field, before: before ?? t("none"), after: after ?? t("none") })}
        </Text>
      ))}
      {(others.length > 0 || changes.length === 0) && (
        <Text size="sm" lineClamp={2}>
          {others.join(", ") || "–"}
        </Text>
      )}
    </Stack>
  );
}

/** The audit log. */
export default function Audit() {
  return (
    <OwnersOnly title={t("Audit log")}>
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
        title={t("Audit log")}
        lead={t(
          "Every change by users and API keys, every sign-in and every failed sign-in. It never contains secrets, texts or full numbers.",
        )}
      />
      <FilterBar values={filters} change={change}>
        <TypedFilter
          label={t("Who")}
          value={who}
          onChange={(text) => change({ who: text })}
          placeholder={t("E-mail or key name")}
          leading
        />
        <TypedFilter
          label={t("What")}
          value={what}
          onChange={(text) => change({ what: text })}
          placeholder={t("keys, login failed")}
        />
        <DayFilter label={t("From")} value={from} onChange={(day) => change({ from: day })} />
        <DayFilter label={t("To (inclusive)")} value={until} onChange={(day) => change({ until: day })} />
      </FilterBar>
      <DataTable
        label={t("Audit log")}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        {...table}
        empty={
          <EmptyState
            icon={IconListSearch}
            sentence={filtered ? t("No results") : t("No changes yet")}
            {...(filtered ? {} : { curl: curlOf({ path: PATH }) })}
          />
        }
      />
    </>
  );
}
