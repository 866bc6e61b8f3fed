import type { ReactNode } from "react";
import type { Column } from "../data-table.tsx";
import type { Right } from "../guarded.tsx";
import type { Field, Values } from "./field.ts";

/** What everything that is listed and opened has. */
export interface RecordRow {
  /** Null of what is built in and cannot be changed. */
  id: string | null;
  name: string;
  origin?: string;
}

/** One kind of record, described once for its list, its form and its commands. */
export interface RecordKind<T extends RecordRow> {
  /** Where the API has it, such as `/api/bots`. */
  path: string;
  /** What one is called in a sentence. */
  one: string;
  /** The words on the button that makes one. */
  add: string;
  fields: readonly Field[];
  /** What a new one begins with. */
  starts: Values;
  /** Sent along with every new one. */
  always?: Values;
  /** What it takes to change one. */
  may?: Right;
  columns: readonly Column<T>[];
  /** What the first column is called, where it is not "Name". */
  nameTitle?: string;
  /** What people know one by, where it is not its name. */
  nameOf?: (row: T) => string;
  /** The order of the list, where it is not the API's. */
  compare?: (a: T, b: T) => number;
  /** Which of the list belong here. */
  belongs?: (row: T) => boolean;
  empty: { sentence: string; example: Values };
  /** What follows from removing one; null where that is none of the form's business. */
  removal: string | null;
  /** What else can be done to one, beside the button that removes it. */
  actions?: (row: T, close: () => void) => ReactNode;
  /** Further parts of an open record, besides its form. */
  panels?: (row: T) => readonly { value: string; label: string; panel: ReactNode }[];
  onMade?: (made: T) => void;
}

/** What people know a record by. */
export const nameIn = <T extends RecordRow>(kind: Pick<RecordKind<T>, "nameOf">, row: T): string =>
  kind.nameOf?.(row) ?? row.name;
