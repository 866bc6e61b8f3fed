import { Button, Group, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch, IconX } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { TimeInput } from "./time-input.tsx";

const TYPING_MS = 350;
const NARROW = { base: "calc(50% - 6px)", xs: 160 };

interface FieldProps {
  label: string;
  value: string;
  onChange: (value: string | null) => void;
  placeholder?: string;
}

/** A debounced text filter. `/` focuses the leading one. */
export function TypedFilter({
  label,
  value,
  onChange,
  placeholder,
  leading = false,
}: FieldProps & { leading?: boolean }) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (value !== known) {
    setKnown(value);
    setTyped(value);
  }
  const settle = useDebouncedCallback((text: string) => onChange(text.trim()), TYPING_MS);
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        settle(currentTarget.value);
      }}
      leftSection={leading && <IconSearch size={16} aria-hidden />}
      w={leading ? { base: "100%", xs: 220 } : NARROW}
      {...(leading ? { "data-filter": true } : {})}
    />
  );
}

type Choice = string | { value: string; label: string };

/** A filter with fixed options. */
export const ChoiceFilter = ({ label, value, onChange, data }: FieldProps & { data: readonly Choice[] }) => (
  <Select
    label={label}
    placeholder={t("All")}
    data={data}
    value={value || null}
    onChange={onChange}
    clearable
    clearButtonProps={{ "aria-label": t("Clear {name}", { name: label.toLowerCase() }) }}
    w={NARROW}
  />
);

/** A filter by day in the browser's time zone. */
export const DayFilter = ({ label, value, onChange }: FieldProps) => (
  <TimeInput label={label} type="date" value={value} onChange={onChange} w={NARROW} />
);

interface BarProps<K extends string> {
  values: Readonly<Record<K, string>>;
  change: (changes: Partial<Record<K, string | null>>) => void;
  children: ReactNode;
}

/** A row of filters with a button that clears them. */
export function FilterBar<K extends string>({ values, change, children }: BarProps<K>) {
  const given = (Object.keys(values) as K[]).filter((name) => values[name] !== "");
  const none = Object.fromEntries(given.map((name) => [name, null])) as Partial<Record<K, null>>;
  return (
    <search>
      <Group align="flex-end" gap="sm" mb="md">
        {children}
        {given.length > 0 && (
          <Button variant="subtle" leftSection={<IconX size={16} aria-hidden />} onClick={() => change(none)}>
            {t("Clear")}
          </Button>
        )}
      </Group>
    </search>
  );
}

/** Start of one day and end of another in the browser's time zone, as query parameters of the API. */
export function spanOf(from: string, until: string): { from?: number; until?: number } {
  return {
    ...(from === "" ? {} : { from: new Date(`${from}T00:00:00`).getTime() }),
    ...(until === "" ? {} : { until: dayAfter(until) }),
  };
}

/** Not 24 hours later: days with a clock change are longer or shorter. */
function dayAfter(day: string): number {
  const date = new Date(`${day}T00:00:00`);
  return date.setDate(date.getDate() + 1);
}
