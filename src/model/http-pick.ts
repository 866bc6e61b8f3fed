import { isObject } from "../lib/plain-object.ts";
import type { HttpPick } from "./http-line.ts";

/** What something is looked for in: an answer, a call, or one entry of it. */
export interface Said {
  /** All of it, as it came; of an entry its own JSON. */
  readonly text: string;
  /** The value under a path; undefined when there is none. */
  at(steps: readonly PathStep[], written: string): readonly unknown[];
}

/** The name of a field, a place in a list from 0, or every place of it. */
export type PathStep = string | number | typeof EVERY;
const EVERY = Symbol("every");

const PATH = /^(?:[^.[\]]+|\[(?:\d{1,4}|\*)\])(?:\.[^.[\]]+|\[(?:\d{1,4}|\*)\])*$/;
const STEP = /[^.[\]]+|\[(\d+|\*)\]/g;

/** How a path is written, for whoever wrote something else. */
export const PATH_RULE =
  "A path is written like data.messages[0].id: names, dots, places from 0 in brackets, and [*] for every place.";

/** The steps of a path; null when it is none. */
export function readPath(written: string): readonly PathStep[] | null {
  if (!PATH.test(written)) return null;
  return [...written.matchAll(STEP)].map(([name, place]) =>
    place === undefined ? name : place === "*" ? EVERY : Number(place),
  );
}

/** More entries of a list than this are no parts of a message. */
const ENTRIES_MAX = 1000;

/** What stands under a path in a value that was parsed from JSON; never what an object has by birth. */
export function walk(value: unknown, steps: readonly PathStep[], entriesMax = ENTRIES_MAX): readonly unknown[] {
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

/** How a pattern is written, for whoever wrote something else. */
export const PATTERN_RULE =
  "A pattern has * for anything, and at most one (*) for what is looked for; all else stands for itself.";

/**
 * A pattern of plain text and `*`, of which one may stand in brackets to say what is wanted. It is no regular expression:
 * among those are some that take hours over one answer, and these take a single walk through it. Null when it is none.
 */
export function readPattern(written: string): ((text: string) => string | null) | null {
  const groups = written.split(GROUP).length - 1;
  if (written === "" || groups > 1) return null;
  const before = groups === 0 ? null : (written.split(GROUP)[0] ?? "").split("*").length - 1;
  const literals = written.replace(GROUP, "*").split("*");
  return (text) => find(text.trim(), literals, before);
}

/** What an answer says of itself it says early; looking through all of a long one, for every rule, would hold up everybody. */
const LOOKED_THROUGH_MAX = 8192;

/** Every star takes as little as it can; the whole text has to fit. */
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

/** Looks for something: every value that there is, as text. */
export type Picked = (said: Said) => readonly string[];

/** Makes a pick out of what was written of it; what cannot be read finds nothing, and is refused when it is saved. */
export function compilePick({ path, pattern }: HttpPick): Picked {
  const steps = path === null ? null : readPath(path);
  const match = pattern === null ? null : readPattern(pattern);
  return (said) => {
    const values = path === null ? [said.text] : steps === null ? [] : said.at(steps, path).flatMap(textOf);
    if (pattern === null) return values;
    return values.flatMap((value) => match?.(value) ?? []);
  };
}

/** Numbers and truths are compared as they are written; what has parts is no value. */
function textOf(value: unknown): readonly string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  return typeof value === "number" || typeof value === "boolean" ? [String(value)] : [];
}

const LONG_NUMBER = /\d{16}/;

/** What a text says in JSON; undefined where it is none. Ids of more digits than a number can hold come as their digits. */
export function readJson(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? (JSON.parse(text, keepDigits) as unknown) : (JSON.parse(text) as unknown);
  } catch {
    // There is no other way to ask whether it is JSON.
    return undefined;
  }
}

function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
    ? context?.source
    : value;
}
