import { isDeepStrictEqual } from "node:util";

export interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

/** Placeholder for secrets. */
const HIDDEN = "***";

/** A changed secret, for display. */
export const hiddenChange = (field: string): FieldChange => ({ field, from: HIDDEN, to: HIDDEN });

export const differences = (
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): FieldChange[] =>
  Object.keys(to)
    .filter((field) => !isDeepStrictEqual(from[field], to[field]))
    .map((field) => ({ field, from: from[field], to: to[field] }));
