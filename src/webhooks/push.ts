import type { Dispatcher } from "undici";
import { EgressRefused, EgressTimeout } from "../egress/guarded-connect.ts";
import type { Clock } from "../lib/clock.ts";
import { createRecall } from "../lib/recall.ts";
import type { Push } from "../model/callback.ts";
import { signed, type Signing } from "./sign.ts";

/** For everything together: the name, the connection, the request and the answer. */
export const PUSH_LIMIT_MS = 15_000;
/** An answer says that it was heard; whoever sends a book instead is hung up on. */
const READ_MAX_BYTES = 20_480;
const EXCERPT_MAX_BYTES = 4096;
const RETRY_AFTER_MAX_LENGTH = 64;
const TARGETS_MAX = 1000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const UNWRITABLE = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"]);
const TIMEOUTS = new Set(["ETIMEDOUT", "UND_ERR_HEADERS_TIMEOUT"]);

/** What became of one attempt; a failure says why in words that the owner of the address understands. */
export type PushResult =
  | { kind: "delivered"; status: number; ms: number; excerpt: string }
  | {
      kind: "failed";
      /** Null when there was no answer. */
      status: number | null;
      reason: string;
      /** The other side may just have too much to do. */
      timedOut: boolean;
      /** As the answer had it, unread. */
      retryAfter: string | null;
      /** The address has said that it will never be there again. */
      gone: boolean;
      ms: number;
      excerpt: string;
    };

/** Most pushes go to addresses that others went to a moment ago. */
const targetOf = createRecall(TARGETS_MAX, (url) => {
  const target = URL.parse(url);
  return target && { origin: target.origin, path: `${target.pathname}${target.search}` };
});

/** Makes attempts, here or in a thread of its own. */
export interface Pusher {
  /** Signs it first where it is told with what. */
  push(request: Push, signing?: Signing | null): Promise<PushResult>;
  /** Calls off what is under way. */
  close(): Promise<void>;
}

/** Makes attempts in the thread that asks for them. */
export const createPusher = (agent: Dispatcher, clock: Clock): Pusher => ({
  push: (request, signing) => push(agent, clock, request, signing),
  close: () => agent.destroy(),
});

/**
 * Makes one attempt and never throws: whatever the other side does is a result. The status alone decides, so a body
 * that breaks off, drips or never ends changes nothing; the attempt is over when the body is, or has had its share of
 * bytes or time. The agent is to be a guarded one, since the address is a customer's.
 */
