import { BadSpreadsheet } from "./bad-spreadsheet.ts";
import { dateText, numberText, type DateFormat } from "./cell-text.ts";
import { TEXT_MAX, type SharedStrings } from "./shared-strings.ts";
import { attributeOf, type XmlHandler } from "./xml.ts";

interface SheetDeps {
  strings: SharedStrings;
  styles: readonly (DateFormat | null)[];
  is1904: boolean;
  /** Gets the lines of a CSV file. */
  write(line: string): void;
}

const ROWS_MAX = 1_048_576;
/** More than an audience may have, and few enough that a value far to the right is a short line. */
const COLUMNS_MAX = 256;

const reference = attributeOf("r");
const style = attributeOf("s");
const type = attributeOf("t");

/** Reads the cells of a sheet and writes each row as a line, empty ones too, so that rows keep their numbers. */
export function sheetHandler(deps: SheetDeps): XmlHandler {
  let row = 0;
  let column = -1;
  let values: string[] = [];
  let cell: { type: string; style: number } | null = null;
  let text = "";
  let isText = false;
  let isGuide = false;

  function endCell(): void {
    if (!cell) return;
    const value = text === "" ? "" : valueOf(deps, cell, text);
    cell = null;
    if (value === "") return;
    if (column >= COLUMNS_MAX) throw new BadSpreadsheet("TOO_MANY_COLUMNS");
    while (values.length < column) values.push("");
    values[column] = value;
  }

  return {
    open(name, tag) {
      switch (name) {
        case "row": {
          const given = Number(reference(tag) ?? row + 1);
          const next = Number.isInteger(given) && given > row ? given : row + 1;
          if (next > ROWS_MAX) throw new BadSpreadsheet("SPREADSHEET");
          for (let empty = row + 1; empty < next; empty += 1) deps.write("\n");
          row = next;
          column = -1;
          values = [];
          break;
        }
        case "c":
          column = columnOf(reference(tag)) ?? column + 1;
          cell = { type: type(tag) ?? "n", style: Number(style(tag) ?? 0) };
          text = "";
          break;
        case "rPh":
          isGuide = true;
          break;
        case "v":
        case "t":
          // The cached result of a formula is in `v`; the formula itself is in `f`.
          isText = cell !== null && !isGuide;
          break;
      }
    },
    close(name) {
      if (name === "v" || name === "t") isText = false;
      else if (name === "rPh") isGuide = false;
      else if (name === "c") endCell();
      else if (name === "row") deps.write(`${values.map(quoted).join(",")}\n`);
    },
    text(piece) {
      if (isText && text.length < TEXT_MAX) text += piece;
    },
  };
}

/** The column of a reference such as `AB12`, from 0. */
function columnOf(written: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(written ?? "")?.[0];
  if (letters === undefined) return undefined;
  let column = 0;
  for (let at = 0; at < letters.length; at += 1) column = column * 26 + letters.charCodeAt(at) - 64;
  return column - 1;
}

function valueOf({ strings, styles, is1904 }: SheetDeps, cell: { type: string; style: number }, text: string): string {
  switch (cell.type) {
    case "s":
      return strings.get(Number(text));
    case "str":
    case "inlineStr":
    case "e":
    case "d":
      return text;
    case "b":
      return text.trim() === "1" ? "TRUE" : "FALSE";
    default: {
      const written = text.trim();
      const format = styles[cell.style] ?? null;
      return (format && dateText(Number(written), format, is1904)) ?? numberText(written);
    }
  }
}

const quoted = (value: string): string => (value === "" ? "" : `"${value.replaceAll('"', '""')}"`);
