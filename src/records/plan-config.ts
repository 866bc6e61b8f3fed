import { isDeepStrictEqual } from "node:util";
import { isObject } from "../lib/json.ts";
import { fieldOf, shapeChecker, withDefaults } from "../lib/shape.ts";
import type { CatalogRecord } from "../model/catalog.ts";
import type { Channel } from "../model/message.ts";
import { Problem, refuseFaults, type Fault } from "../model/problem.ts";
import type { SetUpChange } from "../store/catalog.ts";
import { AccountCatalog } from "./catalog.ts";
import { unknownNames, toFileFields, type SecretFactory, type RecordDefinition } from "./record-type.ts";
import { completeRecord, definitionOf, readRecord, type RecordType } from "./read-record.ts";
import { authoredRecords, type CurrentConfig } from "./config-file.ts";
import { pickSettings, settingsFaults, settingsShape, type Settings } from "./settings.ts";
import { differences, hiddenChange, type FieldChange } from "./field-changes.ts";
import { planSystemIds, type SystemIdChange, type SystemIdDeps, type SystemIdPlan } from "./plan-system-ids.ts";
import { RECORD_TYPES } from "./record-types.ts";
import { SYSTEM_IDS } from "./types/system-id.ts";

/** Changes that a configuration file would make, for display. */
export interface ConfigPlan {
  settings: readonly FieldChange[];
  made: readonly NamedRecord[];
  changed: readonly (NamedRecord & { fields: readonly FieldChange[] })[];
  removed: readonly NamedRecord[];
  same: readonly NamedRecord[];
}

/** Record as named in a configuration file. */
export interface NamedRecord {
  /** `templates`, `senders` and so on. */
  part: string;
  channel?: Channel;
  name: string;
}

/** Bounds the comparison, which blocks the event loop. */
export const PART_MAX = 5000;

type ConfigFile = Readonly<Record<string, unknown>>;

/**
 * Validates a configuration file against the current configuration, with the same rules as each record's endpoint, and
 * reports all faults at once. Parts missing from the file stay unchanged.
 */
export function planConfig(
  current: CurrentConfig,
  file: unknown,
  deps: PlanDeps,
): { plan: ConfigPlan; change: SetUpChange; systemIds: readonly SystemIdChange[] } {
  const { now, secrets } = deps;
  const given = objectOf(file);
  const faults = unknownParts(given);
  const settings = readPart("settings", faults, () => changedSettings(current, given["settings"]));
  const types = RECORD_TYPES.filter(({ plural }) => given[plural] !== undefined);
  const catalog = uncoveredRecords(current, types);
  const wanted = types.flatMap((type) => readType({ type, given, current, catalog, now, secrets }, faults));
  const systemIds = readSystemIds(given, current, deps, faults);
  refuseFaults(faults);

  const isWanted = ({ kind, name }: CatalogRecord): boolean => catalog.named(kind).get(name)?.origin === "authored";
  const deleted = types.flatMap((type) =>
    authoredOf(type, current.catalog)
      .filter((record) => !isWanted(record))
      .map((record) => ({ type, definition: definitionOf(type, record), record })),
  );
  for (const { definition, record } of deleted) definition.deletionGuard?.refuse(record, catalog);

  const compared = wanted.map((entry) => ({ ...entry, fields: changedFields(entry) }));
  const isNew = ({ known }: WantedRecord): boolean => known?.origin !== "authored";
  const made = compared.filter(isNew);
  const changed = compared.filter((entry) => !isNew(entry) && entry.fields.length > 0);
  const same = compared.filter((entry) => !isNew(entry) && entry.fields.length === 0);
  const accountId = current.account.id;
  const put = [...made, ...changed].map(({ record }) => record);
  const remove = deleted.map(({ record: { kind, name } }) => ({ kind, name }));
  const written = [...systemIds.made, ...systemIds.changed, ...systemIds.removed];
  return {
    plan: {
      settings: settings?.changes ?? [],
      made: [...made.map(named), ...systemIds.made.map(namedSystemId)],
      changed: [
        ...changed.map((entry) => ({ ...named(entry), fields: entry.fields })),
        ...systemIds.changed.map((entry) => ({ ...namedSystemId(entry), fields: entry.fields })),
      ],
      removed: [...deleted.map(named), ...systemIds.removed.map(namedSystemId)],
      same: [...same.map(named), ...systemIds.same.map(namedSystemId)],
    },
    systemIds: written,
    change: {
      accountId,
      from: current.from,
      put: [...put, ...current.catalog.formerChannels({ accountId, put, remove }, now)],
      remove,
      settings: settings?.change ?? {},
      credentials: written.map(({ after }) => after),
    },
  };
}

/** True if the plan changes nothing. */
export const changesNothing = ({ settings, made, changed, removed }: ConfigPlan): boolean =>
  settings.length + made.length + changed.length + removed.length === 0;

interface PlannedRecord {
  type: RecordType;
  definition: RecordDefinition;
  record: CatalogRecord;
}

/** Record of the file with the current record of the same name. */
interface WantedRecord extends PlannedRecord {
  known: CatalogRecord | undefined;
}

const named = ({ type, definition: { channel }, record: { name } }: PlannedRecord): NamedRecord => ({
  part: type.plural,
  ...(channel && { channel }),
  name,
});

const namedSystemId = ({ after: { username } }: SystemIdChange): NamedRecord => ({ part: SYSTEM_IDS, name: username });

function objectOf(file: unknown): ConfigFile {
  if (typeof file === "object" && file !== null && !Array.isArray(file)) return file as ConfigFile;
  throw new Problem("INVALID_REQUEST", {
    faults: [{ parameter: "", message: "The configuration must be a JSON object." }],
  });
}

