import type { Push } from "../model/callback.ts";

/** A POST of a JSON body. */
export const postJson = (url: string, body: object): Push => post(url, writeJson(body), {});

/** A POST of a body that is written already, with further headers where there are any. */
export const post = (url: string, body: string, headers: Readonly<Record<string, string>>): Push => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json", ...headers },
  body,
});

/** The same as of an object with these fields and texts, which would take twice as long to make and to write. */
export const writeFields = (fields: readonly string[], values: readonly string[]): string =>
  `{${fields.map((field, place) => `"${field}":${quoted(values[place] ?? "")}`).join(",")}}`;

/** No quote, no backslash, nothing below the space, and no half of a character. */
const AS_IT_IS = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

const quoted = (text: string): string => (AS_IT_IS.test(text) ? `"${text}"` : JSON.stringify(text.toWellFormed()));

/**
 * JSON that every reader can read: half a character is written as an escape, and many readers refuse the whole body for it.
 * Looked for in what is written, because hardly any text has one.
 */
export function writeJson(value: object): string {
  const written = JSON.stringify(value);
  return written.includes(String.raw`\ud`) ? JSON.stringify(value, wellFormed) : written;
}

const wellFormed = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? value.toWellFormed() : value;
