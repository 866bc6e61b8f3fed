import { TextInput } from "@mantine/core";
import type { OwnInputProps } from "./field.ts";

/** A moment as the browser's own field writes it, on the reader's clock. */
export function fieldTime(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 16);
}

/** A moment, or null for none. */
export const MomentInput = ({ label, hint, value, onChange, disabled }: OwnInputProps) => (
  <TextInput
    label={label}
    description={hint}
    type="datetime-local"
    value={typeof value === "number" ? fieldTime(value) : ""}
    onChange={({ currentTarget }) =>
      onChange(currentTarget.value === "" ? null : new Date(currentTarget.value).getTime())
    }
    disabled={disabled}
  />
);
