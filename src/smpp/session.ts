import type { Duplex } from "node:stream";
import { commandOf, isResponseId, RESPONSE_COMMANDS } from "./commands.ts";
import { decode, type Decoded } from "./decode.ts";
import { Framer } from "./framer.ts";
import { Outbox } from "./outbox.ts";
import type { Notice, Request, Response, ResponseOf } from "./pdu.ts";
import { RequestWindow, type Outcome, type Settle } from "./request-window.ts";
import { responseTo } from "./respond.ts";
import { realClock, type SessionClock } from "./session-clock.ts";
import { STATUS } from "./status.ts";
import { Vigil } from "./vigil.ts";

/** Time-outs and silence are looked for this often, with one timer for all of them. */
const TICK_MS = 1000;
/** How long a graceful end waits for answers that are due, and then for the answer to unbind. */
const DRAIN_MS = 10_000;
const UNBIND_MS = 5000;
/** How long the other side is given to answer what it was asked before it unbound. */
const LAST_ANSWERS_MS = 3000;
/** How long the other side may take to close a connection that we have ended. */
const LINGER_MS = 1000;
/** Requests of the other side that may wait for the handler; then nothing is read until some are answered. */
const UNANSWERED_MAX = 1000;
/** Octets of answers that the other side may leave lying; then it is not read either until it has taken them. */
const BACKLOG_MAX = 1_048_576;

/** What is handed to the handler; the session answers unbind and enquire_link by itself. */
export type Incoming = Exclude<Request, { command: "unbind" | "enquire_link" }> | Notice;

/** Null leaves a request without an answer; a notice has none anyway. */
export type Answer = Response | null;
export type OnRequest = (pdu: Incoming, session: Session) => Answer | Promise<Answer>;

/** What the other side should not have done, or the handler: worth a line in a log. */
export type Oddity =
  | Extract<Decoded, { kind: "malformed" }>
  /** A response that no request waits for: it came after its time, twice, or to nothing. */
  | { readonly kind: "stray"; readonly sequence: number; readonly pdu: Response }
  /** The request was answered with ESME_RSYSERR. */
  | { readonly kind: "handler failed"; readonly pdu: Incoming; readonly error: unknown };

export type SessionEnd =
  | { readonly reason: "unbound"; readonly by: "us" | "peer" }
  | { readonly reason: "hung up" | "silent" | "unframeable" | "destroyed" }
  | { readonly reason: "failed"; readonly error: Error };

export interface SessionOptions {
  onRequest: OnRequest;
  /** Told when places in the window have become free, once for all that became so together. */
  onFree?: (session: Session) => void;
  onOddity?: (oddity: Oddity, session: Session) => void;
  /** Requests that may wait for their answers; 10 unless said otherwise. */
  window?: number;
  /** 30 seconds unless said otherwise. */
  responseTimeoutMs?: number;
  /** Silence after which the other side is asked whether it is there; 30 seconds unless said otherwise, null never asks. */
  enquireAfterMs?: number | null;
  clock?: SessionClock;
}

/** One connection, on either side of it: requests and their answers over a socket that is connected already. */
export class Session {
  /** Resolves once, when it is over; by then every request has its outcome. */
  readonly closed: Promise<SessionEnd>;
  readonly #tellClosed: (end: SessionEnd) => void;
  readonly #socket: Duplex;
  readonly #options: SessionOptions;
  readonly #clock: SessionClock;
  readonly #responseTimeoutMs: number;
  readonly #outbox: Outbox;
  readonly #framer: Framer;
  readonly #requests: RequestWindow;
  readonly #vigil: Vigil;
  #stopTick: () => void;
  /** Whether requests have been settled that `onFree` was not told of. */
  #freed = false;
  /** Requests of the other side that the handler has yet to answer. */
  #unanswered = 0;
  #paused = false;
  /** Time in which we did not listen, because of ourselves: it counts against nobody. */
  #deafMs = 0;
  #deafSince: number | null = null;
  #isLeaving = false;
  #isOver = false;
  /** What is to happen once nothing is due any more. */
  #farewell: { isTime: () => boolean; say: () => void } | null = null;

