import { shapeChecker } from "../lib/shape.ts";
import { isObject } from "../lib/plain-object.ts";
import type { CatalogContents, CatalogKind, CatalogRecord } from "../model/catalog.ts";
import { Problem, type Fault } from "../model/problem.ts";
import type { AccountCatalog } from "./catalog.ts";
import { misspelt } from "./misspelt.ts";
import { changeShape, newShape, readName, type Mint, type RecordKind } from "./record-kind.ts";
import { refuseFaults } from "./refuse-faults.ts";

/** Records that people find in one place: at `/api/<many>`, and under that name in a set-up file. */
export interface Shelf {
  one: string;
  many: string;
  /** Several are told apart by their `channel`; the first is meant where none is given. */
  kinds: readonly [RecordKind, ...RecordKind[]];
}

/** What a record is read against. */
interface Reading {
  /** As it is now; null for a new one. */
  known: CatalogRecord | null;
  /** The account's records, among which it would stand. */
  catalog: AccountCatalog;
  /** Refuses fields that no record has, which are ignored otherwise. */
  strict?: boolean;
}

interface ReadRecord {
  kind: RecordKind;
  name: string;
  content: CatalogContents[CatalogKind];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The record that somebody asks for: what is not given stays as it is, or has its default. Everything that is wrong is
 * told at once, so that what could not be sent is not stored.
 */
export function readRecord(shelf: Shelf, body: unknown, { known, catalog, strict = false }: Reading): ReadRecord {
  const given = objectOf(shelf, body);
  const kind = known ? kindOf(shelf, known) : chosenKind(shelf, given);
  const faults: Fault[] = [...shapeFaults(kind, given, known), ...foreignFields(shelf, kind, given, strict)];
  if (given["channel"] !== undefined && kind.channel !== undefined && given["channel"] !== kind.channel) {
    const message = `A ${shelf.one} keeps its channel, because each channel has names of its own: make another ${shelf.one} instead.`;
    faults.push({ parameter: "channel", message });
  }
  refuseFaults(faults);
  const ours = Object.entries(given).filter(([field]) => Object.hasOwn(kind.fields, field));
  const fields = { ...kind.defaults, ...known?.content, ...Object.fromEntries(ours) };
  const { name: written } = given as { name?: string };
  const unnamed = (): string => kind.nameOf?.(fields, known) ?? known?.name ?? "";
  const name = written === undefined ? unnamed() : readName(kind.name, written, faults);
  const content = kind.read({ name, fields, named: new Set(Object.keys(given)), known, catalog, faults });
  refuseFaults(faults);
  return { kind, name, content };
}

/** What was read of a record, with what nobody writes into it; `before` is the record that it takes the place of. */
export const completeRecord = (
  { kind, content }: Pick<ReadRecord, "kind" | "content">,
  before: CatalogRecord | null,
  mint: Mint,
): ReadRecord["content"] => kind.complete?.(content, before?.content ?? null, mint) ?? content;

/** The kind that a stored record is of. */
export function kindOf({ kinds }: Shelf, record: Pick<CatalogRecord, "kind">): RecordKind {
  const found = kinds.find(({ kind }) => kind === record.kind);
  if (!found) throw new Error(`a ${record.kind} stands on another shelf`);
  return found;
}

function objectOf({ one }: Shelf, value: unknown): Fields {
  if (isObject(value)) return value;
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "", message: `A ${one} is a JSON object.` }] });
}

function chosenKind({ kinds }: Shelf, { channel }: Fields): RecordKind {
  const [usual] = kinds;
  if (usual.channel === undefined || channel === undefined) return usual;
  const chosen = kinds.find((kind) => kind.channel === channel);
  if (chosen) return chosen;
  const message = `channel is one of ${kinds.map((kind) => kind.channel).join(", ")}; ${usual.channel} unless given.`;
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "channel", message }] });
}

type Check = ReturnType<typeof shapeChecker>;
const checks = new Map<RecordKind, { ofNew: Check; ofChange: Check }>();

function shapeFaults(kind: RecordKind, given: Fields, known: CatalogRecord | null): Fault[] {
  let check = checks.get(kind);
  if (!check) {
    check = { ofNew: shapeChecker(newShape(kind)), ofChange: shapeChecker(changeShape(kind)) };
    checks.set(kind, check);
  }
  return known ? check.ofChange(given) : check.ofNew(given);
}

/** A field of another channel is a mistake about the channel, and not a field that a later release may have. */
function foreignFields({ one, kinds }: Shelf, kind: RecordKind, given: Fields, strict: boolean): Fault[] {
  const isOwn = (field: string): boolean =>
    field === "name" || (field === "channel" && kind.channel !== undefined) || Object.hasOwn(kind.fields, field);
  const ownersOf = (field: string): RecordKind[] => kinds.filter(({ fields }) => Object.hasOwn(fields, field));
  const foreign = Object.keys(given).filter((field) => !isOwn(field) && ownersOf(field).length > 0);
  const unknown = strict ? misspelt(given, (field) => isOwn(field) || ownersOf(field).length > 0) : [];
  return [
    ...foreign.map((parameter) => {
      const owners = ownersOf(parameter).map(({ channel }) => channel);
      const message = `Only a ${one} of channel ${owners.join(" or ")} has this field, and this one is of channel ${kind.channel}.`;
      return { parameter, message };
    }),
    ...unknown.map((parameter) => ({ parameter, message: `A ${one} has no such field.` })),
  ];
}
