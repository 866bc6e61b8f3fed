import { Alert, Button, Group, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { IconBan } from "@tabler/icons-react";
import { ApiError, get, removeListed, usePages, type Counted } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { csvLine, isoOf } from "../../parts/csv.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FilterBar, TypedFilter } from "../../parts/filters.tsx";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { ExportButton } from "../../parts/run/export-button.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { AddOptOut } from "./add-opt-out.tsx";
import { ImportButton } from "./import-button.tsx";

const PATH = "/api/optouts";
const COUNT_PATH = "/api/optout-count";

interface OptOut {
  number: string;
  source: "reply" | "manual";
  note: string | null;
  createdAt: number;
}

const WHOLE_NUMBER = /^\+?\d{7,15}$/;

const columnsWith = (take: (number: string) => Promise<unknown>): Column<OptOut>[] => [
  { title: t("Number"), render: ({ number }) => number },
  {
    title: t("Reason"),
    render: ({ source, note }) => (
      <Text size="sm" lineClamp={1}>
        {source === "reply" ? t("Replied “{note}”", { note: note ?? "" }) : (note ?? t("Added manually"))}
      </Text>
    ),
  },
  { title: t("Since"), wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
  {
    title: t("Remove"),
    render: ({ number }) => (
      <GuardedConfirm
        size="compact-sm"
        question={t("Remove {number} from the list?", { number })}
        consequence={t("It gets promotions again. Do this only if its owner asked for it.")}
        yes={t("Remove")}
        run={() => take(number)}
      >
        {t("Remove")}
      </GuardedConfirm>
    ),
  },
];

/** Opted-out numbers, which get no promotions. */
export default function OptOuts() {
  const client = useQueryClient();
  const [filters, change] = useUrlState(["number"]);
  const wanted = WHOLE_NUMBER.test(filters.number) ? filters.number.replace("+", "") : "";
  const { table } = usePages<OptOut>(PATH);
  const { data: counted } = useQuery({
    queryKey: [COUNT_PATH],
    queryFn: ({ signal }) => get<Counted>(COUNT_PATH, {}, signal),
  });
  const refresh = async (): Promise<void> => {
    await Promise.all([PATH, COUNT_PATH].map((path) => client.invalidateQueries({ queryKey: [path] })));
  };
  const columns = columnsWith((number) => removeListed(`${PATH}/${number}`, refresh));
  return (
    <>
      <PageHeader
        title={t("Opt-outs")}
        lead={t(
          "Numbers that get no promotions from you. A reply of STOP adds a number automatically. TRANS and OTP messages are still delivered.",
        )}
      >
        <ExportButton<OptOut>
          path={PATH}
          one={t("opt-out")}
          many={t("opt-outs")}
          columns={["number", "source", "note", "createdAt"]}
          line={({ number, source, note, createdAt }) => csvLine([number, source, note, isoOf(createdAt)])}
          reached={({ number }) => t("as far as {number}", { number })}
          begins={t("the first")}
        />
        <ImportButton onDone={() => void refresh()} />
        <AddOptOut onDone={() => void refresh()} />
      </PageHeader>
      <FilterBar values={filters} change={change}>
        <TypedFilter
          label={t("Find a number")}
          value={filters.number}
          onChange={(number) => change({ number })}
          placeholder="15550100100"
          leading
        />
        {counted && (
          <Text size="sm" c="dimmed" role="status" mb={8}>
            {countText(counted)}
          </Text>
        )}
      </FilterBar>
      {wanted === "" ? (
        <DataTable
          label={t("Opt-outs")}
          columns={columns}
          rowKey={({ number }) => number}
          {...table}
          empty={
            <EmptyState
              icon={IconBan}
              sentence={t("No opt-outs yet. Reply STOP from a virtual phone to try it, or add a number.")}
              action={<AddOptOut onDone={() => void refresh()} />}
              curl={curlOf({ path: PATH, body: { number: "15550100100", note: "requested by phone" } })}
            />
          }
        />
      ) : (
        <Found number={wanted} columns={columns} clear={() => change({ number: null })} />
      )}
    </>
  );
}

function countText({ count, more }: Counted): string {
  if (more) return t("More than {count} numbers on the list", { count });
  return t(count === 1 ? "{count} number on the list" : "{count} numbers on the list", { count });
}

interface FoundProps {
  number: string;
  columns: readonly Column<OptOut>[];
  clear: () => void;
}

/** Looks up a single number, because the list may have thousands of pages. */
function Found({ number, columns, clear }: FoundProps) {
  const { data, error, isPending } = useQuery({
    queryKey: [PATH, "one", number],
    queryFn: ({ signal }) => get<OptOut>(`${PATH}/${number}`, {}, signal),
  });
  if (error instanceof ApiError && error.status === 404)
    return (
      <Alert color="green" title={t("{number} is not on the list", { number })}>
        <Group justify="space-between">
          <Text size="sm">{t("It gets promotions.")}</Text>
          <Button size="xs" variant="default" onClick={clear}>
            {t("Show the list")}
          </Button>
        </Group>
      </Alert>
    );
  if (error) return <ErrorState error={error} />;
  return (
    <DataTable
      label={t("Opt-outs")}
      columns={columns}
      rows={data ? [data] : []}
      rowKey={(row) => row.number}
      loading={isPending}
      empty={null}
    />
  );
}
