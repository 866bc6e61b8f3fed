import type { Schema } from "../../lib/schema.ts";

/** As much of JSON Schema as our own schemas use. */
export interface JsonSchema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | readonly string[];
  format?: string;
  pattern?: string;
  const?: unknown;
  enum?: readonly unknown[];
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
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

/** The schemas that have a name, by that name. */
export type SharedSchemas = Record<string, JsonSchema>;

export const refTo = (name: string): string => `#/components/schemas/${name}`;

/** A schema as the document shows it: named parts moved to `shared`, unions written as short as JSON Schema can. */
export function publishSchema(schema: Schema, shared: SharedSchemas): JsonSchema {
  return publish(JSON.parse(JSON.stringify(schema)) as JsonSchema, shared);
}

function publish(schema: JsonSchema, shared: SharedSchemas): JsonSchema {
  const { title, ...rest } = shorten(mapParts(schema, (part) => publish(part, shared)));
  if (title === undefined) return rest;
  const before = shared[title];
  if (before && JSON.stringify(before) !== JSON.stringify(rest)) {
    throw new Error(`two different schemas have the title ${title}`);
  }
  shared[title] = rest;
  return { $ref: refTo(title) };
}

function mapParts(schema: JsonSchema, map: (part: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, anyOf, allOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, map(part)])),
    }),
    ...(items && { items: map(items) }),
    ...(anyOf && { anyOf: anyOf.map(map) }),
    ...(allOf && { allOf: allOf.map(map) }),
  };
}

/** A choice of constants is an `enum`; something or null is a type or null. */
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
