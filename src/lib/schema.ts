/**
 * JSON Schema, limited to the keywords that `shape.ts` can check. One schema is the source of a body's check, static
 * type (`Infer`), defaults and OpenAPI description. Everything that is not JSON Schema is stored under symbols,
 * which documents leave out and copies keep.
 */
export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: "string" | "integer" | "number" | "boolean" | "null" | "array" | "object";
  readonly const?: string | number | boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Documentation only; not checked. `PHONE_FORMATS` are published as patterns. */
  readonly format?: string;
  /** Documentation only. */
  readonly examples?: readonly unknown[];
  /** Filled in by `withDefaults` where the field is made by `Type.Default`; documentation only elsewhere. */
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Fields;
  readonly required?: readonly string[];
  /** The schema of all members that are not in `properties`; `true` allows anything. */
  readonly additionalProperties?: Schema | true;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly [OPTIONAL]?: true;
  readonly [DEFAULTED]?: true;
  readonly [PATTERN_RULE]?: string;
  readonly [ERROR]?: ErrorTexts;
  readonly [CHECK]?: (value: never) => FaultText | null;
  readonly [REQUIRED_BY]?: RequiredBy;
}

export type Fields = Readonly<Record<string, Schema>>;

/** A schema of values of type `T`. */
export interface Typed<T> extends Schema {
  /** Exists in the type system only. */
  readonly [VALUE]?: T;
}

/** The static type of the values that a schema allows, with its defaults filled in. */
export type Infer<S extends Schema> = S extends Typed<infer T> ? T : unknown;

/** One schema per member of a type. The compiler refuses a schema whose values the type does not allow. */
export type SchemasOf<T> = { readonly [K in keyof T]-?: Typed<T[K]> };

/** The static types of fields, each under its name. */
export type FieldValues<F extends Fields> = { -readonly [K in keyof F]: Infer<F[K]> };

export interface ObjectSchema<F extends Fields = Fields> extends Typed<ObjectOf<F>> {
  readonly type: "object";
  readonly properties: F;
}

type ObjectOf<F extends Fields> = Flat<
  { readonly [K in Exclude<keyof F, MissableIn<F>>]: Infer<F[K]> } & {
    readonly [K in MissableIn<F>]?: Infer<F[K]>;
  }
>;

/** The names of the fields that can be missing after the defaults have been filled in. */
type MissableIn<F extends Fields> = {
  [K in keyof F]: F[K] extends Optional ? (F[K] extends Defaulted ? never : K) : never;
}[keyof F];

type Flat<T> = { [K in keyof T]: T[K] };

interface Optional {
  readonly [OPTIONAL]: true;
}

interface Defaulted extends Optional {
  readonly [DEFAULTED]: true;
}

/** A complete sentence; a function is called with the path of the field as callers write it, such as `to[1]`. */
export type FaultText = string | ((parameter: string, value: unknown) => string);

export type Keyword =
  | "required"
  | "type"
  | "minLength"
  | "maxLength"
  | "pattern"
  | "minimum"
  | "maximum"
  | "minItems"
  | "maxItems";

/** Replaces the standard texts: one for all faults of the field itself, or one per keyword. Fields inside have their own. */
type ErrorTexts = FaultText | { readonly [K in Keyword]?: FaultText };

/** Fields that are required if another field of the same object has a certain value. */
interface RequiredBy {
  readonly field: string;
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** By value: another field that takes the place of those that it requires. */
  readonly unless?: Readonly<Record<string, string>>;
}

declare const VALUE: unique symbol;
const OPTIONAL = Symbol("optional");
export const DEFAULTED = Symbol("defaulted");
/** The meaning of `pattern` in words that follow "must": errors never show the expression itself. */
export const PATTERN_RULE = Symbol("pattern rule");
export const ERROR = Symbol("error");
export const CHECK = Symbol("check");
export const REQUIRED_BY = Symbol("required by");

/** Everything that can be given for a schema besides its structure. */
interface Options<T = unknown> extends Omit<
  Schema,
  | "type"
  | "const"
  | "items"
  | "properties"
  | "required"
  | "anyOf"
  | "allOf"
  | typeof OPTIONAL
  | typeof DEFAULTED
  | typeof ERROR
  | typeof CHECK
  | typeof REQUIRED_BY
> {
  /** Our error text, instead of the standard one. */
  readonly error?: ErrorTexts;
  /**
   * A condition that JSON Schema cannot express; returns the error text of a value that fails it. Runs on every value of
   * the right type; on an array or object only when everything inside is right.
   */
  readonly check?: (value: T) => FaultText | null;
  /** On an object: optional fields that one of its fields requires. */
  readonly requiredBy?: RequiredBy;
}

