import { TimeInput } from "../time-input.tsx";
import type { OwnInputProps } from "./field.ts";

/** A timestamp in the format of `datetime-local`, in the browser's time zone. */
export function fieldTime(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 16);
}

/** An input for an optional time. */
export const MomentInput = ({ label, hint, value, onChange, disabled }: OwnInputProps) => (
  <TimeInput
    label={label}
    description={hint}
    value={typeof value === "number" ? fieldTime(value) : ""}
    onChange={(next) => onChange(next === "" ? null : new Date(next).getTime())}
    disabled={disabled}
  />
);
