/** What the head of an ordinary send says. */
export interface Head {
  headers: { apikey: string; "idempotency-key": string | undefined };
  forwardedFor: string;
  bodyBytes: number;
  /** Whether the client wants to ask more on the same connection. */
  keepAlive: boolean;
}

/** More of them only an attack has, and beyond some number Node drops them without a word. */
const HEADERS_MAX = 100;
const LENGTH = /^[1-9]\d{0,8}$/;
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

const COLON = 0x3a;
const CR = 0x0d;
const LF = 0x0a;
const NAME = 1;
const VALUE = 2;
/** Which characters may stand in a name, which in a value: of those that the standard allows, only the plain ones. */
const KINDS = new Uint8Array(256);
for (let code = 0x20; code <= 0x7e; code += 1)
  KINDS[code] = /[\w!#$%&'*+.^`|~-]/.test(String.fromCodePoint(code)) ? NAME | VALUE : VALUE;

/**
 * Reads the headers of a send, each line with its end, from `at` on; null when anything about them is not plainly ordinary.
 * It never guesses: what it takes, Node's parser reads in just the same way, and all else is left to that one.
 */
export function readHead(text: string, at: number): Head | null {
  let host = false;
  let apikey: string | undefined;
  let idempotencyKey: string | undefined;
  let forwardedFor: string | undefined;
  let connection: string | undefined;
  let type: string | undefined;
  let length: string | undefined;
  let count = 0;
  for (let start = at; start < text.length; count += 1) {
    const colon = endOf(NAME, text, start);
    if (colon === start || text.charCodeAt(colon) !== COLON) return null;
    const end = endOf(VALUE, text, colon + 1);
    if (text.charCodeAt(end) !== CR || text.charCodeAt(end + 1) !== LF) return null;
    const name = text.slice(start, colon).toLowerCase();
    start = end + 2;
    switch (name) {
      case "host":
        if (host) return null;
        host = true;
        break;
      case "apikey":
        if (apikey !== undefined) return null;
        apikey = valueOf(text, colon, end);
        break;
      case "content-type":
        if (type !== undefined) return null;
        type = valueOf(text, colon, end);
        break;
      case "content-length":
        if (length !== undefined) return null;
        length = valueOf(text, colon, end);
        break;
      case "connection":
        if (connection !== undefined) return null;
        connection = valueOf(text, colon, end).toLowerCase();
        break;
      case "idempotency-key":
        if (idempotencyKey !== undefined) return null;
        idempotencyKey = valueOf(text, colon, end);
        break;
      case "x-forwarded-for":
        if (forwardedFor !== undefined) return null;
        forwardedFor = valueOf(text, colon, end);
        break;
      case "transfer-encoding":
      case "expect":
      case "upgrade":
      case "proxy-connection":
        return null;
      default:
    }
  }
  if (count > HEADERS_MAX || !host || !apikey || type === undefined || !JSON_TYPE.test(type)) return null;
  if (length === undefined || !LENGTH.test(length)) return null;
  if (connection !== undefined && connection !== "keep-alive" && connection !== "close") return null;
  return {
    headers: { apikey, "idempotency-key": idempotencyKey },
    forwardedFor: forwardedFor ?? "",
    bodyBytes: Number(length),
    keepAlive: connection !== "close",
  };
}

function endOf(kind: number, text: string, from: number): number {
  let at = from;
  while (((KINDS[text.charCodeAt(at)] ?? 0) & kind) !== 0) at += 1;
  return at;
}

const valueOf = (text: string, colon: number, end: number): string => text.slice(colon + 1, end).trim();
