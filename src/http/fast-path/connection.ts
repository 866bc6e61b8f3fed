import type { Socket } from "node:net";
import { OVERLOADED } from "../errors.ts";
import type { SendRoute } from "../route.ts";
import { ShortLinkRequest } from "./short-link-request.ts";
import { parseLinkHead, parseSendHead, type LinkHead, type SendHead } from "./parse-head.ts";
import { SendRequestHandler, type SendRequestDeps } from "./send-request.ts";
import type { FastPathResponse } from "./format-response.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
const HEAD_BYTES_MAX = 16_384;
/** Longer heads are not cached, because the cache lives as long as the connection. */
const CACHED_HEAD_MAX = 2048;
/** Pipelined requests without a response; at the limit the connection is not read. */
const PENDING_MAX = 32;

/** A parsed head, with the text that it was parsed from. */
interface CachedHead {
  text: string;
  route: SendRoute;
  head: SendHead;
}

export interface FastPath extends SendRequestDeps {
  /** By the whole request line, so that only its canonical spelling is ordinary. */
  routes: ReadonlyMap<string, SendRoute>;
  /** The code in the request line of a short link; null for any other line. */
  parseShortCode(line: string): string | null;
  bodyBytesMax: number;
  addressOf(socket: Socket, forwardedFor: string): string;
  formatResponse(response: FastPathResponse, isLast: boolean): string;
  /** Gives the connection to Node's HTTP server. */
  handOver(socket: Socket): void;
  /** Responds to an incomplete request as Node's server does. */
  reject(socket: Socket, code: "ERR_HTTP_REQUEST_TIMEOUT" | "HPE_INVALID_EOF_STATE"): void;
  /** Counts the seconds since the start; time limits are in ticks. */
  readonly tick: number;
}

/** A body that has not arrived whole. */
interface PendingBody {
  request: SendRequestHandler;
  /** False once the request is refused: the rest of the body is skipped. */
  isWanted: boolean;
  length: number;
  at: number;
}

type State =
  | "reading"
  /** Not read until the client has read earlier responses (backpressure). */
  | "paused"
  /** The next request is not ordinary: Node's server gets the connection after the last pending response. */
  | "handoff"
  /** No further request is read; the connection closes after the last pending response. */
  | "closing";

/**
 * A connection of the fast path. Its own parser saves a third of the cost of a send. It accepts only requests that no two
 * parsers could read differently (request smuggling), and hands the connection over at the first other one.
 *
 * Next: src/http/fast-path/send-request.ts
 */
export class Connection {
  readonly #fastPath: FastPath;
  readonly #socket: Socket;
  readonly #onDetached: (connection: Connection) => void;
  #state: State = "reading";
  #body: PendingBody | null = null;
  /** Requests without a written response, in order of arrival. */
  readonly #pending: FastPathResponse[] = [];
  #rejection: Parameters<FastPath["reject"]>[1] | null = null;
  /** Cache of two heads: clients repeat their heads, and clients of one-time passwords alternate between sending and checking. */
  #lastHead: CachedHead | null = null;
  #previousHead: CachedHead | null = null;
  #isBeforeFirstRequest = true;
  /** The body is large, and the connection is not read until there is memory for it. */
  #waitsForRoom = false;
  /** Tick of the last request or response. */
  #activeAt: number;

