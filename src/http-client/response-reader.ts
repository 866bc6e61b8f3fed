import { LF, NAME_LETTER } from "../lib/header-letters.ts";
import { readFields, readResponseHead, type ResponseHead, type InvalidResponse } from "./response-head.ts";

/** Limit of each head, trailer block and chunk line. */
const LINES_MAX_BYTES = 16_384;
/** Limit of all of them together: interim responses and chunk extensions can be many. */
const ALL_LINES_MAX_BYTES = 65_536;
/** Upper limit, however long a server offers to keep a connection. */
const IDLE_MAX_MS = 60_000;
/** Idle time if the server does not announce one. */
const KEPT_MS = 4000;
/** Subtracted from the announced time, so that the client closes before the server does. */
const KEPT_MARGIN_MS = 2000;

/**
 * An incomplete line is parsed again only after it has grown by this factor, or at its end. Otherwise a slow sender could
 * cause quadratic work.
 */
const GROWTH = 1.125;
const SHORT_BYTES = 256;

const TOKEN = `${NAME_LETTER}*`;
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t -\\x7e\\x80-\\xff])*"';
const CHUNK_LINE = new RegExp(`^([\\da-f]+)(?:;(?!$)${TOKEN}(?:=${TOKEN}(?:${QUOTED})?)?)*$`, "i");
const CHUNK_LINE_START = /^[\da-f]+(?:\r?$|;)/i;
const KEEP_ALIVE = /timeout=(\d+)/;

export interface ResponseHandler {
  /** The final head; interim responses (1xx) are skipped. */
  onHead(head: ResponseHead): void;
  /** A chunk of the body. The buffer is reused after the call. */
  onBody(bytes: Buffer): void;
}

export type Progress =
  | "more"
  | "whole"
  | "no HTTP"
  | "too many headers"
  /** The server switched protocols, which no request asked for. */
  | "switched";

type Part = "head" | "body" | "chunk line" | "chunk" | "chunk end" | "trailers" | "nothing";

/** A parsed head with its bytes, so that an identical one need not be parsed again. */
interface ParsedHead {
  head: ResponseHead;
  /** Idle time that this head allows. */
  keptMs: number;
  bytes: Buffer;
}

/** Parses the responses of one connection, however their bytes are split. */
export class ResponseReader {
  #handler: ResponseHandler | null = null;
  #part: Part = "nothing";
  /** Remaining bytes of the body or chunk. */
  #left = 0;
  /** Bytes that cannot be parsed before more arrive. */
  #unread: Buffer | null = null;
  /** Length of `#unread` at the last attempt to parse it. */
  #seenBytes = 0;
  /** Bytes of this response outside its body. */
  #linesBytes = 0;
  /** Minimum over all heads of this response. */
  #keptMs = 0;
  #previousHead: ParsedHead | null = null;

  /** Idle time allowed before the next request; zero if the connection must close. */
  get keptMs(): number {
    return this.#keptMs;
  }

  begin(handler: ResponseHandler): void {
    this.#handler = handler;
    this.#part = "head";
    this.#unread = null;
    this.#linesBytes = 0;
    this.#keptMs = IDLE_MAX_MS;
  }

