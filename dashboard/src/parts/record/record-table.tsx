import { Anchor, Badge, Group, Tooltip } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { usePages } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { useUrlState } from "../../url-state.ts";
import { curlOf } from "../curl.ts";
import { DataTable, type Column } from "../data-table.tsx";
import { EmptyState } from "../empty-state.tsx";
import { TypedFilter } from "../filters.tsx";
import { GuardedButton } from "../guarded.tsx";
import { PageHeader } from "../page-header.tsx";
import { RecordDrawer } from "./record-drawer.tsx";
import { nameIn, type RecordKind, type RecordRow } from "./record-kind.ts";

interface Props<T extends RecordRow> {
  kind: RecordKind<T>;
  /** Page title; absent if the table is a section of a page. */
  title?: string;
  lead?: string;
}

const PAGE_ROWS = 200;

/**
 * A table of records with filter, and a drawer that creates, changes and removes them. The URL holds the open record.
 */
export function RecordTable<T extends RecordRow>({ kind, title, lead }: Props<T>) {
  const [{ q, open }, change] = useUrlState(["q", "open"]);
  const { table, rows } = usePages<T>(kind.path, { limit: PAGE_ROWS });
  const own = rows.filter((row) => kind.belongs?.(row) ?? true).toSorted(kind.compare ?? (() => 0));
  const shown = own.filter((row) => nameIn(kind, row).toLowerCase().includes(q.toLowerCase()));
  const add = (
    <GuardedButton
      may={kind.may ?? "write"}
      leftSection={<IconPlus size={17} aria-hidden />}
      onClick={() => change({ open: "new" })}
    >
      {kind.add}
    </GuardedButton>
  );
  const columns: Column<T>[] = [
    {
      title: kind.nameTitle ?? t("Name"),
      render: (row) => <NameCell row={row} name={nameIn(kind, row)} open={(id) => change({ open: id })} />,
    },
    ...kind.columns,
  ];
  const isEmpty = own.length === 0 && !table.hasMore;
  return (
    <>
      {title !== undefined && (
        <PageHeader title={title} lead={lead}>
          {!isEmpty && add}
        </PageHeader>
      )}
      {!table.loading && !isEmpty && (
        <Group justify="space-between" align="flex-end" mb="md">
          <TypedFilter
            label={t("Find")}
            value={q}
            onChange={(text) => change({ q: text })}
            placeholder={t("Name")}
            leading
          />
          {title === undefined && add}
        </Group>
      )}
      <DataTable
        label={title ?? `${kind.one}s`}
        columns={columns}
        {...table}
        rows={shown}
        rowKey={({ id, name }) => id ?? name}
        onRow={({ id }) => id !== null && change({ open: id })}
        empty={
          q !== "" && own.length > 0 ? (
            <EmptyState sentence={t("No results")} />
          ) : (
            <EmptyState
              sentence={kind.empty.sentence}
              action={add}
              curl={curlOf({ path: kind.path, body: { ...kind.always, ...kind.empty.example } })}
            />
          )
        }
      />
      <RecordDrawer
        kind={kind}
        open={open}
        row={rows.find(({ id }) => id === open)}
        change={(id) => change({ open: id })}
      />
    </>
  );
}

interface NameProps {
  row: RecordRow;
  name: string;
  open: (id: string) => void;
}

function NameCell({ row: { id, origin }, name, open }: NameProps) {
  return (
    <Group gap="xs" wrap="nowrap">
      {id === null ? (
        name
      ) : (
        <Anchor component="button" type="button" size="sm" ta="left" onClick={() => open(id)}>
          {name}
        </Anchor>
      )}
      {origin === "learned" && (
        <Tooltip label={t("Learned from a request through the simulator. Save it to edit it.")}>
          <Badge color="blue">{t("learned")}</Badge>
        </Tooltip>
      )}
    </Group>
  );
}
