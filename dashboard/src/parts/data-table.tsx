import { Button, Center, Checkbox, Paper, Skeleton, Table, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { ErrorState } from "./error-state.tsx";
import classes from "./data-table.module.css";

export interface Column<T> {
  title: string;
  render: (row: T) => ReactNode;
  /** Hides the column on narrow screens. */
  wide?: boolean;
  align?: "right";
  /** The order of the rows by this column, and a change of it. */
  sort?: { order: "ascending" | "descending"; turn: () => void };
}

interface Selection<T> {
  keys: ReadonlySet<string>;
  change: (keys: ReadonlySet<string>) => void;
  /** Name of a row's checkbox for screen readers. */
  nameOf: (row: T) => string;
}

interface Props<T> {
  /** Name of the table for screen readers, such as "Messages". */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  /** Makes rows clickable. For keyboard users the row must contain a link to the same target. */
  onRow?: (row: T) => void;
  loading?: boolean;
  error?: Error | null;
  retry?: () => void;
  empty: ReactNode;
  hasMore?: boolean;
  more?: () => void;
  loadingMore?: boolean;
  moreError?: Error | null;
  /** Adds a checkbox to each row on wide screens. */
  selection?: Selection<T>;
}

const SKELETONS = [1, 2, 3, 4, 5];

/** A table with loading, error and empty states. Further pages load on request. */
export function DataTable<T>(props: Props<T>) {
  const { label, columns, rows, rowKey, onRow, loading, error, retry, empty } = props;
  const { hasMore, more, loadingMore, moreError, selection } = props;
  if (error) return <ErrorState error={error} retry={retry} />;
  if (loading)
    return (
      <Paper p="md" aria-busy aria-label={t("Loading: {label}", { label })}>
        {SKELETONS.map((n) => (
          <Skeleton key={n} height={22} my={14} />
        ))}
      </Paper>
    );
  if (rows.length === 0 && !hasMore) return <Paper>{empty}</Paper>;
  return (
    <Paper p={0} className={classes.frame}>
      <div className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
        <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover={onRow !== undefined}>
          <Table.Thead>
            <Table.Tr>
              {selection && (
                <Table.Th w={40} data-wide>
                  <SelectAll selection={selection} keys={rows.map(rowKey)} />
                </Table.Th>
              )}
              {columns.map(({ title, wide, align, sort }) => (
                <Table.Th
                  key={title}
                  {...(wide ? { "data-wide": true } : {})}
                  {...(sort && { "aria-sort": sort.order })}
                  ta={align ?? "left"}
                >
                  {sort ? <SortButton title={title} {...sort} /> : title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={rowKey(row)} onClick={onRow && (() => onRow(row))} data-clickable={onRow !== undefined}>
                {selection && (
                  <Table.Td data-wide onClick={(click) => click.stopPropagation()}>
                    <Select selection={selection} row={row} own={rowKey(row)} />
                  </Table.Td>
                )}
                {columns.map(({ title, render, wide, align }) => (
                  <Table.Td key={title} {...(wide ? { "data-wide": true } : {})} ta={align ?? "left"}>
                    {render(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {moreError && <ErrorState error={moreError} retry={more} />}
      {hasMore && !moreError && (
        <Center p="md">
          <Button variant="default" loading={loadingMore ?? false} onClick={more}>
            {t("Show more")}
          </Button>
        </Center>
      )}
    </Paper>
  );
}

function SortButton({ title, order, turn }: { title: string } & NonNullable<Column<unknown>["sort"]>) {
  const Arrow = order === "ascending" ? IconArrowUp : IconArrowDown;
  return (
    <UnstyledButton onClick={turn} fz="inherit" fw="inherit">
      {title} <Arrow size={14} aria-hidden />
    </UnstyledButton>
  );
}

function SelectAll<T>({
  selection: { keys, change },
  keys: all,
}: {
  selection: Selection<T>;
  keys: readonly string[];
}) {
  const selected = all.filter((key) => keys.has(key)).length;
  const areAll = selected === all.length && selected > 0;
  return (
    <Checkbox
      size="xs"
      aria-label={t("Select all rows shown")}
      checked={areAll}
      indeterminate={selected > 0 && !areAll}
      onChange={() => change(new Set(areAll ? [] : all))}
    />
  );
}

function Select<T>({ selection, row, own }: { selection: Selection<T>; row: T; own: string }) {
  const { keys, change, nameOf } = selection;
  return (
    <Checkbox
      size="xs"
      aria-label={t("Select {name}", { name: nameOf(row) })}
      checked={keys.has(own)}
      onChange={() => change(keys.has(own) ? new Set([...keys].filter((key) => key !== own)) : new Set([...keys, own]))}
    />
  );
}
