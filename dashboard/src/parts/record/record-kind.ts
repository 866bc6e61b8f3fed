import type { ReactNode } from "react";
import type { Column } from "../data-table.tsx";
import type { Right } from "../guarded.tsx";
import type { Field, Values } from "./field.ts";

/** Common fields of all records. */
export interface RecordRow {
  /** Null for built-in records, which cannot be changed. */
  id: string | null;
  name: string;
  origin?: string;
}

/** Description of a kind of record, for its list, its form and its curl commands. */
export interface RecordKind<T extends RecordRow> {
  /** API path, such as `/api/bots`. */
  path: string;
  /** Name of one record within a sentence. */
  one: string;
  /** Label of the button that adds a record. */
  add: string;
  fields: readonly Field[];
  /** Default values of a new record. */
  starts: Values;
  /** Constant values of every new record. */
  always?: Values;
  /** The right that is required to change a record. */
  may?: Right;
  columns: readonly Column<T>[];
  /** Title of the first column, if not "Name". */
  nameTitle?: string;
  /** The record's display name, if not its `name`. */
  nameOf?: (row: T) => string;
  /** Sort order, if not that of the API. */
  compare?: (a: T, b: T) => number;
  /** Filter for the records that this page shows. */
  belongs?: (row: T) => boolean;
  empty: { sentence: string; example: Values };
  /** The consequence of removing a record; null if the form cannot remove it. */
  removal: string | null;
  /** Further actions beside the remove button. */
  actions?: (row: T, close: () => void) => ReactNode;
  /** A next step above an open record. */
  notice?: (row: T) => ReactNode;
  /** Further tabs of an open record. */
  panels?: (row: T) => readonly { value: string; label: string; panel: ReactNode }[];
  onMade?: (made: T) => void;
}

/** The display name of a record. */
export const nameIn = <T extends RecordRow>(kind: Pick<RecordKind<T>, "nameOf">, row: T): string =>
  kind.nameOf?.(row) ?? row.name;
