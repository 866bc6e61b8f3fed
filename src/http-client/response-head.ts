import { COLON, CR, endOf, kindsOf, LF, NAME, VALUE } from "../lib/header-letters.ts";

/** The header fields that decide about the body, the connection and the retry time. */
interface Fields {
  /** Offset of the first byte after the header. */
  end: number;
  /** content-length; -1 if absent. */
  length: number;
  /** `encoded`: any transfer-encoding. `chunked`: the last coding is chunked, so the body has a known end. */
  encoded: boolean;
  chunked: boolean;
  hasClose: boolean;
  hasKeepAlive: boolean;
  keepAlive: string | null;
  retryAfter: string | null;
  /** Empty if the header is repeated. */
  contentType: string | null;
  contentRange: string | null;
}

export interface ResponseHead extends Fields {
  status: number;
  /** HTTP/1.0 and older: connections are not kept unless the server says so. */
  isOld: boolean;
}

/** The text is incomplete ("more") or invalid ("no HTTP"). */
export type InvalidResponse = "more" | "no HTTP";

/** The same characters that Node's parser accepts in header values. */
const KINDS = kindsOf((code) => code === 0x09 || (code >= 0x20 && code !== 0x7f));

const STATUS_LINE = /HTTP\/(0\.9|1\.0|1\.1|2\.0) ([1-9]\d\d)(?: [^\r\n]*)?\r\n/y;
const LINE_START = "HTTP/d.d ddd";
const LENGTH = /^\d+ *$/;
const LENGTH_LIMIT = 2 ** 64;
const CHUNKED = /(?:^|,)[ \t]*chunked *$/i;

/**
 * Parses the head of a response as strictly as Node's parser. Ambiguous input is refused, which prevents response
 * smuggling.
 */
export function readResponseHead(text: string): ResponseHead | InvalidResponse {
  let at = 0;
  // Some servers end the previous response with an extra line; Node's parser skips it too.
  while (text.charCodeAt(at) === CR || text.charCodeAt(at) === LF) at += 1;
  STATUS_LINE.lastIndex = at;
  const handle = STATUS_LINE.exec(text);
  if (!handle) return mayBegin(text, at) ? "more" : "no HTTP";
  const fields = readFields(text, STATUS_LINE.lastIndex);
  if (typeof fields === "string") return fields;
  return { ...fields, status: Number(handle[2]), isOld: handle[1] !== "1.1" };
}

/** True if the text may still become a status line. */
function mayBegin(text: string, at: number): boolean {
  if (text.includes("\n", at)) return false;
  for (let index = 0; index < LINE_START.length && at + index < text.length; index += 1) {
    const wanted = LINE_START[index];
    const given = text[at + index] ?? "";
    if (wanted === "d" ? !(given >= "0" && given <= "9") : wanted !== given) return false;
  }
  return true;
}

/** Parses header lines from `at` up to and including the empty line. */
export function readFields(text: string, at: number): Fields | InvalidResponse {
  const fields: Fields = {
    end: 0,
    length: -1,
    encoded: false,
    chunked: false,
    hasClose: false,
    hasKeepAlive: false,
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

/** Null at a complete line end. */
function lineEnd(text: string, at: number): InvalidResponse | null {
  if (at >= text.length) return "more";
  if (text.charCodeAt(at) !== CR) return "no HTTP";
  if (at + 1 === text.length) return "more";
  return text.charCodeAt(at + 1) === LF ? null : "no HTTP";
}

/** Stores the header if it matters. The length of its name rules out most headers without a comparison. */
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
      // A list of codings has at least one.
      if (text.slice(colon + 1, end).trim() === "") return "no HTTP";
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
  // As in Node's parser: any value that contains "close" closes, and only the exact value keeps.
  if (said.includes("close")) fields.hasClose = true;
  if (said.trim() === "keep-alive") fields.hasKeepAlive = true;
  return null;
}

/** A repeated length, or a length beside a transfer-encoding, is ambiguous. */
function readLength(fields: Fields, value: string): "no HTTP" | null {
  const written = value.trimStart();
  if (fields.length >= 0 || fields.encoded || !LENGTH.test(written)) return "no HTTP";
  fields.length = Number(written);
  return fields.length < LENGTH_LIMIT ? null : "no HTTP";
}
