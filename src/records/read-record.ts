import { isObject } from "../lib/json.ts";
import type { ObjectSchema } from "../lib/schema.ts";
import { fieldOf, pickFields, shapeChecker, smallestOf, withDefaults } from "../lib/shape.ts";
import type { CatalogContents, CatalogKind, CatalogRecord } from "../model/catalog.ts";
import { Problem, refuseFaults, type Fault } from "../model/problem.ts";
import type { AccountCatalog } from "./catalog.ts";
import { unknownNames, updateSchema, newSchema, type SecretFactory, type RecordDefinition } from "./record-type.ts";

/** A resource at `/api/<many>`, and a part of the configuration file of the same name. */
export interface RecordType {
  singular: string;
  plural: string;
  /** Several definitions differ by `channel`; the first is the default. */
  definitions: readonly [RecordDefinition, ...RecordDefinition[]];
}

interface Reading {
  /** Current record; null for a new one. */
  known: CatalogRecord | null;
  /** Other records of the account. */
  catalog: AccountCatalog;
  /** Stored records whose secrets are kept when a whole file replaces them. */
  stored?: AccountCatalog;
  /** Refuses unknown fields, which are ignored otherwise. */
  strict?: boolean;
}

interface ReadRecord {
  definition: RecordDefinition;
  name: string;
  content: CatalogContents[CatalogKind];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Validates a create or update request. Omitted fields keep their value or get the default. All faults are reported at
 * once.
 */
export function readRecord(
  type: RecordType,
  body: unknown,
  { known, catalog, stored: replaced, strict = false }: Reading,
): ReadRecord {
  const given = objectOf(type, body);
  const definition = known ? definitionOf(type, known) : definitionFor(type, given);
  const faults: Fault[] = [
    ...schemaOf(definition, known).faultsIn(given),
    ...foreignFields(type, definition, given, strict),
  ];
  if (given["channel"] !== undefined && definition.channel !== undefined && given["channel"] !== definition.channel) {
    const message = `The channel of a ${type.singular} cannot be changed: create another ${type.singular} instead.`;
    faults.push({ parameter: "channel", message });
  }
  // Rules apply to well-typed values only; others are replaced by the current value or the default.
  const wrongParts = known ? wrongPartsOf(given, faults) : new Map<string, ReadonlySet<string>>();
  const wrong = new Set(faults.map(({ parameter }) => fieldOf(parameter)).filter((field) => !wrongParts.has(field)));
  const right = Object.fromEntries(
    Object.entries(given)
      .filter(([field]) => !wrong.has(field))
      .map(([field, value]) => [field, without(value, wrongParts.get(field))]),
  );
  const ours = pickFields(definition.fields, schemaOf(definition, known).fillIn(right));
  const fields = {
    ...standIns(definition, wrong),
    ...definition.defaults,
    ...known?.content,
    ...ours,
  };
  const broken: Fault[] = [];
  const { name: written } = right;
  const unnamed = (): string => definition.nameOf?.(fields, known) ?? known?.name ?? "";
  const name = typeof written === "string" ? (definition.name.normalize?.(written) ?? written) : unnamed();
  const stored = known ?? replaced?.named(definition.kind).get(name) ?? null;
  const named = new Set(Object.keys(right));
  const content = definition.read({ name, fields, named, known, stored, catalog, faults: broken });
  const isInWrongPart = ({ parameter }: Fault): boolean =>
    wrongParts.get(fieldOf(parameter))?.has(partOf(parameter)) ?? false;
  const certain = broken.filter(
    (fault) => isCertain(definition, fieldOf(fault.parameter), wrong) && !isInWrongPart(fault),
  );
  refuseFaults([...faults, ...certain]);
  return { definition, name, content };
}

/** `errors` of `http.errors[0].status`. */
const partOf = (parameter: string): string => parameter.split(/[.[]/, 2)[1] ?? "";

/**
 * The wrong parts of nested fields, such as `errors` of `http`. An update keeps the stored value of an omitted part, so the
 * rules of the other parts can be checked without them.
 */
function wrongPartsOf(given: Fields, faults: readonly Fault[]): Map<string, ReadonlySet<string>> {
  const parts = new Map<string, Set<string>>();
  for (const { parameter } of faults) {
    const field = fieldOf(parameter);
    if (isObject(given[field])) parts.set(field, (parts.get(field) ?? new Set()).add(partOf(parameter)));
  }
  // A fault of the whole field leaves nothing to check.
  for (const [field, names] of parts) if (names.has("")) parts.delete(field);
  return parts;
}

const without = (value: unknown, parts: ReadonlySet<string> | undefined): unknown =>
  parts && isObject(value) ? Object.fromEntries(Object.entries(value).filter(([part]) => !parts.has(part))) : value;

/** Placeholders for required fields with a wrong type, so that the rules of other fields can be checked. */
const standIns = (definition: RecordDefinition, wrong: ReadonlySet<string>): Fields =>
  Object.fromEntries(
    Object.entries(definition.fields)
      .filter(([field]) => wrong.has(field) && !Object.hasOwn(definition.defaults, field))
      .map(([field, schema]) => [field, smallestOf(schema)]),
  );

/** True if a broken rule is caused by the request, not by a placeholder. */
function isCertain({ dependsOn = {} }: RecordDefinition, field: string, wrong: ReadonlySet<string>): boolean {
  const { [field]: others = [] } = dependsOn;
  return ![field, ...others].some((each) => wrong.has(each));
}

/** Adds generated and kept fields, such as secrets; `before` is the record being replaced. */
export const completeRecord = (
  { definition, content }: Pick<ReadRecord, "definition" | "content">,
  replaced: CatalogRecord | null,
  secrets: SecretFactory,
): ReadRecord["content"] => definition.complete?.(content, replaced?.content ?? null, secrets) ?? content;

/** Definition of a stored record. */
export function definitionOf({ definitions }: RecordType, record: Pick<CatalogRecord, "kind">): RecordDefinition {
  const found = definitions.find(({ kind }) => kind === record.kind);
  if (!found) throw new Error(`unexpected record kind ${record.kind}`);
  return found;
}

function objectOf({ singular }: RecordType, value: unknown): Fields {
  if (isObject(value)) return value;
  throw new Problem("INVALID_REQUEST", {
    faults: [{ parameter: "", message: `A ${singular} must be a JSON object.` }],
  });
}

function definitionFor({ definitions }: RecordType, { channel }: Fields): RecordDefinition {
  const [fallback] = definitions;
  if (fallback.channel === undefined || channel === undefined) return fallback;
  const chosen = definitions.find((definition) => definition.channel === channel);
  if (chosen) return chosen;
  const message = `channel must be one of ${definitions.map((definition) => definition.channel).join(", ")}. Defaults to ${fallback.channel}.`;
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "channel", message }] });
}

