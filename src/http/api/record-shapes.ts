import type { Shelf } from "../../catalog/read-record.ts";
import { changeShape, newShape, storedShape, type RecordKind } from "../../catalog/record-kind.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type, type Fields, type ObjectSchema, type Schema } from "../../lib/schema.ts";
import type { Role } from "../../model/account.ts";
import type { CatalogContents, CatalogKind } from "../../model/catalog.ts";

/** What the reference tells about the records of a shelf. */
export interface Telling {
  shelf: Shelf;
  /** The heading they stand under; the shelf's own name unless given. */
  group?: string;
  /** Who may change them, where it is not every member. */
  changedBy?: Role;
  /** What they are for. */
  about: string;
  /** In the order of the shelf. */
  kinds: readonly [ToldKind, ...ToldKind[]];
  /** Fields that several kinds have, each in its own way, as they are told of all of them. */
  common?: Fields;
  createExamples: Readonly<Record<string, object>>;
  changeExamples: Readonly<Record<string, object>>;
}

export interface ToldKind<K extends CatalogKind = CatalogKind> {
  kind: RecordKind<K>;
  /** Its name in the reference. */
  title: string;
  /** Fields that an answer shows beside those that are given, or otherwise than they are given. */
  shown?: Fields;
  example: { name: string; content: CatalogContents[K] };
}

const CHANNEL = "The channel it is for, which decides about its other fields";

/** A record of any kind on the shelf, as it is answered. */
export const viewOfShelf = (telling: Telling): Schema =>
  together(telling, "", `${CHANNEL}.`, ({ kind, shown }) => {
    const { id, ...rest } = standing(telling, kind);
    return { id, ...storedShape(kind), ...shown, ...rest };
  });

/** A new record of any kind on the shelf, as it is given. */
export function newOfShelf(telling: Telling): Schema {
  const [usual] = telling.shelf.kinds;
  return together(
    telling,
    "New",
    `${CHANNEL}; ${usual.channel} unless given.`,
    ({ kind }) => newShape(kind).properties,
    (kind) => kind === usual,
  );
}

/** A change of a record of any kind on the shelf. */
export const changeOfShelf = (telling: Telling): Schema =>
  together(
    telling,
    "Change",
    `The channel it is for. A ${telling.shelf.one} keeps it.`,
    ({ kind }) => changeShape(kind).properties,
    () => true,
  );

/** What an answer says about a record beside its name and fields. */
function standing({ shelf: { one } }: Telling, { builtIn }: RecordKind) {
  const unlessBuiltIn = (schema: Schema, description: string): Schema =>
    builtIn ? nullable(schema, `${description} Null when it is built in.`) : { ...schema, description };
  const origins = ["authored", "learned", ...(builtIn ? ["built-in"] : [])];
  return {
    id: unlessBuiltIn(Type.String(), `Names the ${one} in paths.`),
    origin: Type.Union(
      origins.map((origin) => Type.Literal(origin)),
      {
        description: `Whether somebody made it, or it was taken from a request that ended in the simulator${builtIn ? ", or was always there" : ""}.`,
      },
    ),
    createdAt: unlessBuiltIn(Type.Integer(), "Epoch milliseconds."),
    updatedAt: unlessBuiltIn(Type.Integer(), "When it last changed, in epoch milliseconds."),
  };
}

/**
 * One schema for all kinds of a shelf. Of several it is exact in its branches, and has all their fields side by side
 * before them: readers want one table, and not every tool knows branches.
 */
function together(
  { shelf, kinds, common }: Telling,
  prefix: string,
  about: string,
  fieldsOf: (told: ToldKind) => Fields,
  mayLack: (kind: RecordKind) => boolean = () => false,
): Schema {
  const title = `${prefix}${shelf.one.charAt(0).toUpperCase()}${shelf.one.slice(1)}`;
  const [only] = kinds;
  if (kinds.length === 1) return Type.Object(fieldsOf(only), { title: prefix + only.title });
  const branches = kinds.map((told) => {
    const { kind, title: own } = told;
    const channel = Type.Literal(kind.channel ?? "", { description: about });
    return Type.Object(
      { channel: mayLack(kind) ? Type.Optional(channel) : channel, ...fieldsOf(told) },
      { title: prefix + own },
    );
  });
  const channel = Type.Union(
    kinds.map(({ kind }) => Type.Literal(kind.channel ?? "")),
    { description: about },
  );
  const fields: Fields = Object.assign({}, ...branches.map(({ properties }) => properties));
  const told = Object.entries(fields).map(([field, schema]): [string, Schema] => {
    const owners = kinds.filter((_, index) => Object.hasOwn(branches[index]?.properties ?? {}, field));
    return [field, owners.length === kinds.length ? schema : onlyOn(owners, schema)];
  });
  const properties: Fields = { ...Object.fromEntries(told), ...common, channel };
  return { title, type: "object", required: requiredIn(branches), properties, anyOf: branches };
}

const onlyOn = (owners: readonly ToldKind[], schema: Schema): Schema => ({
  ...schema,
  description: `On ${owners.map(({ kind }) => kind.channel).join(" and ")}: ${schema.description ?? ""}`,
});

/** The fields that no branch does without. */
const requiredIn = ([first, ...others]: readonly ObjectSchema[]): readonly string[] =>
  (first?.required ?? []).filter((field) => others.every((other) => other.required?.includes(field)));
