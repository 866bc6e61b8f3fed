import { joinWithOr } from "../lib/text.ts";
import type { AudienceLayout } from "../model/audience.ts";
import type { Fault } from "../model/problem.ts";

/** Placeholders for columns of an audience in the texts of a campaign: `{{first name}}`. */

type Variables = Pick<AudienceLayout, "variables">;

const COLUMN = /\{\{([^{}]+)\}\}/g;

export const columnsIn = (text: string): string[] => [...text.matchAll(COLUMN)].map(([, name = ""]) => name.trim());

export const hasColumns = (text: string): boolean => text.search(COLUMN) !== -1;

/** A text in parts: fixed text, or the place of a variable in the audience. */
export type Compiled = readonly (string | number)[];

export function compile(text: string, placeOf: (column: string) => number): Compiled {
  const parts: (string | number)[] = [];
  let end = 0;
  for (const { 0: placeholder, 1: name = "", index } of text.matchAll(COLUMN)) {
    if (index > end) parts.push(text.slice(end, index));
    parts.push(placeOf(name.trim()));
    end = index + placeholder.length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** The place of a column among the variables of an audience. */
export const placeIn =
  ({ variables }: Variables) =>
  (column: string): number =>
    variables.findIndex(({ name }) => name.trim() === column);

export const render = (parts: Compiled, values: readonly string[]): string =>
  parts.map((part) => (typeof part === "number" ? (values[part] ?? "") : part)).join("");

export const isPersonal = (parts: Compiled): boolean => parts.some((part) => typeof part === "number");

/** Length of a text with a recipient's values. Counting does not write the text, which may be very long. */
export const lengthOf = (parts: Compiled, values: readonly string[]): number =>
  parts.reduce<number>((sum, part) => sum + (typeof part === "number" ? (values[part]?.length ?? 0) : part.length), 0);

/** The fault of a text with a column that the audience does not have; without a layout, the columns are not known yet. */
export function unknownColumn(parameter: string, written: string, layout: Variables | null): Fault[] {
  if (!layout) return [];
  const known = layout.variables.map(({ name }) => name.trim());
  const column = columnsIn(written).find((each) => !known.includes(each));
  if (column === undefined) return [];
  const message =
    known.length === 0
      ? `The audience has no variables: leave out {{${column}}}.`
      : `The audience has no variable ${JSON.stringify(column)}: use ${joinWithOr(known.map((name) => JSON.stringify(name)))}.`;
  return [{ parameter, message }];
}
