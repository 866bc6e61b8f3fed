/** A template's text, taken apart once when it is stored, so that sending neither scans it nor trusts it anew. */
export interface TemplateText {
  /** Fixed text, and for a placeholder the index of its value. */
  parts: readonly (string | number)[];
  /** How many values it takes. */
  variables: number;
  /** How many characters a value has at most where a finished text is matched; null for numbered placeholders. */
  valueMax: number | null;
}

/** The values that make a text out of its template, or the first place where it departs from it. */
type TemplateMatch = { matches: true; values: string[] } | Difference;

interface Difference {
  matches: false;
  at: number;
  expected: string;
  found: string;
}

const PLACEHOLDER = /\{#var#\}|\{\{(\d+)\}\}/g;
const VARIABLES_MAX = 50;
// What DLT scrubbing lets a {#var#} stand for. Characters are UTF-16 units, as in every limit on a text.
const DLT_VALUE_MAX = 30;
const SHOWN_MAX = 20;

/** Finds a template's placeholders, `{#var#}` in order or `{{1}}` by number; whatever else has braces is fixed text. */
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
    return { fault: `The template has ${variables} variables; it takes at most ${VARIABLES_MAX}.` };
  }
  for (let number = 1; number <= numbers.size; number++) {
    if (numbers.has(number)) continue;
    return { fault: `{{${number}}} is missing: number the placeholders from {{1}} on without a gap.` };
  }
  return { parts, variables, valueMax: unnumbered > 0 ? DLT_VALUE_MAX : null };
}

/** Puts the values in their places, as they are: one that looks like a placeholder is still only a value. */
export function renderTemplate(template: TemplateText, values: readonly string[]): string {
  return template.parts.map((part) => (typeof part === "number" ? (values[part] ?? "") : part)).join("");
}

/** Stands for the text of a template of which only the id and the values are known. */
export function plainTemplateText(templateId: string, values: readonly string[]): string {
  return values.length === 0 ? templateId : `${templateId}: ${values.join(", ")}`;
}

/**
 * Tells whether a finished text could have come from the template, as DLT scrubbing asks. Whitespace at the end counts
 * for nothing, because it gets lost on the way; everything else is compared exactly.
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

/** Fixed text and the variables in front of it. Adjacent variables are one gap, and their limits add up. */
interface Stretch {
  variables: readonly number[];
  gapMax: number;
  literal: string;
}

/** A text read with each gap as short as it can be, and the first variable that would have two values, if any has. */
type Reading = { matches: true; values: string[]; torn: number | undefined } | Difference;

function matchWhole(template: TemplateText, text: string): TemplateMatch {
  // A variable that would have two values is held to its first, which then counts as fixed text.
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

// Goes through the text once per stretch with every position that the stretches so far can end at. Nothing is tried
// twice, so that no text, however it was made, costs more than its length times the template's.
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

/** Every position, in order, where the stretch's fixed text stands within reach of one of the ends before it. */
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
      // Where gaps have no limit, what can follow a later start can follow the first.
      if (gapMax === Infinity) return starts;
      next++;
    }
  }
  return starts;
}

/** The last stretch has to end where the text does, so there is one place for it at most. */
function startAtTheEnd(text: string, { literal, gapMax }: Stretch, ends: readonly number[]): number[] {
  const start = text.length - literal.length;
  return text.endsWith(literal) && ends.some((end) => end <= start && start <= end + gapMax) ? [start] : [];
}

/** What each placeholder stands for in a text that matches, found from its end: the earliest start that fits. */
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

/** Fills adjacent variables one after the other, each to its limit; the last takes what is left. */
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

// Where one number stands several times, all readings of the text have to be tried in the worst case, and no method is
// known that is fast for every text. A text that takes more steps than this is refused; real ones take a few dozen.
const STEPS_MAX = 50_000;

/** The values with which every placeholder of the same number stands for the same; null when there are none. */
function agreeingValues({ parts, variables }: TemplateText, text: string): string[] | null {
  const values: (string | undefined)[] = Array.from({ length: variables }, () => undefined);
  const times = values.map((_, variable) => parts.filter((part) => part === variable).length);
  const literals = parts.reduce<number>((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0);
  const knownAt = (i: number): string | undefined => {
    const part = parts[i];
    return typeof part === "number" ? values[part] : part;
  };
  let steps = 0;

  // `room` is what neither fixed text nor a value chosen so far lays claim to, and `open` how many are not chosen.
  // `failed` holds, while the repeated values stay as they are, the earliest place where a part was tried in vain: a
  // value that is used once could have taken in all that leads to a later place, so that one is in vain too.
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
    // The last value to be chosen has to fill the room, so its length is not a matter of trying.
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
 * The difference that lets the text get furthest in the template: the most of the stretch's fixed text that stands
 * within reach, and of equals the first. Only the end of the text is missed by as little as possible.
 */
function differenceIn(text: string, stretch: Stretch, ends: readonly number[], isLast: boolean): Difference {
  const { literal, gapMax } = stretch;
  const reach = (ends.at(-1) ?? 0) + gapMax;
  const tooFar = isLast
    ? text.endsWith(literal) && text.length - literal.length > reach
    : text.includes(literal, reach);
  // The fixed text does come, only too late: the value in front of it is too long.
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

/** `same` characters of what is expected at a position do stand there; what comes after them is the difference. */
function difference(text: string, start: number, expected: string, same: number): Difference {
  // Two characters may share the first half of their pairs; the difference begins with the whole character.
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
