import { posix } from "node:path";
import { dateFormatOf, type DateFormat } from "./cell-text.ts";
import { attributeOf, type XmlHandler } from "./xml.ts";

const name = attributeOf("name");
const relationId = attributeOf("id");
const id = attributeOf("Id");
const state = attributeOf("state");
const date1904 = attributeOf("date1904");
const target = attributeOf("Target");
const formatId = attributeOf("numFmtId");
const formatCode = attributeOf("formatCode");

export interface Workbook {
  sheets: { name: string; relation: string; isHidden: boolean }[];
  is1904: boolean;
}

const SHEETS_MAX = 1000;
const STYLES_MAX = 100_000;

const ignore = (): void => undefined;

/** Reads `workbook.xml`. */
export const workbookHandler = (workbook: Workbook): XmlHandler => ({
  open(element, tag) {
    if (element === "workbookPr") workbook.is1904 = ["1", "true"].includes(date1904(tag) ?? "");
    if (element !== "sheet" || workbook.sheets.length >= SHEETS_MAX) return;
    workbook.sheets.push({
      name: name(tag) ?? "",
      relation: relationId(tag) ?? "",
      isHidden: (state(tag) ?? "visible") !== "visible",
    });
  },
  close: ignore,
  text: ignore,
});

/** Reads `workbook.xml.rels`: the entries by their relation. */
export const relationsHandler = (entries: Map<string, string>): XmlHandler => ({
  open(element, tag) {
    const relation = id(tag);
    const path = target(tag);
    if (element !== "Relationship" || relation === undefined || path === undefined) return;
    if (entries.size < SHEETS_MAX) entries.set(relation, path.startsWith("/") ? path.slice(1) : posix.join("xl", path));
  },
  close: ignore,
  text: ignore,
});

/** Reads `styles.xml`: the date format of each cell style, null for numbers. */
export function stylesHandler(styles: (DateFormat | null)[]): XmlHandler {
  const codes = new Map<number, string>();
  let isCellStyle = false;
  return {
    open(element, tag) {
      const format = Number(formatId(tag) ?? 0);
      if (element === "numFmt" && codes.size < STYLES_MAX) codes.set(format, formatCode(tag) ?? "");
      else if (element === "cellXfs") isCellStyle = true;
      else if (element === "xf" && isCellStyle && styles.length < STYLES_MAX)
        styles.push(dateFormatOf(format, codes.get(format)));
    },
    close(element) {
      if (element === "cellXfs") isCellStyle = false;
    },
    text: ignore,
  };
}
