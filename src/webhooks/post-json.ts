import type { Push } from "../model/callback.ts";

/** A POST of a JSON body, with further headers where there are any. */
export const postJson = (url: string, body: object, headers: Readonly<Record<string, string>> = {}): Push => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json", ...headers },
  body: writeJson(body),
});

/** JSON that every reader can read. */
export const writeJson = (value: object): string => JSON.stringify(value, wellFormed);

// JSON can write half a character as an escape, and many readers refuse the whole body for it.
const wellFormed = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? value.toWellFormed() : value;
