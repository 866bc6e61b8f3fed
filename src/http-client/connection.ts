import type { OnReadOpts, Socket } from "node:net";
import type { Connector } from "./connector.ts";
import { NoResponse } from "./no-response.ts";
import { ResponseReader, type ResponseHandler, type Progress } from "./response-reader.ts";
import { wholeRequest, type Target, type WrittenRequest } from "./write-request.ts";

/** Longer than most responses; a longer response arrives in several chunks. */
const READ_BYTES = 4096;

const FAILURES: Record<Exclude<Progress, "more" | "whole">, string> = {
  "no HTTP": "answered with what is no HTTP",
  "too many headers": "answered with more headers than are read",
  switched: "broke the connection off before it answered",
};

/** Sends one request. Exactly one of `onEnd` and `onFailure` is called, unless the caller aborts. */
export interface RequestObserver extends ResponseHandler {
  /** False if the caller has given up: the request is then not sent. */
  isWaiting(): boolean;
  /** Called just before the request is written. */
  onConnected(handle: RequestHandle): void;
  onEnd(): void;
  onFailure(error: Error): void;
}

/** Handle that a caller uses to abort its request. */
export interface RequestHandle {
  abort(caller: RequestObserver): void;
}

export interface ObservedRequest {
  request: WrittenRequest;
  caller: RequestObserver;
}

interface Owner {
  mayKeep(): boolean;
  /**
   * The response is complete. The connection is reusable unless the server closes it before the end of this event-loop
   * turn.
   */
  onAnswered(connection: HttpConnection, caller: RequestObserver): void;
  onGone(connection: HttpConnection): void;
}

/** A connection that sends one request after another. Bytes outside a response close it. */
export class HttpConnection implements RequestHandle {
  readonly #owner: Owner;
  readonly #reader = new ResponseReader();
  #socket: Socket | null = null;
  /** Null while no request is in flight. */
  #caller: RequestObserver | null = null;
  #isKept = false;
  #isGone = false;
  /** False if the connector has since withdrawn the permission to use this connection. */
  mayReuse: () => boolean = () => true;
  /** End of the idle period in monotonic time; zero while the connection is in use. */
  idleUntil = 0;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Idle time allowed before the next request. */
  get keptMs(): number {
    return this.#reader.keptMs;
  }

  /** Connects, then sends the first request. */
  open(connector: Connector, { hostname, port, secure }: Target, call: ObservedRequest): void {
    this.#caller = call.caller;
    this.mayReuse = connector.reuseCheck();
    try {
      this.#socket = connector.connect({ hostname, port, secure, onread: this.#onread }, (error, socket) => {
        if (error) this.fail(error);
        else if (socket && !this.#isGone) this.#begin(socket, call);
      });
    } catch (error) {
      // Invalid connect options throw; report them like a failed connection.
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #begin(socket: Socket, call: ObservedRequest): void {
    socket.on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose);
    this.#caller = null;
    if (!this.send(call)) this.end();
  }

  /** Returns false if the caller has given up. */
  send({ request, caller }: ObservedRequest): boolean {
    if (!caller.isWaiting()) return false;
    this.#caller = caller;
    this.#isKept = !request.thenClose && this.#owner.mayKeep();
    caller.onConnected(this);
    this.#reader.begin(caller);
    this.#socket?.write(wholeRequest(request, this.#isKept), "latin1");
    return true;
  }

  abort(caller: RequestObserver): void {
    if (this.#caller === caller) this.end();
  }

  /** Closes the connection without a callback. */
  end(): void {
    this.#caller = null;
    this.#socket?.destroy();
    if (this.#isGone) return;
    this.#isGone = true;
    this.#owner.onGone(this);
  }

  /** Closes the connection and reports the error to the caller. */
  fail(error: Error): void {
    const caller = this.#caller;
    this.end();
    caller?.onFailure(error);
  }

  /** Bytes come directly from the kernel: a stream around them would cost more than all parsing. */
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
    if (progress !== "whole") return this.fail(new NoResponse(FAILURES[progress]));
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