export function push(
  agent: Dispatcher,
  clock: Clock,
  request: Push,
  signing: Signing | null = null,
): Promise<PushResult> {
  return new Promise((resolve) => {
    const attempt = new Attempt(clock, resolve);
    const target = targetOf(request.url);
    if (!target) return attempt.onResponseError(null, new Error("is no address of the web"));
    try {
      const { method, headers, body } = signing ? signed(request, signing) : request;
      agent.dispatch({ ...target, method, headers, body }, attempt);
    } catch (error) {
      attempt.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** Listens to the agent directly: a stream and a signal for each answer would cost more than all the rest of an attempt. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #resolve: (result: PushResult) => void;
  readonly #cancelLimit: () => void;
  /** Null until there is a connection. */
  #controller: Dispatcher.DispatchController | null = null;
  #ended = false;
  /** 0 until there is an answer. */
  #status = 0;
  #retryAfter: string | null = null;
  #readBytes = 0;
  #kept: Buffer | null = null;

  constructor(clock: Clock, resolve: (result: PushResult) => void) {
    this.#clock = clock;
    this.#resolve = resolve;
    this.#startedAt = clock.monotonic();
    this.#cancelLimit = clock.after(PUSH_LIMIT_MS, () => this.#hangUp());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It had to wait for its connection until nobody waited for it any more: what was told as failed must not be sent.
    if (this.#ended) controller.abort(new Error("the attempt is over"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = readRetryAfter(headers["retry-after"]);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = EXCERPT_MAX_BYTES - this.#readBytes;
    this.#readBytes += chunk.length;
    // Nearly every body comes in one piece; the pieces of others are copied, because each would keep its buffer alive.
    if (this.#kept === null) this.#kept = chunk.subarray(0, room);
    else if (room > 0) this.#kept = Buffer.concat([this.#kept, chunk.subarray(0, room)]);
    if (this.#readBytes >= READ_MAX_BYTES) this.#hangUp();
  }

  onResponseEnd(): void {
    // The connection takes its next request a turn later; whoever heard of the end before that would open another one.
    queueMicrotask(() => setImmediate(() => this.#end(null)));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#end(error);
  }

  #hangUp(): void {
    this.#end(null);
    this.#controller?.abort(new Error("the attempt is over"));
  }

  #end(error: Error | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelLimit();
    const status = this.#status;
    const ms = this.#clock.monotonic() - this.#startedAt;
    const excerpt = this.#kept === null ? "" : readExcerpt(this.#kept);
    this.#kept = null;
    if (status >= 200 && status < 300) return this.#resolve({ kind: "delivered", status, ms, excerpt });
    const isSilent = status === 0;
    this.#resolve({
      kind: "failed",
      status: isSilent ? null : status,
      reason: isSilent ? this.#whyNoAnswer(error) : wordsFor(status),
      timedOut: isSilent && (error === null || isTimeout(error)),
      retryAfter: this.#retryAfter,
      gone: status === 410,
      ms,
      excerpt,
    });
  }

  #whyNoAnswer(error: Error | null): string {
    const silence = `within ${PUSH_LIMIT_MS / 1000} s`;
    if (this.#controller === null) return error === null ? `took no connection ${silence}` : whyNoConnection(error);
    return error === null ? `no answer ${silence}` : whyBroken(error);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function readRetryAfter(written: string | string[] | undefined): string | null {
  const value = Array.isArray(written) ? written[0] : written;
  return value !== undefined && value.length <= RETRY_AFTER_MAX_LENGTH ? value : null;
}

/** Text that can be stored and shown; it may take no more bytes than were kept, although a byte that is no text becomes three. */
function readExcerpt(bytes: Buffer): string {
  const text = bytes.toString("utf8").replaceAll("\0", "");
  if (Buffer.byteLength(text) <= EXCERPT_MAX_BYTES) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(EXCERPT_MAX_BYTES));
  return text.slice(0, read);
}

function wordsFor(status: number): string {
  return REDIRECTS.has(status) ? "redirects to another address, which is not followed" : `answered ${status}`;
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
}

const isTimeout = (error: Error): boolean => error instanceof EgressTimeout || TIMEOUTS.has(codeOf(error));

function whyNoConnection(error: Error): string {
  const code = codeOf(error);
  // What has no code is said by the way out itself, in words that are meant to be read.
  if (error instanceof EgressRefused || code === "") return error.message;
  if (UNWRITABLE.has(code)) return `could not be written as a request: ${error.message}`;
  if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED") return "was called off, because this server stops";
  if (code === "ENOTFOUND" || code === "ENODATA" || code.startsWith("EAI_")) return `the name was not found (${code})`;
  if (/CERT|SIGNATURE|CRL/.test(code)) return `has a certificate that is not trusted (${code})`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) {
    return `agreed on no way to encrypt (${code})`;
  }
  return `took no connection (${code})`;
}

function whyBroken(error: Error): string {
  const code = codeOf(error);
  if (code === "UND_ERR_HEADERS_TIMEOUT") return `no answer within ${PUSH_LIMIT_MS / 1000} s`;
  if (code === "UND_ERR_HEADERS_OVERFLOW") return "answered with more headers than are read";
  if (error.name === "HTTPParserError") return "answered with what is no HTTP";
  if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED") return "was called off, because this server stops";
  return "broke the connection off before it answered";
}
