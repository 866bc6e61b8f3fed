import { Button, Input, Stack } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import type { ReactNode } from "react";

interface Props<T> {
  label: string;
  hint?: string | undefined;
  fault: string | undefined;
  items: readonly T[];
  max: number;
  add: string;
  empty: T;
  onChange: (items: T[]) => void;
  disabled: boolean;
  render: (item: T, change: (item: T) => void, remove: () => void, index: number) => ReactNode;
}

/** A list of inputs with a button that adds an item. */
export function ItemList<T>({ label, hint, fault, items, max, add, empty, onChange, disabled, render }: Props<T>) {
  return (
    <Input.Wrapper label={label} description={hint} error={fault} labelElement="div">
      <Stack gap="sm" mt="xs" role="group" aria-label={label} align="stretch">
        {items.map((item, index) => (
          <div key={index}>
            {render(
              item,
              (next) => onChange(items.map((each, at) => (at === index ? next : each))),
              () => onChange(items.filter((_, at) => at !== index)),
              index,
            )}
          </div>
        ))}
        <div>
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={disabled || items.length >= max}
            onClick={() => onChange([...items, empty])}
          >
            {add}
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
}
