import { memoize } from "../lib/memoize.ts";
import { countOf } from "../lib/text.ts";

/** The parsed text of a template. */
export interface TemplateText {
  /** Fixed text, and for a placeholder the index of its value. */
  parts: readonly (string | number)[];
  /** The number of values. */
  variables: number;
  /** The longest value when a finished text is matched; null for numbered placeholders, which have no limit. */
  valueMax: number | null;
}

/** The values by which a text matches its template, or the first difference. */
type TemplateMatch = { matches: true; values: string[] } | Difference;

interface Difference {
  matches: false;
  at: number;
  expected: string;
  found: string;
}

const PLACEHOLDER = /\{#var#\}|\{\{(\d+)\}\}/g;
const VARIABLES_MAX = 50;
// The limit of DLT scrubbing on the value of a {#var#}, in UTF-16 units like every limit on a text.
const DLT_VALUE_MAX = 30;
const SHOWN_MAX = 20;

/** Parses placeholders: `{#var#}` by order or `{{1}}` by number. All other braces are fixed text. */
export function readTemplateText(text: string): TemplateText | { fault: string } {
  const parts: (string | number)[] = [];
  const numbers = new Set<number>();
  let unnumbered = 0;
  let end = 0;
  for (const { 0: placeholder, 1: written, index } of text.matchAll(PLACEHOLDER)) {
    if (index > end) parts.push(text.slice(end, index));
    end = index + placeholder.length;
    if (written === undefined) {
      parts.push(unnumbered++);
      continue;
    }
    if (written.startsWith("0")) {
      return { fault: `${placeholder} names no value: number the placeholders {{1}}, {{2}} and so on.` };
    }
    parts.push(Number(written) - 1);
    numbers.add(Number(written));
  }
  if (end < text.length) parts.push(text.slice(end));

  if (unnumbered > 0 && numbers.size > 0) {
    return { fault: "The template has both {#var#} and numbered placeholders: use one of the two throughout." };
  }
  const variables = unnumbered + numbers.size;
  if (variables > VARIABLES_MAX) {
    return { fault: `The template has ${countOf(variables, "variable")}; it takes at most ${VARIABLES_MAX}.` };
  }
  for (let number = 1; number <= numbers.size; number++) {
    if (numbers.has(number)) continue;
    return { fault: `{{${number}}} is missing: number the placeholders from {{1}} on without a gap.` };
  }
  return { parts, variables, valueMax: unnumbered > 0 ? DLT_VALUE_MAX : null };
}

const PATTERNS_MAX = 1000;

/** Parses the text of a stored template, with a cache. */
export const storedPattern = memoize(PATTERNS_MAX, (text): TemplateText => {
  const pattern = readTemplateText(text);
  if ("fault" in pattern) throw new Error(`a stored template cannot be read: ${pattern.fault}`);
  return pattern;
});

/** Fills in values. A value that looks like a placeholder stays as it is. */
export function renderTemplate(template: TemplateText, values: readonly string[]): string {
  return template.parts.map((part) => (typeof part === "number" ? (values[part] ?? "") : part)).join("");
}

/** The text of a message whose template has no known text. */
export function plainTemplateText(templateId: string, values: readonly string[]): string {
  return values.length === 0 ? templateId : `${templateId}: ${values.join(", ")}`;
}

/**
 * Matches a finished text against its template, as DLT scrubbing does. Trailing whitespace is ignored, because it gets
 * lost in transit; the rest is compared exactly.
 */
export function matchTemplate(template: TemplateText, text: string): TemplateMatch {
  const exactly = matchWhole(template, text);
  if (exactly.matches) return exactly;
  const bare = withoutTrailingSpace(template);
  const bareText = text.trimEnd();
  return bare === template && bareText === text ? exactly : matchWhole(bare, bareText);
}

function withoutTrailingSpace(template: TemplateText): TemplateText {
  const last = template.parts.at(-1);
  if (typeof last !== "string") return template;
  const trimmed = last.trimEnd();
  if (trimmed === last) return template;
  return { ...template, parts: [...template.parts.slice(0, -1), ...(trimmed === "" ? [] : [trimmed])] };
}

/** Fixed text and the variables before it. Adjacent variables form one gap, whose limit is the sum of theirs. */
interface Stretch {
  variables: readonly number[];
  gapMax: number;
  literal: string;
}

/** A match with the shortest possible gaps, and the first variable that would have two different values. */
type Reading = { matches: true; values: string[]; torn: number | undefined } | Difference;

function matchWhole(template: TemplateText, text: string): TemplateMatch {
  // A variable with two different values is fixed to its first value, which then counts as fixed text.
  const held: string[] = [];
  let reading = readClosely(template.parts, template.valueMax, text);
  while (reading.matches && reading.torn !== undefined) {
    held[reading.torn] = reading.values[reading.torn] ?? "";
    const parts = template.parts.map((part) => (typeof part === "number" ? (held[part] ?? part) : part));
    reading = readClosely(parts, template.valueMax, text);
  }
  if (reading.matches) return { matches: true, values: Object.assign(reading.values, held) };
  const agreed = held.length === 0 ? null : agreeingValues(template, text);
  return agreed === null ? reading : { matches: true, values: agreed };
}

// Dynamic programming over the possible end positions of each stretch, without backtracking: the worst case is the length
// of the text times that of the template, so that no text can cause a denial of service.
function readClosely(parts: TemplateText["parts"], valueMax: number | null, text: string): Reading {
  const stretches = stretchesOf(parts, valueMax);
  const reached: { stretch: Stretch; ends: number[] }[] = [];
  let ends = [0];
  for (const [i, stretch] of stretches.entries()) {
    const isLast = i === stretches.length - 1;
    const starts = isLast ? startAtTheEnd(text, stretch, ends) : startsWithin(text, stretch, ends);
    if (starts.length === 0) return differenceIn(text, stretch, ends, isLast);
    reached.push({ stretch, ends });
    ends = starts.map((start) => start + stretch.literal.length);
  }
  const values: string[] = [];
  const torn = valuesIn(text, reached).find(([variable, value]) => value !== (values[variable] ??= value));
  return { matches: true, values, torn: torn?.[0] };
}

function stretchesOf(parts: TemplateText["parts"], valueMax: number | null): Stretch[] {
  const stretches: Stretch[] = [];
  let variables: number[] = [];
  const close = (literal: string) => {
    const gapMax = variables.length === 0 ? 0 : variables.length * (valueMax ?? Infinity);
    stretches.push({ variables, gapMax, literal });
    variables = [];
  };
  for (const part of parts) {
    const last = stretches.at(-1);
    if (typeof part === "number") variables.push(part);
    else if (variables.length === 0 && last) last.literal += part;
    else if (part !== "") close(part);
  }
  if (variables.length > 0 || stretches.length === 0) close("");
  return stretches;
}

/** All positions, in order, of the stretch's fixed text within reach of an earlier end. */
function startsWithin(text: string, { literal, gapMax }: Stretch, ends: readonly number[]): number[] {
  const starts: number[] = [];
  let next = 0;
  for (const end of ends) {
    next = Math.max(next, end);
    while (next <= end + gapMax) {
      const start = text.indexOf(literal, next);
      if (start === -1) return starts;
      next = start;
      if (start > end + gapMax) break;
      starts.push(start);
      // With unlimited gaps the first start is enough: everything after a later start can also follow the first.
      if (gapMax === Infinity) return starts;
      next++;
    }
  }
  return starts;
}

/** The last stretch ends with the text, so it has at most one position. */
function startAtTheEnd(text: string, { literal, gapMax }: Stretch, ends: readonly number[]): number[] {
  const start = text.length - literal.length;
  return text.endsWith(literal) && ends.some((end) => end <= start && start <= end + gapMax) ? [start] : [];
}

/** The values of a matching text, found backwards from its end with the earliest possible starts. */
function valuesIn(text: string, reached: readonly { stretch: Stretch; ends: number[] }[]): [number, string][] {
  const found: [number, string][] = [];
  let gapStart = text.length;
  for (const { stretch, ends } of reached.toReversed()) {
    const gapEnd = gapStart - stretch.literal.length;
    gapStart = ends.find((end) => end + stretch.gapMax >= gapEnd) ?? gapEnd;
    found.unshift(...shareOut(text.slice(gapStart, gapEnd), stretch));
  }
  return found;
}

/** Divides a gap among adjacent variables: each up to its limit, the rest to the last. */
function shareOut(gap: string, { variables, gapMax }: Stretch): [number, string][] {
  let start = 0;
  return variables.map((variable, i) => {
    const full = i === variables.length - 1 ? gap.length : Math.min(start + gapMax / variables.length, gap.length);
    const end = isInsidePair(gap, full) ? full - 1 : full;
    const value = gap.slice(start, end);
    start = end;
    return [variable, value];
  });
}

// Matching with repeated variables needs backtracking, which is exponential in the worst case. A text that takes more
// steps than this is refused; real texts take a few dozen.
const STEPS_MAX = 50_000;

/** Values by which all placeholders of one number are equal; null when there are none. */
function agreeingValues({ parts, variables }: TemplateText, text: string): string[] | null {
  const values: (string | undefined)[] = Array.from({ length: variables }, () => undefined);
  const times = values.map((_, variable) => parts.filter((part) => part === variable).length);
  const literals = parts.reduce<number>((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0);
  const knownAt = (i: number): string | undefined => {
    const part = parts[i];
    return typeof part === "number" ? values[part] : part;
  };
  let steps = 0;

  // `room` is the length that neither fixed text nor a chosen value takes, and `open` the number of values to choose.
  // `failed` has the earliest position at which a part failed for the current repeated values. Later positions fail too:
  // a value that is used once could have covered the text up to them.
  function follow(first: number, start: number, room: number, open: number, failed: Map<number, number>): boolean {
    let at = start;
    let i = first;
    for (let known = knownAt(i); known !== undefined; known = knownAt(++i)) {
      if (++steps > STEPS_MAX || !text.startsWith(known, at)) return false;
      at += known.length;
    }
    const variable = parts[i];
    if (typeof variable !== "number") return at === text.length;
    if (at >= (failed.get(i) ?? Infinity)) return false;

    const repeats = times[variable] ?? 1;
    const longest = Math.floor(room / repeats);
    const next = knownAt(i + 1) ?? "";
    // The last open value must fill the room, so its length is given.
    for (let length = open === 1 ? longest : 0; length <= longest; length++) {
      const end = text.indexOf(next, at + length);
      if (end === -1 || end > at + longest || ++steps > STEPS_MAX) break;
      length = end - at;
      if (isInsidePair(text, end)) continue;
      values[variable] = text.slice(at, end);
      if (follow(i + 1, end, room - repeats * length, open - 1, repeats > 1 ? new Map() : failed)) return true;
    }
    values[variable] = undefined;
    if (repeats === 1) failed.set(i, at);
    return false;
  }

  const found = follow(0, 0, text.length - literals, variables, new Map());
  return found ? values.map((value) => value ?? "") : null;
}

/**
 * The difference at which the text matches most of the stretch's fixed text within reach; the first of several. At the end
 * of the text, the difference with the fewest missing characters.
 */
function differenceIn(text: string, stretch: Stretch, ends: readonly number[], isLast: boolean): Difference {
  const { literal, gapMax } = stretch;
  const reach = (ends.at(-1) ?? 0) + gapMax;
  const tooFar = isLast
    ? text.endsWith(literal) && text.length - literal.length > reach
    : text.includes(literal, reach);
  // The fixed text comes too late: the value before it is too long.
  if (gapMax > 0 && tooFar) return difference(text, isInsidePair(text, reach) ? reach - 1 : reach, literal, 0);

  let at = ends[0] ?? 0;
  let most = 0;
  let next = 0;
  for (const end of ends) {
    for (next = Math.max(next, end); next <= Math.min(end + gapMax, text.length); next++) {
      const length = commonLength(text, next, literal);
      if (length < most || (length === most && length < literal.length)) continue;
      at = next;
      most = length;
    }
  }
  return difference(text, at, literal, most);
}

/** The difference after `same` equal characters at a position. */
function difference(text: string, start: number, expected: string, same: number): Difference {
  // Two characters may share their first surrogate; the difference begins with the whole character.
  const agreed = isInsidePair(expected, same) ? same - 1 : same;
  const at = start + agreed;
  return { matches: false, at, expected: shown(expected.slice(agreed)), found: shown(text.slice(at)) };
}

function commonLength(text: string, at: number, expected: string): number {
  let length = 0;
  while (length < expected.length && text.charCodeAt(at + length) === expected.charCodeAt(length)) length++;
  return length;
}

const shown = (rest: string): string => rest.slice(0, isInsidePair(rest, SHOWN_MAX) ? SHOWN_MAX - 1 : SHOWN_MAX);

function isInsidePair(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
