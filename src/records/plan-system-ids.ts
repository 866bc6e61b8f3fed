import { newId } from "../lib/ids.ts";
import { isObject } from "../lib/json.ts";
import type { Infer } from "../lib/schema.ts";
import { fieldOf, pickFields } from "../lib/shape.ts";
import { loginSecret, type StoredCredential } from "../model/credential.ts";
import type { Fault } from "../model/problem.ts";
import { smppAccessFields } from "../model/smpp-access.ts";
import type { CurrentSystemIds } from "./config-file.ts";
import { differences, hiddenChange, type FieldChange } from "./field-changes.ts";
import { unknownNames } from "./record-type.ts";
import {
  isSystemIdField,
  SYSTEM_IDS,
  systemIdFaults,
  toFileSystemId,
  withSystemIdDefaults,
  type systemIdShape,
} from "./types/system-id.ts";

/** A system id of the file, or one that the file lacks and that is therefore revoked. */
export interface SystemIdChange {
  /** Null if it is new, or was revoked. */
  before: StoredCredential | null;
  after: StoredCredential;
  fields: readonly FieldChange[];
}

export interface SystemIdPlan {
  made: readonly SystemIdChange[];
  changed: readonly SystemIdChange[];
  removed: readonly SystemIdChange[];
  same: readonly SystemIdChange[];
}

export interface SystemIdDeps {
  now: number;
  /** The stored digest of a username and password. */
  digestOf(secret: string): string;
}

type Given = Infer<typeof systemIdShape>;

/** Compares the system ids of a file with the stored ones, and adds the faults of the file. */
export function planSystemIds(
  current: CurrentSystemIds & { accountId: number },
  list: readonly unknown[],
  { now, digestOf }: SystemIdDeps,
  faults: Fault[],
): SystemIdPlan {
  const own = new Map(current.own.map((credential) => [credential.username, credential]));
  const pathsById = new Map<string, string>();
  const wanted: SystemIdChange[] = [];
  list.forEach((each, index) => {
    const path = `${SYSTEM_IDS}[${index}]`;
    const found = faultsIn(each);
    const { systemId } = isObject(each) ? each : {};
    if (typeof systemId === "string" && !found.some(({ parameter }) => parameter === "systemId")) {
      found.push(...rulesOf(withSystemIdDefaults(each) as Given, { known: own.get(systemId) ?? null, now, found }));
      const message = refusalOf(systemId, current, pathsById.get(systemId));
      if (message === null) pathsById.set(systemId, path);
      else found.push({ parameter: "systemId", message });
    }
    faults.push(
      ...found.map(({ parameter, message }) => ({
        parameter: parameter === "" ? path : `${path}.${parameter}`,
        message,
      })),
    );
    if (found.length > 0) return;
    const known = own.get(systemId as string) ?? null;
    wanted.push(changeOf(withSystemIdDefaults(each) as Given, known, { accountId: current.accountId, now, digestOf }));
  });
  const removed = [...own.values()]
    .filter(({ username, revokedAt }) => revokedAt === null && !pathsById.has(username))
    .map((before) => ({ before, after: { ...before, revokedAt: now }, fields: [] }));
  return {
    made: wanted.filter(({ before }) => before === null),
    changed: wanted.filter(({ before, fields }) => before !== null && fields.length > 0),
    removed,
    same: wanted.filter(({ before, fields }) => before !== null && fields.length === 0),
  };
}

function faultsIn(given: unknown): Fault[] {
  if (!isObject(given)) return [{ parameter: "", message: "A system id must be a JSON object." }];
  const message = "A system id has no such field.";
  return [
    ...systemIdFaults(given),
    ...unknownNames(given, isSystemIdField).map((parameter) => ({ parameter, message })),
  ];
}

/** The reason why a file cannot have this system id; null if it can. */
function refusalOf(
  systemId: string,
  { taken }: Pick<CurrentSystemIds, "taken">,
  duplicateOf: string | undefined,
): string | null {
  if (duplicateOf !== undefined) return `${duplicateOf} already has this system id: each may appear once.`;
  return taken.has(systemId) ? "This system id is in use on this server: choose another one." : null;
}

interface KnownSystemId {
  /** It may be revoked; null if there is none. */
  known: StoredCredential | null;
  now: number;
  found: readonly Fault[];
}

/** The faults of right fields that depend on the stored system id. */
function rulesOf({ password, mode, expiresAt }: Given, { known, now, found }: KnownSystemId): Fault[] {
  const wrong = new Set(found.map(({ parameter }) => fieldOf(parameter)));
  const faults: Fault[] = [];
  const stored = known?.revokedAt === null ? known : null;
  if (password === undefined && !stored) {
    const message = "password is required for a new or revoked system id.";
    faults.push({ parameter: "password", message });
  }
  if (known && mode !== known.mode) {
    const message = `The mode of this system id is ${known.mode} and cannot be changed: use another system id.`;
    faults.push({ parameter: "mode", message });
  }
  if (expiresAt !== null && expiresAt <= now && expiresAt !== stored?.expiresAt)
    faults.push({ parameter: "expiresAt", message: "expiresAt must be in the future." });
  return faults.filter(({ parameter }) => !wrong.has(parameter));
}

function changeOf(
  given: Given,
  known: StoredCredential | null,
  { accountId, now, digestOf }: SystemIdDeps & { accountId: number },
): SystemIdChange {
  const { systemId, password, name = systemId, mode, scopes, allowedIps, expiresAt } = given;
  const before = known?.revokedAt === null ? known : null;
  const digest = password === undefined ? (before?.digest ?? "") : digestOf(loginSecret("smpp", systemId, password));
  const created = { id: newId(now), createdAt: now, lastUsedAt: null, requestsPerSecond: null, sealed: null };
  const after: StoredCredential = {
    ...created,
    ...known,
    accountId,
    kind: "smpp",
    username: systemId,
    digest,
    name,
    mode,
    scopes,
    allowedIps,
    expiresAt,
    revokedAt: null,
    settings: pickFields(smppAccessFields, given),
  };
  if (!before) return { before, after, fields: [] };
  const shown = differences(toFileSystemId(before), toFileSystemId(after));
  const fields = digest === before.digest ? shown : [...shown, hiddenChange("password")];
  return { before, after, fields };
}
