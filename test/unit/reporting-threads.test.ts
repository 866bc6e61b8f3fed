import { describe, expect, test } from "vitest";
import { ClientLeft, QueryTimedOut } from "../../src/store/reporting-queue.ts";
import { ReportingThreads } from "../../src/store/sqlite/reporting-threads.ts";
import { StorageUnavailable } from "../../src/store/store.ts";

/** A thread whose statement ends when the test says so. Like a real one, it closes only then. */
class FakeThread {
  isBroken = false;
  isClosed = false;
  readonly #calls: PromiseWithResolvers<unknown>[] = [];

  call<T>(): Promise<T> {
    const call = Promise.withResolvers<unknown>();
    this.#calls.push(call);
    return call.promise as Promise<T>;
  }
  answer(rows: unknown[]): void {
    const call = this.#calls.shift();
    if (this.isClosed) call?.reject(new StorageUnavailable("the database thread is gone"));
    else call?.resolve(rows);
  }
  async close(): Promise<void> {
    this.isClosed = true;
  }
}

function openThreads(concurrency: number, timeoutMs: number) {
  const opened: FakeThread[] = [];
  const open = (): FakeThread => {
    const thread = new FakeThread();
    opened.push(thread);
    return thread;
  };
  return { threads: new ReportingThreads(open, { concurrency, timeoutMs }), opened };
}

const hasEnded = async ({ ended }: { ended: Promise<unknown> }): Promise<boolean> =>
  Promise.race([ended.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);

describe("the threads of reporting queries", () => {
  test("start with the first query that needs them, and are used again", async () => {
    const { threads, opened } = openThreads(2, 60_000);
    for (const row of [1, 2]) {
      const { result } = threads.query("select", [], null);
      opened[0]?.answer([row]);
      expect(await result).toEqual([row]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(opened).toHaveLength(1);
  });

  test("are abandoned after the time limit, but never more than run at once", async () => {
    const { threads, opened } = openThreads(1, 1);
    const first = threads.query("select", [], null);
    await expect(first.result).rejects.toThrow(QueryTimedOut);
    expect([await hasEnded(first), opened[0]?.isClosed]).toEqual([true, true]);

    const second = threads.query("select", [], null);
    await expect(second.result).rejects.toThrow(QueryTimedOut);
    expect([opened.length, await hasEnded(second), opened[1]?.isClosed]).toEqual([2, false, false]);

    opened[0]?.answer([]);
    opened[1]?.answer([]);
    await second.ended;
    const third = threads.query("select", [], null);
    opened[1]?.answer([3]);
    expect([await third.result, opened.length]).toEqual([[3], 2]);
  });

  test("keep the turn of a query whose client has left until its statement ends", async () => {
    const { threads, opened } = openThreads(1, 60_000);
    const leaving = new AbortController();
    const query = threads.query("select", [], leaving.signal);
    leaving.abort();
    await expect(query.result).rejects.toThrow(ClientLeft);
    expect(await hasEnded(query)).toBe(false);
    opened[0]?.answer([]);
    await query.ended;
    expect(opened[0]?.isClosed).toBe(false);
  });

  test("are replaced when they break", async () => {
    const { threads, opened } = openThreads(1, 60_000);
    const query = threads.query("select", [], null);
    const [thread] = opened;
    if (thread) thread.isBroken = true;
    thread?.answer([]);
    await query.ended;
    void threads.query("select", [], null);
    expect(opened).toHaveLength(2);
  });
});
