import type { Duplex } from "node:stream";
import { commandOf, isResponseId, RESPONSE_COMMANDS } from "./commands.ts";
import { decode, type Decoded } from "./decode.ts";
import { Framer } from "./framer.ts";
import { Outbox } from "./outbox.ts";
import type { Notice, Pdu, Request, Response, ResponseOf } from "./pdu.ts";
import { RequestWindow, type MaySend, type Outcome, type Settle } from "./request-window.ts";
import { responseTo } from "./respond.ts";
import { realClock, type SessionClock } from "./session-clock.ts";
import { STATUS } from "./status.ts";
import { KeepAlive } from "./keep-alive.ts";

/** Interval of the time-out and keep-alive check; one timer serves both. */
const TICK_MS = 1000;
/** Limits of a graceful unbind: first for outstanding responses, then for unbind_resp. */
const DRAIN_MS = 10_000;
const UNBIND_MS = 5000;
/** Time in which the peer may still answer our requests after its unbind. */
const LAST_ANSWERS_MS = 3000;
/** Time in which the peer must close the connection after we have ended it. */
const LINGER_MS = 1000;
/** Backpressure: reading pauses while this many requests wait for the handler. */
const UNANSWERED_MAX = 1000;
/** Backpressure: reading pauses while the peer leaves this many octets of responses unread. */
const BACKLOG_MAX = 1_048_576;

/** PDUs for the handler. The session itself answers unbind and enquire_link. */
export type Incoming = Exclude<Request, { command: "unbind" | "enquire_link" }> | Notice;

/** Null leaves a request unanswered. */
export type Answer = Response | null;
export type OnRequest = (pdu: Incoming, session: Session) => Answer | Promise<Answer>;

/** An error of the peer or of the handler, for the log. */
export type ProtocolViolation =
  | Extract<Decoded, { kind: "malformed" }>
  /** A response without a pending request: late, duplicate or unsolicited. */
  | { readonly kind: "stray"; readonly sequence: number; readonly pdu: Response }
  /** The request was answered with ESME_RSYSERR. */
  | { readonly kind: "handler failed"; readonly pdu: Incoming; readonly error: unknown };

export type SessionEnd =
  | { readonly reason: "unbound"; readonly by: "us" | "peer" }
  | { readonly reason: "hung up" | "silent" | "unframeable" | "destroyed" }
  | { readonly reason: "failed"; readonly error: Error };

export interface SessionOptions {
  onRequest: OnRequest;
  /** Called when window slots become free, once per batch. */
  onFree?: (session: Session) => void;
  onViolation?: (violation: ProtocolViolation, session: Session) => void;
  /** Sees every PDU in both directions, in order. */
  onPdu?: (direction: "in" | "out", seen: Decoded, session: Session) => void;
  /** Requests in flight. Default: 10. */
  window?: number;
  /** Default: 30 s. */
  responseTimeoutMs?: number;
  /** Silence before an enquire_link is sent; null disables it. Default: 30 s. */
  enquireAfterMs?: number | null;
  clock?: SessionClock;
}

/** One SMPP session on either side, over a connected socket. */
export class Session {
  /** Resolves once, at the end of the session; every request has its outcome by then. */
  readonly closed: Promise<SessionEnd>;
  readonly #resolveClosed: (end: SessionEnd) => void;
  readonly #socket: Duplex;
  readonly #options: SessionOptions;
  readonly #clock: SessionClock;
  readonly #responseTimeoutMs: number;
  readonly #outbox: Outbox;
  readonly #framer: Framer;
  readonly #requests: RequestWindow;
  readonly #keepAlive: KeepAlive;
  #stopTick: () => void;
  /** True if requests were settled since the last `onFree`. */
  #freed = false;
  /** Peer requests that wait for the handler. */
  #unanswered = 0;
  #paused = false;
  /** Total time in which our handler paused reading. It does not count towards time-outs of the peer. */
  #readPausedMs = 0;
  #readPausedSince: number | null = null;
  #isClosing = false;
  #isClosed = false;
  /** The step that follows when no responses are outstanding. */
  #shutdown: { isReady: () => boolean; proceed: () => void } | null = null;

