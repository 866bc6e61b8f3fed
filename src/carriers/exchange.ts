import type { Dispatcher } from "undici";
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
 * - `answered`: whatever it says, it has said it.
 * - `unreached`: not a byte of the request has left; nothing has happened there.
 * - `broken`: it was on its way when the line broke or the time was over; nobody knows what has happened there.
 */
export type Exchange =
  | { kind: "answered"; status: number; headers: AnswerHeaders; text: string }
  | { kind: "unreached"; reason: string }
  | { kind: "broken"; reason: string };

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Whoever answers with more has said enough by then. */
const READ_MAX_BYTES = 1_048_576;

/** Asks once and never throws: whatever the other side does is a value. It follows no redirect. */
export function exchange(
  agent: Dispatcher,
  clock: Clock,
  { method, url, headers, body, limitMs }: Asked,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const asking = new Asking(clock, limitMs, resolve);
    const target = URL.parse(url);
    if (!target) return asking.onResponseError(null, new Error("the address is no address of the web"));
    const { origin, pathname, search } = target;
    try {
      // The agent's own limits are for callers that have none: a platform may be given longer to answer.
      const patience = { headersTimeout: 0, bodyTimeout: 0 };
      agent.dispatch({ origin, path: `${pathname}${search}`, method, headers, body, ...patience }, asking);
    } catch (error) {
      asking.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** Listens to the agent directly, which costs half of what a stream and a signal for each answer would. */
class Asking implements Dispatcher.DispatchHandler {
  readonly #resolve: (exchange: Exchange) => void;
  readonly #cancelLimit: () => void;
  /** Null until a connection has the request. */
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  /** 0 until there is an answer. */
  #status = 0;
  #headers: AnswerHeaders = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(clock: Clock, limitMs: number, resolve: (exchange: Exchange) => void) {
    this.#resolve = resolve;
    this.#cancelLimit = clock.after(limitMs, () => this.#hangUp(`There was no answer within ${limitMs / 1000} s`));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It waited for its connection until its time was over: what was told as not sent must not be.
    if (this.#isOver) controller.abort(new Error("the time is over"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > READ_MAX_BYTES) this.#hangUp("The answer has no end");
  }

  onResponseEnd(): void {
    // All of it is here, and its time cannot be over any more.
    this.#cancelLimit();
    // The connection takes its next request a turn later; whoever heard of the end before that would open another one.
    queueMicrotask(() => setImmediate(() => this.#answer()));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(error.message);
  }

  #hangUp(reason: string): void {
    this.#fail(reason);
    this.#controller?.abort(new Error("the time is over"));
  }

  #answer(): void {
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#end({ kind: "answered", status: this.#status, headers: this.#headers, text });
  }

  #fail(reason: string): void {
    this.#end({ kind: this.#controller ? "broken" : "unreached", reason });
  }

  #end(result: Exchange): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelLimit();
    this.#resolve(result);
  }
}
