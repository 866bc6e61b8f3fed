import type { AudienceFailure, AudienceLayout, AudienceMapping } from "../model/audience.ts";

export const COLUMNS_MAX = 50;
const NAME_MAX = 100;

/** Usual names of the column of numbers, in lower case and without spaces and punctuation. */
const NUMBER_NAMES = new Set([
  "number",
  "phone",
  "phonenumber",
  "phoneno",
  "mobile",
  "mobilenumber",
  "mobileno",
  "mobilephone",
  "cell",
  "cellphone",
  "msisdn",
  "to",
  "recipient",
  "tel",
  "telephone",
  "contact",
  "contactnumber",
  "contactno",
  "whatsapp",
  "whatsappnumber",
  "rufnummer",
  "telefon",
  "telefono",
  "celular",
  "मोबाइल",
  "मोबाइलनंबर",
  "फ़ोन",
  "फोन",
  "नंबर",
]);

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "");

type Row = readonly (string | null)[];

interface Sample {
  delimiter: string;
  /** The first row of the file. */
  first: Row;
  /** The rows after it. */
  rows: readonly Row[];
  isNumber(value: string): boolean;
}

/**
 * Recognises the columns from the first rows: the first row is a header unless it holds a phone number. All columns beside the
 * number's become variables under their own names, unless the caller has named them.
 */
export function recogniseLayout(
  { delimiter, first, rows, isNumber }: Sample,
  mapping: AudienceMapping | null,
): { layout: AudienceLayout | null; columns: readonly string[]; failure: AudienceFailure | null } {
  // First, because telling equal names apart takes the cube of their number.
  if (first.length > COLUMNS_MAX) return { layout: null, columns: [], failure: "TOO_MANY_COLUMNS" };
  const hasHeader = !first.some((value) => value !== null && isNumber(value));
  const columns = columnNames(first, hasHeader);
  const sample = hasHeader ? rows : [first, ...rows];
  const number = mapping ? columns.indexOf(mapping.number) : numberColumn(columns, hasHeader, sample, isNumber);
  const variables = mapping?.variables
    ? Object.entries(mapping.variables).map(([name, column]) => ({ name, column: columns.indexOf(column) }))
    : columns.map((name, column) => ({ name, column })).filter(({ column }) => column !== number);
  const failure =
    mapping && [number, ...variables.map(({ column }) => column)].includes(-1)
      ? "UNKNOWN_COLUMN"
      : number < 0
        ? "NO_NUMBER_COLUMN"
        : null;
  return { layout: { delimiter, hasHeader, columns, number, variables }, columns, failure };
}

/** Names are unique; a column without a name has its place, from 1. */
function columnNames(first: Row, hasHeader: boolean): string[] {
  const names: string[] = [];
  first.forEach((value, index) => {
    const written = hasHeader
      ? (value ?? "")
          .replaceAll(/\p{Cc}/gu, " ")
          .trim()
          .slice(0, NAME_MAX)
          .toWellFormed()
      : "";
    const base = written === "" ? String(index + 1) : written;
    let name = base;
    for (let copy = 2; names.includes(name); copy += 1) name = `${base} ${copy}`;
    names.push(name);
  });
  return names;
}

/** By name, else the column in which most of the first rows are phone numbers; -1 if there is none. */
function numberColumn(
  columns: readonly string[],
  hasHeader: boolean,
  sample: readonly Row[],
  isNumber: (value: string) => boolean,
): number {
  const named = hasHeader ? columns.findIndex((name) => NUMBER_NAMES.has(plain(name))) : -1;
  if (named >= 0) return named;
  const counts = columns.map((_, column) => sample.filter((row) => isNumber(row[column] ?? "")).length);
  const most = Math.max(0, ...counts);
  return most > 0 && most * 2 >= sample.length ? counts.indexOf(most) : -1;
}