  constructor(socket: Duplex, options: SessionOptions) {
    const { clock = realClock, window = 10, responseTimeoutMs = 30_000, enquireAfterMs = 30_000 } = options;
    this.#socket = socket;
    this.#options = options;
    this.#clock = clock;
    this.#responseTimeoutMs = responseTimeoutMs;
    const { onPdu } = options;
    const onPut = onPdu && ((pdu: Pdu, sequence: number) => onPdu("out", { kind: "pdu", pdu, sequence }, this));
    this.#outbox = new Outbox(socket, onPut);
    this.#framer = new Framer(this.#onFrame);
    this.#requests = new RequestWindow({ outbox: this.#outbox, now: this.#now, size: window });
    this.#keepAlive = new KeepAlive({ enquireAfterMs, answerWithinMs: responseTimeoutMs }, this.#now());
    const { promise, resolve } = Promise.withResolvers<SessionEnd>();
    this.closed = promise;
    this.#resolveClosed = resolve;
    this.#stopTick = clock.after(TICK_MS, this.#tick);
    socket.on("data", this.#onData).on("drain", this.#onDrain);
    socket.on("end", this.#onSocketEnd).on("close", this.#onSocketEnd);
    socket.on("error", (error: Error) => this.#abort({ reason: "failed", error }));
    // A destroyed socket emits no further event.
    if (socket.destroyed) this.#onSocketEnd();
  }

  /** True if the session accepts requests. */
  get isOpen(): boolean {
    return !this.#isClosing && !this.#isClosed;
  }

  /** Free window slots, less the queue; zero if the session accepts no requests. */
  get free(): number {
    return this.isOpen ? this.#requests.free : 0;
  }

  /** Requests in flight. */
  get pending(): number {
    return this.#requests.waiting;
  }

  /** Requests that wait for a window slot. */
  get queued(): number {
    return this.#requests.queued;
  }

  get window(): number {
    return this.#requests.size;
  }

  /** Applies from the next request on. */
  set window(size: number) {
    this.#requests.size = size;
    this.#requests.pump();
  }

  /** Octets of the longest PDU that is read. Applies from the next one on. */
  set lengthMax(octets: number) {
    this.#framer.lengthMax = octets;
  }

  /** Sends a request when the window has a slot. Rejects only if the PDU cannot be encoded. */
  request<Asked extends Request>(pdu: Asked, maySend?: MaySend): Promise<Outcome<ResponseOf<Asked["command"]>>> {
    return new Promise((resolve) => this.sendRequest(pdu, resolve, maySend));
  }

  /**
   * Like `request`, without a promise. Calls `settle` once, and before it returns only if the session is closed or the
   * request may not be sent. Throws where `request` rejects.
   */
  sendRequest<Asked extends Request>(
    pdu: Asked,
    settle: (outcome: Outcome<ResponseOf<Asked["command"]>>) => void,
    maySend?: MaySend,
  ): void {
    if (this.isOpen) this.#requests.request(pdu, settle as Settle, maySend);
    else settle({ kind: "closed", wasWritten: false });
  }

  /** Sends a PDU without a response. */
  notify(pdu: Notice): void {
    if (!this.#isClosed) this.#outbox.put(pdu, this.#requests.nextSequence());
  }

  /**
   * Graceful end: refuses new requests, settles queued ones as not written, waits for outstanding responses on both sides,
   * unbinds and closes.
   */
  unbind({ drainMs = DRAIN_MS, unbindMs = UNBIND_MS } = {}): Promise<SessionEnd> {
    if (!this.isOpen) return this.closed;
    this.#isClosing = true;
    this.#requests.rejectQueued();
    const isReady = (): boolean => this.#requests.waiting === 0 && this.#unanswered === 0;
    this.#shutDownWhen(isReady, drainMs, () => {
      const close = (): void => this.#close({ reason: "unbound", by: "us" });
      const stopWaiting = this.#clock.after(unbindMs, close);
      this.#requests.send({ command: "unbind" }, () => {
        stopWaiting();
        close();
      });
    });
    return this.closed;
  }

