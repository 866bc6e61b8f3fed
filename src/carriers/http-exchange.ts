import type { HttpSender } from "../http-client/client.ts";
import type { RequestObserver, RequestHandle } from "../http-client/connection.ts";
import { NoResponse } from "../http-client/no-response.ts";
import type { ResponseHead } from "../http-client/response-head.ts";
import { readTarget } from "../http-client/write-request.ts";
import type { Clock } from "../lib/clock.ts";

export interface HttpExchangeRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Null for no body. */
  body: string | null;
  /** For DNS, connection, request and response together. */
  limitMs: number;
  /** Asked just before the request is written. If false, the exchange rejects with `Withdrawn`. */
  maySend?: (() => boolean) | undefined;
}

/** The request was cancelled before any byte was written. */
class Withdrawn extends Error {
  override name = "Withdrawn";
}

/**
 * Result of an HTTP request.
 * - `answered`: a response came, whatever its status; `retryAfter` is the raw header or null.
 * - `unreached`: no byte of the request was sent.
 * - `broken`: the connection broke or timed out after sending; the effect on the other side is unknown.
 */
export type HttpExchange =
  | { kind: "answered"; status: number; retryAfter: string | null; text: string }
  | { kind: "unreached"; reason: string }
  | { kind: "broken"; reason: string };

/** Longer responses are cut off. */
const READ_MAX_BYTES = 65_536;

/**
 * Sends one request and follows no redirect. Every behaviour of the server is a value; it rejects only if the request is
 * withdrawn.
 */
export function exchangeHttp(
  egress: HttpSender,
  clock: Clock,
  { url, limitMs, maySend, ...request }: HttpExchangeRequest,
): Promise<HttpExchange> {
  return new Promise((resolve, reject) => {
    const caller = new ExchangeCaller(clock, limitMs, { resolve, reject, maySend });
    const target = readTarget(url);
    if (!target) return caller.onFailure(new Error("the address is no address of the web"));
    try {
      egress.send(target, request, caller);
    } catch (error) {
      caller.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

interface Settlement {
  resolve(exchange: HttpExchange): void;
  reject(error: Error): void;
  maySend: HttpExchangeRequest["maySend"];
}

/** Receives response events directly, at half the cost of a stream and an AbortSignal per request. */
class ExchangeCaller implements RequestObserver {
  readonly #settlement: Settlement;
  readonly #cancelLimit: () => void;
  /** Null until a connection has the request. */
  #handle: RequestHandle | null = null;
  #isOver = false;
  #head: ResponseHead | null = null;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(clock: Clock, limitMs: number, settlement: Settlement) {
    this.#settlement = settlement;
    this.#cancelLimit = clock.after(limitMs, () => this.#abort(`There was no answer within ${limitMs / 1000} s`));
  }

  /** A request that timed out while waiting for a connection was reported as not sent, and must not be sent. */
  isWaiting(): boolean {
    if (!this.#isOver && this.#settlement.maySend?.() === false) {
      this.#isOver = true;
      this.#cancelLimit();
      this.#settlement.reject(new Withdrawn("the request was withdrawn"));
    }
    return !this.#isOver;
  }

  onConnected(handle: RequestHandle): void {
    this.#handle = handle;
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
  }

  onBody(bytes: Buffer): void {
    // Copied, because the connection reuses the buffer.
    this.#chunks.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
    if (this.#bytes > READ_MAX_BYTES) this.#abort("The answer has no end");
  }

  onEnd(): void {
    const { status = 0, retryAfter = null } = this.#head ?? {};
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#end({ kind: "answered", status, retryAfter, text });
  }

  onFailure(error: Error): void {
    // The messages of NoResponse have no subject.
    const subject = error instanceof NoResponse ? (this.#handle ? "The other side " : "The request ") : "";
    this.#fail(`${subject}${error.message}`);
  }

  #abort(reason: string): void {
    this.#fail(reason);
    this.#handle?.abort(this);
  }

  #fail(reason: string): void {
    this.#end({ kind: this.#handle ? "broken" : "unreached", reason });
  }

  #end(result: HttpExchange): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelLimit();
    this.#settlement.resolve(result);
  }
}
