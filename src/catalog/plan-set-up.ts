import { isDeepStrictEqual } from "node:util";
import { newId } from "../lib/ids.ts";
import { shapeChecker } from "../lib/shape.ts";
import type { CatalogRecord } from "../model/catalog.ts";
import type { Channel } from "../model/message.ts";
import { Problem, type Fault } from "../model/problem.ts";
import type { SetUpChange } from "../store/catalog-store.ts";
import { AccountCatalog } from "./catalog.ts";
import { misspelt } from "./misspelt.ts";
import { completeRecord, kindOf, readRecord, type Shelf } from "./read-record.ts";
import { writtenFields, type Mint, type RecordKind } from "./record-kind.ts";
import { refuseFaults } from "./refuse-faults.ts";
import { authored, type Standing } from "./set-up.ts";
import { pickSettings, readSettings, settingsShape, type Settings } from "./settings.ts";
import { SHELVES } from "./shelves.ts";

/** What a set-up file would do to an account, for people. */
export interface Plan {
  settings: readonly FieldChange[];
  made: readonly NamedRecord[];
  changed: readonly (NamedRecord & { fields: readonly FieldChange[] })[];
  removed: readonly NamedRecord[];
  same: readonly NamedRecord[];
}

/** A record as a set-up file names it. */
export interface NamedRecord {
  /** `templates` and its like. */
  part: string;
  channel?: Channel;
  name: string;
}

export interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

/** Far more than people configure, and few enough to be compared with each other while others wait. */
export const PART_MAX = 5000;

type SetUp = Readonly<Record<string, unknown>>;

/**
 * Reads a set-up file against what stands. Every record goes the way of its own door; everything that is wrong in the
 * whole file is told at once. Parts that the file does not have are left alone.
 */
export function planSetUp(
  standing: Standing,
  file: unknown,
  { now, mint }: PlanNeeds,
): { plan: Plan; change: SetUpChange } {
  const given = objectOf(file);
  const faults = unknownParts(given);
  const settings = readPart("settings", faults, () => changedSettings(standing, given["settings"]));
  const shelves = SHELVES.filter(({ many }) => given[many] !== undefined);
  const catalog = whatStays(standing, shelves);
  const wanted = shelves.flatMap((shelf) => readShelf({ shelf, given, standing, catalog, now, mint }, faults));
  refuseFaults(faults);

  const isWanted = ({ kind, name }: CatalogRecord): boolean => catalog.named(kind).get(name)?.origin === "authored";
  const gone = shelves.flatMap((shelf) =>
    authoredOn(shelf, standing.catalog)
      .filter((record) => !isWanted(record))
      .map((record) => ({ shelf, kind: kindOf(shelf, record), record })),
  );
  for (const { kind, record } of gone) kind.keep?.refuse(record, catalog);

  const compared = wanted.map((entry) => ({ ...entry, fields: changedFields(entry) }));
  const isNew = ({ known }: Wanted): boolean => known?.origin !== "authored";
  const made = compared.filter(isNew);
  const changed = compared.filter((entry) => !isNew(entry) && entry.fields.length > 0);
  const same = compared.filter((entry) => !isNew(entry) && entry.fields.length === 0);
  return {
    plan: {
      settings: settings?.told ?? [],
      made: made.map(named),
      changed: changed.map((entry) => ({ ...named(entry), fields: entry.fields })),
      removed: gone.map(named),
      same: same.map(named),
    },
    change: {
      accountId: standing.account.id,
      from: standing.from,
      put: [...made, ...changed].map(({ record }) => record),
      remove: gone.map(({ record: { kind, name } }) => ({ kind, name })),
      settings: settings?.change ?? {},
    },
  };
}

/** Whether a plan would change anything. */
export const changesNothing = ({ settings, made, changed, removed }: Plan): boolean =>
  settings.length + made.length + changed.length + removed.length === 0;

interface Placed {
  shelf: Shelf;
  kind: RecordKind;
  record: CatalogRecord;
}

/** A record of the file, with the one that has its name now. */
interface Wanted extends Placed {
  known: CatalogRecord | undefined;
}

const named = ({ shelf, kind: { channel }, record: { name } }: Placed): NamedRecord => ({
  part: shelf.many,
  ...(channel && { channel }),
  name,
});

function objectOf(file: unknown): SetUp {
  if (typeof file === "object" && file !== null && !Array.isArray(file)) return file as SetUp;
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "", message: "A set-up is a JSON object." }] });
}