  /** Closes at once. */
  destroy(): void {
    this.#abort({ reason: "destroyed" });
  }

  readonly #onData = (chunk: Buffer): void => {
    // After the end, incoming data is discarded.
    if (this.#isClosed) return;
    this.#keepAlive.received(this.#now());
    const read = this.#framer.read(chunk);
    if (read === "unframeable" && !this.#isClosed) {
      this.#outbox.put({ command: "generic_nack", status: STATUS.ESME_RINVCMDLEN }, 0);
      this.#close({ reason: "unframeable" });
    }
    this.#applyBackpressure();
    this.#afterSettling();
  };

  readonly #onFrame = (octets: Buffer, start: number, end: number): void => {
    if (this.#isClosed) return;
    const decoded = decode(octets, start, end);
    this.#options.onPdu?.("in", decoded, this);
    if (this.#isClosed) return;
    if (decoded.kind === "malformed") return this.#onMalformed(decoded);
    const { pdu, sequence } = decoded;
    if ("status" in pdu) this.#onResponse(pdu, sequence);
    else if (pdu.command === "enquire_link") this.#outbox.put({ command: "enquire_link_resp", status: 0 }, sequence);
    else if (pdu.command === "unbind") this.#onUnbind(sequence);
    else this.#onRequest(pdu, sequence);
  };

  #onResponse(pdu: Response, sequence: number): void {
    if (this.#requests.settle(pdu, sequence)) this.#freed = true;
    // enquire_link has no pending request: receiving any data was its answer.
    else if (pdu.command !== "enquire_link_resp") this.#options.onViolation?.({ kind: "stray", sequence, pdu }, this);
  }

  #onMalformed(malformed: Extract<Decoded, { kind: "malformed" }>): void {
    const { commandId, sequence, status } = malformed;
    // Malformed responses are never answered, which prevents a loop.
    if (!isResponseId(commandId)) {
      const command = commandOf(commandId);
      const isAnswerable = command !== undefined && command in RESPONSE_COMMANDS;
      if (isAnswerable) this.#outbox.put(responseTo({ command: command as Request["command"] }, { status }), sequence);
      else this.#outbox.put({ command: "generic_nack", status }, sequence);
    }
    this.#options.onViolation?.(malformed, this);
  }

