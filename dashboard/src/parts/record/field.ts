import type { ComponentType } from "react";

/** The values of a record, with the field names of the API. */
export type Values = Readonly<Record<string, unknown>>;

export interface Option {
  value: string;
  label: string;
}

/** Props of a custom input. */
export interface OwnInputProps {
  label: string;
  hint: string | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
  disabled: boolean;
  /** The server's error for a path such as `headers[0].key`, or for any path within `headers.*`. */
  faultAt: (path: string) => string | undefined;
  /** Values of all fields, for inputs that depend on others. */
  values: Values;
}

type Input =
  /** One line. `empty` decides how an empty text is sent; by default as null. */
  | {
      kind: "text";
      type?: "url" | "tel" | "email" | "password";
      placeholder?: string;
      empty?: "null" | "omit" | "itself";
      /** Suggested values. Any other value is allowed too. */
      suggestions?: readonly string[];
    }
  | { kind: "long"; placeholder?: string; rows?: number }
  /** `grouped: false` omits the thousands separator. */
  | { kind: "number"; min?: number; max?: number; suffix?: string; placeholder?: string; grouped?: boolean }
  /** `none` is the label of null. `number` sends the selected value as a number. */
  | { kind: "choice"; options: readonly Option[]; none?: string; number?: true; searchable?: true }
  | { kind: "several"; options: readonly Option[] }
  /** An ordered list of words. */
  | { kind: "list"; placeholder?: string }
  /** A list whose items may contain spaces. */
  | { kind: "phrases"; placeholder?: string }
  | { kind: "switch" }
  | { kind: "own"; component: ComponentType<OwnInputProps> };

/** Name of the collapsible section for fields that few records need. */
export const ADVANCED = "advanced";

/** Description of a record's field. It determines the input, the request body and the place of errors. */
export interface Field {
  name: string;
  label: string;
  /** Help text, which may depend on other values. */
  hint?: string | ((values: Values) => string | undefined);
  /** Help text for a new record, if it differs. */
  hintNew?: string;
  input: Input;
  required?: boolean;
  /** Changes to other fields that a choice implies. */
  implies?: (value: unknown, values: Values) => Values;
  /** Can only be set when the record is created. */
  fixed?: boolean;
  /** Shows the field only while this is true. Otherwise the record gets the value of `absent`. */
  when?: (values: Values) => boolean;
  absent?: unknown;
  /** Heading above this field and the following ones of the same section. */
  section?: string;
  /** Puts the field into the section "More settings", or into the one with this name. */
  more?: true | typeof ADVANCED;
  /** Write-only. Password fields always are. */
  secret?: true;
  /** A custom input without secrets, so its value may be stored in a draft. */
  secretFree?: true;
  /** The known fields of a nested object. Its other fields are not sent and keep their values. */
  parts?: Parts;
}

export interface Parts {
  fields: readonly Field[];
  /** Defaults of a new object. */
  starts: Values;
}

/** The values of a nested object, with defaults for missing ones. */
export const partsOf = ({ starts }: Parts, value: unknown): Values => ({ ...starts, ...(value as Values | null) });

const isAsked = (field: Field, values: Values): boolean => field.when?.(values) ?? true;

/** The fields that are visible with the given values. */
export const fieldsAsked = (fields: readonly Field[], values: Values): Field[] =>
  fields.filter((field) => isAsked(field, values));

/** The request body that creates a record. */
export function bodyToMake(fields: readonly Field[], values: Values): Values {
  const asked = fieldsAsked(fields, values).map((field) => [field, wireValue(field, values[field.name])] as const);
  return Object.fromEntries(asked.flatMap(([{ name }, value]) => (value === undefined ? [] : [[name, value]])));
}

const isSecret = ({ input, secret }: Field): boolean =>
  secret === true || (input.kind === "text" && input.type === "password");

/** The same body with secrets hidden, for commands that users share or show. */
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
 * The values that a draft may store. A custom input can hold a secret that its description does not name, so of custom
 * inputs only described parts and those marked `secretFree` are stored.
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

/** A record with the values of a draft. Values that drafts omit, such as secrets, come from the record. */
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

/** The request body that changes a record. It has changed values only, so the audit log names the changes. */
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

/** The value as the API takes it; undefined omits the field. */
function wireValue({ input, required, parts }: Field, value: unknown): unknown {
  if (parts) return bodyToMake(parts.fields, partsOf(parts, value));
  if (input.kind === "text" || input.kind === "long") {
    if (typeof value === "string" && value !== "") return value;
    // An empty required field is sent, so that the server reports it.
    if (required || (input.kind === "text" && input.empty === "itself")) return "";
    return input.kind === "text" && input.empty === "omit" ? undefined : null;
  }
  if (input.kind === "choice" && input.number) return typeof value === "string" ? Number(value) : undefined;
  if (input.kind === "number") return typeof value === "number" ? value : null;
  return value;
}

const ITEMS_LOOKED_AT = 50;

/** The error of a field, or of the first invalid item of a list. */
export function faultOf({ name, input }: Field, faultAt: OwnInputProps["faultAt"]): string | undefined {
  if (input.kind === "own") return faultAt(name) ?? faultAt(`${name}.*`);
  const isList = input.kind === "several" || input.kind === "list" || input.kind === "phrases";
  const places = Array.from({ length: isList ? ITEMS_LOOKED_AT : 0 }, (_, at) => `${name}[${at}]`);
  return [name, ...places].map(faultAt).find((fault) => fault !== undefined);
}
