import { isObject } from "../../lib/plain-object.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a text says as JSON; undefined when it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // There is no other way to ask.
    return undefined;
  }
}

const NOTHING: Fields = Object.freeze({});

/** A value's fields; none when it has none, so that what is missing further down is missing and no error. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : NOTHING);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A text with something in it, and nothing that no screen or store takes; null for anything else. */
export function wordsOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const words = value.toWellFormed().replaceAll("\0", "");
  return words === "" ? null : words;
}

export const wholeOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : null;