  #onRequest(pdu: Incoming, sequence: number): void {
    let answer: Answer | Promise<Answer>;
    try {
      answer = this.#options.onRequest(pdu, this);
    } catch (error) {
      return this.#onHandlerFailed(pdu, sequence, error);
    }
    if (answer === null || !("then" in answer)) return this.#answer(pdu, sequence, answer);
    this.#unanswered += 1;
    this.#applyBackpressure();
    const settled = (answerIt: () => void): void => {
      this.#unanswered -= 1;
      answerIt();
      this.#applyBackpressure();
      this.#shutDownIfReady();
    };
    void answer.then(
      (later) => settled(() => this.#answer(pdu, sequence, later)),
      (error: unknown) => settled(() => this.#onHandlerFailed(pdu, sequence, error)),
    );
  }

  #answer(asked: Incoming, sequence: number, answer: Answer): void {
    if (answer === null || isNotice(asked) || this.#isClosed) return;
    try {
      if (answer.command !== RESPONSE_COMMANDS[asked.command] && answer.command !== "generic_nack")
        throw new TypeError(`${asked.command} was answered with ${answer.command}; responseTo makes the right one`);
      this.#outbox.put(answer, sequence);
    } catch (error) {
      this.#onHandlerFailed(asked, sequence, error);
    }
  }

  #onHandlerFailed(asked: Incoming, sequence: number, error: unknown): void {
    if (!isNotice(asked) && !this.#isClosed)
      this.#outbox.put(responseTo(asked, { status: STATUS.ESME_RSYSERR }), sequence);
    this.#options.onViolation?.({ kind: "handler failed", pdu: asked, error }, this);
  }

  #onUnbind(sequence: number): void {
    this.#isClosing = true;
    this.#requests.rejectQueued();
    // Outstanding responses go first on both sides; without them the outcome of their requests stays unknown.
    let mayWait = true;
    const stopWaiting = this.#clock.after(LAST_ANSWERS_MS, () => {
      mayWait = false;
      this.#shutDownIfReady();
    });
    void this.closed.then(stopWaiting);
    this.#shutDownWhen(
      () => this.#unanswered === 0 && (this.#requests.waiting === 0 || !mayWait),
      DRAIN_MS,
      () => {
        this.#outbox.put({ command: "unbind_resp", status: 0 }, sequence);
        this.#close({ reason: "unbound", by: "peer" });
      },
    );
  }

  #shutDownWhen(isReady: () => boolean, withinMs: number, proceed: () => void): void {
    let hasProceeded = false;
    const once = (): void => {
      stopWaiting();
      if (hasProceeded || this.#isClosed) return;
      hasProceeded = true;
      this.#shutdown = null;
      proceed();
    };
    const stopWaiting = this.#clock.after(withinMs, once);
    this.#shutdown = { isReady, proceed: once };
    this.#shutDownIfReady();
  }

  #shutDownIfReady(): void {
    if (this.#shutdown?.isReady()) this.#shutdown.proceed();
  }

  readonly #tick = (): void => {
    const now = this.#now();
    if (this.#requests.expire(now - this.#responseTimeoutMs)) this.#freed = true;
    this.#afterSettling();
    const due = this.#keepAlive.check(now);
    if (due === "give up") this.#abort({ reason: "silent" });
    else if (due === "enquire") this.#outbox.put({ command: "enquire_link" }, this.#requests.nextSequence());
    if (!this.#isClosed) this.#stopTick = this.#clock.after(TICK_MS, this.#tick);
  };

  #afterSettling(): void {
    if (!this.#freed || this.#isClosed) return;
    this.#freed = false;
    this.#requests.pump();
    if (this.isOpen) this.#options.onFree?.(this);
    this.#shutDownIfReady();
  }

  readonly #onSocketEnd = (): void => {
    if (!this.#isClosed) this.#abort({ reason: "hung up" });
  };

  readonly #onDrain = (): void => {
    this.#applyBackpressure();
    this.#requests.pump();
  };

  /** Backpressure: pauses reading while the handler or the peer is too far behind. */
  #applyBackpressure(): void {
    const isHandlerBehind = this.#unanswered >= UNANSWERED_MAX;
    const paused = isHandlerBehind || this.#outbox.backlog > BACKLOG_MAX;
    if (isHandlerBehind && this.#readPausedSince === null) this.#readPausedSince = this.#clock.monotonic();
    if (!isHandlerBehind && this.#readPausedSince !== null) {
      this.#readPausedMs += this.#clock.monotonic() - this.#readPausedSince;
      this.#readPausedSince = null;
    }
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Monotonic time without read pauses. */
  readonly #now = (): number => (this.#readPausedSince ?? this.#clock.monotonic()) - this.#readPausedMs;

  /** Closes after all pending output is written. */
  #close(end: SessionEnd): void {
    if (this.#isClosed) return;
    this.#outbox.flush();
    this.#finish(end);
    // Incoming data is read and discarded; otherwise the kernel would reset the connection before the peer has read
    // everything.
    this.#socket.end();
    this.#socket.resume();
    const stopLingering = this.#clock.after(LINGER_MS, () => this.#socket.destroy());
    this.#socket.once("close", stopLingering);
  }

  #abort(end: SessionEnd): void {
    this.#finish(end);
    this.#socket.destroy();
  }

  #finish(end: SessionEnd): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTick();
    this.#requests.close();
    this.#resolveClosed(end);
  }
}

const isNotice = (pdu: Incoming): pdu is Notice => pdu.command === "outbind" || pdu.command === "alert_notification";
