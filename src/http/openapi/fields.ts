import { joinWithOr } from "../../lib/text.ts";
import type { OpenApi } from "./document.ts";
import { refTo, type JsonSchema } from "./publish-schema.ts";

/** One row of a field table. */
export interface Field {
  /** Path with dots and brackets, as in `data[].messageId`. */
  name: string;
  type: string;
  required: boolean;
  description: string;
}

type Schemas = OpenApi["components"]["schemas"];

/** All fields of a body; nested fields follow their object. */
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
  if (schema.$ref === undefined) return schema;
  const name = Object.keys(schemas).find((known) => refTo(known) === schema.$ref);
  return (name === undefined ? undefined : schemas[name]) ?? schema;
}

/** Object whose fields are listed: the schema itself, its items, or its only object branch. */
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

/** Type in words. */
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

/** Constraints beyond the type. */
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

/** Larger limits only reject nonsense and are not shown. */
const TELLING_MAX = 1e12;

function rangeOf(min: number | undefined, max: number | undefined, unit: string): string {
  const number = (value: number): string => value.toLocaleString("en");
  const of = unit && ` ${unit}`;
  if (max !== undefined && max <= TELLING_MAX) {
    return min === undefined ? `At most ${number(max)}${of}.` : `${number(min)} to ${number(max)}${of}.`;
  }
  // A minimum of one is obvious and not shown.
  return min === undefined || min <= 1 ? "" : `At least ${number(min)}${of}.`;
}
