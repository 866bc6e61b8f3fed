import type { Encryption } from "../lib/encryption.ts";
import { isPlainText } from "../lib/text.ts";
import {
  defaultsIn,
  Type,
  withoutDefault,
  type Fields,
  type FieldValues,
  type Infer,
  type ObjectSchema,
  type Typed,
} from "../lib/schema.ts";
import type { CatalogContents, CatalogKind, CatalogRecord } from "../model/catalog.ts";
import type { Channel } from "../model/message.ts";
import type { Fault, ProblemCode } from "../model/problem.ts";
import type { AccountCatalog } from "./catalog.ts";

/** Definition of one kind of record. Its schema is the source of checks, types, defaults and documentation. */
export interface RecordDefinition<K extends CatalogKind = CatalogKind, F extends Fields = Fields> {
  kind: K;
  /** Distinguishes the definitions of one record type; absent if there is only one. */
  channel?: Channel;
  name: NameRule;
  /** Fields of requests. A new record may omit those with a default. */
  fields: F;
  /** The defaults of `fields`. */
  defaults: Partial<FieldValues<F>>;
  /** Fields that the rules of a field depend on. If one of them is wrong, the rules cannot be checked. */
  dependsOn?: { readonly [field in keyof F]?: readonly (keyof F | "name")[] };
  /** Converts the request to stored content. Adds the faults that one field alone does not show. */
  read(given: GivenRecord<K, F>): CatalogContents[K];
  /** Default name; without it, a new record must have one. */
  nameOf?(fields: MergedFields<K, F>, known: CatalogRecord<K> | null): string;
  /** Adds generated fields to a new record and keeps those of an existing one. */
  complete?(content: CatalogContents[K], before: CatalogContents[K] | null, secrets: SecretFactory): CatalogContents[K];
  /** Content in responses. Defaults to all fields. */
  show?(content: CatalogContents[K]): object;
  /** Fields of responses that follow from the id. */
  showId?(id: string): object;
  /** Secret part of the content, used only to detect changes. */
  hidden?(content: CatalogContents[K]): unknown;
  /** Refuses to delete a record that others use. */
  deletionGuard?: { problems: readonly ProblemCode[]; refuse(record: CatalogRecord<K>, catalog: AccountCatalog): void };
  /** Built-in records, which cannot be changed. */
  builtIns?: readonly Pick<CatalogRecord<K>, "name" | "content">[];
}

/** Infers the types of a definition's rules from its schema. */
export const defineRecord = <K extends CatalogKind, F extends Fields>(
  definition: Omit<RecordDefinition<K, F>, "defaults">,
): RecordDefinition<K, F> => ({ ...definition, defaults: defaultsIn(definition.fields) });

/** Values of the request, or of the stored record where the request has none. */
export type MergedFields<K extends CatalogKind, F extends Fields> = {
  [N in keyof F]: Infer<F[N]> | (N extends keyof CatalogContents[K] ? CatalogContents[K][N] : never);
};

/** Generates secrets, and encrypts them for storage. */
export interface SecretFactory extends Encryption {
  /** Generates and encrypts a secret. */
  generate(): string;
}

export interface NameRule {
  schema: Typed<string>;
  /** The stored notation of a name; null if invalid. Defaults to the name as written. */
  normalize?(written: string): string | null;
}

/** Record as it would be after the request. */
export interface GivenRecord<K extends CatalogKind = CatalogKind, F extends Fields = Fields> {
  name: string;
  fields: MergedFields<K, F>;
  /** Fields present in the request. */
  named: ReadonlySet<string>;
  /** Current record; null for a new one. */
  known: CatalogRecord<K> | null;
  /** Stored record whose secrets are kept. Differs from `known` if a whole file is applied. */
  stored: CatalogRecord<K> | null;
  /** The account's records of every kind. */
  catalog: AccountCatalog;
  faults: Fault[];
}

/** Also the limit for bots and most templates in requests. */
export const NAME_MAX = 100;

/** A name of plain text. Other limits on texts count UTF-16 units too. */
export function plainName(description: string, max: number = NAME_MAX): NameRule {
  const rule = `name must be plain text of 1 to ${max} characters, without control characters or leading or trailing spaces.`;
  const check = (name: string): string | null =>
    isPlainText(name) && name === name.trim() && name.length <= max ? null : rule;
  return { schema: Type.String({ minLength: 1, maxLength: max, description, check }) };
}

/** Schema of a new record, with its defaults. */
export const newSchema = ({ name, nameOf, fields }: RecordDefinition): ObjectSchema =>
  Type.Object({ name: nameOf ? Type.Optional(name.schema) : name.schema, ...fields });

/** Schema of an update, with all fields optional. */
export const updateSchema = ({ name, fields }: RecordDefinition): ObjectSchema =>
  Type.Partial(Type.Object({ name: name.schema, ...fields }));

/** Schema of the request fields in a stored record, which has all of them. */
export const storedFields = ({ name, fields }: RecordDefinition): Fields => ({
  name: name.schema,
  ...Object.fromEntries(Object.entries(fields).map(([field, schema]) => [field, withoutDefault(schema)])),
});

/** Record in the form of a request, without derived fields. */
export function toFileRecord(
  definition: RecordDefinition,
  { name, content }: Pick<CatalogRecord, "name" | "content">,
): object {
  const channel = definition.channel && { channel: definition.channel };
  return { ...channel, name, ...toFileFields(definition, content) };
}

/** Request fields of a record, in the order of its definition. */
export function toFileFields(
  { fields, defaults, show }: RecordDefinition,
  content: CatalogContents[CatalogKind],
): Readonly<Record<string, unknown>> {
  // A field added by a later release has its default until it is changed.
  const all: Record<string, unknown> = { ...defaults, ...(show?.(content) ?? content) };
  return Object.fromEntries(Object.keys(fields).map((field) => [field, all[field]]));
}

/**
 * Encrypts a secret. An unchanged secret keeps its ciphertext, so that applying the same file twice changes nothing.
 */
export const encryptSecret = (plain: string, kept: string | null | undefined, secrets: SecretFactory): string =>
  kept && secrets.decrypt(kept) === plain ? kept : secrets.encrypt(plain);

const WORD = /^[A-Za-z][\w -]*$/;

/**
 * Unknown names in a configuration file. They are refused, because a typo that is ignored would be noticed too late.
 */
export const unknownNames = (given: object, isKnown: (name: string) => boolean): string[] =>
  Object.keys(given).filter((name) => !isKnown(name) && WORD.test(name));
