import { isUtf8 } from "node:buffer";
import { Problem } from "../model/problem.ts";

/** The parameters of a request, by name. Values are bytes, because each API names their charset in another way. */
export type Parameters = ReadonlyMap<string, Buffer>;

/** A form is read before its login is known, so anyone can send many fields (denial of service). */
const FIELDS_MAX = 200;
const SPACE = 0x20;
const PLUS = 0x2b;
const PERCENT = 0x25;
const ESCAPED = /[%+]/;
const BYTE_ORDER_MARK = 0xef;

/** Reads a query string or a form. The first value of a repeated parameter counts; a malformed escape stays as it is. */
export function readForm(text: string): Parameters {
  const values = new Map<string, Buffer>();
  const pairs = text.split("&", FIELDS_MAX + 1);
  if (pairs.length > FIELDS_MAX)
    throw new Problem("INVALID_REQUEST", {
      faults: [{ parameter: "", message: `The request has more than ${FIELDS_MAX} parameters.` }],
    });
  for (const pair of pairs) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    const written = at < 0 ? pair : pair.slice(0, at);
    const name = ESCAPED.test(written) ? percentDecode(written).toString("utf8") : written;
    if (!values.has(name)) values.set(name, percentDecode(at < 0 ? "" : pair.slice(at + 1)));
  }
  return values;
}

/** The query of a requested path. */
export function queryOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at + 1);
}

/** The octets of a text with percent escapes. */
export function percentDecode(text: string): Buffer {
  if (!ESCAPED.test(text)) return Buffer.from(text, "utf8");
  const from = Buffer.from(text, "utf8");
  const to = Buffer.alloc(from.length);
  let length = 0;
  for (let at = 0; at < from.length; at += 1) {
    const byte = from[at] ?? 0;
    const hex = byte === PERCENT ? from.toString("latin1", at + 1, at + 3) : "";
    if (hex !== "" && /^[0-9a-fA-F]{2}$/.test(hex)) {
      to[length++] = Number.parseInt(hex, 16);
      at += 2;
    } else to[length++] = byte === PLUS ? SPACE : byte;
  }
  return to.subarray(0, length);
}

/** Text in a charset; null if the charset is unknown or the bytes are not of it. */
export function decodeText(bytes: Buffer, charset: string): string | null {
  // Fast path: creating a decoder costs more than decoding a parameter.
  if (charset === "utf-8" && bytes[0] !== BYTE_ORDER_MARK) return isUtf8(bytes) ? bytes.toString("utf8") : null;
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

/** A value of the form encoding, with a plus for a space. */
export const formEncode = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll("%20", "+");
