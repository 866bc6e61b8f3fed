import { isObject } from "../../lib/json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // JSON.parse is the only check.
    return undefined;
  }
}

const NOTHING: Fields = Object.freeze({});

/** The fields of an object, or none, so that nested lookups of missing values do not throw. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : NOTHING);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A non-empty string without characters that a store refuses; null otherwise. */
export function stringOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const words = value.toWellFormed().replaceAll("\0", "");
  return words === "" ? null : words;
}

export const wholeOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : null;
