import { isObject } from "../../lib/plain-object.ts";
import { readJson, readPath, walk, type PathStep, type Said } from "../../model/http-pick.ts";
import type { PlatformCall } from "../platform.ts";
import type { Proven } from "./proof.ts";

/** What a call says: fields of its body in JSON or as a form, and those of its query. */
export interface Heard {
  /** The entries of a list in it, the same object for the same entry; itself where no list is asked for. */
  entries(each: string | null): readonly object[];
  /** What one of its entries says. */
  said(entry: object): Said;
}

/** Reads a call as far as it is proven to come from the provider. */
export function readCall({ query, headers, body }: PlatformCall, proven: Exclude<Proven, "nothing">): Heard {
  const text = body.toString("utf8");
  const json = looksLikeJson(headers["content-type"], text) ? readJson(text) : undefined;
  const params = new URLSearchParams(proven === "all" ? query : "");
  const form = json === undefined ? new URLSearchParams(text) : null;
  /** The whole of a name may stand in a query, dots and brackets and all. */
  const named = (written: string): readonly string[] => {
    const value = form?.get(written) ?? params.get(written);
    return value === null ? [] : [value];
  };
  const at =
    (value: unknown): Said["at"] =>
    (steps, written) => {
      const found = walk(value, steps);
      return found.length > 0 ? found : named(written);
    };
  const whole: Said = { text, at: at(json) };
  return {
    entries: (each) => {
      if (each === null) return Array.isArray(json) ? [] : [whole];
      return listed(json, readPath(each));
    },
    said: (entry) => {
      if (entry === whole) return whole;
      let own: string | null = null;
      return {
        // Its own words and not those of the call: all of them looking through all of it would take minutes.
        get text() {
          return (own ??= writeJson(entry));
        },
        at: at(entry),
      };
    },
  };
}

/** All entries: one that is left out would be lost, because the call is answered for all of them. */
function listed(json: unknown, steps: readonly PathStep[] | null): readonly object[] {
  if (steps === null) return [];
  const found = walk(json, steps, Infinity);
  const list = found.length === 1 && Array.isArray(found[0]) ? (found[0] as unknown[]) : found;
  return list.filter(isObject);
}

function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // It nests deeper than can be written, and so has no words that anybody could look for.
    return "";
  }
}

const looksLikeJson = (contentType: string | string[] | undefined, text: string): boolean =>
  (typeof contentType === "string" && contentType.includes("json")) || /^\s*[[{]/.test(text);
