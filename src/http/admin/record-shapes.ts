import type { RecordType } from "../../records/read-record.ts";
import { updateSchema, newSchema, storedFields, type RecordDefinition } from "../../records/record-type.ts";
import { nullable, Type, type Fields, type ObjectSchema, type Schema } from "../../lib/schema.ts";
import type { Role } from "../../model/account.ts";
import type { CatalogContents, CatalogKind } from "../../model/catalog.ts";

/** Documentation of a record type in the API reference. */
export interface RecordDocs {
  type: RecordType;
  /** Heading in the reference. Defaults to the plural of the record type. */
  group?: string;
  /** Role required for changes. Defaults to member. */
  updateRole?: Role;
  /** Test keys may read these records: requests refer to them, and they contain no secrets. */
  testKeysRead?: true;
  /** Purpose of the records. */
  about: string;
  /** In the order of the record type. */
  definitions: readonly [DocumentedType, ...DocumentedType[]];
  /** Descriptions of fields that several definitions have with different schemas. */
  sharedFields?: Fields;
  createExamples: Readonly<Record<string, object>>;
  updateExamples: Readonly<Record<string, object>>;
}

export interface DocumentedType<K extends CatalogKind = CatalogKind> {
  definition: RecordDefinition<K>;
  /** Schema name in the reference. */
  title: string;
  /** Fields that only responses have, or that differ in responses. */
  responseFields?: Fields;
  example: { name: string; content: CatalogContents[K] };
}

const CHANNEL = "Channel. It determines the other fields";

/** Schema of a record in a response. */
export const recordViewSchema = (docs: RecordDocs): Schema =>
  combinedSchema(docs, "", `${CHANNEL}.`, ({ definition, responseFields }) => {
    const { id, ...rest } = metadataFields(docs, definition);
    return { id, ...storedFields(definition), ...responseFields, ...rest };
  });

/** Schema of a new record in a request. */
export function newRecordSchema(docs: RecordDocs): Schema {
  const [fallback] = docs.type.definitions;
  return combinedSchema(
    docs,
    "New",
    `${CHANNEL}. Defaults to ${fallback.channel}.`,
    ({ definition }) => newSchema(definition).properties,
    (definition) => definition === fallback,
  );
}

/** Schema of an update in a request. */
export const recordUpdateSchema = (docs: RecordDocs): Schema =>
  combinedSchema(
    docs,
    "Change",
    "Channel. It cannot be changed.",
    ({ definition }) => updateSchema(definition).properties,
    () => true,
  );

/** Metadata fields of a record in a response. */
function metadataFields({ type: { singular } }: RecordDocs, { builtIns }: RecordDefinition) {
  const unlessBuiltIn = (schema: Schema, description: string): Schema =>
    builtIns ? nullable(schema, `${description} Null if built in.`) : { ...schema, description };
  const origins = ["authored", "learned", ...(builtIns ? ["built-in"] : [])];
  return {
    id: unlessBuiltIn(Type.String(), `ID of the ${singular}.`),
    origin: Type.Union(
      origins.map((origin) => Type.Literal(origin)),
      {
        description: `authored: created by a user or an API key. learned: taken from a request to the simulator.${builtIns ? " built-in: always present." : ""}`,
      },
    ),
    createdAt: unlessBuiltIn(Type.Integer(), "Time of creation, in epoch milliseconds."),
    updatedAt: unlessBuiltIn(Type.Integer(), "Time of the last change, in epoch milliseconds."),
  };
}

/**
 * One schema for all definitions of a record type. Several definitions become branches of `anyOf`; the union of their
 * fields is repeated at the top level, because the reference shows one table and some tools ignore branches.
 */
function combinedSchema(
  { type, definitions, sharedFields }: RecordDocs,
  prefix: string,
  about: string,
  fieldsOf: (documented: DocumentedType) => Fields,
  mayLack: (definition: RecordDefinition) => boolean = () => false,
): Schema {
  const title = `${prefix}${type.singular.charAt(0).toUpperCase()}${type.singular.slice(1)}`;
  const [only] = definitions;
  if (definitions.length === 1) return Type.Object(fieldsOf(only), { title: prefix + only.title });
  const branches = definitions.map((documented) => {
    const { definition, title: own } = documented;
    const channel = Type.Literal(definition.channel ?? "", { description: about });
    return Type.Object(
      { channel: mayLack(definition) ? Type.Optional(channel) : channel, ...fieldsOf(documented) },
      { title: prefix + own },
    );
  });
  const channel = Type.Union(
    definitions.map(({ definition }) => Type.Literal(definition.channel ?? "")),
    { description: about },
  );
  const fields: Fields = Object.assign({}, ...branches.map(({ properties }) => properties));
  const documented = Object.entries(fields).map(([field, schema]): [string, Schema] => {
    const owners = definitions.filter((_, index) => Object.hasOwn(branches[index]?.properties ?? {}, field));
    return [field, owners.length === definitions.length ? schema : onlyOn(owners, schema)];
  });
  const properties: Fields = { ...Object.fromEntries(documented), ...sharedFields, channel };
  return { title, type: "object", required: requiredIn(branches), properties, anyOf: branches };
}

const onlyOn = (owners: readonly DocumentedType[], schema: Schema): Schema => ({
  ...schema,
  description: `On ${owners.map(({ definition }) => definition.channel).join(" and ")}: ${schema.description ?? ""}`,
});

/** Fields required by all branches. */
const requiredIn = ([first, ...others]: readonly ObjectSchema[]): readonly string[] =>
  (first?.required ?? []).filter((field) => others.every((other) => other.required?.includes(field)));
