import Type, { type TSchema } from "typebox";
import type { AccountCatalog } from "../../catalog/catalog.ts";
import { newId } from "../../lib/ids.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import type { CatalogContents, CatalogKind, CatalogRecord } from "../../model/catalog.ts";
import { Problem, type Fault, type ProblemCode } from "../../model/problem.ts";
import { readLimit, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

/** What one kind of record has of its own; all that is the same for every kind, `recordRoutes` knows. */
interface RecordKind<K extends CatalogKind, F extends object> {
  /** Also what people call it. Its doors are at `/api/<kind>s`. */
  kind: K;
  /** What such records are for. */
  about: string;
  name: { meaning: string; max?: number; example: string };
  /** The fields that people give. Those that a new record may leave out have a default. */
  fields: Readonly<Record<keyof F, TSchema>>;
  defaults: Partial<F>;
  /** Fields that an answer shows beside those, or otherwise than they are given. */
  shown?: Readonly<Record<string, TSchema>>;
  contentExample: CatalogContents[K];
  createExamples: Readonly<Record<string, object>>;
  changeExamples: Readonly<Record<string, object>>;
  /** Makes what is stored out of what was given; what is wrong goes to `faults`, by field. */
  read(given: GivenRecord<K, F>): CatalogContents[K];
  /** The name where none is given; without this, a new record must have one. */
  nameOf?(fields: F, known: CatalogRecord<K> | null): string;
  /** Refuses to remove what something else still needs. */
  keep?: { problems: readonly ProblemCode[]; refuse(record: CatalogRecord<K>, catalog: AccountCatalog): void };
  /** Always there, without a record that could be changed. */
  builtIn?: readonly Pick<CatalogRecord<K>, "name" | "content">[];
}

/** A record as it would be after the request. */
export interface GivenRecord<K extends CatalogKind, F extends object> {
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

const NAME_MAX = 100;
const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const EXAMPLE_TIME = 1767225600000;

export const nullable = (schema: TSchema, description: string): TSchema =>
  Type.Union([schema, Type.Null()], { description });

/** The five doors of a kind of record: list, read, make, change, remove. */
export function recordRoutes<K extends CatalogKind, F extends object>(kind: RecordKind<K, F>): readonly KeyedRoute[] {
  const one = kind.kind;
  const many = `${one}s`;
  const path = `/api/${many}`;
  const { View, CreateBody, ChangeBody } = schemasOf(kind);
  const example = viewOf({
    id: EXAMPLE_ID,
    name: kind.name.example,
    content: kind.contentExample,
    origin: "authored",
    createdAt: EXAMPLE_TIME,
    updatedAt: EXAMPLE_TIME,
  });
  const common = { family: "plain", scope: "manage", group: titleOf(many) } as const;
  const ofOne = {
    path: `${path}/:id`,
    params: { id: { meaning: `The ${one}'s \`id\`.`, example: EXAMPLE_ID } },
    response: View,
    responseExample: example,
  };
  const effect = "It takes effect at once here and within five seconds on every other node.";
  return [
    {
      ...common,
      method: "GET",
      path,
      summary: `List ${many}`,
      description: `${kind.about} By name.`,
      query: {
        name: `Only the ${one} of this name.`,
        cursor: "The nextCursor of the page before.",
        limit: "1 to 200, 50 unless given.",
      },
      response: Type.Object({
        data: Type.Array(View, { description: `One page of ${many}.` }),
        nextCursor: nullable(Type.String(), "The cursor of the next page; null on the last."),
      }),
      responseExample: { data: [example], nextCursor: null },
      handle: async (services, call) => pageOf(kind, await recordsNow(services, call), call.query),
    },
    {
      ...common,
      ...ofOne,
      method: "GET",
      summary: `Read a ${one}`,
      description: `One ${one} with all its fields.`,
      problems: ["RECORD_NOT_FOUND"],
      handle: async (services, call) => viewOf(await find(services, call, one)),
    },
    {
      ...common,
      method: "POST",
      path,
      summary: `Make a ${one}`,
      status: 201,
      description: `${effect} What was learned from requests under its name becomes this ${one}.`,
      problems: ["NAME_TAKEN"],
      body: CreateBody,
      requestExamples: kind.createExamples,
      response: View,
      responseExample: example,
      handle: async (services, call) => {
        const record = await create(kind, services, call);
        call.reply.code(201);
        return viewOf(record);
      },
    },
    {
      ...common,
      ...ofOne,
      method: "PATCH",
      summary: `Change a ${one}`,
      description: `Changes the fields that are given. ${effect} What was learned from requests is authored from now on.`,
      problems: ["RECORD_NOT_FOUND", "NAME_TAKEN"],
      body: ChangeBody,
      requestExamples: kind.changeExamples,
      handle: async (services, call) => viewOf(await change(kind, services, call)),
    },
    {
      ...common,
      ...ofOne,
      method: "DELETE",
      summary: `Remove a ${one}`,
      description: `Answers the ${one} as it was. ${effect}`,
      problems: ["RECORD_NOT_FOUND", ...(kind.keep?.problems ?? [])],
      handle: async (services, call) => viewOf(await remove(kind, services, call)),
    },
  ];
}

const titleOf = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function schemasOf<K extends CatalogKind, F extends object>(kind: RecordKind<K, F>) {
  const { kind: one, defaults, builtIn, shown = {}, nameOf } = kind;
  const fields: Record<string, TSchema> = kind.fields;
  const { meaning, max = NAME_MAX } = kind.name;
  const name = Type.String({ minLength: 1, maxLength: max, description: meaning });
  const optional = Object.entries(fields).map(([field, schema]): [string, TSchema] => [
    field,
    Object.hasOwn(defaults, field) ? Type.Optional(schema) : schema,
  ]);
  const unlessBuiltIn = (schema: TSchema, description: string): TSchema =>
    builtIn ? nullable(schema, `${description} Null when it is built in.`) : { ...schema, description };
  const origins = ["authored", "learned", ...(builtIn ? ["built-in"] : [])];
  const View = Type.Object(
    {
      id: unlessBuiltIn(Type.String(), `Names the ${one} in paths.`),
      name,
      ...fields,
      ...shown,
      origin: Type.Union(
        origins.map((origin) => Type.Literal(origin)),
        {
          description: `Whether somebody made it, or it was taken from a request that ended in the simulator${builtIn ? ", or was always there" : ""}.`,
        },
      ),
      createdAt: unlessBuiltIn(Type.Integer(), "Epoch milliseconds."),
      updatedAt: unlessBuiltIn(Type.Integer(), "When it last changed, in epoch milliseconds."),
    },
    { title: titleOf(one) },
  );
  return {
    View,
    CreateBody: Type.Object({ name: nameOf ? Type.Optional(name) : name, ...Object.fromEntries(optional) }),
    ChangeBody: Type.Partial(Type.Object({ name, ...fields })),
  };
}

interface Shown {
  id: string | null;
  name: string;
  content: object;
  origin: string;
  createdAt: number | null;
  updatedAt: number | null;
}

const viewOf = ({ id, name, content, origin, createdAt, updatedAt }: Shown): object => ({
  id,
  name,
  ...content,
  origin,
  createdAt,
  updatedAt,
});

/** The account's records as they are stored: another node may have changed them a moment ago. */
async function recordsNow({ catalog }: Services, { caller }: AuthenticCall): Promise<AccountCatalog> {
  await catalog.refresh();
  return catalog.of(caller.account.id);
}

function pageOf<K extends CatalogKind>(
  { kind, builtIn = [] }: Pick<RecordKind<K, never>, "kind" | "builtIn">,
  catalog: AccountCatalog,
  query: AuthenticCall["query"],
): object {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  refuseFaults(faults);
  const all: Shown[] = [
    ...builtIn.map((each) => ({ ...each, id: null, origin: "built-in", createdAt: null, updatedAt: null })),
    ...catalog.named(kind).values(),
  ];
  const left = all
    .filter(({ name }) => query.name === undefined || name === query.name)
    .filter(({ name }) => query.cursor === undefined || name > query.cursor)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const page = left.slice(0, limit);
  return { data: page.map(viewOf), nextCursor: left.length > limit ? (page.at(-1)?.name ?? null) : null };
}

async function find<K extends CatalogKind>(
  services: Services,
  call: AuthenticCall,
  kind: K,
): Promise<CatalogRecord<K>> {
  await services.catalog.refresh();
  const record = services.catalog.find(call.caller.account.id, kind, call.params.id ?? "");
  if (!record) throw new Problem("RECORD_NOT_FOUND");
  return record;
}

/** Makes a record; what was learned under its name becomes it. */
async function create<K extends CatalogKind, F extends object>(
  kind: RecordKind<K, F>,
  services: Services,
  call: AuthenticCall,
): Promise<CatalogRecord<K>> {
  const { name, content } = readRecord(kind, call.body, null, await recordsNow(services, call));
  const now = services.clock.now();
  const record: CatalogRecord<K> = {
    accountId: call.caller.account.id,
    kind: kind.kind,
    id: newId(now),
    name,
    origin: "authored",
    content,
    createdAt: now,
    updatedAt: now,
  };
  if (await services.store.insertCatalogRecord(record)) {
    await services.catalog.refresh();
    return record;
  }
  const known = (await recordsNow(services, call)).named(kind.kind).get(name);
  if (known?.origin !== "learned") throw nameTaken(record, call.body);
  return author(services, call, { ...known, content });
}

async function change<K extends CatalogKind, F extends object>(
  kind: RecordKind<K, F>,
  services: Services,
  call: AuthenticCall,
): Promise<CatalogRecord<K>> {
  const known = await find(services, call, kind.kind);
  const changes = readRecord(kind, call.body, known, services.catalog.of(known.accountId));
  return author(services, call, { ...known, ...changes });
}

/** Writes a record that is there already, as somebody's own from now on. */
async function author<K extends CatalogKind>(
  services: Services,
  call: AuthenticCall,
  record: CatalogRecord<K>,
): Promise<CatalogRecord<K>> {
  await store(services, record);
  const authored: CatalogRecord<K> = { ...record, origin: "authored", updatedAt: services.clock.now() };
  const result = await services.store.changeCatalogRecord(authored);
  if (result === "missing") throw new Problem("RECORD_NOT_FOUND");
  if (result === "name taken") throw nameTaken(authored, call.body);
  await services.catalog.refresh();
  return authored;
}

async function remove<K extends CatalogKind, F extends object>(
  kind: RecordKind<K, F>,
  services: Services,
  call: AuthenticCall,
): Promise<CatalogRecord<K>> {
  const record = await find(services, call, kind.kind);
  kind.keep?.refuse(record, services.catalog.of(record.accountId));
  await store(services, record);
  const removed = await services.store.removeCatalogRecord(record.accountId, record.kind, record.id);
  if (!removed) throw new Problem("RECORD_NOT_FOUND");
  await services.catalog.refresh();
  return record;
}

/** What was learned a moment ago may be in memory only, and would be written over what is done to it now. */
async function store({ catalog }: Services, { origin }: CatalogRecord): Promise<void> {
  if (origin === "learned") await catalog.saveLearned();
}

/** The name and the content that a request asks for: what it does not name stays as it is, or has its default. */
function readRecord<K extends CatalogKind, F extends object>(
  kind: RecordKind<K, F>,
  body: unknown,
  known: CatalogRecord<K> | null,
  catalog: AccountCatalog,
): Pick<CatalogRecord<K>, "name" | "content"> {
  const given = body as { name?: string };
  const ours = Object.entries(given).filter(([field]) => Object.hasOwn(kind.fields, field));
  const fields = { ...kind.defaults, ...known?.content, ...Object.fromEntries(ours) } as F;
  const name = given.name ?? kind.nameOf?.(fields, known) ?? known?.name ?? "";
  const faults: Fault[] = [];
  const max = kind.name.max ?? NAME_MAX;
  if (given.name !== undefined && !(isPlainText(name) && name === name.trim() && name.length <= max)) {
    const message = `name is plain text of 1 to ${max} characters, without control characters or spaces at its ends.`;
    faults.push({ parameter: "name", message });
  }
  const content = kind.read({ name, fields, named: new Set(Object.keys(given)), known, catalog, faults });
  refuseFaults(faults);
  return { name, content };
}

function nameTaken({ kind, name }: CatalogRecord, body: unknown): Problem {
  const message = `There is a ${kind} ${JSON.stringify(name)} already: use another name, or change that one.`;
  const isGiven = (body as { name?: string }).name !== undefined;
  return new Problem("NAME_TAKEN", isGiven ? { faults: [{ parameter: "name", message }] } : { message });
}