  constructor(socket: Duplex, options: SessionOptions) {
    const { clock = realClock, window = 10, responseTimeoutMs = 30_000, enquireAfterMs = 30_000 } = options;
    this.#socket = socket;
    this.#options = options;
    this.#clock = clock;
    this.#responseTimeoutMs = responseTimeoutMs;
    this.#outbox = new Outbox(socket);
    this.#framer = new Framer(this.#onFrame);
    this.#requests = new RequestWindow({ outbox: this.#outbox, now: this.#now, size: window });
    this.#vigil = new Vigil({ enquireAfterMs, answerWithinMs: responseTimeoutMs }, this.#now());
    const { promise, resolve } = Promise.withResolvers<SessionEnd>();
    this.closed = promise;
    this.#tellClosed = resolve;
    this.#stopTick = clock.after(TICK_MS, this.#tick);
    socket.on("data", this.#onData).on("drain", this.#onDrain);
    socket.on("end", this.#onHungUp).on("close", this.#onHungUp);
    socket.on("error", (error: Error) => this.#cut({ reason: "failed", error }));
    // Such a socket has said so already, and will not again.
    if (socket.destroyed) this.#onHungUp();
  }

  /** Whether it takes requests. */
  get isOpen(): boolean {
    return !this.#isLeaving && !this.#isOver;
  }

  /** Places in the window that are not taken, by what is sent or by what is queued; none when it takes no requests. */
  get free(): number {
    return this.isOpen ? this.#requests.free : 0;
  }

  /** Requests that are sent and not answered. */
  get pending(): number {
    return this.#requests.waiting;
  }

  /** Requests that wait for a place in the window. */
  get queued(): number {
    return this.#requests.queued;
  }

  get window(): number {
    return this.#requests.size;
  }

  /** Counts from the next request on. */
  set window(size: number) {
    this.#requests.size = size;
    this.#requests.pump();
  }

  /** Asks, now or when there is a place in the window. Rejects a PDU that cannot be written, and nothing else. */
  request<Asked extends Request>(pdu: Asked): Promise<Outcome<ResponseOf<Asked["command"]>>> {
    return new Promise((resolve) => this.ask(pdu, resolve));
  }

  /**
   * The same without a promise, for whoever has one of its own: `settle` is called once, and never before this returns
   * unless the session is over. Throws where `request` rejects.
   */
  ask<Asked extends Request>(pdu: Asked, settle: (outcome: Outcome<ResponseOf<Asked["command"]>>) => void): void {
    if (this.isOpen) this.#requests.ask(pdu, settle as Settle);
    else settle({ kind: "closed", wasWritten: false });
  }

  /** Says what is never answered. */
  notify(pdu: Notice): void {
    if (!this.#isOver) this.#outbox.put(pdu, this.#requests.nextSequence());
  }

  /**
   * Ends in good order: takes no more requests, hands back those that were not sent, waits for the answers that are
   * due on both sides, unbinds and closes.
   */
  unbind({ drainMs = DRAIN_MS, unbindMs = UNBIND_MS } = {}): Promise<SessionEnd> {
    if (!this.isOpen) return this.closed;
    this.#isLeaving = true;
    this.#requests.handBackQueued();
    const isTime = (): boolean => this.#requests.waiting === 0 && this.#unanswered === 0;
    this.#leave(isTime, drainMs, () => {
      const close = (): void => this.#close({ reason: "unbound", by: "us" });
      const stopWaiting = this.#clock.after(unbindMs, close);
      this.#requests.send({ command: "unbind" }, () => {
        stopWaiting();
        close();
      });
    });
    return this.closed;
  }

  /** Ends now. */
  destroy(): void {
    this.#cut({ reason: "destroyed" });
  }

  readonly #onData = (chunk: Buffer): void => {
    // After the end the connection is only emptied.
    if (this.#isOver) return;
    this.#vigil.heard(this.#now());
    const read = this.#framer.read(chunk);
    if (read === "unframeable" && !this.#isOver) {
      this.#outbox.put({ command: "generic_nack", status: STATUS.ESME_RINVCMDLEN }, 0);
      this.#close({ reason: "unframeable" });
    }
    this.#listenIfFit();
    this.#afterSettling();
  };

  readonly #onFrame = (octets: Buffer, start: number, end: number): void => {
    if (this.#isOver) return;
    const decoded = decode(octets, start, end);
    if (decoded.kind === "malformed") return this.#onMalformed(decoded);
    const { pdu, sequence } = decoded;
    if ("status" in pdu) this.#onResponse(pdu, sequence);
    else if (pdu.command === "enquire_link") this.#outbox.put({ command: "enquire_link_resp", status: 0 }, sequence);
    else if (pdu.command === "unbind") this.#onUnbind(sequence);
    else this.#onRequest(pdu, sequence);
  };

  #onResponse(pdu: Response, sequence: number): void {
    if (this.#requests.settle(pdu, sequence)) this.#freed = true;
    // An enquiry waits for nothing: that something was heard is its answer.
    else if (pdu.command !== "enquire_link_resp") this.#options.onOddity?.({ kind: "stray", sequence, pdu }, this);
  }

