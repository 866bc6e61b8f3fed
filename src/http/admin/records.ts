import type { AccountCatalog } from "../../records/catalog.ts";
import { completeRecord, definitionOf, readRecord, type RecordType } from "../../records/read-record.ts";
import type { SecretFactory, RecordDefinition } from "../../records/record-type.ts";
import { isObject } from "../../lib/json.ts";
import { nullable, Type } from "../../lib/schema.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { createSecretFactory } from "../../webhooks/secrets.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters, textParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import {
  recordUpdateSchema,
  newRecordSchema,
  recordViewSchema,
  type RecordDocs,
  type DocumentedType,
} from "./record-shapes.ts";

export { nullable } from "../../lib/schema.ts";

/** Record id in examples. */
export const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const EXAMPLE_TIME = 1767225600000;

/** The five operations of a record type: list, get, create, update, delete. */
export function recordRoutes(docs: RecordDocs): readonly KeyedRoute[] {
  const { type, about, definitions, createExamples, updateExamples, updateRole } = docs;
  const { singular, plural } = type;
  const path = `/api/${plural}`;
  const View = recordViewSchema(docs);
  const { group = plural.charAt(0).toUpperCase() + plural.slice(1) } = docs;
  const common = { family: "plain", scope: "manage", group, testKeys: docs.testKeysRead ? "read" : null } as const;
  const writeAccess = { ...common, testKeys: null, ...(updateRole && { role: updateRole }) } as const;
  const item = {
    path: `${path}/:id`,
    params: { id: { meaning: `ID of the ${singular}.`, example: EXAMPLE_ID } },
    response: View,
    responseExample: exampleOf(definitions[0]),
  };
  const effect = "Takes effect at once on this node and within five seconds on all others.";
  return [
    {
      ...common,
      method: "GET",
      path,
      summary: `List ${plural}`,
      description: `${about} Sorted by name${isShared(type) ? ", then by channel" : ""}.`,
      query: {
        ...(isShared(type) && {
          channel: choiceParameter(
            type.definitions.map(({ channel = "" }) => channel),
            "Filter by channel.",
          ),
        }),
        name: textParameter("Filter by name.", definitions[0].example.name),
        q: textParameter(
          "Records whose name contains this, in capitals or not.",
          definitions[0].example.name.slice(0, 4),
        ),
        ...pageParameters(definitions[0].example.name),
      },
      response: Type.Object({
        data: Type.Array(View, { description: `Page of ${plural}.` }),
        nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
      }),
      responseExample: { data: definitions.map(exampleOf), nextCursor: null },
      handle: async (services, call) => pageOf(type, await currentRecords(services, call), call.query),
    },
    {
      ...common,
      ...item,
      method: "GET",
      summary: `Get a ${singular}`,
      description: `Returns one ${singular} with all its fields.`,
      problems: ["RECORD_NOT_FOUND"],
      handle: async (services, call) => viewOf(type, await find(type, services, call)),
    },
    {
      ...writeAccess,
      method: "POST",
      path,
      summary: `Create a ${singular}`,
      status: 201,
      description: `Creates a ${singular}. A learned ${singular} of the same name becomes this one. ${effect}`,
      problems: ["NAME_TAKEN"],
      body: newRecordSchema(docs),
      checkBody: false,
      requestExamples: createExamples,
      response: View,
      responseExample: exampleOf(definitions[0]),
      handle: async (services, call) => {
        const record = await create(type, services, call);
        call.reply.code(201);
        return viewOf(type, record);
      },
    },
    {
      ...writeAccess,
      ...item,
      method: "PATCH",
      summary: `Update a ${singular}`,
      description: `Changes only the fields in the request. A learned ${singular} becomes authored. ${effect}`,
      problems: ["RECORD_NOT_FOUND", "NAME_TAKEN"],
      body: recordUpdateSchema(docs),
      checkBody: false,
      requestExamples: updateExamples,
      handle: async (services, call) => viewOf(type, await change(type, services, call)),
    },
    {
      ...writeAccess,
      ...item,
      method: "DELETE",
      summary: `Delete a ${singular}`,
      description: `Deletes the ${singular} and returns it. ${effect}`,
      problems: ["RECORD_NOT_FOUND", ...type.definitions.flatMap(({ deletionGuard }) => deletionGuard?.problems ?? [])],
      handle: async (services, call) => viewOf(type, await remove(type, services, call)),
    },
  ];
}

