import { NAME_LETTER } from "../lib/header-letters.ts";
import { memoize } from "../lib/memoize.ts";
import { NoResponse } from "./no-response.ts";

export interface OutgoingRequest {
  method: "HEAD" | "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  headers: Readonly<Record<string, string>>;
  body: string | null;
  /** Close the connection after the response. */
  thenClose?: true;
}

/** Parsed URL, with the constant first lines of its requests. */
export interface Target {
  origin: string;
  hostname: string;
  port: number;
  secure: boolean;
  /** Request line from the path on, and the host header. */
  lines: string;
  /** Reason why no request can be written to this URL; null if valid. */
  fault: string | null;
}

/** Methods that send a content-length even for an empty body. */
const WITH_BODY: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);
const NAME = new RegExp(`^${NAME_LETTER}+$`);
const NAMES_MAX = 1000;
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const NOT_IN_PATH = /[^\x21-\x7e]/;
/** Headers that the client sets itself. */
const RESERVED_HEADERS = new Set([
  "host", "connection", "keep-alive", "content-length", "transfer-encoding", "upgrade", "expect", "te", "trailer",
]); // prettier-ignore

/** Null if the URL cannot be parsed. User info in the URL is dropped. */
export function readTarget(url: string): Target | null {
  const target = URL.parse(url);
  if (!target) return null;
  const { origin, protocol, host, hostname, pathname, search } = target;
  const secure = protocol === "https:";
  const path = `${pathname}${search}`;
  return {
    origin,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: Number(target.port || (secure ? 443 : 80)),
    secure,
    lines: `${path} HTTP/1.1\r\nhost: ${host}\r\n`,
    fault: faultOf(protocol, path),
  };
}

function faultOf(protocol: string, path: string): string | null {
  if (protocol !== "https:" && protocol !== "http:") return `${protocol} is not spoken here`;
  return NOT_IN_PATH.test(path) ? "invalid request path" : null;
}

/** The fault of a header name; empty if valid. Memoised, because each request uses the same few names. */
const headerNameFault = memoize(NAMES_MAX, (name) => {
  if (!NAME.test(name)) return "invalid header key";
  return RESERVED_HEADERS.has(name.toLowerCase()) ? `invalid ${name} header` : "";
});

/** A request without its connection header, which is chosen when the request is sent. */
export interface WrittenRequest {
  before: string;
  after: string;
  body: string;
  bodyBytes: number;
  thenClose: boolean;
}

/** Throws on characters that could inject another header line. */
export function writeRequest({ lines, fault }: Target, request: OutgoingRequest): WrittenRequest {
  const { method, headers, body, thenClose = false } = request;
  if (fault !== null) throw invalidRequest(fault);
  let after = "";
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? "";
    const headerFault = headerNameFault(name) || (NOT_IN_VALUE.test(value) ? `invalid ${name} header` : "");
    if (headerFault !== "") throw invalidRequest(headerFault);
    after += `${name}: ${value}\r\n`;
  }
  const bodyBytes = body === null ? 0 : Buffer.byteLength(body);
  const length = bodyBytes > 0 || WITH_BODY.has(method) ? `content-length: ${bodyBytes}\r\n` : "";
  return { before: `${method} ${lines}`, after: `${after}${length}\r\n`, body: body ?? "", bodyBytes, thenClose };
}

/** One write per request, to send one packet. A string if all characters are single bytes, which is faster. */
export function wholeRequest({ before, after, body, bodyBytes }: WrittenRequest, isKept: boolean): string | Buffer {
  const head = `${before}connection: ${isKept ? "keep-alive" : "close"}\r\n${after}`;
  if (bodyBytes === body.length) return head + body;
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, "latin1");
  bytes.write(body, head.length, "utf8");
  return bytes;
}

const invalidRequest = (why: string): NoResponse => new NoResponse(`could not be written as a request: ${why}`);
