const FIELDS_MAX = 20;
const DEPTH_MAX = 4;
const CHARACTERS_MAX = 1000;

/** Names that programmers give to fields. Other names may be data: a phone number as the name of a variable. */
const FIELD_NAME = /^[A-Za-z][A-Za-z_-]{0,39}\d?$/;

/**
 * Describes a body as JSON without its content: field names, types, and the number of items. Booleans and null stay. Texts and
 * numbers are named by their type only; `withLengths` adds the lengths of texts, which would tell about a password.
 */
export function bodyShape(body: unknown, withLengths: boolean): string | null {
  if (typeof body !== "object" || body === null || ArrayBuffer.isView(body)) return null;
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    const text = JSON.stringify(shapeOf(body, withLengths, depth));
    if (text.length <= CHARACTERS_MAX) return text;
  }
  return JSON.stringify(shapeOf(body, withLengths, DEPTH_MAX));
}

function shapeOf(value: unknown, withLengths: boolean, depth: number): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return withLengths ? `string(${value.length})` : "string";
  if (typeof value !== "object") return typeof value;
  if (Array.isArray(value)) {
    if (depth >= DEPTH_MAX || value.length === 0) return `array(${value.length})`;
    const first = shapeOf(value[0], withLengths, depth + 1);
    return value.length === 1 ? [first] : [first, `${value.length - 1} more`];
  }
  const names = Object.keys(value);
  if (depth >= DEPTH_MAX) return `object(${names.length})`;
  const fields = value as Record<string, unknown>;
  const shown = names
    .slice(0, FIELDS_MAX)
    .map((name) => [shownName(name), shapeOf(fields[name], withLengths, depth + 1)] as const);
  const more = names.length - shown.length;
  return Object.fromEntries(more > 0 ? [...shown, ["…", `${more} more`]] : shown);
}

/** The name of a field or of a query parameter, unless it may be data. */
export const shownName = (name: string): string => (FIELD_NAME.test(name) ? name : "(other name)");
