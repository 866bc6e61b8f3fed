import { TextInput, type TextInputProps } from "@mantine/core";
import { useState, type KeyboardEvent } from "react";
import { formatNumber } from "../i18n/format.ts";

interface Props extends Omit<TextInputProps, "value" | "onChange" | "type"> {
  value: number | "";
  /** Empty while the field holds no number. */
  onChange: (value: number | "") => void;
  min?: number;
  max?: number;
  /** Unit behind the number, with its space. */
  suffix?: string;
  /** Separates groups of digits. */
  grouped?: boolean;
  decimals?: boolean;
}

const STEPS: Readonly<Record<string, number>> = { ArrowUp: 1, ArrowDown: -1 };

/**
 * A field for a number with its unit. From the first change on it shows what is typed, until it loses the focus. Text that changed
 * with the focus would lose the browser's selection, and typing would append to it.
 */
export function NumberInput(props: Props) {
  const { value, onChange, min = -Infinity, max = Infinity, suffix = "", grouped = false, decimals, ...input } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const shown = value === "" ? "" : `${grouped ? formatNumber(value) : value}${suffix}`;
  const within = (number: number): number => Math.min(max, Math.max(min, number));

  function type(text: string): void {
    const kept = (suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text).replaceAll(
      decimals ? /[^\d.-]/g : min < 0 ? /[^\d-]/g : /\D/g,
      "",
    );
    setTyped(kept);
    const number = Number(kept);
    onChange(kept === "" || Number.isNaN(number) ? "" : number);
  }

  function step({ key }: KeyboardEvent): void {
    const by = STEPS[key];
    if (by === undefined || value === "") return;
    const next = within(value + by);
    setTyped(String(next));
    onChange(next);
  }

  return (
    <TextInput
      {...input}
      inputMode={decimals || min < 0 ? "decimal" : "numeric"}
      autoComplete="off"
      value={typed ?? shown}
      onBlur={() => {
        setTyped(null);
        if (value !== "") onChange(within(value));
      }}
      onKeyDown={step}
      onChange={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}