/** A misspelt part would be left alone without a word, so it is refused. */
function unknownParts(given: SetUp): Fault[] {
  const parts = ["settings", ...SHELVES.map(({ many }) => many)];
  const message = `There is no such part: a set-up has ${parts.join(", ")}.`;
  return misspelt(given, (name) => parts.includes(name)).map((parameter) => ({ parameter, message }));
}

/** Reads a piece of the file; its faults are put down under its place. */
function readPart<T>(place: string, faults: Fault[], read: () => T): T | null {
  try {
    return read();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    for (const { parameter, message } of problem.faults)
      faults.push({ parameter: parameter === "" ? place : `${place}.${parameter}`, message });
    return null;
  }
}

const settingsFaults = shapeChecker(settingsShape);

function changedSettings(
  { account }: Standing,
  given: unknown,
): { told: FieldChange[]; change: Partial<Settings> } | null {
  if (given === undefined) return null;
  refuseFaults(settingsFaults(given));
  const fields = given as Partial<Settings>;
  const known = pickSettings(fields);
  const unknown = misspelt(fields, (name) => Object.hasOwn(known, name));
  refuseFaults(unknown.map((parameter) => ({ parameter, message: "There is no such setting." })));
  const current: Readonly<Record<string, unknown>> = { ...account.settings };
  const told = differences(current, { ...readSettings(fields, account.settings) });
  return { told, change: Object.fromEntries(told.map(({ field, to }) => [field, to])) };
}

/** The records that no part of the file speaks of: those of other shelves, and what was only learned. */
function whatStays(standing: Standing, shelves: readonly Shelf[]): AccountCatalog {
  const catalog = new AccountCatalog();
  for (const shelf of SHELVES)
    for (const { kind } of shelf.kinds)
      for (const record of standing.catalog.named(kind).values())
        if (record.origin === "learned" || !shelves.includes(shelf)) catalog.put(record);
  return catalog;
}

interface PlanNeeds {
  now: number;
  /** Whoever calls with a secret gets it here when a file brings them in. */
  mint: Mint;
}

interface ShelfReading extends PlanNeeds {
  shelf: Shelf;
  given: SetUp;
  standing: Standing;
  /** What stands already when the file is read; each record joins it for those after it to be held against. */
  catalog: AccountCatalog;
}

function readShelf({ shelf, given, standing, catalog, now, mint }: ShelfReading, faults: Fault[]): Wanted[] {
  const list = given[shelf.many];
  if (!Array.isArray(list) || list.length > PART_MAX) {
    const message = `${shelf.many} is an array of at most ${PART_MAX} records; leave it out to leave them alone.`;
    faults.push({ parameter: shelf.many, message });
    return [];
  }
  const places = new Map<string, string>();
  return list.flatMap((each: unknown, index) => {
    const place = `${shelf.many}[${index}]`;
    const read = readPart(place, faults, () => readRecord(shelf, each, { known: null, catalog, strict: true }));
    if (!read) return [];
    const { kind, name } = read;
    const known = standing.catalog.named(kind.kind).get(name);
    const content = readPart(place, faults, () => completeRecord(read, known ?? null, mint));
    if (!content) return [];
    const twin = places.get(`${kind.kind} ${name}`);
    if (twin !== undefined) {
      const message = `${twin} has this name already: each ${shelf.one} stands in the file once.`;
      faults.push({ parameter: `${place}.name`, message });
      return [];
    }
    places.set(`${kind.kind} ${name}`, place);
    const record: CatalogRecord = {
      accountId: standing.account.id,
      kind: kind.kind,
      id: known?.id ?? newId(now),
      name,
      origin: "authored",
      content,
      createdAt: known?.createdAt ?? now,
      updatedAt: now,
    };
    catalog.put(record);
    return [{ shelf, kind, record, known }];
  });
}

const authoredOn = ({ kinds }: Shelf, catalog: AccountCatalog): CatalogRecord[] =>
  kinds.flatMap(({ kind }) => authored(catalog, kind));

function changedFields({ kind, record, known }: Wanted): FieldChange[] {
  if (!known) return [];
  const shown = differences(writtenFields(kind, known.content), writtenFields(kind, record.content));
  const isSame = isDeepStrictEqual(kind.hidden?.(known.content), kind.hidden?.(record.content));
  return isSame ? shown : [...shown, { field: "secrets", from: HIDDEN, to: HIDDEN }];
}

/** Stands for what nobody is shown. */
const HIDDEN = "***";

const differences = (from: SetUp, to: SetUp): FieldChange[] =>
  Object.keys(to)
    .filter((field) => !isDeepStrictEqual(from[field], to[field]))
    .map((field) => ({ field, from: from[field], to: to[field] }));