  constructor(fastPath: FastPath, socket: Socket, onDetached: (connection: Connection) => void) {
    this.#fastPath = fastPath;
    this.#socket = socket;
    this.#onDetached = onDetached;
    this.#activeAt = fastPath.tick;
    socket.on("data", this.#read).on("end", this.#onEnd).on("drain", this.#onDrain);
    socket.on("error", this.#onError).on("close", this.#onClose);
  }

  /** No request is pending. A connection before its first request is not idle. */
  get isIdle(): boolean {
    return !this.#isBeforeFirstRequest && this.#state === "reading" && !this.#body && this.#pending.length === 0;
  }

  /** Closes it once all written bytes are sent. */
  close(): void {
    this.#state = "closing";
    this.#socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Closes a connection that is over its time limit (in ticks). A connection that waits for our response has none. */
  enforceTimeouts(limits: { head: number; request: number; idle: number }): void {
    if (this.#pending.length > 0) return;
    const limit = this.#body ? limits.request : this.#isBeforeFirstRequest ? limits.head : limits.idle;
    if (this.#fastPath.tick - this.#activeAt <= limit) return;
    const isIncomplete = this.#body?.isWanted || (this.#isBeforeFirstRequest && this.#state === "reading");
    if (isIncomplete) this.#reject("ERR_HTTP_REQUEST_TIMEOUT");
    else this.destroy();
  }

  readonly #read = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length;) {
      if (this.#waitsForRoom) return this.#unread(bytes.subarray(at));
      if (this.#body) {
        at = this.#readBody(this.#body, bytes, at);
        continue;
      }
      if (this.#state === "closing") return;
      const next = this.#isFull() ? "paused" : this.#beginRequest(bytes, at);
      if (typeof next === "number") at = next;
      else return this.#stopReading(next, bytes.subarray(at));
    }
  };

  /** Parses a head, and its body if that is complete. Returns the offset after it, or "handoff" if it is not ordinary. */
  #beginRequest(bytes: Buffer, at: number): number | "handoff" {
    const end = bytes.indexOf(HEAD_END, at);
    // A head in several chunks is rare; Node's parser assembles it.
    if (end < 0 || end - at > HEAD_BYTES_MAX) return "handoff";
    const text = bytes.toString("latin1", at, end + 2);
    const bodyAt = end + HEAD_END.length;
    const cached = this.#lastHead?.text === text ? this.#lastHead : this.#previousHead;
    if (cached?.text === text) return this.#beginSend(cached.route, cached.head, bytes, bodyAt);
    const lineEnd = text.indexOf("\r\n");
    const line = text.slice(0, lineEnd);
    const route = this.#fastPath.routes.get(line);
    if (route) {
      const head = parseSendHead(text, lineEnd + 2);
      if (!head || head.bodyBytes > this.#fastPath.bodyBytesMax) return "handoff";
      this.#previousHead = this.#lastHead;
      this.#lastHead = text.length > CACHED_HEAD_MAX ? null : { text, route, head };
      return this.#beginSend(route, head, bytes, bodyAt);
    }
    const code = this.#fastPath.parseShortCode(line);
    const head = code === null ? null : parseLinkHead(text, lineEnd + 2);
    if (code === null || !head) return "handoff";
    this.#beginShortLink(code, head);
    return bodyAt;
  }

  #beginShortLink(code: string, head: LinkHead): void {
    this.#onRequest(head);
    const request = new ShortLinkRequest();
    this.#pending.push(request);
    void request.follow(this.#fastPath.services, code, head.userAgent).then(this.#flush);
  }

  #onRequest({ keepAlive, forwardedFor }: { keepAlive: boolean; forwardedFor: string | undefined }): void {
    if (forwardedFor !== undefined) this.#fastPath.services.proxyWarning.observe({ "x-forwarded-for": forwardedFor });
    this.#isBeforeFirstRequest = false;
    this.#activeAt = this.#fastPath.tick;
    if (!keepAlive) this.#state = "closing";
  }

  #beginSend(route: SendRoute, head: SendHead, bytes: Buffer, bodyAt: number): number | "handoff" {
    const request = new SendRequestHandler(this.#fastPath, route, head);
    if (!request.identify()) return "handoff";
    this.#onRequest(head);
    const isAdmitted = request.admit(this.#fastPath.addressOf(this.#socket, head.forwardedFor ?? ""));
    const bodyEnd = bodyAt + head.bodyBytes;
    if (isAdmitted && bodyEnd <= bytes.length) {
      this.#handle(request, bytes, bodyAt, bodyEnd);
      return bodyEnd;
    }
    const body: PendingBody = { request, isWanted: isAdmitted, length: head.bodyBytes, at: 0 };
    this.#body = body;
    if (!isAdmitted) this.#respondEarly(request);
    else {
      const waiting = request.lease.expect(head.bodyBytes);
      if (waiting) void this.#waitForRoom(body, waiting);
    }
    return bodyAt;
  }

  async #waitForRoom(body: PendingBody, waiting: Promise<void>): Promise<void> {
    this.#waitsForRoom = true;
    try {
      await waiting;
    } catch (error) {
      this.#refuseBody(body, error);
    }
    this.#waitsForRoom = false;
    if (this.#body === body) this.#socket.resume();
  }

  /** Responds before the body has arrived, and skips the rest of it. */
  #refuseBody(body: PendingBody, error: unknown): void {
    if (this.#body !== body) return;
    body.isWanted = false;
    body.request.lease.release();
    body.request.refuse(error);
    this.#respondEarly(body.request);
  }

  #respondEarly(request: SendRequestHandler): void {
    this.#pending.push(request);
    this.#flush();
  }

  #readBody(body: PendingBody, bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + body.length - body.at);
    if (body.isWanted && !body.request.lease.append(bytes, at, end)) this.#refuseBody(body, OVERLOADED);
    body.at += end - at;
    if (body.at < body.length) return end;
    this.#body = null;
    if (body.isWanted) this.#handle(body.request, body.request.lease.body);
    return end;
  }

  #handle(request: SendRequestHandler, bytes: Buffer, from?: number, to?: number): void {
    this.#pending.push(request);
    void request.handle(bytes, from, to).then(this.#flush);
  }

  /** Writes responses in the order of their requests, up to the first that is not ready. */
  readonly #flush = (): void => {
    let out = "";
    for (let request = this.#pending[0]; request && request.status !== 0; request = this.#pending[0]) {
      this.#pending.shift();
      const isLast = this.#pending.length === 0 && !this.#body?.isWanted;
      // A kept-alive connection would delay the shutdown until its client closes it.
      if (isLast && this.#fastPath.services.draining.aborted && this.#state !== "handoff") this.#state = "closing";
      out += this.#fastPath.formatResponse(request, isLast && this.#state === "closing" && !this.#rejection);
    }
    if (out === "") return;
    this.#activeAt = this.#fastPath.tick;
    this.#socket.write(out);
    this.#advance();
  };

  /** Unshifts the unread bytes, so that the stream emits "end" only after they are consumed. */
  #stopReading(state: "paused" | "handoff", rest: Buffer): void {
    this.#state = state;
    this.#unread(rest);
    this.#advance();
  }

  #unread(rest: Buffer): void {
    this.#socket.pause();
    this.#socket.unshift(rest);
  }

  #advance(): void {
    switch (this.#state) {
      case "reading":
        return;
      case "paused":
        if (this.#isFull()) return;
        this.#state = "reading";
        return void this.#socket.resume();
      case "handoff":
        if (this.#pending.length === 0) this.#handOver();
        return;
      case "closing":
        if (this.#pending.length > 0 || this.#body?.isWanted) return;
        if (this.#rejection) this.#fastPath.reject(this.#socket, this.#rejection);
        else this.#socket.destroySoon();
    }
  }

  #handOver(): void {
    const socket = this.#socket;
    socket.off("data", this.#read).off("end", this.#onEnd).off("drain", this.#onDrain);
    socket.off("error", this.#onError).off("close", this.#onClose);
    this.#onDetached(this);
    this.#fastPath.handOver(socket);
    socket.resume();
  }

  #reject(rejection: Parameters<FastPath["reject"]>[1]): void {
    this.#dropBody();
    this.#state = "closing";
    this.#rejection = rejection;
    this.#advance();
  }

  #dropBody(): void {
    this.#body?.request.lease.release();
    this.#body = null;
  }

  #isFull(): boolean {
    return this.#pending.length >= PENDING_MAX || this.#socket.writableNeedDrain;
  }

  /** The client has half-closed: it sends no more requests, and may still read responses. */
  readonly #onEnd = (): void => {
    if (this.#body?.isWanted) return this.#reject("HPE_INVALID_EOF_STATE");
    this.#dropBody();
    this.#state = "closing";
    this.#advance();
  };

  readonly #onDrain = (): void => {
    if (this.#state === "paused") this.#advance();
  };

  // "close" follows.
  readonly #onError = (): void => {};

  /** Requests of a client that has left are completed without a response. */
  readonly #onClose = (): void => {
    this.#state = "closing";
    this.#dropBody();
    this.#pending.length = 0;
    this.#onDetached(this);
  };
}
