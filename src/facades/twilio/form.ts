import type { IncomingHttpHeaders } from "node:http";
import { checkCharset } from "../../http/decode-body.ts";
import { decodeUtf8 } from "../../http/read-json.ts";
import { Problem } from "../../model/problem.ts";

const FIELDS_MAX = 200;
const FORM = /^application\/x-www-form-urlencoded\b/i;

/** The fields of a form or a query, each with its values in order. */
export type FormFields = ReadonlyMap<string, readonly string[]>;

/** Reads a form. Bytes that are not UTF-8 are refused, not repaired. */
export function readForm(headers: IncomingHttpHeaders, body: Buffer): FormFields {
  if (body.length === 0) return new Map();
  if (!FORM.test(headers["content-type"] ?? ""))
    throw new Problem("UNSUPPORTED_MEDIA_TYPE", { message: "The body must be application/x-www-form-urlencoded." });
  checkCharset(headers);
  const text = decodeUtf8(body);
  if (text === null) throw notUtf8();
  return readQuery(text);
}

/** Reads the part of a URL behind the question mark, or a form's text. */
export function readQuery(text: string): FormFields {
  const fields = new Map<string, string[]>();
  const pairs = text === "" ? [] : text.split("&");
  if (pairs.length > FIELDS_MAX)
    throw new Problem("INVALID_REQUEST", { message: `The request has more than ${FIELDS_MAX} fields.` });
  for (const pair of pairs) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

function decode(written: string): string {
  const spaced = written.includes("+") ? written.replaceAll("+", " ") : written;
  // Fast path: most values have no escape, and decodeURIComponent reads character by character.
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (error) {
    throw notUtf8(error);
  }
}

const notUtf8 = (cause?: unknown): Problem => new Problem("INVALID_JSON", { message: "A field is not UTF-8.", cause });
