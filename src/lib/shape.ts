import { isObject } from "./json.ts";
import {
  CHECK,
  DEFAULTED,
  ERROR,
  PATTERN_RULE,
  REQUIRED_BY,
  type Fields,
  type FieldValues,
  type Keyword,
  type FaultText,
  type Schema,
} from "./schema.ts";
import { countOf, joinWithOr } from "./text.ts";

/** A place where a value breaks its schema. */
interface ShapeFault {
  /** As callers write it: `cards[1].title`. */
  parameter: string;
  message: string;
}

/** The search for faults in a list ends at this number: more would not help a caller. */
const FAULTS_MAX = 20;

/**
 * Compiles a check of values against a schema. The check returns all faults at once, and an empty array for a right
 * value. Above twenty it returns one for each further field, so that a field without a fault is known to be right. A right value costs no allocation: paths and texts are made for faults only.
 */
export function shapeChecker(schema: Schema): (value: unknown) => ShapeFault[] {
  // At the first use: most schemas of a process are never needed, and start-up does not wait for them.
  let check: Check | null = null;
  return (value) => {
    check ??= compile(schema);
    const found = check(value);
    return found === null ? [] : faultsOf(found);
  };
}

/** The field of the body that a fault is in: `cards` for `cards[1].title`. */
export const fieldOf = (parameter: string): string => parameter.split(/[.[]/, 1)[0] ?? "";

interface Found {
  /** The path below the value that was checked: `""`, `.title` or `[1].title`. */
  at: string;
  /** The kinds that the value should be of, when it is of another. */
  kinds?: readonly string[];
  /** The broken rule in words that follow the name of the field. */
  rule?: string;
  /** The schema's own text, with the value that it is about. */
  own?: FaultText | undefined;
  value?: unknown;
}

/** Null when there is no fault. */
type Check = (value: unknown) => Found[] | null;

const KINDS: Readonly<Record<NonNullable<Schema["type"]>, { name: string; has(value: unknown): boolean }>> = {
  string: { name: "a string", has: (value) => typeof value === "string" },
  integer: { name: "a whole number", has: Number.isInteger },
  number: { name: "a number", has: Number.isFinite },
  boolean: { name: "true or false", has: (value) => typeof value === "boolean" },
  null: { name: "null", has: (value) => value === null },
  array: { name: "an array", has: Array.isArray },
  object: { name: "an object", has: isObject },
};

function compile(schema: Schema): Check {
  const { anyOf, allOf = [], type } = schema;
  const structure: Check[] = [
    ...(anyOf ? [anyOfCheck(schema, anyOf)] : []),
    ...allOf.map(compile),
    ...(type === undefined ? [] : [typeCheck(schema, type)]),
  ];
  const [only = (): null => null] = structure;
  const all = structure.length < 2 ? only : (value: unknown) => joined(structure, value);
  // On strings and numbers it is part of `typeCheck`.
  return schema[CHECK] && type !== "string" && type !== "integer" && type !== "number"
    ? (value) => all(value) ?? ownCheck(schema, value)
    : all;
}

function joined(checks: readonly Check[], value: unknown): Found[] | null {
  let all: Found[] | null = null;
  for (const check of checks) all = add(all, check(value));
  return all;
}

function add(all: Found[] | null, more: Found[] | null): Found[] | null {
  if (more === null) return all;
  return all === null ? more : [...all, ...more].slice(0, FAULTS_MAX);
}

function below(path: string, found: Found[] | null): Found[] | null {
  if (found !== null) for (const each of found) each.at = path + each.at;
  return found;
}

function textOf(schema: Schema, keyword: Keyword): FaultText | undefined {
  const texts = schema[ERROR];
  return typeof texts === "object" ? texts[keyword] : texts;
}

const broken = (schema: Schema, keyword: Keyword, rule: string, value: unknown): Found[] => [
  { at: "", rule, own: textOf(schema, keyword), value },
];

const missingFault = (schema: Schema): Found => ({ at: "", rule: "is required", own: textOf(schema, "required") });

const wrongKind = (schema: Schema, kinds: readonly string[], value: unknown): Found[] => [
  { at: "", kinds, own: textOf(schema, "type"), value },
];

function ownCheck(schema: Schema, value: unknown): Found[] | null {
  const own = schema[CHECK]?.(value as never) ?? null;
  return own === null ? null : [{ at: "", rule: "is wrong", own, value }];
}

/** A value of one branch's kind with faults inside is reported with these faults only, not with the other kinds. */
function anyOfCheck(schema: Schema, anyOf: readonly Schema[]): Check {
  const branches = anyOf.map(compile);
  const constants = new Set<unknown>(anyOf.flatMap((branch) => branch.const ?? []));
  return (value) => {
    if (constants.has(value)) return null;
    const all: Found[] = [];
    for (const branch of branches) {
      const found = branch(value);
      if (found === null) return null;
      all.push(...found);
    }
    const within = all.filter(({ at, kinds }) => at !== "" || !kinds);
    if (within.length > 0) return within.slice(0, FAULTS_MAX);
    return wrongKind(schema, [...new Set(all.flatMap(({ kinds = [] }) => kinds))], value);
  };
}

function typeCheck(schema: Schema, type: NonNullable<Schema["type"]>): Check {
  const { const: constant } = schema;
  if (constant !== undefined)
    return (value) => (value === constant ? null : wrongKind(schema, [JSON.stringify(constant)], value));
  const { name, has } = KINDS[type];
  const rest = restCheck(schema, type);
  if (type === "string") return (value) => (typeof value === "string" ? rest(value) : wrongKind(schema, [name], value));
  return (value) => (has(value) ? rest(value) : wrongKind(schema, [name], value));
}

/** The check of a value whose type is right. */
function restCheck(schema: Schema, type: NonNullable<Schema["type"]>): Check {
  if (type === "string") return stringCheck(schema) as Check;
  if (type === "integer" || type === "number") return numberCheck(schema) as Check;
  if (type === "array") return arrayCheck(schema) as Check;
  if (type === "object") return objectCheck(schema) as Check;
  return () => null;
}

function stringCheck(schema: Schema): (value: string) => Found[] | null {
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  const form = pattern === undefined ? null : new RegExp(pattern, "u");
  return (value) => {
    let found: Found[] | null = null;
    if (isShorter(value, minLength))
      found = broken(schema, "minLength", `must have at least ${characters(minLength, value)}`, value);
    if (isLonger(value, maxLength))
      found = add(found, broken(schema, "maxLength", `must have at most ${characters(maxLength, value)}`, value));
    else if (form !== null && !form.test(value)) {
      const rule = schema[PATTERN_RULE] ?? "have the form that the reference shows";
      found = add(found, broken(schema, "pattern", `must ${rule}`, value));
    }
    return schema[CHECK] ? add(found, ownCheck(schema, value)) : found;
  };
}

const characters = (limit: number, value: string): string =>
  `${countOf(limit, "character")} (it has ${lengthOf(value)})`;

/** A code point is one character, whether it is stored as one unit or as two; they are counted only where that decides. */
const lengthOf = (value: string): number => Array.from(value).length;
const isShorter = (value: string, limit: number): boolean => value.length < 2 * limit && lengthOf(value) < limit;
const isLonger = (value: string, limit: number): boolean =>
  value.length > limit && (value.length > 2 * limit || lengthOf(value) > limit);

function numberCheck(schema: Schema): (value: number) => Found[] | null {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  return (value) => {
    let found: Found[] | null = null;
    if (value < minimum) found = broken(schema, "minimum", `must be at least ${minimum}`, value);
    if (value > maximum) found = add(found, broken(schema, "maximum", `must be at most ${maximum}`, value));
    return schema[CHECK] ? add(found, ownCheck(schema, value)) : found;
  };
}

function arrayCheck(schema: Schema): (value: readonly unknown[]) => Found[] | null {
  const { items, minItems = 0, maxItems = Infinity } = schema;
  const check = items ? compile(items) : null;
  const count = (limit: number, value: readonly unknown[]): string =>
    `${countOf(limit, "item")} (it has ${value.length})`;
  return (value) => {
    // An array that is too long is not searched.
    if (value.length > maxItems)
      return broken(schema, "maxItems", `must have at most ${count(maxItems, value)}`, value);
    let found: Found[] | null = null;
    if (value.length < minItems)
      found = broken(schema, "minItems", `must have at least ${count(minItems, value)}`, value);
    if (check)
      for (let index = 0; index < value.length; index += 1) {
        const inside = check(value[index]);
        if (inside === null) continue;
        found = add(found, below(`[${index}]`, inside));
        if (found !== null && found.length >= FAULTS_MAX) break;
      }
    return found;
  };
}

interface FieldCheck {
  name: string;
  schema: Schema;
  check: Check;
  isRequired: boolean;
  /** Every object has a member of this name, which is not meant. */
  isInherited: boolean;
}

function objectCheck(schema: Schema): (value: Readonly<Record<string, unknown>>) => Found[] | null {
  const { properties = {}, required = [], additionalProperties: others = true } = schema;
  const fields = Object.entries(properties).map(([name, field]): FieldCheck => ({
    name,
    schema: field,
    check: compile(field),
    isRequired: required.includes(name),
    isInherited: name in Object.prototype,
  }));
  const byName = new Map(fields.map((field) => [field.name, field]));
  const requiredCount = fields.filter(({ isRequired }) => isRequired).length;
  const checkOther = others === true ? null : compile(others);
  const { field: deciding = "", values = {}, unless = {} } = schema[REQUIRED_BY] ?? {};
  const requiredHere = new Map<unknown, readonly string[]>(Object.entries(values));
  const inPlaceOf = new Map<unknown, string>(Object.entries(unless));
  const lacks = (value: Readonly<Record<string, unknown>>, name: string): boolean =>
    value[name] === undefined && value[inPlaceOf.get(value[deciding]) ?? name] === undefined;

  // Hot path: a body has few of its schema's fields, so this goes by the members that are there and not by the schema.
  const isRight = (value: Readonly<Record<string, unknown>>): boolean => {
    let present = 0;
    for (const name in value) {
      const member = value[name];
      const field = byName.get(name);
      if (field === undefined) {
        if (checkOther !== null && checkOther(member) !== null) return false;
      } else if (member !== undefined) {
        if (field.check(member) !== null) return false;
        if (field.isRequired) present += 1;
      }
    }
    if (present !== requiredCount) return false;
    const more = requiredHere.size === 0 ? undefined : requiredHere.get(value[deciding]);
    return more === undefined || !more.some((name) => lacks(value, name));
  };

  const faultsIn = (value: Readonly<Record<string, unknown>>): Found[] | null => {
    const found: Found[] = [];
    const missing = (name: string, own: Schema): void => void found.push({ ...missingFault(own), at: `.${name}` });
    for (const { name, schema: own, check, isRequired, isInherited } of fields) {
      const member = isInherited && !Object.hasOwn(value, name) ? undefined : value[name];
      if (member !== undefined) found.push(...(below(`.${name}`, check(member)) ?? []));
      else if (isRequired) missing(name, own);
    }
    for (const name of requiredHere.get(value[deciding]) ?? [])
      if (lacks(value, name)) missing(name, properties[name] ?? {});
    if (checkOther !== null)
      for (const name of Object.keys(value)) {
        if (found.length >= FAULTS_MAX) break;
        if (!byName.has(name)) found.push(...(below(`.${name}`, checkOther(value[name])) ?? []));
      }
    return found.length === 0 ? null : found;
  };

  return (value) => (isRight(value) ? null : faultsIn(value));
}

/** Rules that are broken at one place are one fault; a text of the schema's own is a fault of its own, once. */
function faultsOf(all: readonly Found[]): ShapeFault[] {
  const faults = new Map<string, ShapeFault>();
  for (const { at, kinds = [], rule = `must be ${joinWithOr(kinds)}`, own, value } of all) {
    const parameter = at.startsWith(".") ? at.slice(1) : at;
    const before = faults.get(parameter);
    if (own !== undefined) {
      const message = typeof own === "string" ? own : own(parameter, value);
      faults.set(`${parameter} ${message}`, { parameter, message });
    } else if (before) before.message = `${before.message.slice(0, -1)} and ${rule}.`;
    else faults.set(parameter, { parameter, message: `${parameter || "The body"} ${rule}.` });
  }
  const seen = new Set<string>();
  return [...faults.values()].filter(({ parameter }, index) => {
    const isFirst = !seen.has(fieldOf(parameter));
    seen.add(fieldOf(parameter));
    return index < FAULTS_MAX || isFirst;
  });
}

/** Compiles a function that fills in missing fields of `Type.Default`. It copies what it changes and nothing else. */
export function withDefaults(schema: Schema): (value: unknown) => unknown {
  return filler(schema) ?? ((value) => value);
}

type Fill = (value: unknown) => unknown;

function filler({ properties, items }: Schema): Fill | null {
  const inItems = items ? filler(items) : null;
  if (inItems) return (value) => (Array.isArray(value) ? value.map(inItems) : value);
  const fields = Object.entries(properties ?? {}).flatMap(([name, field]) => {
    const fill = filler(field);
    return fill || field[DEFAULTED] ? [{ name, fill, isDefaulted: field[DEFAULTED], value: field.default }] : [];
  });
  if (fields.length === 0) return null;
  return (value) => {
    if (!isObject(value)) return value;
    let copy: Record<string, unknown> | null = null;
    for (const field of fields) {
      const before = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
      const given = before === undefined && field.isDefaulted ? field.value : before;
      const after = given === undefined || !field.fill ? given : field.fill(given);
      if (after !== before) (copy ??= { ...value })[field.name] = after;
    }
    return copy ?? value;
  };
}

/** The members of a value that are fields of the schema, in the schema's order: callers may send others. */
export function pickFields<F extends Fields>(fields: F, value: Partial<FieldValues<F>>): Partial<FieldValues<F>> {
  const picked: Partial<FieldValues<F>> = {};
  for (const name in fields) if (Object.hasOwn(value, name) && value[name] !== undefined) picked[name] = value[name];
  return picked;
}

/** A right value without members that its schema does not have, at every depth. */
export function onlyKnown(schema: Schema, value: unknown): unknown {
  const { properties, items } = schema;
  if (items && Array.isArray(value)) return value.map((item) => onlyKnown(items, item));
  if (!properties || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) =>
      Object.hasOwn(value, name) && value[name] !== undefined ? [[name, onlyKnown(field, value[name])]] : [],
    ),
  );
}

/** The smallest value of a schema's structure, without regard to patterns and checks. */
export function smallestOf(schema: Schema): unknown {
  const { type, anyOf, minLength = 0, minimum = 0, minItems = 0, items = {}, properties = {}, required = [] } = schema;
  if (schema.const !== undefined) return schema.const;
  if (anyOf?.[0]) return smallestOf(anyOf[0]);
  if (type === "string") return "x".repeat(minLength);
  if (type === "integer" || type === "number") return minimum;
  if (type === "boolean") return false;
  if (type === "array") return Array.from({ length: minItems }, () => smallestOf(items));
  if (type !== "object") return null;
  return Object.fromEntries(required.map((name) => [name, smallestOf(properties[name] ?? {})]));
}
