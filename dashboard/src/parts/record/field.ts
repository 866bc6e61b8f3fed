import type { ComponentType } from "react";

/** The fields of a record, as the API spells and shapes them. */
export type Values = Readonly<Record<string, unknown>>;

export interface Option {
  value: string;
  label: string;
}

/** What a field with an input of its own is given. */
export interface OwnInputProps {
  label: string;
  hint: string | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
  disabled: boolean;
  /** What the server found wrong at a path such as `headers[0].key`, or anywhere within `headers.*`. */
  faultAt: (path: string) => string | undefined;
  /** All other fields, for what depends on them. */
  values: Values;
}

type Input =
  /** One line; empty is null, or left out or sent as it is where the API knows no null. */
  | {
      kind: "text";
      type?: "url" | "tel" | "email" | "password";
      placeholder?: string;
      empty?: "null" | "omit" | "itself";
      /** Values to choose from; any other may be typed. */
      suggestions?: readonly string[];
    }
  | { kind: "long"; placeholder?: string; rows?: number }
  /** `grouped` is false where thousands have no comma between them. */
  | { kind: "number"; min?: number; max?: number; suffix?: string; placeholder?: string; grouped?: boolean }
  /** `none` is what null is called; `number` sends the chosen value as a number. */
  | { kind: "choice"; options: readonly Option[]; none?: string; number?: true; searchable?: true }
  | { kind: "several"; options: readonly Option[] }
  /** Words of one's own, in order. */
  | { kind: "list"; placeholder?: string }
  /** The same where a word may have spaces. */
  | { kind: "phrases"; placeholder?: string }
  | { kind: "switch" }
  | { kind: "own"; component: ComponentType<OwnInputProps> };

/** The fold of fields that few records need. */
export const ADVANCED = "advanced";

/** One field of a record, described: the form, what it sends and where faults are shown follow from it. */
export interface Field {
  name: string;
  label: string;
  /** Help, which may depend on what the fields hold. */
  hint?: string | ((values: Values) => string | undefined);
  /** Help while the record is not there yet, where it is another. */
  hintNew?: string;
  input: Input;
  required?: boolean;
  /** What a choice of this field sets in others. */
  implies?: (value: unknown, values: Values) => Values;
  /** Chosen once, when the record is made. */
  fixed?: boolean;
  /** Only asked for while this holds; else the record has `absent` in its place. */
  when?: (values: Values) => boolean;
  absent?: unknown;
  /** Heading above this field and the following ones of the same section. */
  section?: string;
  /** Stands below "More settings", or below a fold of this name. */
  more?: true | typeof ADVANCED;
  /** Never shown again once it is given; a field for passwords is so by itself. */
  secret?: true;
  /** An input of its own that holds no secret, so that what is typed into it may be kept. */
  secretFree?: true;
  /** Of an object with fields of its own: what of it the form knows. The rest is not sent, and stays as it is. */
  parts?: Parts;
}

export interface Parts {
  fields: readonly Field[];
  /** What a new one begins with. */
  starts: Values;
}

/** The parts of an object as a form shows them, whether or not there is one yet. */
export const partsOf = ({ starts }: Parts, value: unknown): Values => ({ ...starts, ...(value as Values | null) });

const isAsked = (field: Field, values: Values): boolean => field.when?.(values) ?? true;

/** The fields that are asked for, given what the others hold. */
export const fieldsAsked = (fields: readonly Field[], values: Values): Field[] =>
  fields.filter((field) => isAsked(field, values));

/** What is sent to make a record. */
export function bodyToMake(fields: readonly Field[], values: Values): Values {
  const asked = fieldsAsked(fields, values).map((field) => [field, wireValue(field, values[field.name])] as const);
  return Object.fromEntries(asked.flatMap(([{ name }, value]) => (value === undefined ? [] : [[name, value]])));
}

const isSecret = ({ input, secret }: Field): boolean =>
  secret === true || (input.kind === "text" && input.type === "password");

