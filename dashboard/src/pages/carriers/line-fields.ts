import type { ComponentType } from "react";
import { t } from "../../i18n/t.ts";
import { ADVANCED, type Field, type OwnInputProps } from "../../parts/record/field.ts";

/** A field with fixed options. */
export const choice = (
  name: string,
  label: string,
  hint: string,
  options: readonly (readonly [string, string])[],
): Field => ({
  name,
  label,
  hint,
  input: { kind: "choice", options: options.map(([value, word]) => ({ value, label: word })) },
});

/** A whole number within limits. */
export const number = (
  name: string,
  label: string,
  hint: string,
  min: number,
  max: number,
  suffix?: string,
): Field => ({
  name,
  label,
  hint,
  input: { kind: "number", min, max, ...(suffix ? { suffix } : {}) },
});

export const flag = (name: string, label: string, hint: string): Field => ({
  name,
  label,
  hint,
  input: { kind: "switch" },
});

/** A write-only secret. Empty keeps the stored one. */
export const secret = (name: string, label: string, hint: string): Field => ({
  name,
  label,
  hint: t("{hint} Stored encrypted; never displayed. Leave empty to keep the current value.", { hint }),
  hintNew: t("{hint} Stored encrypted; never displayed.", { hint }),
  input: { kind: "text", type: "password", empty: "omit" },
});

/** A field with a custom input component. */
export const own = (name: string, label: string, hint: string, component: ComponentType<OwnInputProps>): Field => ({
  name,
  label,
  hint,
  input: { kind: "own", component },
});

/** Moves a field under "Advanced". */
export const advanced = (field: Field): Field => ({ ...field, more: ADVANCED });
