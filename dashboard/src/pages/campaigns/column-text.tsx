import { Button, Group, Textarea } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useRef } from "react";
import { t } from "../../i18n/t.ts";
import { placeholderOf } from "./campaign-draft.ts";

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Columns of the audience. */
  columns: readonly string[];
  error: string | undefined;
  minRows: number;
}

/** A text input with a button per column of the audience, which inserts its placeholder at the cursor. */
export function ColumnText({ label, value, onChange, columns, error, minRows }: Props) {
  const input = useRef<HTMLTextAreaElement>(null);

  function insert(column: string): void {
    const at = input.current?.selectionStart ?? value.length;
    const end = input.current?.selectionEnd ?? at;
    const placeholder = placeholderOf(column);
    onChange(value.slice(0, at) + placeholder + value.slice(end));
    // The cursor moves behind the placeholder once it is rendered.
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(at + placeholder.length, at + placeholder.length);
    });
  }

  return (
    <div>
      <Textarea
        ref={input}
        label={label}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        error={error}
        autosize
        minRows={minRows}
        maxRows={12}
      />
      {columns.length > 0 && (
        <Group mt={6} gap={6} role="group" aria-label={t("Columns for {label}", { label })}>
          {columns.map((column) => (
            <Button
              key={column}
              size="compact-xs"
              variant="light"
              leftSection={<IconPlus size={12} aria-hidden />}
              onClick={() => insert(column)}
            >
              {column}
            </Button>
          ))}
        </Group>
      )}
    </div>
  );
}
