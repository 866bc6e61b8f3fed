import type { Push } from "../model/callback.ts";

/** A POST of a JSON body, with further headers where there are any. */
export const postJson = (url: string, body: object, headers: Readonly<Record<string, string>> = {}): Push => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json", ...headers },
  body: writeJson(body),
});

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
