import { EgressTimeout } from "../../egress/guarded-connect.ts";
import type { HttpClient, HttpSender } from "../../http-client/client.ts";
import type { RequestObserver, RequestHandle } from "../../http-client/connection.ts";
import { NoResponse } from "../../http-client/no-response.ts";
import type { ResponseHead } from "../../http-client/response-head.ts";
import { readTarget } from "../../http-client/write-request.ts";
import type { Clock } from "../../lib/clock.ts";
import { memoize } from "../../lib/memoize.ts";
import type { WebhookRequest } from "../../model/callback.ts";
import { signed, type Signing } from "../sign.ts";

/** Time limit of a whole attempt: DNS, connection, request and response. */
export const REQUEST_TIMEOUT_MS = 15_000;
/** Response bytes read at most; then the connection is closed. */
const READ_MAX_BYTES = 20_480;
const EXCERPT_MAX_BYTES = 4096;
const RETRY_AFTER_MAX_LENGTH = 64;
const CONTENT_TYPE_MAX_LENGTH = 64;
const TARGETS_MAX = 1000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Result of an attempt; `reason` is written for the owner of the endpoint. */
export type DeliveryResult =
  | {
      kind: "delivered";
      status: number;
      ms: number;
      excerpt: string;
      /** The Content-Type header, where there is one. */
      contentType?: string;
    }
  | {
      kind: "failed";
      /** Null without a response. */
      status: number | null;
      reason: string;
      /** A time-out may mean overload. */
      timedOut: boolean;
      /** The Retry-After header, unparsed. */
      retryAfter: string | null;
      /** The endpoint answered 410 Gone. */
      gone: boolean;
      ms: number;
      excerpt: string;
    };

/** URLs are parsed once: most requests go to a recently used one. */
const targetOf = memoize(TARGETS_MAX, readTarget);

/** Sends webhooks, on this thread or another. */
export interface WebhookTransport {
  /** Signs the request if `signing` is given. */
  sendWebhook(request: WebhookRequest, signing?: Signing | null): Promise<DeliveryResult>;
  /** Aborts requests in flight. */
  close(): Promise<void>;
}

/** Sends on the calling thread. */
export const createWebhookTransport = (client: HttpClient, clock: Clock): WebhookTransport => ({
  sendWebhook: (request, signing) => push(client, clock, request, signing),
  close: async () => client.destroy(),
});

/**
 * Makes one attempt and never throws. The status alone decides the result, so a body that breaks off or never ends changes
 * nothing; the attempt ends with the body, or at its limit of bytes or time.
 */
export function push(
  client: HttpSender,
  clock: Clock,
  request: WebhookRequest,
  signing: Signing | null = null,
): Promise<DeliveryResult> {
  return new Promise((resolve) => {
    const attempt = new Attempt(clock, resolve);
    const target = targetOf(request.url);
    if (!target) return attempt.onFailure(new NoResponse("is no address of the web"));
    try {
      client.send(target, signing ? signed(request, signing) : request, attempt);
    } catch (error) {
      attempt.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** Callback-based: a stream and an AbortSignal per response would cost more than the rest of the attempt. */
class Attempt implements RequestObserver {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #resolve: (result: DeliveryResult) => void;
  readonly #cancelLimit: () => void;
  /** Null before the connection. */
  #line: RequestHandle | null = null;
  #ended = false;
  /** 0 before the response. */
  #status = 0;
  #retryAfter: string | null = null;
  #contentType: string | null = null;
  #readBytes = 0;
  #kept: Buffer | null = null;

  constructor(clock: Clock, resolve: (result: DeliveryResult) => void) {
    this.#clock = clock;
    this.#resolve = resolve;
    this.#startedAt = clock.monotonic();
    this.#cancelLimit = clock.after(REQUEST_TIMEOUT_MS, () => this.#hangUp());
  }

  /** A request that timed out while it waited for a connection must not be sent. */
  isWaiting(): boolean {
    return !this.#ended;
  }

  onConnected(line: RequestHandle): void {
    this.#line = line;
  }

  onHead({ status, retryAfter, contentType }: ResponseHead): void {
    this.#status = status;
    if (contentType !== null && contentType.length <= CONTENT_TYPE_MAX_LENGTH) this.#contentType = contentType;
    if (retryAfter !== null && retryAfter.length <= RETRY_AFTER_MAX_LENGTH) this.#retryAfter = retryAfter;
  }

  onBody(bytes: Buffer): void {
    const room = EXCERPT_MAX_BYTES - this.#readBytes;
    this.#readBytes += bytes.length;
    // Copied, because the connection reuses its buffer.
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
    this.#line?.abort(this);
  }

  #end(error: Error | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelLimit();
    const status = this.#status;
    const ms = Math.round(this.#clock.monotonic() - this.#startedAt);
    const excerpt = this.#kept === null ? "" : readExcerpt(this.#kept);
    this.#kept = null;
    const contentType = this.#contentType;
    if (status >= 200 && status < 300)
      return this.#resolve({ kind: "delivered", status, ms, excerpt, ...(contentType !== null && { contentType }) });
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
    const silence = `within ${REQUEST_TIMEOUT_MS / 1000} s`;
    if (this.#line === null) return error === null ? `took no connection ${silence}` : whyNoConnection(error);
    return error === null ? `no answer ${silence}` : whyBroken(error);
  }
}

/** Response text for the log, in at most as many bytes as were read (an invalid byte would become three). */
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
  // Errors without a code come from the SSRF guard, with a readable message.
  if (code === "") return error.message;
  if (code === "ENOTFOUND" || code === "ENODATA" || code.startsWith("EAI_")) return `the name was not found (${code})`;
  if (/CERT|SIGNATURE|CRL/.test(code)) return `has a certificate that is not trusted (${code})`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) {
    return `agreed on no way to encrypt (${code})`;
  }
  return `took no connection (${code})`;
}

const whyBroken = (error: Error): string =>
  error instanceof NoResponse ? error.message : "broke the connection off before it answered";
