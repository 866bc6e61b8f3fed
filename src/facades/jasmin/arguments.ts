import { isObject } from "../../lib/json.ts";
import { Problem } from "../../model/problem.ts";
import { decodeText, queryOf, readForm } from "../parameters.ts";
import type { FacadeCall } from "../../http/facade.ts";

/** The arguments of a request. Bytes come from a query or form, text from JSON. */
export type Arguments = ReadonlyMap<string, Buffer | string>;

/** A refusal in Jasmin's words. */
export const refused = (message: string, parameter = ""): Problem =>
  new Problem("INVALID_REQUEST", { faults: [{ parameter, message }] });

/** The text of an argument; null if it is absent. */
export function textOf(given: Arguments, name: string): string | null {
  const value = given.get(name);
  if (value === undefined) return null;
  if (typeof value === "string") return value;
  const text = decodeText(value, "utf-8");
  if (text === null) throw refused(`Argument [${name}] has an invalid value: it is not UTF-8.`, name);
  return text;
}

/** Reads the arguments of the HTTP API: a query, a form, or JSON. */
export function readArguments({
  method,
  url,
  requestHeaders,
  body,
}: Pick<FacadeCall, "method" | "url" | "requestHeaders" | "body">): Arguments {
  const query = readForm(queryOf(url));
  if (method === "GET" || body.length === 0) return query;
  const type = (requestHeaders["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  return new Map([
    ...query,
    ...(type === "application/json" ? argumentsIn(readJsonBody(body)) : readForm(body.toString("utf8"))),
  ]);
}

/** The body of the REST API, whatever its content type says: Jasmin's own examples send JSON as a form. */
export function readJsonBody(body: Buffer): Readonly<Record<string, unknown>> {
  const text = decodeText(body, "utf-8");
  try {
    const value: unknown = JSON.parse(text ?? "");
    if (isObject(value) && !Array.isArray(value)) return value;
  } catch {
    // Refused below.
  }
  throw refused("Cannot parse JSON data");
}

/** Arguments as the REST API has them: numbers count as their digits, and lists and objects as JSON. */
export function argumentsIn(fields: Readonly<Record<string, unknown>>): Arguments {
  const named = Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    if (value === null || value === undefined) return [];
    // The REST API has underscores where names of the HTTP API have dashes.
    const argument = name === "hex_content" ? "hex-content" : name;
    return [
      [argument, typeof value === "string" ? value : typeof value === "number" ? String(value) : JSON.stringify(value)],
    ];
  });
  return new Map(named);
}
