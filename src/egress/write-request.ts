import { NAME_LETTER } from "../lib/header-letters.ts";
import { createRecall } from "../lib/recall.ts";
import { NoAnswer } from "./no-answer.ts";

export interface OutgoingRequest {
  method: "HEAD" | "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  headers: Readonly<Record<string, string>>;
  body: string | null;
  /** The connection is not to be used again. */
  thenClose?: true;
}

/** Where requests for a URL go, with what every one of them begins with. */
export interface Target {
  origin: string;
  hostname: string;
  port: number;
  secure: boolean;
  /** The first line from the path on, and the line that names the host. */
  lines: string;
  /** Why nothing can be written to it; null when something can. */
  fault: string | null;
}

/** A request by these has a body, be it an empty one. */
const WITH_BODY: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);
const NAME = new RegExp(`^${NAME_LETTER}+$`);
const NAMES_MAX = 1000;
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const NOT_IN_PATH = /[^\x21-\x7e]/;
/** What is decided here and not by whoever writes a request. */
const OURS = new Set([
  "host", "connection", "keep-alive", "content-length", "transfer-encoding", "upgrade", "expect", "te", "trailer",
]); // prettier-ignore

/** Reads a URL; null for what is none. Whoever is named before the host is not told to it. */
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

/** What is wrong with a header's name; empty when nothing is. There are few of them, and each request has some. */
const wrongWith = createRecall(NAMES_MAX, (name) => {
  if (!NAME.test(name)) return "invalid header key";
  return OURS.has(name.toLowerCase()) ? `invalid ${name} header` : "";
});

/** A request but for the line that says whether its connection is kept, which is decided when it leaves. */
export interface WrittenRequest {
  before: string;
  after: string;
  body: string;
  bodyBytes: number;
  thenClose: boolean;
}

/** Writes a request, or throws when it holds what could begin another line. */
export function writeRequest({ lines, fault }: Target, request: OutgoingRequest): WrittenRequest {
  const { method, headers, body, thenClose = false } = request;
  if (fault !== null) throw unwritable(fault);
  let after = "";
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? "";
    const wrong = wrongWith(name) || (NOT_IN_VALUE.test(value) ? `invalid ${name} header` : "");
    if (wrong !== "") throw unwritable(wrong);
    after += `${name}: ${value}\r\n`;
  }
  const bodyBytes = body === null ? 0 : Buffer.byteLength(body);
  const length = bodyBytes > 0 || WITH_BODY.has(method) ? `content-length: ${bodyBytes}\r\n` : "";
  return { before: `${method} ${lines}`, after: `${after}${length}\r\n`, body: body ?? "", bodyBytes, thenClose };
}

/** All of it at once: a second write would be a second packet. Text where every character is one byte, which is quicker. */
export function wholeRequest({ before, after, body, bodyBytes }: WrittenRequest, isKept: boolean): string | Buffer {
  const head = `${before}connection: ${isKept ? "keep-alive" : "close"}\r\n${after}`;
  if (bodyBytes === body.length) return head + body;
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, "latin1");
  bytes.write(body, head.length, "utf8");
  return bytes;
}

const unwritable = (why: string): NoAnswer => new NoAnswer(`could not be written as a request: ${why}`);
