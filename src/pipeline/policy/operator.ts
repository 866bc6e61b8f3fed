import { isPlainText } from "../../lib/text.ts";
// Operators by number range, from the carrier data of Google's libphonenumber (Apache License 2.0). Ported numbers still show
// their first operator.
import operators from "./operators.json" with { type: "json" };

interface Prefixes<T> {
  rows: ReadonlyMap<string, T>;
  /** Digits of the longest prefix. */
  longest: number;
}

/** Prefixes of international numbers with operator and circle, from the operator of this server. */
export type OperatorTable = Prefixes<OperatorRow>;

interface OperatorRow {
  operator: string;
  circle: string;
}

/**
 * The recipient's operator and service circle, like `Airtel, Punjab`; the operator alone if the circle is unknown, empty if both
 * are. The carrier's report comes first because of number porting, then the table, then libphonenumber.
 */
export function operatorCircle(
  number: string,
  table: OperatorTable | null = null,
  reported: Partial<OperatorRow> = {},
): string {
  const row = table && longestMatch(table, number);
  const operator = reported.operator || row?.operator || firstOperator(number);
  return [operator, reported.circle || row?.circle || ""].filter((word) => word !== "").join(", ");
}

const CALLING_CODE_MAX = 3;
const byCallingCode: Readonly<Record<string, Readonly<Record<string, string>>>> = operators;
const unfolded = new Map<string, Prefixes<string>>();

function firstOperator(number: string): string {
  for (let digits = 1; digits <= CALLING_CODE_MAX; digits += 1) {
    const code = number.slice(0, digits);
    // Calling codes are prefix-free, so the first match is the only one.
    if (Object.hasOwn(byCallingCode, code))
      return longestMatch(unfolded.get(code) ?? unfold(code), number.slice(digits)) ?? "";
  }
  return "";
}

// Loaded per country on first use: most servers send to a few.
function unfold(code: string): Prefixes<string> {
  const rows = new Map(
    Object.entries(byCallingCode[code] ?? {}).flatMap(([operator, prefixes]) =>
      prefixes.split(" ").map((prefix) => [prefix, operator] as const),
    ),
  );
  const prefixes = indexed(rows);
  unfolded.set(code, prefixes);
  return prefixes;
}

function longestMatch<T>({ rows, longest }: Prefixes<T>, number: string): T | undefined {
  for (let digits = Math.min(longest, number.length); digits > 0; digits -= 1) {
    const row = rows.get(number.slice(0, digits));
    if (row !== undefined) return row;
  }
  return undefined;
}

function indexed<T>(rows: ReadonlyMap<string, T>): Prefixes<T> {
  let longest = 0;
  for (const prefix of rows.keys()) longest = Math.max(longest, prefix.length);
  return { rows, longest };
}

const PREFIX = /^\+?([1-9][0-9]{0,14})$/;
const NAME_MAX = 100;
const CELL = /(?: *"((?:[^"]|"")*)" *|([^",]*))(,|$)/y;

/**
 * Reads a table from CSV with the columns `prefix,operator,circle`, with or without a header line. A prefix includes the country
 * code; operator or circle may be empty. Faults name their line.
 */
export function readOperatorTable(csv: string): OperatorTable | { fault: string } {
  const rows = new Map<string, OperatorRow>();
  const lines = csv.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  let isFirst = true;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const cells = readCells(line);
    const isTitle = isFirst && cells?.[0]?.toLowerCase() === "prefix";
    isFirst = false;
    if (isTitle) continue;
    const fault = cells ? addRow(rows, cells) : "a quotation mark is not closed, or has something beside it.";
    if (fault !== null) return { fault: `Line ${index + 1}: ${fault}` };
  }
  if (rows.size === 0) return { fault: "The table has no rows: each has a prefix, an operator and a circle." };
  return indexed(rows);
}

function addRow(rows: Map<string, OperatorRow>, cells: readonly string[]): string | null {
  const [written = "", operator = "", circle = "", ...rest] = cells;
  const prefix = PREFIX.exec(written)?.[1];
  if (prefix === undefined) return "prefix is 1 to 15 leading digits of a number with its country code, like 919876.";
  if (rest.length > 0) return "a row has three columns: prefix, operator and circle.";
  for (const [column, name] of Object.entries({ operator, circle }))
    if (name.length > NAME_MAX || !isPlainText(name))
      return `${column} is plain text of at most ${NAME_MAX} characters.`;
  if (operator === "" && circle === "")
    return `prefix ${prefix} has neither an operator nor a circle: give one of them.`;
  if (rows.has(prefix)) return `prefix ${prefix} has a row already: keep one of them.`;
  rows.set(prefix, { operator, circle });
  return null;
}

/** The unquoted cells of a line; null if its quotation marks do not pair. */
function readCells(line: string): string[] | null {
  const cells: string[] = [];
  CELL.lastIndex = 0;
  for (;;) {
    const match = CELL.exec(line);
    if (!match) return null;
    const [, quoted, plain = "", end] = match;
    cells.push((quoted?.replaceAll('""', '"') ?? plain).trim());
    if (end === "") return cells;
  }
}
