import { EgressTimeout } from "../egress/guarded-connect.ts";
import type { HttpClient, WayOut } from "../egress/http-client.ts";
import type { Caller, Line } from "../egress/http-connection.ts";
import { NoAnswer } from "../egress/no-answer.ts";
import type { ResponseHead } from "../egress/response-head.ts";
import { readTarget } from "../egress/write-request.ts";
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
const targetOf = createRecall(TARGETS_MAX, readTarget);

/** Makes attempts, here or in a thread of its own. */
export interface Pusher {
  /** Signs it first where it is told with what. */
  push(request: Push, signing?: Signing | null): Promise<PushResult>;
  /** Calls off what is under way. */
  close(): Promise<void>;
}

/** Makes attempts in the thread that asks for them. */
export const createPusher = (client: HttpClient, clock: Clock): Pusher => ({
  push: (request, signing) => push(client, clock, request, signing),
  close: async () => client.destroy(),
});

/**
 * Makes one attempt and never throws: whatever the other side does is a result. The status alone decides, so a body
 * that breaks off, drips or never ends changes nothing; the attempt is over when the body is, or has had its share of
 * bytes or time.
 */
export function push(client: WayOut, clock: Clock, request: Push, signing: Signing | null = null): Promise<PushResult> {
  return new Promise((resolve) => {
    const attempt = new Attempt(clock, resolve);
    const target = targetOf(request.url);
    if (!target) return attempt.onFailure(new NoAnswer("is no address of the web"));
    try {
      client.send(target, signing ? signed(request, signing) : request, attempt);
    } catch (error) {
      attempt.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** Hears of its request directly: a stream and a signal for each answer would cost more than all the rest of an attempt. */
class Attempt implements Caller {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #resolve: (result: PushResult) => void;
  readonly #cancelLimit: () => void;
  /** Null until there is a connection. */
  #line: Line | null = null;
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

  /** What had to wait for its connection until it was told as failed must not be sent. */
  isWaiting(): boolean {
    return !this.#ended;
  }

  onConnected(line: Line): void {
    this.#line = line;
  }

  onHead({ status, retryAfter }: ResponseHead): void {
    this.#status = status;
    if (retryAfter !== null && retryAfter.length <= RETRY_AFTER_MAX_LENGTH) this.#retryAfter = retryAfter;
  }

  onBody(bytes: Buffer): void {
    const room = EXCERPT_MAX_BYTES - this.#readBytes;
    this.#readBytes += bytes.length;
    // Copied, because the bytes are the connection's.
    if (room > 0) this.#keep(bytes.subarray(0, room));
    if (this.#readBytes >= READ_MAX_BYTES) this.#hangUp();
  }

  #keep(bytes: Buffer): void {
    this.#kept = this.#kept === null ? Buffer.from(bytes) : Buffer.concat([this.#kept, bytes]);
  }

  onEnd(): void {
    this.#end(null);
  }

  onFailure(error: Error): void {
    this.#end(error);
  }

  #hangUp(): void {
    this.#end(null);
    this.#line?.hangUp(this);
  }

  #end(error: Error | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelLimit();
    const status = this.#status;
    const ms = Math.round(this.#clock.monotonic() - this.#startedAt);
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
    if (this.#line === null) return error === null ? `took no connection ${silence}` : whyNoConnection(error);
    return error === null ? `no answer ${silence}` : whyBroken(error);
  }
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

const isTimeout = (error: Error): boolean => error instanceof EgressTimeout || codeOf(error) === "ETIMEDOUT";

function whyNoConnection(error: Error): string {
  const code = codeOf(error);
  // What has no code is said by the way out itself, in words that are meant to be read.
  if (code === "") return error.message;
  if (code === "ENOTFOUND" || code === "ENODATA" || code.startsWith("EAI_")) return `the name was not found (${code})`;
  if (/CERT|SIGNATURE|CRL/.test(code)) return `has a certificate that is not trusted (${code})`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) {
    return `agreed on no way to encrypt (${code})`;
  }
  return `took no connection (${code})`;
}

const whyBroken = (error: Error): string =>
  error instanceof NoAnswer ? error.message : "broke the connection off before it answered";
