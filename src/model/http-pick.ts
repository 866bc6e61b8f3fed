import { isObject } from "../lib/json.ts";
import type { HttpPick } from "./http-connection.ts";

/** Searchable input: a response, a webhook, or one of its entries. */
export interface ResponseParts {
  /** Raw text; for an entry its own JSON. */
  readonly text: string;
  /** Values at a path; undefined if absent. */
  at(steps: readonly PathStep[], written: string): readonly unknown[];
  /** Raw bytes of a query or form field, whose charset may not be UTF-8; null if absent. */
  bytes?(written: string): Buffer | null;
}

/** A field name, a list index from 0, or every index. */
export type PathStep = string | number | typeof EVERY;
const EVERY = Symbol("every");

const PATH = /^(?:[^.[\]]+|\[(?:\d{1,4}|\*)\])(?:\.[^.[\]]+|\[(?:\d{1,4}|\*)\])*$/;
const STEP = /[^.[\]]+|\[(\d+|\*)\]/g;

/** Explanation for error messages. */
export const PATH_RULE =
  "A path is written like data.messages[0].id: names, dots, places from 0 in brackets, and [*] for every place.";

/** Null if the path is invalid. */
export function readPath(written: string): readonly PathStep[] | null {
  if (!PATH.test(written)) return null;
  return [...written.matchAll(STEP)].map(([name, place]) =>
    place === undefined ? name : place === "*" ? EVERY : Number(place),
  );
}

/** Longer lists are not the parts of a message. */
const ENTRIES_MAX = 1000;

/** Values at a path in parsed JSON; inherited properties do not count. */
export function followPath(value: unknown, steps: readonly PathStep[], entriesMax = ENTRIES_MAX): readonly unknown[] {
  let found: readonly unknown[] = [value];
  for (const step of steps) {
    found = found.flatMap((each) => {
      if (step === EVERY) return Array.isArray(each) ? each.slice(0, entriesMax) : [];
      if (typeof step === "number") return Array.isArray(each) && step < each.length ? [each[step] as unknown] : [];
      return isObject(each) && Object.hasOwn(each, step) ? [each[step]] : [];
    });
    if (found.length > entriesMax) found = found.slice(0, entriesMax);
  }
  return found;
}

const GROUP = "(*)";

/** Explanation for error messages. */
export const PATTERN_RULE =
  "A pattern has * for anything, and at most one (*) for what is looked for; all else stands for itself.";

/**
 * Compiles a pattern of plain text and `*`, of which one may be in brackets to mark the result. Not a regular expression,
 * which could take exponential time; these match in linear time. Null if invalid.
 */
export function readPattern(written: string): ((text: string) => string | null) | null {
  const groups = written.split(GROUP).length - 1;
  if (written === "" || groups > 1) return null;
  const before = groups === 0 ? null : (written.split(GROUP)[0] ?? "").split("*").length - 1;
  const literals = written.replace(GROUP, "*").split("*");
  return (text) => find(text.trim(), literals, before);
}

/** Only the start of a long response is searched, because every rule searches it. */
const LOOKED_THROUGH_MAX = 8192;

/** Each star matches as little as possible; the pattern covers the whole text. */
function find(text: string, literals: readonly string[], wanted: number | null): string | null {
  const [first = "", ...rest] = literals;
  if (!text.startsWith(first)) return null;
  if (rest.length === 0) return text === first ? text : null;
  const beginning = text.slice(0, LOOKED_THROUGH_MAX);
  let at = first.length;
  let found = text;
  for (const [star, literal] of rest.entries()) {
    const isLast = star === rest.length - 1;
    const next = isLast ? text.length - literal.length : beginning.indexOf(literal, at);
    if (next < at || (isLast && !text.endsWith(literal))) return null;
    if (star === wanted) found = text.slice(at, next).trim();
    at = next + literal.length;
  }
  return found;
}

/** Finds all values as text. */
export type Picked = (said: ResponseParts) => readonly string[];

/** An invalid pick finds nothing; validation refuses it when the record is saved. */
export function compilePick({ path, pattern }: HttpPick): Picked {
  const steps = path === null ? null : readPath(path);
  const match = pattern === null ? null : readPattern(pattern);
  return (said) => {
    const values = path === null ? [said.text] : steps === null ? [] : said.at(steps, path).flatMap(textOf);
    if (pattern === null) return values;
    return values.flatMap((value) => match?.(value) ?? []);
  };
}

/** Numbers and booleans compare as text; objects and lists have no value. */
function textOf(value: unknown): readonly string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  return typeof value === "number" || typeof value === "boolean" ? [String(value)] : [];
}

const LONG_NUMBER = /\d{16}/;

/** Undefined if invalid. Integers beyond the safe range keep their digits as strings. */
export function readJson(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? (JSON.parse(text, keepDigits) as unknown) : (JSON.parse(text) as unknown);
  } catch {
    // JSON.parse is the only check.
    return undefined;
  }
}

function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
    ? context?.source
    : value;
}
