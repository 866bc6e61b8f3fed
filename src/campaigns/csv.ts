import { isUtf8 } from "node:buffer";

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** One record of a CSV file. */
export interface CsvRecord {
  /** Null for a value that is not UTF-8. */
  values: readonly (string | null)[];
  /** Offset of the next record. */
  end: number;
}

/**
 * Reads one record at an offset, as RFC 4180 has it: values in quotes may hold delimiters, line breaks and doubled quotes; lines end
 * with LF, CRLF or CR. Null if the record does not end within the bytes, unless they are the last of the file.
 */
export function readRecord(bytes: Buffer, from: number, delimiter: number, isLast: boolean): CsvRecord | null {
  const values: (string | null)[] = [];
  let at = from;
  for (;;) {
    const value = bytes[at] === QUOTE ? quotedValue(bytes, at, isLast) : null;
    const start = at;
    // After the closing quote of a quoted value, stray bytes up to the delimiter are ignored.
    if (value) at = value.end;
    while (at < bytes.length && bytes[at] !== delimiter && bytes[at] !== LF && bytes[at] !== CR) at += 1;
    if (at >= bytes.length && !isLast) return null;
    if (bytes[start] === QUOTE && !value) return null;
    values.push(value ? value.text : decode(bytes, start, at));
    if (at >= bytes.length) return { values, end: bytes.length };
    if (bytes[at] === delimiter) {
      at += 1;
      continue;
    }
    // The LF of a CRLF may be in the bytes that follow.
    if (bytes[at] === CR && at + 1 >= bytes.length && !isLast) return null;
    return { values, end: bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : at + 1 };
  }
}

/** Null if the value has no closing quote yet. */
function quotedValue(bytes: Buffer, from: number, isLast: boolean): { text: string | null; end: number } | null {
  let isDoubled = false;
  for (let at = from + 1; ;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0 || (quote + 1 >= bytes.length && !isLast)) return null;
    if (bytes[quote + 1] !== QUOTE) {
      const text = decode(bytes, from + 1, quote);
      return { text: isDoubled && text !== null ? text.replaceAll('""', '"') : text, end: quote + 1 };
    }
    isDoubled = true;
    at = quote + 2;
  }
}

function decode(bytes: Buffer, from: number, to: number): string | null {
  const text = bytes.toString("utf8", from, to);
  return text.includes("\ufffd") && !isUtf8(bytes.subarray(from, to)) ? null : text;
}

/** Bytes of a byte order mark at the start, which spreadsheets write. */
export const markLength = (bytes: Buffer): number =>
  bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;

const ZIP = Buffer.from("504b0304", "hex");

/** XLSX and ODS documents are ZIP archives. */
export const isZip = (bytes: Buffer): boolean => bytes.subarray(0, ZIP.length).equals(ZIP);

/** Null for a file that is no text of ours. */
export function unreadableFormat(bytes: Buffer): "SPREADSHEET" | "NOT_UTF8" | null {
  // XLS is an OLE document, and so is an encrypted XLSX.
  if (bytes.subarray(0, 4).equals(Buffer.from("d0cf11e0", "hex"))) return "SPREADSHEET";
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isUtf16 || bytes.subarray(0, 1024).includes(0) ? "NOT_UTF8" : null;
}

/** The line with which spreadsheets name the delimiter, such as `sep=;`. */
const DELIMITER_LINE = /^sep=([^"\r\n])(?:\r\n|\n|\r)/i;

/** The delimiter that the first line names, and the offset of the line after it; null if it names none. */
export function namedDelimiter(bytes: Buffer, from: number): { delimiter: string; end: number } | null {
  const [line, delimiter = ""] = DELIMITER_LINE.exec(bytes.toString("latin1", from, from + 8)) ?? [];
  return line === undefined ? null : { delimiter, end: from + line.length };
}

const DELIMITERS = [",", ";", "\t", "|"] as const;

/** The delimiter with the most values in the first record. */
export function delimiterOf(bytes: Buffer, from: number): string {
  const counts = DELIMITERS.map((delimiter) => {
    const record = readRecord(bytes, from, delimiter.charCodeAt(0), true);
    return { delimiter, values: record?.values.length ?? 0 };
  });
  return counts.reduce((best, each) => (each.values > best.values ? each : best)).delimiter;
}
