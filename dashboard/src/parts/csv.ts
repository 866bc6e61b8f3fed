/** A sheet would take what begins with one of these as a formula, and what is written down can be anybody's words. */
const FORMULA = /^[=+\-@\t\r]/;

type Cell = string | number | boolean | null;

/** One line of a file for a sheet. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(written).join(",")}\r\n`;

/** A moment as every sheet reads it. */
export const isoOf = (at: number | null): string => (at === null ? "" : new Date(at).toISOString());

function written(value: Cell): string {
  const text = value === null ? "" : String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
