import { isObject } from "../../lib/json.ts";
import type { Schema } from "../../lib/schema.ts";
import type { AuditChange } from "../../model/audit.ts";

const CHANGES_MAX = 50;
const VALUE_MAX = 200;

interface Sides {
  body: unknown;
  before: unknown;
  after: unknown;
}

/**
 * The fields of a request whose values changed, with both values. Only numbers, switches and fixed choices are compared:
 * a free text may be a secret, a message or a phone number.
 */
export const changesOf = (schema: Schema | undefined, sides: Sides): AuditChange[] =>
  schema ? [...changesIn(schema, sides, "")].slice(0, CHANGES_MAX) : [];

function* changesIn(schema: Schema, { body, before, after }: Sides, path: string): Generator<AuditChange, void> {
  if (!isObject(body) || !isObject(after)) return;
  const old = isObject(before) ? before : {};
  for (const name of Object.keys(body)) {
    const field = fieldIn(schema, name);
    if (!field) continue;
    const sides = { body: body[name], before: old[name] ?? null, after: after[name] ?? null };
    if (!isPlain(field)) {
      yield* changesIn(field, sides, `${path}${name}.`);
      continue;
    }
    const [from, to] = [valueText(sides.before), valueText(sides.after)];
    if (from !== to) yield { field: path + name, before: from, after: to };
  }
}

/** A field of an object, also of one that may be null, or of one of several. */
function fieldIn({ properties = {}, anyOf = [], allOf = [] }: Schema, name: string): Schema | undefined {
  if (Object.hasOwn(properties, name)) return properties[name];
  for (const branch of [...anyOf, ...allOf]) {
    const found = fieldIn(branch, name);
    if (found) return found;
  }
  return undefined;
}

function isPlain({ type, const: constant, anyOf, items }: Schema): boolean {
  if (anyOf) return anyOf.every(isPlain);
  if (type === "array") return items !== undefined && isPlain(items);
  return constant !== undefined || type === "boolean" || type === "integer" || type === "number" || type === "null";
}

function valueText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = Array.isArray(value) ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
  return text.slice(0, VALUE_MAX);
}