/** With several definitions, a name is unique only per channel. */
const isShared = ({ definitions }: RecordType): boolean => definitions.length > 1;

interface RecordView {
  id: string | null;
  name: string;
  content: CatalogRecord["content"];
  origin: string;
  createdAt: number | null;
  updatedAt: number | null;
}

/** Record view for responses. */
export const viewOf = (type: RecordType, record: CatalogRecord): object => view(definitionOf(type, record), record);

const view = (
  { channel, defaults, show, showId }: RecordDefinition,
  { id, name, content, origin, createdAt, updatedAt }: RecordView,
): object => ({
  id,
  name,
  ...(channel && { channel }),
  // Records that were learned, or stored by an earlier release, may lack fields: fill in the defaults.
  ...defaults,
  ...(show?.(content) ?? content),
  ...(id !== null && showId?.(id)),
  origin,
  createdAt,
  updatedAt,
});

/** View of a documented example. */
export const exampleOf = ({ definition, example }: DocumentedType): object =>
  view(definition, {
    ...example,
    id: EXAMPLE_ID,
    origin: "authored",
    createdAt: EXAMPLE_TIME,
    updatedAt: EXAMPLE_TIME,
  });

/** Refreshes the catalog first, because another node may just have changed a record. */
async function currentRecords({ catalog }: Services, { caller }: AuthenticCall): Promise<AccountCatalog> {
  await catalog.refresh();
  return catalog.of(caller.account.id);
}

/** Sort key of a record. A tab separates name and channel because it sorts before all characters of names. */
const sortKeyOf = ({ channel }: RecordDefinition, name: string): string => (channel ? `${name}\t${channel}` : name);
const cursorOf = (sortKey: string): string => sortKey.replace("\t", ":");
const sortKeyIn = (type: RecordType, cursor: string): string =>
  isShared(type) ? cursor.replace(/:(\w+)$/, "\t$1") : cursor;

