import type { AccountCatalog } from "../../catalog/catalog.ts";
import { completeRecord, kindOf, readRecord, type Shelf } from "../../catalog/read-record.ts";
import type { Mint, RecordKind } from "../../catalog/record-kind.ts";
import { newId } from "../../lib/ids.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { createMint } from "../../webhooks/mint.ts";
import { readLimit, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { changeOfShelf, newOfShelf, viewOfShelf, type Telling, type ToldKind } from "./record-shapes.ts";

export { nullable } from "../../lib/nullable.ts";

/** The id of records in examples. */
export const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const EXAMPLE_TIME = 1767225600000;

/** The five doors of a shelf of records: list, read, make, change, remove. */
export function recordRoutes(telling: Telling): readonly KeyedRoute[] {
  const { shelf, about, kinds, createExamples, changeExamples, changedBy } = telling;
  const { one, many } = shelf;
  const path = `/api/${many}`;
  const View = viewOfShelf(telling);
  const { group = many.charAt(0).toUpperCase() + many.slice(1) } = telling;
  const common = { family: "plain", scope: "manage", group } as const;
  const changing = { ...common, ...(changedBy && { role: changedBy }) } as const;
  const ofOne = {
    path: `${path}/:id`,
    params: { id: { meaning: `The ${one}'s \`id\`.`, example: EXAMPLE_ID } },
    response: View,
    responseExample: exampleOf(kinds[0]),
  };
  const effect = "It takes effect at once here and within five seconds on every other node.";
  return [
    {
      ...common,
      method: "GET",
      path,
      summary: `List ${many}`,
      description: `${about} By name${isShared(shelf) ? ", then by channel" : ""}.`,
      query: {
        ...(isShared(shelf) && { channel: `Only ${many} of this channel.` }),
        name: `Only the ${one} of this name.`,
        cursor: "The nextCursor of the page before.",
        limit: "1 to 200, 50 unless given.",
      },
      response: Type.Object({
        data: Type.Array(View, { description: `One page of ${many}.` }),
        nextCursor: nullable(Type.String(), "The cursor of the next page; null on the last."),
      }),
      responseExample: { data: kinds.map(exampleOf), nextCursor: null },
      handle: async (services, call) => pageOf(shelf, await recordsNow(services, call), call.query),
    },
    {
      ...common,
      ...ofOne,
      method: "GET",
      summary: `Read a ${one}`,
      description: `One ${one} with all its fields.`,
      problems: ["RECORD_NOT_FOUND"],
      handle: async (services, call) => viewOf(shelf, await find(shelf, services, call)),
    },
    {
      ...changing,
      method: "POST",
      path,
      summary: `Make a ${one}`,
      status: 201,
      description: `${effect} What was learned from requests under its name becomes this ${one}.`,
      problems: ["NAME_TAKEN"],
      body: newOfShelf(telling),
      checkBody: false,
      requestExamples: createExamples,
      response: View,
      responseExample: exampleOf(kinds[0]),
      handle: async (services, call) => {
        const record = await create(shelf, services, call);
        call.reply.code(201);
        return viewOf(shelf, record);
      },
    },
    {
      ...changing,
      ...ofOne,
      method: "PATCH",
      summary: `Change a ${one}`,
      description: `Changes the fields that are given. ${effect} What was learned from requests is authored from now on.`,
      problems: ["RECORD_NOT_FOUND", "NAME_TAKEN"],
      body: changeOfShelf(telling),
      checkBody: false,
      requestExamples: changeExamples,
      handle: async (services, call) => viewOf(shelf, await change(shelf, services, call)),
    },
    {
      ...changing,
      ...ofOne,
      method: "DELETE",
      summary: `Remove a ${one}`,
      description: `Answers the ${one} as it was. ${effect}`,
      problems: ["RECORD_NOT_FOUND", ...shelf.kinds.flatMap(({ keep }) => keep?.problems ?? [])],
      handle: async (services, call) => viewOf(shelf, await remove(shelf, services, call)),
    },
  ];
}

/** Whether several kinds of record stand on a shelf, so that names alone do not tell them apart. */
const isShared = ({ kinds }: Shelf): boolean => kinds.length > 1;

interface Shown {
  id: string | null;
  name: string;
  content: CatalogRecord["content"];
  origin: string;
  createdAt: number | null;
  updatedAt: number | null;
}

/** A record as it is answered. */
export const viewOf = (shelf: Shelf, record: CatalogRecord): object => view(kindOf(shelf, record), record);

const view = ({ channel, show }: RecordKind, { id, name, content, origin, createdAt, updatedAt }: Shown): object => ({
  id,
  name,
  ...(channel && { channel }),
  ...(show?.(content) ?? content),
  origin,
  createdAt,
  updatedAt,
});

/** A record of the reference as it would be answered. */
export const exampleOf = ({ kind, example }: ToldKind): object =>
  view(kind, { ...example, id: EXAMPLE_ID, origin: "authored", createdAt: EXAMPLE_TIME, updatedAt: EXAMPLE_TIME });

/** The account's records as they are stored: another node may have changed them a moment ago. */
async function recordsNow({ catalog }: Services, { caller }: AuthenticCall): Promise<AccountCatalog> {
  await catalog.refresh();
  return catalog.of(caller.account.id);
}

/** Where a record stands in its list. The mark before the channel sorts before everything that a name can hold. */
const placeOf = ({ channel }: RecordKind, name: string): string => (channel ? `${name}\t${channel}` : name);
const cursorOf = (place: string): string => place.replace("\t", ":");
const placeIn = (shelf: Shelf, cursor: string): string =>
  isShared(shelf) ? cursor.replace(/:(\w+)$/, "\t$1") : cursor;

function pageOf(shelf: Shelf, catalog: AccountCatalog, query: AuthenticCall["query"]): object {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const kinds = kindsIn(shelf, query.channel, faults);
  refuseFaults(faults);
  const after = query.cursor === undefined ? "" : placeIn(shelf, query.cursor);
  const left = kinds
    .flatMap((kind) => shownOf(kind, catalog, query.name).map((shown) => ({ kind, shown })))
    .map(({ kind, shown }) => ({ place: placeOf(kind, shown.name), kind, shown }))
    .filter(({ place }) => place > after)
    .toSorted((a, b) => (a.place < b.place ? -1 : 1));
  const page = left.slice(0, limit);
  const last = left.length > limit ? page.at(-1) : undefined;
  return { data: page.map(({ kind, shown }) => view(kind, shown)), nextCursor: last ? cursorOf(last.place) : null };
}

function kindsIn(shelf: Shelf, channel: string | undefined, faults: Fault[]): readonly RecordKind[] {
  const { kinds } = shelf;
  if (!isShared(shelf) || channel === undefined) return kinds;
  const chosen = kinds.filter((kind) => kind.channel === channel);
  if (chosen.length === 0) {
    const message = `channel is one of ${kinds.map((kind) => kind.channel).join(", ")}, or is left out for all of them.`;
    faults.push({ parameter: "channel", message });
  }
  return chosen;
}

/** The records of a kind, or the one of a name that people may write in several ways. */
function shownOf(
  { kind, name, builtIn = [] }: RecordKind,
  catalog: AccountCatalog,
  asked: string | undefined,
): Shown[] {
  const all: Shown[] = [
    ...builtIn.map((each) => ({ ...each, id: null, origin: "built-in", createdAt: null, updatedAt: null })),
    ...catalog.named(kind).values(),
  ];
  if (asked === undefined) return all;
  const wanted = name.read?.(asked) ?? asked;
  return all.filter((each) => each.name === wanted);
}

/** The record that a path names. */
export async function find(shelf: Shelf, services: Services, call: AuthenticCall): Promise<CatalogRecord> {
  await services.catalog.refresh();
  return lookUp(shelf, services, call);
}

function lookUp({ kinds }: Shelf, { catalog }: Services, { caller, params }: AuthenticCall): CatalogRecord {
  for (const { kind } of kinds) {
    const record = catalog.find(caller.account.id, kind, params.id ?? "");
    if (record) return record;
  }
  throw new Problem("RECORD_NOT_FOUND");
}

/** Makes a record; what was learned under its name becomes it. */
export function create(
  shelf: Shelf,
  services: Services,
  call: AuthenticCall,
  mint: Mint = createMint(services.telling.seal),
): Promise<CatalogRecord> {
  const { store, catalog, clock } = services;
  const accountId = call.caller.account.id;
  return catalog.change(async (revision) => {
    const records = catalog.of(accountId);
    const read = readRecord(shelf, call.body, { known: null, catalog: records });
    const { kind, name } = read;
    const content = completeRecord(read, null, mint);
    const known = records.named(kind.kind).get(name);
    if (known?.origin === "learned") return author(shelf, services, call, { ...known, content }, revision);
    const now = clock.now();
    const record: CatalogRecord = {
      accountId,
      kind: kind.kind,
      id: newId(now),
      name,
      origin: "authored",
      content,
      createdAt: now,
      updatedAt: now,
    };
    const result = await store.insertCatalogRecord(record, revision);
    if (result === "name taken") throw nameTaken(shelf, record, call.body);
    return result === "inserted" ? record : result;
  });
}

function change(shelf: Shelf, services: Services, call: AuthenticCall): Promise<CatalogRecord> {
  return services.catalog.change((revision) => {
    const known = lookUp(shelf, services, call);
    const catalog = services.catalog.of(known.accountId);
    // A body that is not there changes nothing, and is somebody's word for the record all the same.
    const body = call.body === undefined ? {} : call.body;
    const read = readRecord(shelf, body, { known, catalog });
    const content = completeRecord(read, known, createMint(services.telling.seal));
    return author(shelf, services, call, { ...known, name: read.name, content }, revision);
  });
}

/** Writes a record that is there already, as somebody's own from now on. */
async function author(
  shelf: Shelf,
  { store, clock }: Services,
  { body }: AuthenticCall,
  record: CatalogRecord,
  revision: number,
): Promise<CatalogRecord | "outdated"> {
  const authored: CatalogRecord = { ...record, origin: "authored", updatedAt: clock.now() };
  const result = await store.changeCatalogRecord(authored, revision);
  if (result === "missing") throw new Problem("RECORD_NOT_FOUND");
  if (result === "name taken") throw nameTaken(shelf, authored, body);
  return result === "changed" ? authored : result;
}

function remove(shelf: Shelf, services: Services, call: AuthenticCall): Promise<CatalogRecord> {
  const { store, catalog } = services;
  return catalog.change(async (revision) => {
    const record = lookUp(shelf, services, call);
    kindOf(shelf, record).keep?.refuse(record, catalog.of(record.accountId));
    const result = await store.removeCatalogRecord(record, revision);
    if (result === "missing") throw new Problem("RECORD_NOT_FOUND");
    return result === "removed" ? record : result;
  });
}

function nameTaken(shelf: Shelf, record: CatalogRecord, body: unknown): Problem {
  const { channel } = kindOf(shelf, record);
  const which = channel ? `${shelf.one} of channel ${channel}` : shelf.one;
  const message = `There is a ${which} ${JSON.stringify(record.name)} already: use another name, or change that one.`;
  const isGiven = (body as { name?: string } | undefined)?.name !== undefined;
  return new Problem("NAME_TAKEN", isGiven ? { faults: [{ parameter: "name", message }] } : { message });
}
