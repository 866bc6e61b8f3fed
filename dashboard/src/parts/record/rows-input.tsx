import { ActionIcon, Button, Fieldset, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import type { Option, OwnInputProps } from "./field.ts";
import { SecretInput } from "./secret-input.tsx";

export type Row = Readonly<Record<string, string>>;

interface Column {
  name: string;
  label: string;
  placeholder?: string;
  /** Never shown: what is typed is hidden. */
  secret?: true;
  /** Left out for free words. */
  options?: readonly Option[];
  /** Shows the column only in rows for which this is true. */
  when?: (row: Row) => boolean;
}

/** Conversion between the rows of the input and the value of the API. */
export interface Rows {
  columns: readonly Column[];
  /** Values of a new row. */
  starts: Row;
  /** Label of the button that adds a row, such as "Add a parameter". */
  add: string;
  read: (value: unknown) => Row[];
  write: (rows: readonly Row[]) => unknown;
  /** Path of a cell in the server's error details. */
  faultPath?: (place: number, column: string) => string;
}

/** An object as rows of key and value. */
export const mapOf = (from: string, to: string): Pick<Rows, "read" | "write"> => ({
  read: (value) => Object.entries((value ?? {}) as Row).map(([key, meaning]) => ({ [from]: key, [to]: meaning })),
  write: (rows) => Object.fromEntries(rows.map((row) => [row[from]?.trim() ?? "", row[to] ?? ""])),
});

/** A list with one row per item. It keeps rows as typed, because an incomplete row has no value in the API. */
export function RowsInput({ label, hint, value, onChange, disabled, faultAt, rows: kind, name }: Props) {
  const [rows, setRows] = useState<readonly Row[]>(() => kind.read(value));
  const change = (next: readonly Row[]): void => {
    setRows(next);
    onChange(kind.write(next));
  };
  const fault = faultAt(name);
  return (
    <Fieldset legend={label} disabled={disabled}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
        {rows.map((row, place) => (
          // oxlint-disable-next-line react/no-array-index-key -- rows have no name of their own, and stay in their order
          <Group key={place} gap="xs" align="flex-end" wrap="nowrap">
            <Group gap="xs" align="flex-start" flex={1}>
              {kind.columns
                .filter(({ when }) => when?.(row) ?? true)
                .map((column) => (
                  <Cell
                    key={column.name}
                    column={column}
                    place={place}
                    value={row[column.name] ?? ""}
                    error={kind.faultPath && faultAt(kind.faultPath(place, column.name))}
                    onChange={(next) =>
                      change(rows.map((each, at) => (at === place ? { ...each, [column.name]: next } : each)))
                    }
                  />
                ))}
            </Group>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={t("Remove row {number} of {label}", { number: place + 1, label })}
              onClick={() => change(rows.filter((_, at) => at !== place))}
              disabled={disabled}
            >
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {fault !== undefined && (
          <Text size="xs" c="red" role="alert">
            {fault}
          </Text>
        )}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => change([...rows, kind.starts])}
            disabled={disabled}
          >
            {kind.add}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}

interface Props extends OwnInputProps {
  rows: Rows;
  /** Name of the field, to find its errors. */
  name: string;
}

interface CellProps {
  column: Column;
  place: number;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

function Cell({ column: { label, options, placeholder, secret }, place, value, error, onChange }: CellProps) {
  const common = {
    label,
    error,
    flex: "1 1 150px",
    "aria-label": t("{label}, row {number}", { label, number: place + 1 }),
  };
  if (secret)
    return (
      <SecretInput
        {...common}
        placeholder={placeholder ?? ""}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  return options ? (
    <Select
      {...common}
      data={options}
      value={value}
      onChange={(next) => next !== null && onChange(next)}
      allowDeselect={false}
    />
  ) : (
    <TextInput
      {...common}
      placeholder={placeholder}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      autoComplete="off"
    />
  );
}