function pageOf(type: RecordType, catalog: AccountCatalog, query: AuthenticCall["query"]): object {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const definitions = definitionsIn(type, query.channel, faults);
  refuseFaults(faults);
  const after = query.cursor === undefined ? "" : sortKeyIn(type, query.cursor);
  const remaining = definitions
    .flatMap((definition) => matchingRecords(definition, catalog, query).map((record) => ({ definition, record })))
    .map(({ definition, record }) => ({ sortKey: sortKeyOf(definition, record.name), definition, record }))
    .filter(({ sortKey }) => sortKey > after)
    .toSorted((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
  const page = remaining.slice(0, limit);
  const last = remaining.length > limit ? page.at(-1) : undefined;
  return {
    data: page.map(({ definition, record }) => view(definition, record)),
    nextCursor: last ? cursorOf(last.sortKey) : null,
  };
}

function definitionsIn(type: RecordType, channel: string | undefined, faults: Fault[]): readonly RecordDefinition[] {
  const { definitions } = type;
  if (!isShared(type) || channel === undefined) return definitions;
  const chosen = definitions.filter((definition) => definition.channel === channel);
  if (chosen.length === 0) {
    const message = `channel must be one of ${definitions.map((definition) => definition.channel).join(", ")}; omit it for all.`;
    faults.push({ parameter: "channel", message });
  }
  return chosen;
}

/** Records of a definition, optionally filtered by name in any accepted notation. */
function matchingRecords(
  { kind, name, builtIns = [] }: RecordDefinition,
  catalog: AccountCatalog,
  { name: nameFilter, q }: AuthenticCall["query"],
): RecordView[] {
  const named: RecordView[] = [
    ...builtIns.map((each) => ({ ...each, id: null, origin: "built-in", createdAt: null, updatedAt: null })),
    ...catalog.named(kind).values(),
  ];
  const part = q?.toLowerCase() ?? "";
  const all = part === "" ? named : named.filter((each) => each.name.toLowerCase().includes(part));
  if (nameFilter === undefined) return all;
  const wanted = name.normalize?.(nameFilter) ?? nameFilter;
  return all.filter((each) => each.name === wanted);
}

/** Finds the record of the path. */
export async function find(type: RecordType, services: Services, call: AuthenticCall): Promise<CatalogRecord> {
  await services.catalog.refresh();
  return findInCatalog(type, services, call);
}

function findInCatalog(
  { definitions, singular, plural }: RecordType,
  { catalog }: Services,
  { caller, params }: AuthenticCall,
): CatalogRecord {
  for (const { kind } of definitions) {
    const record = catalog.find(caller.account.id, kind, params.id ?? "");
    if (record) return record;
  }
  throw new Problem("RECORD_NOT_FOUND", {
    message: `There is no ${singular} with this id: GET /api/${plural} lists them.`,
  });
}

/** Creates a record, or turns a learned record of the same name into an authored one. */
export function create(
  type: RecordType,
  services: Services,
  call: AuthenticCall,
  secrets: SecretFactory = createSecretFactory(services.deliverDeps.encryption),
): Promise<CatalogRecord> {
  const { store, catalog, clock } = services;
  const accountId = call.caller.account.id;
  return catalog.change(async (revision) => {
    const records = catalog.of(accountId);
    const read = readRecord(type, call.body, { known: null, catalog: records });
    const { definition, name } = read;
    const content = completeRecord(read, null, secrets);
    const known = records.named(definition.kind).get(name);
    if (known?.origin === "learned") return saveAuthored(type, services, call, { ...known, content }, revision);
    const now = clock.now();
    const record: CatalogRecord = {
      accountId,
      kind: definition.kind,
      id: records.newIdFor({ accountId, kind: definition.kind, name }, now),
      name,
      origin: "authored",
      content,
      createdAt: now,
      updatedAt: now,
    };
    const result = await store.insertCatalogRecord(record, revision);
    if (result === "name taken") throw nameTaken(type, record, call.body);
    return result === "inserted" ? record : result;
  });
}

function change(type: RecordType, services: Services, call: AuthenticCall): Promise<CatalogRecord> {
  return services.catalog.change((revision) => {
    const known = findInCatalog(type, services, call);
    call.noteBefore?.(viewOf(type, known));
    const catalog = services.catalog.of(known.accountId);
    // An empty update changes no field but still marks the record as authored.
    const body = call.body === undefined ? {} : call.body;
    const read = readRecord(type, body, { known, catalog });
    const content = completeRecord(read, known, createSecretFactory(services.deliverDeps.encryption));
    return saveAuthored(type, services, call, { ...known, name: read.name, content }, revision);
  });
}

/** Updates an existing record and marks it as authored. */
async function saveAuthored(
  type: RecordType,
  { store, clock, catalog }: Services,
  { body }: AuthenticCall,
  record: CatalogRecord,
  revision: number,
): Promise<CatalogRecord | "outdated"> {
  const authored: CatalogRecord = { ...record, origin: "authored", updatedAt: clock.now() };
  const { accountId, updatedAt } = authored;
  const former = catalog.of(accountId).formerChannels({ accountId, put: [authored], remove: [] }, updatedAt);
  const result = await store.changeCatalogRecord(authored, revision, former);
  if (result === "missing") throw new Problem("RECORD_NOT_FOUND");
  if (result === "name taken") throw nameTaken(type, authored, body);
  return result === "changed" ? authored : result;
}

function remove(type: RecordType, services: Services, call: AuthenticCall): Promise<CatalogRecord> {
  const { store, catalog, clock } = services;
  return catalog.change(async (revision) => {
    const record = findInCatalog(type, services, call);
    const { accountId } = record;
    definitionOf(type, record).deletionGuard?.refuse(record, catalog.of(accountId));
    const former = catalog.of(accountId).formerChannels({ accountId, put: [], remove: [record] }, clock.now());
    const result = await store.removeCatalogRecord(record, revision, former);
    if (result === "missing") throw new Problem("RECORD_NOT_FOUND");
    return result === "removed" ? record : result;
  });
}

function nameTaken(type: RecordType, record: CatalogRecord, body: unknown): Problem {
  const { channel } = definitionOf(type, record);
  const which = channel ? `${type.singular} of channel ${channel}` : type.singular;
  const message = `A ${which} named ${JSON.stringify(record.name)} already exists: choose another name, or update that one.`;
  const isGiven = isObject(body) && body["name"] !== undefined;
  return new Problem("NAME_TAKEN", isGiven ? { faults: [{ parameter: "name", message }] } : { message });
}