/** The same as it may be read by whoever looks over a shoulder, or finds it in a chat. */
export function bodyToShow(fields: readonly Field[], values: Values): Values {
  const shown = fieldsAsked(fields, values).flatMap((field) => {
    const { name, parts } = field;
    if (parts) return [[name, bodyToShow(parts.fields, partsOf(parts, values[name]))] as const];
    const value = wireValue(field, values[name]);
    return value === undefined ? [] : [[name, isSecret(field) ? hidden(value) : value] as const];
  });
  return Object.fromEntries(shown);
}

/**
 * The values that may be kept while they are unsaved. An input of its own can hold a secret that its description does not
 * name, so only parts that are described are kept of it.
 */
export function withoutSecrets(fields: readonly Field[], values: Values): Values {
  const kept = fields.flatMap((field) => {
    const { name, parts, input } = field;
    const value = values[name];
    if (value === undefined || isSecret(field)) return [];
    if (parts) return value === null ? [] : [[name, withoutSecrets(parts.fields, value as Values)] as const];
    return input.kind === "own" && field.secretFree !== true ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}

/** A record with unsaved values over its own. What was not kept, such as a secret, stays as the record has it. */
export function withKept(fields: readonly Field[], record: Values, kept: Values): Values {
  const parts = fields.flatMap(({ name, parts: own }) => {
    const value = kept[name] as Values | undefined;
    return own && value ? [[name, withKept(own.fields, { ...(record[name] as Values | null) }, value)] as const] : [];
  });
  return { ...record, ...kept, ...Object.fromEntries(parts) };
}

function hidden(value: unknown): unknown {
  if (typeof value === "string") return value === "" ? "" : "…";
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(hidden);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hidden(each)]));
}

/** What is sent to change a record: only what is another than before, so that the audit log says what changed. */
export function bodyToChange(fields: readonly Field[], values: Values, before: Values): Values {
  const changed = fields.flatMap((field) => {
    if (field.fixed) return [];
    if (field.parts && isAsked(field, values)) return changedParts(field, field.parts, values, before);
    const value = isAsked(field, values) ? wireValue(field, values[field.name]) : field.absent;
    const same = JSON.stringify(value ?? null) === JSON.stringify(wireValue(field, before[field.name]) ?? null);
    return same || value === undefined ? [] : [[field.name, value] as const];
  });
  return Object.fromEntries(changed);
}

function changedParts({ name }: Field, parts: Parts, values: Values, before: Values): [string, Values][] {
  const now = partsOf(parts, values[name]);
  const was = before[name] as Values | null | undefined;
  const body = was ? bodyToChange(parts.fields, now, was) : bodyToMake(parts.fields, now);
  return Object.keys(body).length === 0 ? [] : [[name, body]];
}

/** A value as the API takes it; undefined leaves it out. */
function wireValue({ input, required, parts }: Field, value: unknown): unknown {
  if (parts) return bodyToMake(parts.fields, partsOf(parts, value));
  if (input.kind === "text" || input.kind === "long") {
    if (typeof value === "string" && value !== "") return value;
    // What must be there is sent as it is: the server says what is wrong with it.
    if (required || (input.kind === "text" && input.empty === "itself")) return "";
    return input.kind === "text" && input.empty === "omit" ? undefined : null;
  }
  if (input.kind === "choice" && input.number) return typeof value === "string" ? Number(value) : undefined;
  if (input.kind === "number") return typeof value === "number" ? value : null;
  return value;
}

const ITEMS_LOOKED_AT = 50;

/** What is wrong with a field; of a list, with the first of its items that is wrong. */
export function faultOf({ name, input }: Field, faultAt: OwnInputProps["faultAt"]): string | undefined {
  if (input.kind === "own") return faultAt(name) ?? faultAt(`${name}.*`);
  const isList = input.kind === "several" || input.kind === "list" || input.kind === "phrases";
  const places = Array.from({ length: isList ? ITEMS_LOOKED_AT : 0 }, (_, at) => `${name}[${at}]`);
  return [name, ...places].map(faultAt).find((fault) => fault !== undefined);
}