  read(piece: Buffer): Progress {
    if (!this.#unread) return this.#readAll(piece);
    const bytes = Buffer.concat([this.#unread, piece]);
    const isDue =
      bytes.length < SHORT_BYTES ||
      bytes.length > LINES_MAX_BYTES ||
      bytes.length > this.#seenBytes * GROWTH ||
      piece.includes(LF);
    if (isDue) return this.#readAll(bytes);
    this.#unread = bytes;
    return "more";
  }

  /** The server has half-closed the connection. */
  end(): Progress {
    const progress = this.#unread ? this.#readAll(this.#unread) : "more";
    if (progress !== "more" || this.#part !== "body" || this.#left !== Infinity) return progress;
    return this.#finish(false);
  }

  #readAll(bytes: Buffer): Progress {
    this.#unread = null;
    let at = 0;
    while (at < bytes.length) {
      const next = this.#readPart(bytes, at);
      if (next === "more") return this.#keep(bytes, at);
      if (typeof next === "string") return next;
      at = next;
      if (this.#part === "nothing") return this.#finish(at === bytes.length);
    }
    return "more";
  }

  #readPart(bytes: Buffer, at: number): number | Exclude<Progress, "whole"> {
    switch (this.#part) {
      case "head":
        return this.#readHead(bytes, at);
      case "body":
      case "chunk":
        return this.#readBody(bytes, at);
      case "chunk line":
        return this.#readChunkLine(bytes, at);
      case "chunk end":
        return this.#readChunkEnd(bytes, at);
      case "trailers":
        return this.#readTrailers(bytes, at);
      case "nothing":
      default:
        return "no HTTP";
    }
  }

  #readHead(bytes: Buffer, at: number): number | Exclude<Progress, "whole"> {
    const read = this.#previousHeadAt(bytes, at) ?? readHead(bytes, at);
    if (typeof read === "string") return read;
    this.#previousHead = read;
    const { head, keptMs } = read;
    if (head.end > LINES_MAX_BYTES || this.#isTooMuch(head.end)) return "too many headers";
    if (head.status === 101) return "switched";
    this.#keptMs = Math.min(this.#keptMs, keptMs);
    if (head.status >= 200) this.#beginBody(head);
    return at + head.end;
  }

  /** Reuses the previous head if the bytes are equal, which holds for most responses until their date changes. */
  #previousHeadAt(bytes: Buffer, at: number): ParsedHead | null {
    const last = this.#previousHead;
    if (!last) return null;
    const { length } = last.bytes;
    return at + length <= bytes.length && last.bytes.compare(bytes, at, at + length) === 0 ? last : null;
  }

  #beginBody(head: ResponseHead): void {
    const { status, length, encoded, chunked } = head;
    this.#handler?.onHead(head);
    if (status === 204 || status === 304) {
      // The server may still send the body that it wrongly announces.
      if (length > 0 || encoded) this.#keptMs = 0;
      this.#part = "nothing";
    } else if (chunked) {
      this.#part = "chunk line";
    } else {
      this.#left = encoded || length < 0 ? Infinity : length;
      this.#part = this.#left === 0 ? "nothing" : "body";
    }
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#part = this.#part === "chunk" ? "chunk end" : "nothing";
    this.#handler?.onBody(bytes.subarray(at, end));
    return end;
  }

  #readChunkLine(bytes: Buffer, at: number): number | Exclude<Progress, "whole"> {
    const lf = bytes.indexOf(LF, at);
    if (lf < 0) return CHUNK_LINE_START.test(linesAt(bytes, at)) ? "more" : "no HTTP";
    if (this.#isTooMuch(lf + 1 - at)) return "too many headers";
    const size = readChunkSize(bytes.toString("latin1", at, lf));
    if (size === null) return "no HTTP";
    this.#left = size;
    this.#part = size === 0 ? "trailers" : "chunk";
    return lf + 1;
  }

  #readChunkEnd(bytes: Buffer, at: number): number | InvalidResponse {
    if (at + 1 === bytes.length) return "more";
    this.#part = "chunk line";
    return bytes.toString("latin1", at, at + 2) === "\r\n" ? at + 2 : "no HTTP";
  }

  #readTrailers(bytes: Buffer, at: number): number | InvalidResponse {
    const trailers = readFields(linesAt(bytes, at), 0);
    if (typeof trailers === "string") return trailers;
    // A content-length in the trailers is ambiguous.
    if (trailers.length >= 0) return "no HTTP";
    this.#part = "nothing";
    return at + trailers.end;
  }

  #isTooMuch(readBytes: number): boolean {
    this.#linesBytes += readBytes;
    return this.#linesBytes > ALL_LINES_MAX_BYTES;
  }

  #keep(bytes: Buffer, at: number): Progress {
    if (bytes.length - at > LINES_MAX_BYTES) return "too many headers";
    // Copied, because the read buffer is reused.
    this.#unread = Buffer.from(bytes.subarray(at));
    this.#seenBytes = this.#unread.length;
    return "more";
  }

  #finish(isExact: boolean): "whole" {
    this.#part = "nothing";
    this.#handler = null;
    if (!isExact) this.#keptMs = 0;
    return "whole";
  }
}

const linesAt = (bytes: Buffer, at: number): string =>
  bytes.toString("latin1", at, Math.min(bytes.length, at + LINES_MAX_BYTES + 1));

function readHead(bytes: Buffer, at: number): ParsedHead | InvalidResponse {
  const head = readResponseHead(linesAt(bytes, at));
  if (typeof head === "string") return head;
  return { head, keptMs: keptMsOf(head), bytes: Buffer.from(bytes.subarray(at, at + head.end)) };
}

function keptMsOf({ isOld, hasClose, hasKeepAlive, keepAlive }: ResponseHead): number {
  if (hasClose || (isOld && !hasKeepAlive)) return 0;
  const seconds = keepAlive === null ? undefined : KEEP_ALIVE.exec(keepAlive)?.[1];
  if (seconds === undefined) return KEPT_MS;
  return Math.min(Math.max(Number(seconds) * 1000 - KEPT_MARGIN_MS, 0), IDLE_MAX_MS);
}

/** Parses a chunk line without its LF. Extensions are validated and ignored. */
function readChunkSize(handle: string): number | null {
  if (!handle.endsWith("\r")) return null;
  const written = CHUNK_LINE.exec(handle.slice(0, -1))?.[1];
  const size = written === undefined ? Infinity : Number.parseInt(written, 16);
  return Number.isSafeInteger(size) ? size : null;
}
