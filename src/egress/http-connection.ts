import type { OnReadOpts, Socket } from "node:net";
import type { GuardedConnect } from "./guarded-connect.ts";
import { NoAnswer } from "./no-answer.ts";
import { ResponseReader, type Hearer, type Progress } from "./response-reader.ts";
import { wholeRequest, type Target, type WrittenRequest } from "./write-request.ts";

/** Most answers are shorter than this; longer ones come in several pieces. */
const READ_BYTES = 4096;

const WORDS: Record<Exclude<Progress, "more" | "whole">, string> = {
  "no HTTP": "answered with what is no HTTP",
  "too many headers": "answered with more headers than are read",
  switched: "broke the connection off before it answered",
};

/** Makes one request. Either `onEnd` or `onFailure` is told it, unless it has hung up on the answer. */
export interface Caller extends Hearer {
  /** What nobody waits for any more is not sent. */
  isWaiting(): boolean;
  /** The request is about to be sent. */
  onConnected(line: Line): void;
  onEnd(): void;
  onFailure(error: Error): void;
}

/** What a caller holds while its request is made. */
export interface Line {
  hangUp(caller: Caller): void;
}

export interface Call {
  request: WrittenRequest;
  caller: Caller;
}

interface Owner {
  mayKeep(): boolean;
  /** The answer is whole, and the connection may be used again unless it is gone by the end of the turn. */
  onAnswered(connection: HttpConnection, caller: Caller): void;
  onGone(connection: HttpConnection): void;
}

/** A connection, on which one request is made after another. Whatever comes unasked ends it. */
export class HttpConnection implements Line {
  readonly #owner: Owner;
  readonly #reader = new ResponseReader();
  #socket: Socket | null = null;
  /** Null while nothing is asked. */
  #caller: Caller | null = null;
  #isKept = false;
  #isGone = false;
  /** When it has waited too long to be used again; zero while it does not wait. */
  idleUntil = 0;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** For how long it may wait for the next request. */
  get keptMs(): number {
    return this.#reader.keptMs;
  }

  /** Opens it for a first request. */
  open(wayOut: GuardedConnect, { hostname, port, secure }: Target, call: Call): void {
    this.#caller = call.caller;
    try {
      this.#socket = wayOut.connect({ hostname, port, secure, onread: this.#onread }, (error, socket) => {
        if (error) this.fail(error);
        else if (socket && !this.#isGone) this.#begin(socket, call);
      });
    } catch (error) {
      // What no socket can even try is as good as a connection that failed.
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #begin(socket: Socket, call: Call): void {
    socket.on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose);
    this.#caller = null;
    if (!this.send(call)) this.end();
  }

  /** Sends a request, unless nobody waits for it any more. */
  send({ request, caller }: Call): boolean {
    if (!caller.isWaiting()) return false;
    this.#caller = caller;
    this.#isKept = !request.thenClose && this.#owner.mayKeep();
    caller.onConnected(this);
    this.#reader.begin(caller);
    this.#socket?.write(wholeRequest(request, this.#isKept), "latin1");
    return true;
  }

  hangUp(caller: Caller): void {
    if (this.#caller === caller) this.end();
  }

  /** Ends it, without a word to whoever made a request. */
  end(): void {
    this.#caller = null;
    this.#socket?.destroy();
    if (this.#isGone) return;
    this.#isGone = true;
    this.#owner.onGone(this);
  }

  /** Ends it, and tells whoever waits for an answer why there is none. */
  fail(error: Error): void {
    const caller = this.#caller;
    this.end();
    caller?.onFailure(error);
  }

  /** Bytes come as the kernel gives them: a stream around them would cost more than all reading. */
  readonly #onread: OnReadOpts = {
    buffer: Buffer.allocUnsafeSlow(READ_BYTES),
    callback: (length, buffer) => {
      if (this.#caller) this.#follow(this.#reader.read((buffer as Buffer).subarray(0, length)));
      else this.end();
      return true;
    },
  };

  #follow(progress: Progress): void {
    const caller = this.#caller;
    if (progress === "more" || !caller) return;
    if (progress !== "whole") return this.fail(new NoAnswer(WORDS[progress]));
    this.#caller = null;
    const isWritten = this.#socket?.writableLength === 0;
    this.#owner.onAnswered(this, caller);
    if (!this.#isKept || !isWritten || this.#reader.keptMs === 0) this.end();
  }

  readonly #onEnd = (): void => {
    this.#follow(this.#reader.end());
    this.fail(new Error("the connection has ended"));
  };

  readonly #onError = (error: Error): void => this.fail(error);

  readonly #onClose = (): void => this.fail(new Error("the connection was closed"));
}
