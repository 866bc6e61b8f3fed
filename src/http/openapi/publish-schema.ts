import type { Schema } from "../../lib/schema.ts";
import { PHONE_FORMATS } from "../../model/number.ts";

/** Subset of JSON Schema that our schemas use. */
export interface JsonSchema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | readonly string[];
  format?: string;
  pattern?: string;
  const?: unknown;
  default?: unknown;
  examples?: readonly unknown[];
  enum?: readonly unknown[];
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  additionalProperties?: JsonSchema | true;
  items?: JsonSchema;
  anyOf?: readonly JsonSchema[];
  allOf?: readonly JsonSchema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

/** Named schemas. */
export type SharedSchemas = Record<string, JsonSchema>;

export const refTo = (name: string): string => `#/components/schemas/${name}`;

/** Converts a schema for the document: moves named parts to `shared` and shortens unions. */
export function publishSchema(schema: Schema, shared: SharedSchemas): JsonSchema {
  return publish(JSON.parse(JSON.stringify(schema)) as JsonSchema, shared);
}

function publish(schema: JsonSchema, shared: SharedSchemas): JsonSchema {
  const { title, ...rest } = shorten(patternOf(mapParts(schema, (part) => publish(part, shared))));
  if (title === undefined) return rest;
  const before = shared[title];
  if (before && JSON.stringify(before) !== JSON.stringify(rest)) {
    throw new Error(`two different schemas have the title ${title}`);
  }
  shared[title] = rest;
  return { $ref: refTo(title) };
}

/** The phone format is ours, so the document has a pattern for it. */
function patternOf(schema: JsonSchema): JsonSchema {
  const { format = "", ...rest } = schema;
  const pattern = PHONE_FORMATS[format];
  return pattern === undefined ? schema : { ...rest, pattern };
}

function mapParts(schema: JsonSchema, map: (part: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, additionalProperties: others, items, anyOf, allOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, map(part)])),
    }),
    ...(typeof others === "object" && { additionalProperties: map(others) }),
    ...(items && { items: map(items) }),
    ...(anyOf && { anyOf: anyOf.map(map) }),
    ...(allOf && { allOf: allOf.map(map) }),
  };
}

/** Turns a union of constants into `enum`, and a union with null into a type list. */
function shorten(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  if (!anyOf) return schema;
  const [first, second] = anyOf;
  if (first && anyOf.every((part) => part.const !== undefined && part.type === first.type)) {
    return {
      ...(first.type === undefined ? {} : { type: first.type }),
      enum: anyOf.map((part) => part.const),
      ...rest,
    };
  }
  if (anyOf.length === 2 && typeof first?.type === "string" && !first.enum && second?.type === "null") {
    return { ...first, type: [first.type, "null"], ...rest };
  }
  return schema;
}
