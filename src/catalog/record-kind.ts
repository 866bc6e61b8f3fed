import { isPlainText } from "../lib/plain-text.ts";
import { Type, type Fields, type ObjectSchema, type Schema } from "../lib/schema.ts";
import type { CatalogContents, CatalogKind, CatalogRecord } from "../model/catalog.ts";
import type { Channel } from "../model/message.ts";
import type { Fault, ProblemCode } from "../model/problem.ts";
import type { AccountCatalog } from "./catalog.ts";

/** What one kind of record has of its own; all that is the same for every kind, its readers know. */
export interface RecordKind<K extends CatalogKind = CatalogKind, F extends object = object> {
  kind: K;
  /** What tells it from the other kinds on its shelf; one that stands there alone has none. */
  channel?: Channel;
  name: NameRule;
  /** The fields that people give. Those that a new record may leave out have a default. */
  fields: Readonly<Record<keyof F, Schema>>;
  defaults: Partial<F>;
  /** Makes what is stored out of what was given; what is wrong goes to `faults`, by field. */
  read(given: GivenRecord<K, F>): CatalogContents[K];
  /** The name where none is given; without this, a new record must have one. */
  nameOf?(fields: F, known: CatalogRecord<K> | null): string;
  /** Adds what nobody writes into a record: it stays with the record, and a new one is born with its own. */
  complete?(content: CatalogContents[K], before: CatalogContents[K] | null, mint: Mint): CatalogContents[K];
  /** What answers show of it; everything unless given. */
  show?(content: CatalogContents[K]): object;
  /** What of it people gave and nobody is shown, only whether it is another. */
  hidden?(content: CatalogContents[K]): unknown;
  /** Refuses to remove what something else still needs. */
  keep?: { problems: readonly ProblemCode[]; refuse(record: CatalogRecord<K>, catalog: AccountCatalog): void };
  /** Always there, without a record that could be changed. */
  builtIn?: readonly Pick<CatalogRecord<K>, "name" | "content">[];
}

/** Makes secrets, and seals them as they are stored. */
export interface Mint {
  /** A new one, sealed. */
  make(): string;
  seal(text: string): string;
  open(sealed: string): string;
}

export interface NameRule {
  /** What the name is for. */
  meaning: string;
  max?: number;
  pattern?: string;
  /** The name in what was written, null when there is none; without this, plain text is taken as it is. */
  read?(written: string): string | null;
  /** What a name has to be, for whoever wrote something else. */
  rule?: string;
}

/** A record as it would be after the request. */
export interface GivenRecord<K extends CatalogKind = CatalogKind, F extends object = object> {
  name: string;
  fields: F;
  /** The names of the fields that the request has. */
  named: ReadonlySet<string>;
  /** As it is now; null for a new one. */
  known: CatalogRecord<K> | null;
  /** The account's records of every kind. */
  catalog: AccountCatalog;
  faults: Fault[];
}

/** Long enough for people; bots and templates of most channels go no further at their own doors. */
export const NAME_MAX = 100;

const nameShape = ({ meaning, max = NAME_MAX, pattern }: NameRule): Schema =>
  Type.String({ minLength: 1, maxLength: max, ...(pattern && { pattern }), description: meaning });

/** A new record as people give it. */
export function newShape({ name, nameOf, fields, defaults }: RecordKind): ObjectSchema {
  const named = nameShape(name);
  const optional = Object.entries<Schema>(fields).map(([field, schema]): [string, Schema] => [
    field,
    Object.hasOwn(defaults, field) ? Type.Optional(schema) : schema,
  ]);
  return Type.Object({ name: nameOf ? Type.Optional(named) : named, ...Object.fromEntries(optional) });
}

/** A change of a record: whatever is not given stays. */
export const changeShape = ({ name, fields }: RecordKind): ObjectSchema =>
  Type.Partial(Type.Object({ name: nameShape(name), ...fields }));

/** A record as it is stored, in the fields that people give. */
export const storedShape = ({ name, fields }: RecordKind): Fields => ({
  name: nameShape(name),
  ...fields,
});

/** The name in what was written; what is wrong with it goes to `faults`. */
export function readName({ max = NAME_MAX, read, rule }: NameRule, written: string, faults: Fault[]): string {
  const isPlain = isPlainText(written) && written === written.trim() && written.length <= max;
  const name = read ? read(written) : isPlain ? written : null;
  if (name !== null) return name;
  const plain = `name is plain text of 1 to ${max} characters, without control characters or spaces at its ends.`;
  faults.push({ parameter: "name", message: rule ?? plain });
  return written;
}

/** A record as people would give it: what follows from its other fields is left out. */
export function writtenRecord(kind: RecordKind, { name, content }: Pick<CatalogRecord, "name" | "content">): object {
  const channel = kind.channel && { channel: kind.channel };
  return { ...channel, name, ...writtenFields(kind, content) };
}

/** The fields of a record that people give, in the order in which its kind names them. */
export function writtenFields(
  { fields, defaults, show }: RecordKind,
  content: CatalogContents[CatalogKind],
): Readonly<Record<string, unknown>> {
  // A field that a later release added has its default until somebody changes it.
  const all: Record<string, unknown> = { ...defaults, ...(show?.(content) ?? content) };
  return Object.fromEntries(Object.keys(fields).map((field) => [field, all[field]]));
}