function make<T>(structure: Schema, { error, check, requiredBy, ...options }: Options<T>): Typed<T> {
  return {
    ...structure,
    ...options,
    ...(error !== undefined && { [ERROR]: error }),
    ...(check && { [CHECK]: check }),
    ...(requiredBy && { [REQUIRED_BY]: requiredBy }),
  };
}

function object<F extends Fields>(properties: F, options: Options<ObjectOf<F>> = {}): ObjectSchema<F> {
  const required = Object.keys(properties).filter((name) => !properties[name]?.[OPTIONAL]);
  const structure = { type: "object", ...(required.length > 0 && { required }), properties } as const;
  return { ...make(structure, options), type: "object", properties };
}

const optional = <S extends Schema>(schema: S): S & Optional => ({ ...schema, [OPTIONAL]: true });

type PartialFields<F extends Fields> = { readonly [K in keyof F]: Typed<Infer<F[K]>> & Optional };

/** In a change, a field that is missing keeps its value, so there is no default. */
function partial<F extends Fields>(
  { properties }: ObjectSchema<F>,
  options: Options<ObjectOf<PartialFields<F>>> = {},
): ObjectSchema<PartialFields<F>> {
  const fields = Object.entries(properties).map(([name, field]) => [name, optional(withoutDefault(field))]);
  return object(Object.fromEntries(fields) as PartialFields<F>, options);
}

/** The same field with no default; a response always has it. */
export function withoutDefault(field: Schema): Schema {
  if (!field[DEFAULTED]) return field;
  const { default: _, [DEFAULTED]: __, [OPTIONAL]: ___, ...rest } = field;
  return rest;
}

/** The values of fields made by `Type.Default`. */
export const defaultsIn = <F extends Fields>(fields: F): Partial<FieldValues<F>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => (field[DEFAULTED] ? [[name, field.default]] : [])),
  ) as Partial<FieldValues<F>>;

type AllOf<S extends readonly Schema[]> = S extends readonly [
  infer First extends Schema,
  ...infer Rest extends readonly Schema[],
]
  ? Infer<First> & AllOf<Rest>
  : unknown;

/** Builds schemas. */
export const Type = {
  String: (options: Options<string> = {}): Typed<string> => make({ type: "string" }, options),
  Integer: (options: Options<number> = {}): Typed<number> => make({ type: "integer" }, options),
  Number: (options: Options<number> = {}): Typed<number> => make({ type: "number" }, options),
  Boolean: (options: Options<boolean> = {}): Typed<boolean> => make({ type: "boolean" }, options),
  Null: (options: Options<null> = {}): Typed<null> => make({ type: "null" }, options),
  Unknown: (options: Options = {}): Typed<unknown> => make({}, options),
  Literal: <const T extends string | number | boolean>(value: T, options: Options<T> = {}): Typed<T> =>
    make({ type: typeof value as "string" | "number" | "boolean", const: value }, options),
  Array: <S extends Schema>(items: S, options: Options<readonly Infer<S>[]> = {}): Typed<readonly Infer<S>[]> =>
    make({ type: "array", items }, options),
  /** Every field is required that is not made by `Optional` or `Default`. */
  Object: object,
  /** Members under any names, all with the same schema. */
  Record: <S extends Schema>(
    members: S,
    options: Options<Readonly<Record<string, Infer<S>>>> = {},
  ): Typed<Readonly<Record<string, Infer<S>>>> => make({ type: "object", additionalProperties: members }, options),
  Union: <const S extends readonly Schema[]>(
    anyOf: S,
    options: Options<Infer<S[number]>> = {},
  ): Typed<Infer<S[number]>> => make({ anyOf }, options),
  Intersect: <const S extends readonly Schema[]>(allOf: S, options: Options<AllOf<S>> = {}): Typed<AllOf<S>> =>
    make({ allOf }, options),
  /** A field that may be missing. */
  Optional: optional,
  /** A field that may be missing and then has this value. */
  Default: <S extends Schema>(schema: S, value: Infer<S>): S & Defaulted => ({
    ...schema,
    default: value,
    [OPTIONAL]: true,
    [DEFAULTED]: true,
  }),
  /** An object with the fields of another, none of them required and none with a default. */
  Partial: partial,
};

/** A schema that also takes null. The description is the field's: that of a branch would be shown nowhere. */
export const nullable = <S extends Schema>(schema: S, description: string): Typed<Infer<S> | null> =>
  Type.Union([schema, Type.Null()], { description });
