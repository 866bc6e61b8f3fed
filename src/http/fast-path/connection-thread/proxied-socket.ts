import { Duplex } from "node:stream";
import {
  ACK_EVERY_BYTES,
  DESTROY,
  END,
  READ_ACK,
  UNACKED_BYTES_MAX,
  WRITE,
  type Commands,
  type Enqueue,
} from "./protocol.ts";

type Done = (error?: Error | null) => void;

/**
 * A client connection that the connection thread owns. HTTP code uses it as a `net.Socket`.
 *
 * Next: src/http/fast-path/connection.ts
 */
export class ProxiedSocket extends Duplex {
  readonly remoteAddress: string;
  readonly #id: number;
  readonly #enqueue: Enqueue<Commands>;
  /** Consumed since the last read ack. */
  #unackedReads = 0;
  /** Sent to the connection thread, and not yet acked by it. */
  #unackedWrites = 0;
  #onWriteAcked: Done | null = null;
  /** Rest of a large write. It crosses in chunks, so that a client that does not read holds few copies. */
  #queued: Buffer[] = [];
  #onFinished: Done | null = null;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: number, remoteAddress: string, enqueue: Enqueue<Commands>) {
    super({ allowHalfOpen: true, decodeStrings: false });
    this.#id = id;
    this.remoteAddress = remoteAddress;
    this.#enqueue = enqueue;
  }

  handleData(bytes: Buffer): void {
    if (this.destroyed) return;
    this.#timer?.refresh();
    this.#unackedReads += bytes.length;
    if (this.readableFlowing === true && this.readableLength === 0) {
      // `push` does the same after it has checked its own state.
      this.emit("data", bytes);
      this.#ackReads();
      return;
    }
    // Copied, because a view would keep the bytes of all clients of the same turn in memory.
    if (this.push(Buffer.from(bytes))) this.#ackReads();
  }

  handleEnd(): void {
    if (this.destroyed) return;
    this.push(null);
    // Lets a paused stream emit "end" as soon as everything before it has been read.
    this.read(0);
  }

  handleWriteAck(count: number): void {
    this.#unackedWrites -= count;
    this.#timer?.refresh();
    this.#writeQueued();
  }

  handleFinished(): void {
    this.#onFinished?.();
  }

  handleClosed(): void {
    this.#closed = true;
    this.destroy();
  }

  override _read(): void {
    this.#ackReads();
  }

  /** Skips the stream machinery if nothing is queued before the text, as with nearly every response. */
  override write(chunk: unknown, encoding?: BufferEncoding | Done, done?: Done): boolean {
    const isPlain = typeof chunk === "string" && encoding === undefined && done === undefined;
    const isNext = this.writable && !this.writableNeedDrain && this.writableLength === 0 && this.writableCorked === 0;
    if (!isPlain || !isNext || this.#unackedWrites + chunk.length >= UNACKED_BYTES_MAX)
      return super.write(chunk, encoding as BufferEncoding, done);
    this.#writeOut(chunk, ignore);
    return true;
  }

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: Done): void {
    if (chunk.length <= CHUNK_BYTES) this.#writeOut(transferable(chunk, encoding), done);
    else this.#writeInChunks([typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk], done);
  }

  override _writev(chunks: { chunk: string | Buffer; encoding: BufferEncoding }[], done: Done): void {
    const buffers = chunks.map(({ chunk, encoding }) =>
      typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk,
    );
    const length = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
    if (length <= CHUNK_BYTES) this.#writeOut(unshared(Buffer.concat(buffers)), done);
    else this.#writeInChunks(buffers, done);
  }

  override _final(done: Done): void {
    this.#onFinished = done;
    this.#enqueue(END, this.#id, null);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#closed) this.#enqueue(DESTROY, this.#id, null);
    done(error);
    // A pending write fails: its ack will not come.
    this.#onWriteAcked?.(error ?? new Error("the connection is closed"));
    this.#onWriteAcked = null;
    this.#queued = [];
  }

  /** Destroys it once all writes are sent, as `net.Socket` does. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  /** Emits "timeout" after a time without traffic, as `net.Socket` does; 0 switches it off. */
  setTimeout(ms: number, listener?: () => void): this {
    if (this.destroyed) return this;
    clearTimeout(this.#timer);
    this.#timer = ms > 0 ? setTimeout(() => this.emit("timeout"), ms).unref() : undefined;
    if (listener) this.once("timeout", listener);
    return this;
  }

  #ackReads(): void {
    if (this.#unackedReads < ACK_EVERY_BYTES) return;
    this.#enqueue(READ_ACK, this.#id, this.#unackedReads);
    this.#unackedReads = 0;
  }

  #writeInChunks(buffers: Buffer[], done: Done): void {
    this.#queued = buffers;
    this.#onWriteAcked = done;
    this.#writeQueued();
  }

  /** Sends queued chunks while the window has room, then completes the write. */
  #writeQueued(): void {
    while (this.#unackedWrites < UNACKED_BYTES_MAX) {
      const [next] = this.#queued;
      if (!next) {
        const onWriteAcked = this.#onWriteAcked;
        this.#onWriteAcked = null;
        return onWriteAcked?.();
      }
      const chunk = next.subarray(0, CHUNK_BYTES);
      if (chunk.length === next.length) this.#queued.shift();
      else this.#queued[0] = next.subarray(chunk.length);
      this.#timer?.refresh();
      this.#enqueue(WRITE, this.#id, unshared(chunk));
      this.#unackedWrites += chunk.length;
    }
  }

  #writeOut(chunk: string | Uint8Array, done: Done): void {
    this.#timer?.refresh();
    this.#enqueue(WRITE, this.#id, chunk);
    this.#unackedWrites += chunk.length;
    if (this.#unackedWrites < UNACKED_BYTES_MAX) done();
    else this.#onWriteAcked = done;
  }
}

const ignore = (): void => {};

/** Each chunk fills an ack interval, so that its ack lets the next one follow. */
const CHUNK_BYTES = ACK_EVERY_BYTES;

function transferable(chunk: string | Buffer, encoding: BufferEncoding): string | Uint8Array {
  if (typeof chunk !== "string") return unshared(chunk);
  return encoding === "utf8" ? chunk : unshared(Buffer.from(chunk, encoding));
}

/** Copies a view, because structured clone copies the whole buffer behind it. */
const unshared = (bytes: Buffer): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
