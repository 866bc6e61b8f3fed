import { Duplex } from "node:stream";
import { AHEAD_MAX, CUT, END, GO_ON, HOLD, WRITE, type Word } from "./words.ts";

export type Say = (word: number, id: number, more?: Word) => void;

/** A client's connection that the porter holds: as far as HTTP can tell, a socket. */
export class RelayedSocket extends Duplex {
  readonly remoteAddress: string;
  readonly #id: number;
  readonly #say: Say;
  /** Whether the porter was told to read no more for now. */
  #held = false;
  /** Said to the porter, and not yet known to be taken by the client. */
  #ahead = 0;
  #onTaken: (() => void) | null = null;
  #onFinished: (() => void) | null = null;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: number, remoteAddress: string, say: Say) {
    super({ allowHalfOpen: true, decodeStrings: false });
    this.#id = id;
    this.remoteAddress = remoteAddress;
    this.#say = say;
  }

  came(bytes: Buffer): void {
    if (this.destroyed) return;
    this.#timer?.refresh();
    if (this.push(bytes) || this.#held) return;
    this.#held = true;
    this.#say(HOLD, this.#id);
  }

  ended(): void {
    if (this.destroyed) return;
    this.push(null);
    // Whoever has paused it hears of the end as soon as all before it has been read.
    this.read(0);
  }

  taken(count: number): void {
    this.#ahead -= count;
    this.#timer?.refresh();
    if (this.#ahead >= AHEAD_MAX) return;
    const onTaken = this.#onTaken;
    this.#onTaken = null;
    onTaken?.();
  }

  finished(): void {
    this.#onFinished?.();
  }

  gone(): void {
    this.#closed = true;
    this.destroy();
  }

  override _read(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#say(GO_ON, this.#id);
  }

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: () => void): void {
    this.#writeOut(outOf(chunk, encoding), done);
  }

  override _writev(chunks: { chunk: string | Buffer; encoding: BufferEncoding }[], done: () => void): void {
    const pieces = chunks.map(({ chunk, encoding }) =>
      typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk,
    );
    this.#writeOut(alone(Buffer.concat(pieces)), done);
  }

  override _final(done: () => void): void {
    this.#onFinished = done;
    this.#say(END, this.#id);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    if (!this.#closed) this.#say(CUT, this.#id);
    done(error);
  }

  /** Ends it once what is written has been sent, as sockets of Node do. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  /** Tells when nothing has come or gone for so long; zero is for ever. */
  setTimeout(ms: number, listener?: () => void): this {
    clearTimeout(this.#timer);
    this.#timer = ms > 0 ? setTimeout(() => this.emit("timeout"), ms).unref() : undefined;
    if (listener) this.once("timeout", listener);
    return this;
  }

  #writeOut(out: string | Uint8Array, done: () => void): void {
    this.#timer?.refresh();
    this.#say(WRITE, this.#id, out);
    this.#ahead += out.length;
    if (this.#ahead < AHEAD_MAX) done();
    else this.#onTaken = done;
  }
}

function outOf(chunk: string | Buffer, encoding: BufferEncoding): string | Uint8Array {
  if (typeof chunk !== "string") return alone(chunk);
  return encoding === "utf8" ? chunk : alone(Buffer.from(chunk, encoding));
}

/** Bytes that share their memory with others would cross with all of it. */
const alone = (bytes: Buffer): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
