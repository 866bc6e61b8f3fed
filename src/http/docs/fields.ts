import { joinWithOr } from "../../lib/words.ts";
import type { OpenApi } from "./document.ts";
import { refTo, type JsonSchema } from "./publish-schema.ts";

/** One line of a table of fields. */
export interface Field {
  /** With dots and brackets, as in `data[].messageId`. */
  name: string;
  type: string;
  required: boolean;
  description: string;
}

type Schemas = OpenApi["components"]["schemas"];

/** Every field of a body, those of nested objects after the object that holds them. */
export function fieldsOf(schema: JsonSchema, schemas: Schemas, prefix = ""): Field[] {
  const { properties = {}, required = [] } = objectIn(schema, schemas) ?? {};
  return Object.entries(properties).flatMap(([name, part]) => {
    const whole = resolve(part, schemas);
    const description = [part.description ?? whole.description, limitsOf(whole)].filter(Boolean).join(" ");
    return [
      { name: prefix + name, type: typeOf(whole, schemas), required: required.includes(name), description },
      ...fieldsOf(part, schemas, `${prefix}${name}${isArray(whole) ? "[]." : "."}`),
    ];
  });
}

function resolve(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const name = Object.keys(schemas).find((known) => refTo(known) === schema.$ref);
  return (name === undefined ? undefined : schemas[name]) ?? schema;
}

/** The object whose fields are to be listed: the schema itself, its items, or the one branch that is an object. */
function objectIn(schema: JsonSchema, schemas: Schemas): Pick<JsonSchema, "properties" | "required"> | null {
  const whole = resolve(schema, schemas);
  if (whole.properties) return whole;
  if (whole.items) return objectIn(whole.items, schemas);
  if (whole.allOf) {
    const parts = whole.allOf.map((part) => objectIn(part, schemas) ?? {});
    return {
      properties: Object.assign({}, ...parts.map((part) => part.properties)) as NonNullable<JsonSchema["properties"]>,
      required: parts.flatMap((part) => part.required ?? []),
    };
  }
  for (const branch of whole.anyOf ?? []) {
    const found = objectIn(branch, schemas);
    if (found) return found;
  }
  return null;
}

const isArray = (schema: JsonSchema): boolean => schema.type === "array";

/** A type in words. */
function typeOf(schema: JsonSchema, schemas: Schemas): string {
  const whole = resolve(schema, schemas);
  if (whole.enum) return joinWithOr(whole.enum.map((value) => JSON.stringify(value)));
  if (whole.const !== undefined) return JSON.stringify(whole.const);
  if (whole.anyOf) return joinWithOr(whole.anyOf.map((branch) => typeOf(branch, schemas)));
  if (whole.allOf) return "object";
  if (isArray(whole)) return arrayOf(whole.items ? typeOf(whole.items, schemas) : "");
  return joinWithOr([whole.type ?? "any value"].flat());
}

function arrayOf(item: string): string {
  if (item === "" || item === "any value") return "array";
  return item.includes('"') ? `array of ${item}` : `array of ${item}s`;
}

/** What a value is held to beyond its type. */
function limitsOf({ minLength, maxLength, minimum, maximum, minItems, maxItems, pattern }: JsonSchema): string {
  return [
    rangeOf(minLength, maxLength, "characters"),
    rangeOf(minimum, maximum, ""),
    maxItems === 0 ? "" : rangeOf(minItems, maxItems, "items"),
    pattern === undefined ? "" : `Matches \`${pattern}\`.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** Beyond this a limit only keeps nonsense out. */
const TELLING_MAX = 1e12;

function rangeOf(min: number | undefined, max: number | undefined, unit: string): string {
  const number = (value: number): string => value.toLocaleString("en");
  const of = unit && ` ${unit}`;
  if (max !== undefined && max <= TELLING_MAX) {
    return min === undefined ? `At most ${number(max)}${of}.` : `${number(min)} to ${number(max)}${of}.`;
  }
  // That something must be there at all goes without saying.
  return min === undefined || min <= 1 ? "" : `At least ${number(min)}${of}.`;
}
