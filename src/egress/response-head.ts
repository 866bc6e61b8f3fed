import { COLON, CR, endOf, kindsOf, LF, NAME, VALUE } from "../lib/header-letters.ts";

/** What the header lines of an answer say of its body, of its connection, and of when to come again. */
interface Fields {
  /** Where the line behind them begins. */
  end: number;
  /** As it was said; -1 when it was not. */
  length: number;
  /** Whether the body is encoded for its way at all, and whether in chunks, which tell its end. */
  encoded: boolean;
  chunked: boolean;
  saysClose: boolean;
  saysKeep: boolean;
  keepAlive: string | null;
  retryAfter: string | null;
  /** Empty where it is said twice. */
  contentType: string | null;
  contentRange: string | null;
}

export interface ResponseHead extends Fields {
  status: number;
  /** Only from 1.1 on connections are kept unless something else is said. */
  isOld: boolean;
}

/** What there is may be the beginning of one, or cannot. */
export type Unread = "more" | "no HTTP";

/** Of all that Node's parser takes. */
const KINDS = kindsOf((code) => code === 0x09 || (code >= 0x20 && code !== 0x7f));

const STATUS_LINE = /HTTP\/(0\.9|1\.0|1\.1|2\.0) ([1-9]\d\d)(?: [^\r\n]*)?\r\n/y;
const LINE_START = "HTTP/d.d ddd";
const LENGTH = /^\d+ *$/;
const LENGTH_LIMIT = 2 ** 64;
const CHUNKED = /(?:^|,)[ \t]*chunked *$/i;

/** Reads the head of an answer, which is as strict as Node's own parser: what could be read in two ways is no HTTP. */
export function readResponseHead(text: string): ResponseHead | Unread {
  let at = 0;
  // Servers that ended the answer before with a line too many are common enough for parsers to skip it.
  while (text.charCodeAt(at) === CR || text.charCodeAt(at) === LF) at += 1;
  STATUS_LINE.lastIndex = at;
  const line = STATUS_LINE.exec(text);
  if (!line) return mayBegin(text, at) ? "more" : "no HTTP";
  const fields = readFields(text, STATUS_LINE.lastIndex);
  if (typeof fields === "string") return fields;
  return { ...fields, status: Number(line[2]), isOld: line[1] !== "1.1" };
}

/** Whether the status line may yet become one. */
function mayBegin(text: string, at: number): boolean {
  if (text.includes("\n", at)) return false;
  for (let index = 0; index < LINE_START.length && at + index < text.length; index += 1) {
    const wanted = LINE_START[index];
    const given = text[at + index] ?? "";
    if (wanted === "d" ? !(given >= "0" && given <= "9") : wanted !== given) return false;
  }
  return true;
}

/** Reads header lines from `at` to the empty line behind them. */
export function readFields(text: string, at: number): Fields | Unread {
  const fields: Fields = {
    end: 0,
    length: -1,
    encoded: false,
    chunked: false,
    saysClose: false,
    saysKeep: false,
    keepAlive: null,
    retryAfter: null,
    contentType: null,
    contentRange: null,
  };
  for (let start = at; ;) {
    if (text.charCodeAt(start) === CR) {
      fields.end = start + 2;
      return lineEnd(text, start) ?? fields;
    }
    const colon = endOf(KINDS, NAME, text, start);
    if (colon === text.length) return "more";
    if (colon === start || text.charCodeAt(colon) !== COLON) return "no HTTP";
    const end = endOf(KINDS, VALUE, text, colon + 1);
    const unread = lineEnd(text, end) ?? readField(fields, text, start, colon, end);
    if (unread) return unread;
    start = end + 2;
  }
}

/** Null where a line ends. */
function lineEnd(text: string, at: number): Unread | null {
  if (at >= text.length) return "more";
  if (text.charCodeAt(at) !== CR) return "no HTTP";
  if (at + 1 === text.length) return "more";
  return text.charCodeAt(at + 1) === LF ? null : "no HTTP";
}

/** Takes one header down if it matters; its length tells most that do not. */
function readField(fields: Fields, text: string, start: number, colon: number, end: number): "no HTTP" | null {
  switch (colon - start) {
    case 10:
      return readConnection(fields, text.slice(start, colon).toLowerCase(), text.slice(colon + 1, end));
    case 11:
      if (text.slice(start, colon).toLowerCase() === "retry-after")
        fields.retryAfter ??= text.slice(colon + 1, end).trim();
      return null;
    case 12:
      if (text.slice(start, colon).toLowerCase() === "content-type")
        fields.contentType = fields.contentType === null ? text.slice(colon + 1, end).trim() : "";
      return null;
    case 13:
      if (text.slice(start, colon).toLowerCase() === "content-range")
        fields.contentRange ??= text.slice(colon + 1, end).trim();
      return null;
    case 14:
      if (text.slice(start, colon).toLowerCase() !== "content-length") return null;
      return readLength(fields, text.slice(colon + 1, end));
    case 17:
      if (text.slice(start, colon).toLowerCase() !== "transfer-encoding") return null;
      fields.encoded = true;
      fields.chunked = CHUNKED.test(text.slice(colon + 1, end));
      return fields.length < 0 ? null : "no HTTP";
    default:
      return null;
  }
}

function readConnection(fields: Fields, name: string, value: string): null {
  if (name === "keep-alive") fields.keepAlive = value;
  if (name !== "connection") return null;
  const said = value.toLowerCase();
  // Half a word is enough to close a connection, and to keep one it has to be the whole.
  if (said.includes("close")) fields.saysClose = true;
  if (said.trim() === "keep-alive") fields.saysKeep = true;
  return null;
}

/** Two lengths, or one beside an encoding, could be read in two ways. */
function readLength(fields: Fields, value: string): "no HTTP" | null {
  const written = value.trimStart();
  if (fields.length >= 0 || fields.encoded || !LENGTH.test(written)) return "no HTTP";
  fields.length = Number(written);
  return fields.length < LENGTH_LIMIT ? null : "no HTTP";
}