interface CompiledSchema {
  faultsIn(given: Fields): Fault[];
  /** Adds the defaults of omitted fields; in an update only within lists. */
  fillIn(right: Fields): Fields;
}

const compiled = new Map<RecordDefinition, { ofNew: CompiledSchema; ofChange: CompiledSchema }>();

function schemaOf(definition: RecordDefinition, known: CatalogRecord | null): CompiledSchema {
  let schemas = compiled.get(definition);
  if (!schemas) {
    schemas = { ofNew: compile(newSchema(definition)), ofChange: compile(updateSchema(definition)) };
    compiled.set(definition, schemas);
  }
  return known ? schemas.ofChange : schemas.ofNew;
}

function compile(schema: ObjectSchema): CompiledSchema {
  const fillIn = withDefaults(schema);
  return {
    faultsIn: shapeChecker(schema),
    fillIn: (right) => {
      const filled = fillIn(right);
      return isObject(filled) ? filled : right;
    },
  };
}

/**
 * Fields of another channel are refused, since they indicate a mistaken channel. Unknown fields may belong to a later
 * release.
 */
function foreignFields(
  { singular, definitions }: RecordType,
  definition: RecordDefinition,
  given: Fields,
  strict: boolean,
): Fault[] {
  const isOwn = (field: string): boolean =>
    field === "name" ||
    (field === "channel" && definition.channel !== undefined) ||
    Object.hasOwn(definition.fields, field);
  const ownersOf = (field: string): RecordDefinition[] =>
    definitions.filter(({ fields }) => Object.hasOwn(fields, field));
  const foreign = Object.keys(given).filter((field) => !isOwn(field) && ownersOf(field).length > 0);
  const unknown = strict ? unknownNames(given, (field) => isOwn(field) || ownersOf(field).length > 0) : [];
  return [
    ...foreign.map((parameter) => {
      const owners = ownersOf(parameter).map(({ channel }) => channel);
      const message = `This field is only for a ${singular} of channel ${owners.join(" or ")}; this one has channel ${definition.channel}.`;
      return { parameter, message };
    }),
    ...unknown.map((parameter) => ({ parameter, message: `A ${singular} has no such field.` })),
  ];
}
