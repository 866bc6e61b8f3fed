import { isObject } from "./plain-object.ts";
import type { Schema } from "./schema.ts";
import { countOf, joinWithOr } from "./words.ts";

/** One place where a value is not as its schema has it. */
interface ShapeFault {
  /** As callers write it: `cards[1].title`. */
  parameter: string;
  message: string;
}

/** Whoever has made more faults than these has not read the reference: nobody looks for the rest. */
const FAULTS_MAX = 20;

/** Makes a check of values against a schema; it tells the faults at once, twenty at the most, and nothing when there is none. */
export const shapeChecker =
  (schema: Schema): ((value: unknown) => ShapeFault[]) =>
  (value) =>
    told(firstOf(look(schema, value, "")));

/** What a value has to be, where it is something else altogether; or what it has to do, where it is of the right kind. */
type Found = { at: string } & ({ kinds: readonly string[] } | { rule: string });

type Look = Generator<Found, void>;

function firstOf(looking: Look): Found[] {
  const found: Found[] = [];
  for (const each of looking) if (found.push(each) === FAULTS_MAX) break;
  return found;
}

const KINDS: Readonly<Record<NonNullable<Schema["type"]>, { name: string; has(value: unknown): boolean }>> = {
  string: { name: "a string", has: (value) => typeof value === "string" },
  integer: { name: "a whole number", has: Number.isInteger },
  number: { name: "a number", has: Number.isFinite },
  boolean: { name: "true or false", has: (value) => typeof value === "boolean" },
  null: { name: "null", has: (value) => value === null },
  array: { name: "an array", has: Array.isArray },
  object: { name: "an object", has: isObject },
};

function* look(schema: Schema, value: unknown, at: string): Look {
  const { type, anyOf, allOf = [] } = schema;
  if (anyOf) yield* lookAtBranches(anyOf, value, at);
  for (const part of allOf) yield* look(part, value, at);
  if (type === undefined) return;
  if (schema.const !== undefined) {
    if (value !== schema.const) yield { at, kinds: [JSON.stringify(schema.const)] };
    return;
  }
  const kind = KINDS[type];
  if (!kind.has(value)) yield { at, kinds: [kind.name] };
  else if (typeof value === "string") yield* lookAtString(schema, value, at);
  else if (typeof value === "number") yield* lookAtNumber(schema, value, at);
  else if (Array.isArray(value)) yield* lookAtItems(schema, value, at);
  else if (isObject(value)) yield* lookAtFields(schema, value, at);
}

/** Where the value is of one branch's kind and wrong within, that it is not of another's is no news. */
function* lookAtBranches(branches: readonly Schema[], value: unknown, at: string): Look {
  const all: Found[] = [];
  for (const branch of branches) {
    const found = firstOf(look(branch, value, at));
    if (found.length === 0) return;
    all.push(...found);
  }
  const within = all.filter((found) => found.at !== at || "rule" in found);
  if (within.length > 0) yield* within;
  else yield { at, kinds: [...new Set(all.flatMap((found) => ("kinds" in found ? found.kinds : [])))] };
}

function* lookAtString({ minLength = 0, maxLength = Infinity, pattern }: Schema, value: string, at: string): Look {
  if (isShorter(value, minLength)) yield { at, rule: `must have at least ${countOf(minLength, "character")}` };
  if (isLonger(value, maxLength)) yield { at, rule: `must have at most ${countOf(maxLength, "character")}` };
  else if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) yield { at, rule: `must match ${pattern}` };
}

/** A sign is one character, be it stored as one unit or as two; they are counted only where that decides. */
const isShorter = (value: string, limit: number): boolean =>
  value.length < 2 * limit && Array.from(value).length < limit;
const isLonger = (value: string, limit: number): boolean =>
  value.length > limit && (value.length > 2 * limit || Array.from(value).length > limit);

function* lookAtNumber({ minimum = -Infinity, maximum = Infinity }: Schema, value: number, at: string): Look {
  if (value < minimum) yield { at, rule: `must be at least ${minimum}` };
  if (value > maximum) yield { at, rule: `must be at most ${maximum}` };
}

function* lookAtItems(schema: Schema, value: readonly unknown[], at: string): Look {
  const { items = {}, minItems = 0, maxItems = Infinity } = schema;
  if (value.length < minItems) yield { at, rule: `must have at least ${countOf(minItems, "item")}` };
  // What is too long is not looked through.
  if (value.length > maxItems) yield { at, rule: `must have at most ${countOf(maxItems, "item")}` };
  else for (const [index, item] of value.entries()) yield* look(items, item, `${at}[${index}]`);
}

function* lookAtFields(schema: Schema, value: Readonly<Record<string, unknown>>, at: string): Look {
  const { properties = {}, required = [], additionalProperties: others = true } = schema;
  const path = (name: string): string => (at === "" ? name : `${at}.${name}`);
  for (const [name, field] of Object.entries(properties))
    if (Object.hasOwn(value, name) && value[name] !== undefined) yield* look(field, value[name], path(name));
    else if (required.includes(name)) yield { at: path(name), rule: "is required" };
  if (others === true) return;
  for (const [name, member] of Object.entries(value))
    if (!Object.hasOwn(properties, name)) yield* look(others, member, path(name));
}

/** All that was found at one place is one fault. */
function told(all: readonly Found[]): ShapeFault[] {
  const rules = new Map<string, string[]>();
  for (const found of all) {
    const rule = "rule" in found ? found.rule : `must be ${joinWithOr(found.kinds)}`;
    rules.set(found.at, [...(rules.get(found.at) ?? []), rule]);
  }
  return [...rules].map(([parameter, broken]) => ({
    parameter,
    message: `${parameter || "The body"} ${broken.join(" and ")}.`,
  }));
}
