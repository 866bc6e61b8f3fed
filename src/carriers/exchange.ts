import type { WayOut } from "../egress/http-client.ts";
import type { Caller, Line } from "../egress/http-connection.ts";
import { NoAnswer } from "../egress/no-answer.ts";
import type { ResponseHead } from "../egress/response-head.ts";
import { readTarget } from "../egress/write-request.ts";
import type { Clock } from "../lib/clock.ts";

export interface Asked {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Null for none. */
  body: string | null;
  /** For everything together: the name, the connection, the request and the answer. */
  limitMs: number;
}

/**
 * What can be known after asking a platform for something.
 * - `answered`: whatever it says, it has said it; `retryAfter` as it was written, null where it was not.
 * - `unreached`: not a byte of the request has left; nothing has happened there.
 * - `broken`: it was on its way when the line broke or the time was over; nobody knows what has happened there.
 */
export type Exchange =
  | { kind: "answered"; status: number; retryAfter: string | null; text: string }
  | { kind: "unreached"; reason: string }
  | { kind: "broken"; reason: string };

/** Whoever answers with more has said enough by then. */
const READ_MAX_BYTES = 65_536;

/** Asks once and never throws: whatever the other side does is a value. It follows no redirect. */
export function exchange(wayOut: WayOut, clock: Clock, { url, limitMs, ...request }: Asked): Promise<Exchange> {
  return new Promise((resolve) => {
    const asking = new Asking(clock, limitMs, resolve);
    const target = readTarget(url);
    if (!target) return asking.onFailure(new Error("the address is no address of the web"));
    try {
      wayOut.send(target, request, asking);
    } catch (error) {
      asking.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** Hears of its request directly, which costs half of what a stream and a signal for each answer would. */
class Asking implements Caller {
  readonly #resolve: (exchange: Exchange) => void;
  readonly #cancelLimit: () => void;
  /** Null until a connection has the request. */
  #line: Line | null = null;
  #isOver = false;
  #head: ResponseHead | null = null;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(clock: Clock, limitMs: number, resolve: (exchange: Exchange) => void) {
    this.#resolve = resolve;
    this.#cancelLimit = clock.after(limitMs, () => this.#hangUp(`There was no answer within ${limitMs / 1000} s`));
  }

  /** What waited for its connection until its time was over was told as not sent, and must not be. */
  isWaiting(): boolean {
    return !this.#isOver;
  }

  onConnected(line: Line): void {
    this.#line = line;
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
  }

  onBody(bytes: Buffer): void {
    // Copied, because the bytes are the connection's.
    this.#chunks.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
    if (this.#bytes > READ_MAX_BYTES) this.#hangUp("The answer has no end");
  }

  onEnd(): void {
    const { status = 0, retryAfter = null } = this.#head ?? {};
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#end({ kind: "answered", status, retryAfter, text });
  }

  onFailure(error: Error): void {
    // What the way out says of an answer, or of a request, it says without naming it.
    const subject = error instanceof NoAnswer ? (this.#line ? "The other side " : "The request ") : "";
    this.#fail(`${subject}${error.message}`);
  }

  #hangUp(reason: string): void {
    this.#fail(reason);
    this.#line?.hangUp(this);
  }

  #fail(reason: string): void {
    this.#end({ kind: this.#line ? "broken" : "unreached", reason });
  }

  #end(result: Exchange): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelLimit();
    this.#resolve(result);
  }
}
