import type { Socket } from "node:net";
import type { SendRoute } from "../route.ts";
import { LinkExchange } from "./link-exchange.ts";
import { readLinkHead, readSendHead, type LinkHead, type SendHead } from "./read-head.ts";
import { SendExchange, type SendNeeds } from "./send-exchange.ts";
import type { Answer } from "./write-answer.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
const HEAD_BYTES_MAX = 16_384;
/** A longer head is read anew each time: what is remembered, is so for as long as the connection lasts. */
const REMEMBERED_MAX = 2048;
/** A client may ask this often before it reads an answer; then it is not listened to until it does. */
const ANSWERS_DUE_MAX = 32;

/** A send whose head has been read. */
interface KnownSend {
  text: string;
  route: SendRoute;
  head: SendHead;
}

export interface Door extends SendNeeds {
  /** By the whole first line of a request, so that only a line that we could have written ourselves is ordinary. */
  routes: ReadonlyMap<string, SendRoute>;
  /** The code of a short link in the whole first line of a request for it. */
  findCode(line: string): string | null;
  bodyBytesMax: number;
  addressOf(socket: Socket, forwardedFor: string): string;
  write(answer: Answer, last: boolean): string;
  /** Gives the connection to the ordinary door. */
  handOver(socket: Socket): void;
  /** Answers what can be answered to a request that never came whole. */
  refuse(socket: Socket, code: "ERR_HTTP_REQUEST_TIMEOUT" | "HPE_INVALID_EOF_STATE"): void;
  /** How often it has looked for clients that take too long. */
  readonly round: number;
}

/** A body on its way. Without `bytes` its request is answered already, and it is only skipped. */
interface Body {
  exchange: SendExchange;
  bytes: Buffer | null;
  length: number;
  at: number;
}

type Reading =
  /** Whatever comes is read. */
  | "on"
  /** Nothing is read until the client has taken earlier answers. */
  | "held"
  /** What comes next is not ordinary: the ordinary door gets it, with the connection, after the last answer. */
  | "odd"
  /** No other request is read; the connection ends after the last answer. */
  | "over";

/**
 * A connection as long as everything on it is plainly ordinary. It reads the bytes by itself, which takes a third off
 * the price of a send; in return it reads nothing that could be read in two ways.
 */
export class Connection {
  readonly #door: Door;
  readonly #socket: Socket;
  readonly #onGone: (connection: Connection) => void;
  #reading: Reading = "on";
  #body: Body | null = null;
  /** Requests that are answered, or will be, in the order in which they came. */
  readonly #due: Answer[] = [];
  #fault: Parameters<Door["refuse"]>[1] | null = null;
  /**
   * The last two heads of sends, of which on one connection the next is mostly one and then need not be read again: codes are
   * sent and checked in turn.
   */
  #lastSend: KnownSend | null = null;
  #sendBefore: KnownSend | null = null;
  /** True until the first request. */
  #fresh = true;
  /** The door's round in which something was last begun or finished. */
  #since: number;