  #onMalformed(malformed: Extract<Decoded, { kind: "malformed" }>): void {
    const { commandId, sequence, status } = malformed;
    // A response is never answered: two sides that did so would never stop.
    if (!isResponseId(commandId)) {
      const command = commandOf(commandId);
      const isAnswerable = command !== undefined && command in RESPONSE_COMMANDS;
      if (isAnswerable) this.#outbox.put(responseTo({ command: command as Request["command"] }, { status }), sequence);
      else this.#outbox.put({ command: "generic_nack", status }, sequence);
    }
    this.#options.onOddity?.(malformed, this);
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
    this.#listenIfFit();
    const settled = (answerIt: () => void): void => {
      this.#unanswered -= 1;
      answerIt();
      this.#listenIfFit();
      this.#leaveIfTime();
    };
    void answer.then(
      (later) => settled(() => this.#answer(pdu, sequence, later)),
      (error: unknown) => settled(() => this.#onHandlerFailed(pdu, sequence, error)),
    );
  }

  #answer(asked: Incoming, sequence: number, answer: Answer): void {
    if (answer === null || isNotice(asked) || this.#isOver) return;
    try {
      if (answer.command !== RESPONSE_COMMANDS[asked.command] && answer.command !== "generic_nack")
        throw new TypeError(`${asked.command} was answered with ${answer.command}; responseTo makes the right one`);
      this.#outbox.put(answer, sequence);
    } catch (error) {
      this.#onHandlerFailed(asked, sequence, error);
    }
  }

  #onHandlerFailed(asked: Incoming, sequence: number, error: unknown): void {
    if (!isNotice(asked) && !this.#isOver)
      this.#outbox.put(responseTo(asked, { status: STATUS.ESME_RSYSERR }), sequence);
    this.#options.onOddity?.({ kind: "handler failed", pdu: asked, error }, this);
  }

  #onUnbind(sequence: number): void {
    this.#isLeaving = true;
    this.#requests.handBackQueued();
    // Answers that are due go first, on both sides: without them nobody would know what became of the requests.
    let isPatient = true;
    const stopWaiting = this.#clock.after(LAST_ANSWERS_MS, () => {
      isPatient = false;
      this.#leaveIfTime();
    });
    void this.closed.then(stopWaiting);
    this.#leave(
      () => this.#unanswered === 0 && (this.#requests.waiting === 0 || !isPatient),
      DRAIN_MS,
      () => {
        this.#outbox.put({ command: "unbind_resp", status: 0 }, sequence);
        this.#close({ reason: "unbound", by: "peer" });
      },
    );
  }

  #leave(isTime: () => boolean, withinMs: number, say: () => void): void {
    let isSaid = false;
    const once = (): void => {
      stopWaiting();
      if (isSaid || this.#isOver) return;
      isSaid = true;
      this.#farewell = null;
      say();
    };
    const stopWaiting = this.#clock.after(withinMs, once);
    this.#farewell = { isTime, say: once };
    this.#leaveIfTime();
  }

  #leaveIfTime(): void {
    if (this.#farewell?.isTime()) this.#farewell.say();
  }

  readonly #tick = (): void => {
    const now = this.#now();
    if (this.#requests.expire(now - this.#responseTimeoutMs)) this.#freed = true;
    this.#afterSettling();
    const due = this.#vigil.look(now);
    if (due === "give up") this.#cut({ reason: "silent" });
    else if (due === "enquire") this.#outbox.put({ command: "enquire_link" }, this.#requests.nextSequence());
    if (!this.#isOver) this.#stopTick = this.#clock.after(TICK_MS, this.#tick);
  };

  #afterSettling(): void {
    if (!this.#freed || this.#isOver) return;
    this.#freed = false;
    this.#requests.pump();
    if (this.isOpen) this.#options.onFree?.(this);
    this.#leaveIfTime();
  }

  readonly #onHungUp = (): void => {
    if (!this.#isOver) this.#cut({ reason: "hung up" });
  };

  readonly #onDrain = (): void => {
    this.#listenIfFit();
    this.#requests.pump();
  };

  /** Stops reading while the handler or the other side is too far behind, so that nothing piles up in memory. */
  #listenIfFit(): void {
    const isHandlerBehind = this.#unanswered >= UNANSWERED_MAX;
    const paused = isHandlerBehind || this.#outbox.backlog > BACKLOG_MAX;
    if (isHandlerBehind && this.#deafSince === null) this.#deafSince = this.#clock.monotonic();
    if (!isHandlerBehind && this.#deafSince !== null) {
      this.#deafMs += this.#clock.monotonic() - this.#deafSince;
      this.#deafSince = null;
    }
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Milliseconds in which we listened. */
  readonly #now = (): number => (this.#deafSince ?? this.#clock.monotonic()) - this.#deafMs;

  /** Ends the connection once all that was said is written. */
  #close(end: SessionEnd): void {
    if (this.#isOver) return;
    this.#outbox.flush();
    this.#finish(end);
    // What the other side still sends is read and dropped: else the system would reset what it has yet to read.
    this.#socket.end();
    this.#socket.resume();
    const stopLingering = this.#clock.after(LINGER_MS, () => this.#socket.destroy());
    this.#socket.once("close", stopLingering);
  }

  #cut(end: SessionEnd): void {
    this.#finish(end);
    this.#socket.destroy();
  }

  #finish(end: SessionEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopTick();
    this.#requests.close();
    this.#tellClosed(end);
  }
}

const isNotice = (pdu: Incoming): pdu is Notice => pdu.command === "outbind" || pdu.command === "alert_notification";
