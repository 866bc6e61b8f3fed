import type { ComponentType } from "react";
import { t } from "../../i18n/t.ts";
import { ADVANCED, type Field, type OwnInputProps } from "../../parts/record/field.ts";

/** One of a few words. */
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

/** A whole number between two others. */
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

/** What the server never shows: an empty field leaves it as it is. */
export const secret = (name: string, label: string, hint: string): Field => ({
  name,
  label,
  hint: t("{hint} Stored encrypted; never displayed. Leave empty to keep the current value.", { hint }),
  hintNew: t("{hint} Stored encrypted; never displayed.", { hint }),
  input: { kind: "text", type: "password", empty: "omit" },
});

/** A field with an input of its own. */
export const own = (name: string, label: string, hint: string, component: ComponentType<OwnInputProps>): Field => ({
  name,
  label,
  hint,
  input: { kind: "own", component },
});

/** Below "Advanced": what few lines need. */
export const advanced = (field: Field): Field => ({ ...field, more: ADVANCED });