  constructor(door: Door, socket: Socket, onGone: (connection: Connection) => void) {
    this.#door = door;
    this.#socket = socket;
    this.#onGone = onGone;
    this.#since = door.round;
    socket.on("data", this.#read).on("end", this.#onEnd).on("drain", this.#onDrain);
    socket.on("error", this.#onError).on("close", this.#onClose);
  }

  /** Whether its client waits for nothing; one that has yet to ask its first does. */
  get idle(): boolean {
    return !this.#fresh && this.#reading === "on" && !this.#body && this.#due.length === 0;
  }

  /** Ends it once what is written has been sent. */
  close(): void {
    this.#reading = "over";
    this.#socket.destroySoon();
  }

  /** Ends it now. */
  cut(): void {
    this.#socket.destroy();
  }

  /** Cuts off a client that takes too long; as long as an answer is due, it is we who do. Limits are in rounds. */
  lookAt(limits: { head: number; request: number; idle: number }): void {
    if (this.#due.length > 0) return;
    const limit = this.#body ? limits.request : this.#fresh ? limits.head : limits.idle;
    if (this.#door.round - this.#since <= limit) return;
    const unfinished = this.#body?.bytes || (this.#fresh && this.#reading === "on");
    if (unfinished) this.#giveUp("ERR_HTTP_REQUEST_TIMEOUT");
    else this.cut();
  }

  readonly #read = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length;) {
      if (this.#body) {
        at = this.#readBody(this.#body, bytes, at);
        continue;
      }
      if (this.#reading === "over") return;
      const next = this.#isFull() ? "held" : this.#begin(bytes, at);
      if (typeof next === "number") at = next;
      else return this.#stopReading(next, bytes.subarray(at));
    }
  };

  /** Reads a head, and what follows it if all of it is there. Says where it has come to, or that this is not for us. */
  #begin(bytes: Buffer, at: number): number | "odd" {
    const end = bytes.indexOf(HEAD_END, at);
    // A head in pieces is rare enough to be odd.
    if (end < 0 || end - at > HEAD_BYTES_MAX) return "odd";
    const text = bytes.toString("latin1", at, end + 2);
    const bodyAt = end + HEAD_END.length;
    const known = this.#lastSend?.text === text ? this.#lastSend : this.#sendBefore;
    if (known?.text === text) return this.#beginSend(known.route, known.head, bytes, bodyAt);
    const lineEnd = text.indexOf("\r\n");
    const line = text.slice(0, lineEnd);
    const route = this.#door.routes.get(line);
    if (route) {
      const head = readSendHead(text, lineEnd + 2);
      if (!head || head.bodyBytes > this.#door.bodyBytesMax) return "odd";
      this.#sendBefore = this.#lastSend;
      this.#lastSend = text.length > REMEMBERED_MAX ? null : { text, route, head };
      return this.#beginSend(route, head, bytes, bodyAt);
    }
    const code = this.#door.findCode(line);
    const head = code === null ? null : readLinkHead(text, lineEnd + 2);
    if (code === null || !head) return "odd";
    this.#follow(code, head);
    return bodyAt;
  }

  #follow(code: string, head: LinkHead): void {
    this.#note(head);
    const exchange = new LinkExchange();
    this.#due.push(exchange);
    void exchange.follow(this.#door.services, code, head.userAgent).then(this.#flush);
  }

  #note({ keepAlive }: { keepAlive: boolean }): void {
    this.#fresh = false;
    this.#since = this.#door.round;
    if (!keepAlive) this.#reading = "over";
  }

  #beginSend(route: SendRoute, head: SendHead, bytes: Buffer, bodyAt: number): number {
    this.#note(head);
    const exchange = new SendExchange(this.#door, route, head);
    const admitted = exchange.admit(this.#door.addressOf(this.#socket, head.forwardedFor));
    const bodyEnd = bodyAt + head.bodyBytes;
    if (admitted && bodyEnd <= bytes.length) {
      this.#handle(exchange, bytes.toString("utf8", bodyAt, bodyEnd));
      return bodyEnd;
    }
    this.#body = {
      exchange,
      bytes: admitted ? Buffer.allocUnsafe(head.bodyBytes) : null,
      length: head.bodyBytes,
      at: 0,
    };
    if (!admitted) {
      this.#due.push(exchange);
      this.#flush();
    }
    return bodyAt;
  }

  #readBody(body: Body, bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + body.length - body.at);
    if (body.bytes) bytes.copy(body.bytes, body.at, at, end);
    body.at += end - at;
    if (body.at < body.length) return end;
    this.#body = null;
    if (body.bytes) this.#handle(body.exchange, body.bytes.toString("utf8"));
    return end;
  }

  #handle(exchange: SendExchange, text: string): void {
    this.#due.push(exchange);
    void exchange.handle(text).then(this.#flush);
  }

  /** Writes what is answered, up to the first that is not: answers keep the order of their requests. */
  readonly #flush = (): void => {
    let out = "";
    for (let exchange = this.#due[0]; exchange && exchange.status !== 0; exchange = this.#due[0]) {
      this.#due.shift();
      const last = this.#due.length === 0 && !this.#body?.bytes;
      // A connection that is kept would hold up the stop until its client lets go of it.
      if (last && this.#door.services.stopping.aborted && this.#reading !== "odd") this.#reading = "over";
      out += this.#door.write(exchange, last && this.#reading === "over" && !this.#fault);
    }
    if (out === "") return;
    this.#since = this.#door.round;
    this.#socket.write(out);
    this.#goOn();
  };

  /** What is left goes back to the stream, which then tells of no end before it has been read. */
  #stopReading(reading: "held" | "odd", rest: Buffer): void {
    this.#reading = reading;
    this.#socket.pause();
    this.#socket.unshift(rest);
    this.#goOn();
  }

  #goOn(): void {
    switch (this.#reading) {
      case "on":
        return;
      case "held":
        if (this.#isFull()) return;
        this.#reading = "on";
        return void this.#socket.resume();
      case "odd":
        if (this.#due.length === 0) this.#leave();
        return;
      case "over":
        if (this.#due.length > 0 || this.#body?.bytes) return;
        if (this.#fault) this.#door.refuse(this.#socket, this.#fault);
        else this.#socket.destroySoon();
    }
  }

  #leave(): void {
    const socket = this.#socket;
    socket.off("data", this.#read).off("end", this.#onEnd).off("drain", this.#onDrain);
    socket.off("error", this.#onError).off("close", this.#onClose);
    this.#onGone(this);
    this.#door.handOver(socket);
    socket.resume();
  }

  #giveUp(fault: Parameters<Door["refuse"]>[1]): void {
    this.#body = null;
    this.#reading = "over";
    this.#fault = fault;
    this.#goOn();
  }

  #isFull(): boolean {
    return this.#due.length >= ANSWERS_DUE_MAX || this.#socket.writableNeedDrain;
  }

  /** The client will ask no more, and may still be reading. */
  readonly #onEnd = (): void => {
    if (this.#body?.bytes) return this.#giveUp("HPE_INVALID_EOF_STATE");
    this.#body = null;
    this.#reading = "over";
    this.#goOn();
  };

  readonly #onDrain = (): void => {
    if (this.#reading === "held") this.#goOn();
  };

  // A line that breaks closes next, and there is nobody to tell.
  readonly #onError = (): void => {};

  /** Whoever has left is told nothing; what they asked is done all the same. */
  readonly #onClose = (): void => {
    this.#reading = "over";
    this.#body = null;
    this.#due.length = 0;
    this.#onGone(this);
  };
}
