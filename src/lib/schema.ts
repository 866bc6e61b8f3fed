/** A shape of JSON in the words of JSON Schema: as much of it as we write, and no more than `shape.ts` can check. */
export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: "string" | "integer" | "number" | "boolean" | "null" | "array" | "object";
  readonly const?: string | number | boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** For readers alone: nobody checks it. */
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Fields;
  readonly required?: readonly string[];
  /** What all members are that are not among `properties`; `true` where they may be anything. */
  readonly additionalProperties?: Schema | true;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly [OPTIONAL]?: true;
}

export type Fields = Readonly<Record<string, Schema>>;

export interface ObjectSchema extends Schema {
  readonly type: "object";
  readonly properties: Fields;
}

/** Says of a field that it may be missing. A symbol, so that it is in no document and stays with a copy. */
const OPTIONAL = Symbol("optional");

/** What may be said of a schema besides what makes it one. */
type Words = Omit<Schema, "type" | "const" | "items" | "properties" | "required" | "anyOf" | "allOf" | typeof OPTIONAL>;

function object(properties: Fields, words: Words = {}): ObjectSchema {
  const required = Object.keys(properties).filter((name) => !properties[name]?.[OPTIONAL]);
  return { type: "object", ...(required.length > 0 && { required }), properties, ...words };
}

const optional = (schema: Schema): Schema => ({ ...schema, [OPTIONAL]: true });

/** Writes schemas. */
export const Type = {
  String: (words: Words = {}): Schema => ({ type: "string", ...words }),
  Integer: (words: Words = {}): Schema => ({ type: "integer", ...words }),
  Number: (words: Words = {}): Schema => ({ type: "number", ...words }),
  Boolean: (words: Words = {}): Schema => ({ type: "boolean", ...words }),
  Null: (words: Words = {}): Schema => ({ type: "null", ...words }),
  Unknown: (words: Words = {}): Schema => words,
  Literal: (value: string | number | boolean, words: Words = {}): Schema => ({
    type: typeof value as "string" | "number" | "boolean",
    const: value,
    ...words,
  }),
  Array: (items: Schema, words: Words = {}): Schema => ({ type: "array", items, ...words }),
  /** Every field has to be there that is not optional. */
  Object: object,
  /** Members under whatever names, all alike. */
  Record: (members: Schema, words: Words = {}): Schema => ({ type: "object", additionalProperties: members, ...words }),
  Union: (anyOf: readonly Schema[], words: Words = {}): Schema => ({ anyOf, ...words }),
  Intersect: (allOf: readonly Schema[], words: Words = {}): Schema => ({ allOf, ...words }),
  /** A field that may be missing. */
  Optional: optional,
  /** An object with the fields of another, none of which has to be there. */
  Partial: ({ properties }: ObjectSchema, words: Words = {}): ObjectSchema =>
    object(Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, optional(field)])), words),
};
