import { LF, NAME_LETTER } from "../lib/header-letters.ts";
import { HEADERS_MAX_BYTES, IDLE_MAX_MS } from "./limits.ts";
import { readFields, readResponseHead, type ResponseHead, type Unread } from "./response-head.ts";

/** Of a head, of the trailers, and of the line before a chunk. */
const LINES_MAX_BYTES = HEADERS_MAX_BYTES;
/** Of all of these together: hints before an answer and notes beside chunks may be many. */
const ALL_LINES_MAX_BYTES = 65_536;
/** How long a connection is kept for the next request when its server does not say. */
const KEPT_MS = 4000;
/** What a server says is cut short by this, so that it is not the first to let go. */
const KEPT_MARGIN_MS = 2000;

/** Lines that are not whole are read again when they have grown by this part, or end: a drip must not cost its square. */
const GROWTH = 1.125;
const SHORT_BYTES = 256;

const TOKEN = `${NAME_LETTER}*`;
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t -\\x7e\\x80-\\xff])*"';
const CHUNK_LINE = new RegExp(`^([\\da-f]+)(?:;(?!$)${TOKEN}(?:=${TOKEN}(?:${QUOTED})?)?)*$`, "i");
const CHUNK_LINE_START = /^[\da-f]+(?:\r?$|;)/i;
const KEEP_ALIVE = /timeout=(\d+)/;

export interface Hearer {
  /** The last head: hints before it are skipped. */
  onHead(head: ResponseHead): void;
  /** A piece of the body. The bytes are overwritten soon after. */
  onBody(bytes: Buffer): void;
}

export type Progress =
  | "more"
  | "whole"
  | "no HTTP"
  | "too many headers"
  /** It has gone on in another protocol, which nobody asked for. */
  | "switched";

type Part = "head" | "body" | "chunk line" | "chunk" | "chunk end" | "trailers" | "nothing";

/** A head that has been read, with the bytes by which it is known again. */
interface Last {
  head: ResponseHead;
  /** For how long it lets the connection be kept. */
  keptMs: number;
  bytes: Buffer;
}

/** Reads the answers on one connection, one after another, however their bytes are cut into pieces. */
export class ResponseReader {
  #hearer: Hearer | null = null;
  #part: Part = "nothing";
  /** Bytes that are still to come of the body or the chunk. */
  #left = 0;
  /** What came last and could not be read without what follows. */
  #unread: Buffer | null = null;
  /** How much of that was there when it was last looked at. */
  #seenBytes = 0;
  /** What was read of this answer that is not its body. */
  #linesBytes = 0;
  /** The least that any head of this answer has said. */
  #keptMs = 0;
  #last: Last | null = null;

  /** How long the connection may be kept for the next request; zero when this was the last. */
  get keptMs(): number {
    return this.#keptMs;
  }

  begin(hearer: Hearer): void {
    this.#hearer = hearer;
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

  /** The server will write no more. */
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
    const read = this.#lastAt(bytes, at) ?? readHead(bytes, at);
    if (typeof read === "string") return read;
    this.#last = read;
    const { head, keptMs } = read;
    if (head.end > LINES_MAX_BYTES || this.#isTooMuch(head.end)) return "too many headers";
    if (head.status === 101) return "switched";
    this.#keptMs = Math.min(this.#keptMs, keptMs);
    if (head.status >= 200) this.#beginBody(head);
    return at + head.end;
  }

  /** The head before, where this one has the same bytes: most answers on a connection do until their date changes. */
  #lastAt(bytes: Buffer, at: number): Last | null {
    const last = this.#last;
    if (!last) return null;
    const { length } = last.bytes;
    return at + length <= bytes.length && last.bytes.compare(bytes, at, at + length) === 0 ? last : null;
  }

  #beginBody(head: ResponseHead): void {
    const { status, length, encoded, chunked } = head;
    this.#hearer?.onHead(head);
    if (status === 204 || status === 304) {
      // Whoever announces a body that must not be may send it as well.
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
    this.#hearer?.onBody(bytes.subarray(at, end));
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

  #readChunkEnd(bytes: Buffer, at: number): number | Unread {
    if (at + 1 === bytes.length) return "more";
    this.#part = "chunk line";
    return bytes.toString("latin1", at, at + 2) === "\r\n" ? at + 2 : "no HTTP";
  }

  #readTrailers(bytes: Buffer, at: number): number | Unread {
    const trailers = readFields(linesAt(bytes, at), 0);
    if (typeof trailers === "string") return trailers;
    // A length behind the body is one beside its chunks.
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
    // Copied, because the bytes are overwritten by those that come next.
    this.#unread = Buffer.from(bytes.subarray(at));
    this.#seenBytes = this.#unread.length;
    return "more";
  }

  #finish(isExact: boolean): "whole" {
    this.#part = "nothing";
    this.#hearer = null;
    if (!isExact) this.#keptMs = 0;
    return "whole";
  }
}

const linesAt = (bytes: Buffer, at: number): string =>
  bytes.toString("latin1", at, Math.min(bytes.length, at + LINES_MAX_BYTES + 1));

function readHead(bytes: Buffer, at: number): Last | Unread {
  const head = readResponseHead(linesAt(bytes, at));
  if (typeof head === "string") return head;
  return { head, keptMs: keptMsOf(head), bytes: Buffer.from(bytes.subarray(at, at + head.end)) };
}

function keptMsOf({ isOld, saysClose, saysKeep, keepAlive }: ResponseHead): number {
  if (saysClose || (isOld && !saysKeep)) return 0;
  const seconds = keepAlive === null ? undefined : KEEP_ALIVE.exec(keepAlive)?.[1];
  if (seconds === undefined) return KEPT_MS;
  return Math.min(Math.max(Number(seconds) * 1000 - KEPT_MARGIN_MS, 0), IDLE_MAX_MS);
}

/** Reads the line before a chunk, without its LF. What it says beside the size is held to its form and not read. */
function readChunkSize(line: string): number | null {
  if (!line.endsWith("\r")) return null;
  const written = CHUNK_LINE.exec(line.slice(0, -1))?.[1];
  const size = written === undefined ? Infinity : Number.parseInt(written, 16);
  return Number.isSafeInteger(size) ? size : null;
}
