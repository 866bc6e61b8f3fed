import { Duplex } from "node:stream";
import { AHEAD_MAX, CUT, END, READ, TOLD_FROM, WRITE, type Word } from "./words.ts";

type Done = (error?: Error | null) => void;

export type Say = (word: number, id: number, more?: Word) => void;

/** A client's connection that the porter holds: as far as HTTP can tell, a socket. */
export class RelayedSocket extends Duplex {
  readonly remoteAddress: string;
  readonly #id: number;
  readonly #say: Say;
  /** Come, and not yet told as read. */
  #untold = 0;
  /** Said to the porter, and not yet known to be taken by the client. */
  #ahead = 0;
  #onTaken: Done | null = null;
  #onFinished: Done | null = null;
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
    this.#untold += bytes.length;
    if (this.readableFlowing === true && this.readableLength === 0) {
      // The stream would do the same, after a look at its own state.
      this.emit("data", bytes);
      this.#tellRead();
      return;
    }
    // What is not read at once must not keep what other clients have said with it.
    if (this.push(Buffer.from(bytes))) this.#tellRead();
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
    this.#tellRead();
  }

  /** Said at once where nothing waits before it, as with nearly every answer. */
  override write(chunk: unknown, encoding?: BufferEncoding | Done, done?: Done): boolean {
    const isPlain = typeof chunk === "string" && encoding === undefined && done === undefined;
    const isNext = this.writable && !this.writableNeedDrain && this.writableLength === 0 && this.writableCorked === 0;
    if (!isPlain || !isNext || this.#ahead + chunk.length >= AHEAD_MAX)
      return super.write(chunk, encoding as BufferEncoding, done);
    this.#writeOut(chunk, ignore);
    return true;
  }

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: Done): void {
    this.#writeOut(outOf(chunk, encoding), done);
  }

  override _writev(chunks: { chunk: string | Buffer; encoding: BufferEncoding }[], done: Done): void {
    const pieces = chunks.map(({ chunk, encoding }) =>
      typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk,
    );
    this.#writeOut(alone(Buffer.concat(pieces)), done);
  }

  override _final(done: Done): void {
    this.#onFinished = done;
    this.#say(END, this.#id);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#closed) this.#say(CUT, this.#id);
    done(error);
    // Whoever waits for the client to take something hears that it will not.
    this.#onTaken?.(error ?? new Error("the connection is closed"));
    this.#onTaken = null;
  }

  /** Ends it once what is written has been sent, as sockets of Node do. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  /** Tells when nothing has come or gone for so long; zero is for ever. */
  setTimeout(ms: number, listener?: () => void): this {
    if (this.destroyed) return this;
    clearTimeout(this.#timer);
    this.#timer = ms > 0 ? setTimeout(() => this.emit("timeout"), ms).unref() : undefined;
    if (listener) this.once("timeout", listener);
    return this;
  }

  #tellRead(): void {
    if (this.#untold < TOLD_FROM) return;
    this.#say(READ, this.#id, this.#untold);
    this.#untold = 0;
  }

  #writeOut(out: string | Uint8Array, done: Done): void {
    this.#timer?.refresh();
    this.#say(WRITE, this.#id, out);
    this.#ahead += out.length;
    if (this.#ahead < AHEAD_MAX) done();
    else this.#onTaken = done;
  }
}

const ignore = (): void => {};

function outOf(chunk: string | Buffer, encoding: BufferEncoding): string | Uint8Array {
  if (typeof chunk !== "string") return alone(chunk);
  return encoding === "utf8" ? chunk : alone(Buffer.from(chunk, encoding));
}

/** Bytes that share their memory with others would cross with all of it. */
const alone = (bytes: Buffer): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
