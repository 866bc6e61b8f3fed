import type { DateFormat } from "./cell-text.ts";
import { BadSpreadsheet } from "./bad-spreadsheet.ts";
import { SharedStrings, sharedStringsHandler } from "./shared-strings.ts";
import { sheetHandler } from "./sheet.ts";
import { relationsHandler, stylesHandler, workbookHandler, type Workbook } from "./workbook.ts";
import { XmlReader, type XmlHandler } from "./xml.ts";
import { readZip, unpack, type ByteSource, type ZipEntry } from "./zip.ts";

const MIB = 1_048_576;
const LIMITS = { parts: 8 * MIB, strings: 256 * MIB, sheet: 1024 * MIB };
const WRITE_BYTES = 65_536;

interface Options {
  /** Null for the first visible one. */
  sheet: string | null;
  bytesMax: number;
}

export interface ConvertedSheet {
  sheets: readonly string[];
  csv: readonly Buffer[];
}

/**
 * Converts a sheet of an XLSX workbook to CSV, which the check of audiences reads. The same file gives the same bytes, so another
 * node can continue a check. It yields after each chunk, so that the caller can do other work meanwhile.
 */
export async function* convertSheet(
  source: ByteSource,
  { sheet, bytesMax }: Options,
): AsyncGenerator<undefined, ConvertedSheet> {
  const entries = await readZip(source);
  async function* read(
    entry: ZipEntry | undefined,
    handler: XmlHandler,
    limit: number,
  ): AsyncGenerator<undefined, void> {
    if (!entry) return;
    const reader = new XmlReader(handler);
    for await (const chunk of unpack(source, entry, limit)) {
      reader.write(chunk);
      yield undefined;
    }
  }
  const main = entries.get("xl/workbook.xml");
  // Another ZIP archive, such as an ODS document.
  if (!main) throw new BadSpreadsheet("SPREADSHEET");
  const workbook: Workbook = { sheets: [], is1904: false };
  const paths = new Map<string, string>();
  const styles: (DateFormat | null)[] = [];
  const strings = new SharedStrings();
  yield* read(main, workbookHandler(workbook), LIMITS.parts);
  yield* read(entries.get("xl/_rels/workbook.xml.rels"), relationsHandler(paths), LIMITS.parts);
  const sheets = workbook.sheets.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
  const wanted = sheet ?? sheets[0];
  const found = workbook.sheets.find(({ name }) => name === wanted);
  if (!found) throw new UnknownSheet(sheets);
  const entry = entries.get(paths.get(found.relation) ?? "");
  if (!entry) throw new BadSpreadsheet("SPREADSHEET");
  yield* read(entries.get("xl/styles.xml"), stylesHandler(styles), LIMITS.parts);
  yield* read(entries.get("xl/sharedStrings.xml"), sharedStringsHandler(strings), LIMITS.strings);
  const csv = new CsvWriter(bytesMax);
  const write = (line: string): void => csv.write(line);
  yield* read(entry, sheetHandler({ strings, styles, is1904: workbook.is1904, write }), LIMITS.sheet);
  return { sheets, csv: csv.end() };
}

/** No sheet has the chosen name. */
export class UnknownSheet extends BadSpreadsheet {
  override name = "UnknownSheet";
  readonly sheets: readonly string[];

  constructor(sheets: readonly string[]) {
    super(sheets.length === 0 ? "EMPTY" : "UNKNOWN_SHEET");
    this.sheets = sheets;
  }
}

/** Collects lines in pieces of one size. */
class CsvWriter {
  readonly #bytesMax: number;
  readonly #pieces: Buffer[] = [];
  #lines = "";
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  write(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= WRITE_BYTES) this.#flush();
  }

  end(): readonly Buffer[] {
    this.#flush();
    return this.#pieces;
  }

  #flush(): void {
    const piece = Buffer.from(this.#lines);
    this.#lines = "";
    this.#bytes += piece.length;
    if (this.#bytes > this.#bytesMax) throw new BadSpreadsheet("SPREADSHEET_TOO_LARGE");
    if (piece.length > 0) this.#pieces.push(piece);
  }
}
