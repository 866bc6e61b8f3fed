import { TimeInput } from "../time-input.tsx";
import type { OwnInputProps } from "./field.ts";

/** A moment as the browser's own field writes it, on the reader's clock. */
export function fieldTime(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 16);
}

/** A moment, or null for none. */
export const MomentInput = ({ label, hint, value, onChange, disabled }: OwnInputProps) => (
  <TimeInput
    label={label}
    description={hint}
    value={typeof value === "number" ? fieldTime(value) : ""}
    onChange={(next) => onChange(next === "" ? null : new Date(next).getTime())}
    disabled={disabled}
  />
);
