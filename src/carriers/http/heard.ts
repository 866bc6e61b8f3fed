import { isObject } from "../../lib/plain-object.ts";
import { readJson, readPath, walk, type PathStep, type Said } from "../../model/http-pick.ts";
import type { PlatformCall } from "../platform.ts";
import type { Proven } from "./proof.ts";

/** What a call says: fields of its body in JSON or as a form, and those of its query. */
export interface Heard extends Said {
  /** The entries of a list in it; itself where no list is asked for. */
  entries(each: string | null): readonly Said[];
}

/** More reports in one call than any provider sends. */
const ENTRIES_MAX = 1000;

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
  const saidBy = (value: unknown): Said => ({
    text,
    at: (steps, written) => {
      const found = walk(value, steps);
      return found.length > 0 ? found : named(written);
    },
  });
  const whole = saidBy(json);
  return {
    ...whole,
    entries: (each) => {
      if (each === null) return Array.isArray(json) ? [] : [whole];
      return listed(json, readPath(each)).map(saidBy);
    },
  };
}

function listed(json: unknown, steps: readonly PathStep[] | null): readonly unknown[] {
  if (steps === null) return [];
  const found = walk(json, steps);
  const list = found.length === 1 && Array.isArray(found[0]) ? (found[0] as unknown[]) : found;
  return list.filter(isObject).slice(0, ENTRIES_MAX);
}

const looksLikeJson = (contentType: string | string[] | undefined, text: string): boolean =>
  (typeof contentType === "string" && contentType.includes("json")) || /^\s*[[{]/.test(text);
