import { isObject } from "../../lib/json.ts";
import { readJson, readPath, followPath, type PathStep, type ResponseParts } from "../../model/http-pick.ts";
import type { PlatformWebhook } from "../http-platform.ts";
import type { VerifiedWebhook } from "./verify-signature.ts";

/** A webhook request as fields: JSON or form body, and query. */
export interface ParsedWebhook {
  /** Entries of a list, identical objects for identical entries; the request itself without a list. */
  entries(each: string | null): readonly object[];
  /** Fields of one entry. */
  fieldsOf(entry: object): ResponseParts;
}

/** Parses the parts of a request that the signature proves. */
export function parseWebhook(
  { query, headers, body }: PlatformWebhook,
  verified: Exclude<VerifiedWebhook, "nothing">,
): ParsedWebhook {
  const text = body.toString("utf8");
  const json = looksLikeJson(headers["content-type"], text) ? readJson(text) : undefined;
  const params = new URLSearchParams(verified === "all" ? query : "");
  const form = json === undefined ? new URLSearchParams(text) : null;
  /** A query name may itself contain dots and brackets. */
  const byName = (written: string): readonly string[] => {
    const value = form?.get(written) ?? params.get(written);
    return value === null ? [] : [value];
  };
  const at =
    (value: unknown): ResponseParts["at"] =>
    (steps, written) => {
      const found = followPath(value, steps);
      return found.length > 0 ? found : byName(written);
    };
  const bytes = (written: string): Buffer | null =>
    (form && bytesIn(body.toString("latin1"), written)) ?? bytesIn(verified === "all" ? query : "", written);
  const whole: ResponseParts = { text, at: at(json), bytes };
  return {
    entries: (each) => {
      if (each === null) return Array.isArray(json) ? [] : [whole];
      return entriesAt(json, readPath(each));
    },
    fieldsOf: (entry) => {
      if (entry === whole) return whole;
      let own: string | null = null;
      return {
        // The text of this entry only: matching every entry against the whole request would be quadratic.
        get text() {
          return (own ??= writeJson(entry));
        },
        at: at(entry),
      };
    },
  };
}

/** Raw bytes of a query or form value; null if absent. */
function bytesIn(pairs: string, name: string): Buffer | null {
  for (const pair of pairs.split("&")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || bytesOf(pair.slice(0, equals)).toString("utf8") !== name) continue;
    return bytesOf(pair.slice(equals + 1));
  }
  return null;
}

const bytesOf = (encoded: string): Buffer =>
  Buffer.from(
    encoded
      .replaceAll("+", " ")
      .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );

/** All entries: the response acknowledges all of them, so none may be left out. */
function entriesAt(json: unknown, steps: readonly PathStep[] | null): readonly object[] {
  if (steps === null) return [];
  const found = followPath(json, steps, Infinity);
  const list = found.length === 1 && Array.isArray(found[0]) ? (found[0] as unknown[]) : found;
  return list.filter(isObject);
}

function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deeply to serialise, so there is no text to search.
    return "";
  }
}

const looksLikeJson = (contentType: string | string[] | undefined, text: string): boolean =>
  (typeof contentType === "string" && contentType.includes("json")) || /^\s*[[{]/.test(text);
