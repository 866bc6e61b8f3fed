import { joinWithOr } from "./join-words.ts";
import { isObject } from "./plain-object.ts";
import type { Schema } from "./schema.ts";

/** One place where a value is not as its schema has it. */
interface ShapeFault {
  /** As callers write it: `cards[1].title`. */
  parameter: string;
  message: string;
}

/** Whoever has made more faults than these has not read the reference. */
const TOLD_MAX = 20;

/** Makes a check of values against a schema; it tells every fault at once, and nothing when there is none. */
export const shapeChecker =
  (schema: Schema): ((value: unknown) => ShapeFault[]) =>
  (value) =>
    told(look(schema, value, ""));

/** What a value has to be, where it is something else altogether; or what it has to do, where it is of the right kind. */
type Found = { at: string } & ({ kinds: readonly string[] } | { rule: string });

const KINDS: Readonly<Record<NonNullable<Schema["type"]>, { name: string; has(value: unknown): boolean }>> = {
  string: { name: "a string", has: (value) => typeof value === "string" },
  integer: { name: "a whole number", has: Number.isInteger },
  number: { name: "a number", has: Number.isFinite },
  boolean: { name: "true or false", has: (value) => typeof value === "boolean" },
  null: { name: "null", has: (value) => value === null },
  array: { name: "an array", has: Array.isArray },
  object: { name: "an object", has: isObject },
};

function look(schema: Schema, value: unknown, at: string): Found[] {
  const { type, anyOf, allOf } = schema;
  if (anyOf) return lookAtBranches(anyOf, value, at);
  if (allOf) return allOf.flatMap((part) => look(part, value, at));
  if (schema.const !== undefined) return value === schema.const ? [] : [{ at, kinds: [JSON.stringify(schema.const)] }];
  if (type === undefined) return [];
  const kind = KINDS[type];
  if (!kind.has(value)) return [{ at, kinds: [kind.name] }];
  if (typeof value === "string") return lookAtString(schema, value, at);
  if (typeof value === "number") return lookAtNumber(schema, value, at);
  if (Array.isArray(value)) return lookAtItems(schema, value, at);
  return isObject(value) ? lookAtFields(schema, value, at) : [];
}

/** Where the value is of one branch's kind and wrong within, that it is not of another's is no news. */
function lookAtBranches(branches: readonly Schema[], value: unknown, at: string): Found[] {
  const looks = branches.map((branch) => look(branch, value, at));
  if (looks.some(({ length }) => length === 0)) return [];
  const all = looks.flat();
  const within = all.filter((found) => found.at !== at || "rule" in found);
  if (within.length > 0) return within;
  return [{ at, kinds: [...new Set(all.flatMap((found) => ("kinds" in found ? found.kinds : [])))] }];
}

function lookAtString({ minLength, maxLength, pattern }: Schema, value: string, at: string): Found[] {
  // A sign is one character, however many units it is stored in.
  const length = minLength === undefined && maxLength === undefined ? 0 : Array.from(value).length;
  return [
    ...atLeast(minLength, length, at, "character"),
    ...atMost(maxLength, length, at, "character"),
    ...(pattern === undefined || new RegExp(pattern, "u").test(value) ? [] : [{ at, rule: `must match ${pattern}` }]),
  ];
}

const lookAtNumber = ({ minimum = -Infinity, maximum = Infinity }: Schema, value: number, at: string): Found[] => [
  ...(value < minimum ? [{ at, rule: `must be at least ${minimum}` }] : []),
  ...(value > maximum ? [{ at, rule: `must be at most ${maximum}` }] : []),
];

function lookAtItems({ items = {}, minItems, maxItems }: Schema, value: readonly unknown[], at: string): Found[] {
  // What is too long is not looked through.
  const tooMany = atMost(maxItems, value.length, at, "item");
  if (tooMany.length > 0) return tooMany;
  return [
    ...atLeast(minItems, value.length, at, "item"),
    ...value.flatMap((item, index) => look(items, item, `${at}[${index}]`)),
  ];
}

function lookAtFields(schema: Schema, value: Readonly<Record<string, unknown>>, at: string): Found[] {
  const { properties = {}, required = [], additionalProperties: others = true } = schema;
  const path = (name: string): string => (at === "" ? name : `${at}.${name}`);
  const named = Object.entries(properties).flatMap(([name, field]): Found[] => {
    if (Object.hasOwn(value, name) && value[name] !== undefined) return look(field, value[name], path(name));
    return required.includes(name) ? [{ at: path(name), rule: "is required" }] : [];
  });
  if (others === true) return named;
  const rest = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  return [...named, ...rest.flatMap((name) => look(others, value[name], path(name)))];
}

const atLeast = (limit: number | undefined, count: number, at: string, thing: string): Found[] =>
  limit === undefined || count >= limit ? [] : [{ at, rule: `must have at least ${inWords(limit, thing)}` }];

const atMost = (limit: number | undefined, count: number, at: string, thing: string): Found[] =>
  limit === undefined || count <= limit ? [] : [{ at, rule: `must have at most ${inWords(limit, thing)}` }];

const inWords = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** All that was found at one place is one fault. */
function told(all: readonly Found[]): ShapeFault[] {
  const rules = new Map<string, string[]>();
  for (const found of all) {
    const rule = "rule" in found ? found.rule : `must be ${joinWithOr(found.kinds)}`;
    rules.set(found.at, [...(rules.get(found.at) ?? []), rule]);
  }
  return [...rules].slice(0, TOLD_MAX).map(([parameter, broken]) => ({
    parameter,
    message: `${parameter || "The body"} ${broken.join(" and ")}.`,
  }));
}
