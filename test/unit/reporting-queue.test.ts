import { describe, expect, test } from "vitest";
import { queryAs } from "../../src/store/query-caller.ts";
import { ClientLeft, QueryQueueFull, ReportingQueue } from "../../src/store/reporting-queue.ts";

const WAITING_MAX = 200;

/** A queue whose queries end when the test says so. */
class Held {
  readonly queue: ReportingQueue;
  /** Names of the started queries, in order. */
  readonly started: string[] = [];
  readonly #ends = new Map<string, () => void>();

  constructor(concurrency: number, timeoutMs = 60_000) {
    this.queue = new ReportingQueue({ concurrency, timeoutMs });
  }

  ask(accountId: number, name: string, signal = new AbortController().signal): Promise<string> {
    const asked = this.#ask(accountId, name, signal);
    // A test looks at some of the results only.
    asked.catch(() => undefined);
    return asked;
  }

  #ask(accountId: number, name: string, signal: AbortSignal): Promise<string> {
    const begin = () => {
      this.started.push(name);
      const { promise, resolve } = Promise.withResolvers<string>();
      this.#ends.set(name, () => resolve(name));
      return { result: promise, ended: promise };
    };
    return queryAs({ accountId, signal }, () => this.queue.run(begin));
  }

  /** Ends a query; those that wait for its turn have started then. */
  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("the queue of reporting queries", () => {
  test("runs at most as many as it may, in the order of their arrival", async () => {
    const held = new Held(3);
    const all = ["a", "b", "c", "d"].map((name) => held.ask(1, name));
    // The third turn is kept for other accounts.
    expect(held.started).toEqual(["a", "b"]);
    expect(held.queue.load).toMatchObject({ running: 2, waiting: 2 });
    await held.end("b");
    await held.end("a");
    expect(held.started).toEqual(["a", "b", "c", "d"]);
    await held.end("c");
    await held.end("d");
    expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
    expect(held.queue.load).toMatchObject({ running: 0, waiting: 0 });
  });

  test("keeps a turn for other accounts", () => {
    const held = new Held(2);
    void held.ask(1, "slow");
    void held.ask(1, "slow too");
    void held.ask(2, "of another account");
    expect(held.started).toEqual(["slow", "of another account"]);
  });

  test("serves one account with a single turn", async () => {
    const held = new Held(1);
    const first = held.ask(1, "first");
    void held.ask(1, "second");
    await held.end("first");
    await first;
    expect(held.started).toEqual(["first", "second"]);
  });

  test("lets accounts take turns, however many queries one of them has", async () => {
    const held = new Held(1);
    for (const name of ["a1", "a2", "a3", "a4"]) void held.ask(1, name);
    for (const name of ["b1", "b2"]) void held.ask(2, name);
    for (const name of ["a1", "a2", "b1", "a3"]) await held.end(name);
    expect(held.started).toEqual(["a1", "a2", "b1", "a3", "b2"]);
  });

  test("refuses the account that waits for most when it is full, and no other", async () => {
    const held = new Held(1);
    const greedy = Array.from({ length: 1 + WAITING_MAX }, (_, index) => held.ask(1, `greedy ${index}`));
    await expect(held.ask(1, "one too many")).rejects.toThrow(QueryQueueFull);
    void held.ask(2, "modest");
    await expect(greedy.at(-1)).rejects.toThrow(QueryQueueFull);
    expect(held.queue.load).toMatchObject({ waiting: WAITING_MAX, refused: 2 });
    await held.end("greedy 0");
    await held.end("greedy 1");
    expect(held.started).toContain("modest");
  });

  test("drops a waiting query whose client leaves", async () => {
    const held = new Held(1);
    void held.ask(1, "running");
    const leaving = new AbortController();
    const waiting = held.ask(1, "of a client that leaves", leaving.signal);
    void held.ask(1, "next");
    leaving.abort();
    await expect(waiting).rejects.toThrow(ClientLeft);
    await expect(held.ask(1, "after it has left", leaving.signal)).rejects.toThrow(ClientLeft);
    await held.end("running");
    expect(held.started).toEqual(["running", "next"]);
    expect(held.queue.load.clientLeft).toBe(2);
  });

  test("refuses a query that has waited for the whole time limit", async () => {
    const held = new Held(1, 1);
    void held.ask(1, "running");
    await expect(held.ask(1, "waiting")).rejects.toThrow(QueryQueueFull);
    expect(held.queue.load).toMatchObject({ waiting: 0, running: 1 });
  });

  test("frees the turn of a query that cannot start", async () => {
    const queue = new ReportingQueue({ concurrency: 1, timeoutMs: 60_000 });
    const failing = queue.run(() => {
      throw new Error("closed");
    });
    await expect(failing).rejects.toThrow("closed");
    expect(queue.load.running).toBe(0);
  });
});