/** Refuses unknown parts: a typo would otherwise be ignored. */
function unknownParts(given: ConfigFile): Fault[] {
  const parts = ["settings", ...RECORD_TYPES.map(({ plural }) => plural), SYSTEM_IDS];
  const message = `Unknown part: a configuration has ${parts.join(", ")}.`;
  return unknownNames(given, (name) => parts.includes(name)).map((parameter) => ({ parameter, message }));
}

/** Reads one part of the file and prefixes its faults with its path. */
function readPart<T>(path: string, faults: Fault[], read: () => T): T | null {
  try {
    return read();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    for (const { parameter, message } of problem.faults)
      faults.push({ parameter: parameter === "" ? path : `${path}.${parameter}`, message });
    return null;
  }
}

const shapeFaults = shapeChecker(settingsShape);
const completeSettings = withDefaults(settingsShape);

function changedSettings(
  { account }: CurrentConfig,
  given: unknown,
): { changes: FieldChange[]; change: Partial<Settings> } | null {
  if (given === undefined) return null;
  const faults: Fault[] = shapeFaults(given);
  if (!isObject(given)) throw new Problem("INVALID_REQUEST", { faults });
  const wrong = new Set(faults.map(({ parameter }) => fieldOf(parameter)));
  const fields: Partial<Settings> = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)));
  const known = pickSettings(completeSettings(given) as Partial<Settings>);
  for (const parameter of unknownNames(given, (name) => Object.hasOwn(known, name)))
    faults.push({ parameter, message: "Unknown setting." });
  refuseFaults([...faults, ...settingsFaults(fields, account.settings, wrong)]);
  const current: Readonly<Record<string, unknown>> = { ...account.settings };
  const changes = differences(current, { ...known });
  return { changes, change: Object.fromEntries(changes.map(({ field, to }) => [field, to])) };
}

/** Records that the file does not cover: those of parts it lacks, and learned ones. */
function uncoveredRecords(current: CurrentConfig, types: readonly RecordType[]): AccountCatalog {
  const catalog = new AccountCatalog();
  for (const type of RECORD_TYPES)
    for (const { kind } of type.definitions)
      for (const record of current.catalog.named(kind).values())
        if (record.origin === "learned" || !types.includes(type)) catalog.put(record);
  return catalog;
}

interface PlanDeps extends SystemIdDeps {
  /** Generates the secrets of new endpoints. */
  secrets: SecretFactory;
}

interface TypeReading extends Pick<PlanDeps, "now" | "secrets"> {
  type: RecordType;
  given: ConfigFile;
  current: CurrentConfig;
  /** Starts with the uncovered records; each record of the file is added for the validation of later ones. */
  catalog: AccountCatalog;
}

/** The records of one part of the file. */
function listIn(given: ConfigFile, part: string, faults: Fault[]): readonly unknown[] {
  const list: unknown = given[part];
  if (Array.isArray(list) && list.length <= PART_MAX) return list;
  const message = `${part} must be an array of at most ${PART_MAX} records; omit it to leave them unchanged.`;
  faults.push({ parameter: part, message });
  return [];
}

function readSystemIds(
  given: ConfigFile,
  { account, systemIds }: CurrentConfig,
  deps: SystemIdDeps,
  faults: Fault[],
): SystemIdPlan {
  if (given[SYSTEM_IDS] === undefined) return { made: [], changed: [], removed: [], same: [] };
  return planSystemIds({ accountId: account.id, ...systemIds }, listIn(given, SYSTEM_IDS, faults), deps, faults);
}

function readType({ type, given, current, catalog, now, secrets }: TypeReading, faults: Fault[]): WantedRecord[] {
  const list = listIn(given, type.plural, faults);
  const pathsByName = new Map<string, string>();
  return list.flatMap((each: unknown, index) => {
    const path = `${type.plural}[${index}]`;
    const read = readPart(path, faults, () =>
      readRecord(type, each, { known: null, catalog, stored: current.catalog, strict: true }),
    );
    if (!read) return [];
    const { definition, name } = read;
    const known = current.catalog.named(definition.kind).get(name);
    const content = readPart(path, faults, () => completeRecord(read, known ?? null, secrets));
    if (!content) return [];
    const duplicateOf = pathsByName.get(`${definition.kind} ${name}`);
    if (duplicateOf !== undefined) {
      const message = `${duplicateOf} already has this name: each ${type.singular} may appear once.`;
      faults.push({ parameter: `${path}.name`, message });
      return [];
    }
    pathsByName.set(`${definition.kind} ${name}`, path);
    const accountId = current.account.id;
    const record: CatalogRecord = {
      accountId,
      kind: definition.kind,
      id: known?.id ?? current.catalog.newIdFor({ accountId, kind: definition.kind, name }, now),
      name,
      origin: "authored",
      content,
      createdAt: known?.createdAt ?? now,
      updatedAt: now,
    };
    catalog.put(record);
    return [{ type, definition, record, known }];
  });
}

const authoredOf = ({ definitions }: RecordType, catalog: AccountCatalog): CatalogRecord[] =>
  definitions.flatMap(({ kind }) => authoredRecords(catalog, kind));

function changedFields({ definition, record, known }: WantedRecord): FieldChange[] {
  if (!known) return [];
  const shown = differences(toFileFields(definition, known.content), toFileFields(definition, record.content));
  const isSame = isDeepStrictEqual(definition.hidden?.(known.content), definition.hidden?.(record.content));
  return isSame ? shown : [...shown, hiddenChange("secrets")];
}
