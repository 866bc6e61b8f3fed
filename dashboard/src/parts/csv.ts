/**
 * CSV injection: spreadsheets run cells that begin with these characters as formulas, and cells contain users' texts.
 */
const FORMULA = /^[=+\-@\t\r]/;

type Cell = string | number | boolean | null;

/** One CSV line. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(written).join(",")}\r\n`;

/** A timestamp in ISO 8601, which every spreadsheet can read. */
export const isoOf = (at: number | null): string => (at === null ? "" : new Date(at).toISOString());

function written(value: Cell): string {
  const text = value === null ? "" : String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
