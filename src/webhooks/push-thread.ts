import { Worker } from "node:worker_threads";
import type { Opened } from "../egress/addresses.ts";
import type { Log } from "../lib/log.ts";
import type { Push } from "../model/callback.ts";
import type { Pusher, PushResult } from "./push.ts";
import { unpackAnswer, type Answered, type Head, type Letters } from "./push-letters.ts";
import type { Signing } from "./sign.ts";

const CUT_OFF = "was cut off, because a part of this server failed";

interface Needs {
  /** Where pushes may go besides the public addresses. */
  opened: Opened;
  log: Log;
}

/**
 * Has pushes sent in a thread of its own: reading and writing customers' connections would take a quarter of the event loop.
 * They cross all of one turn together, and so do their results. It begins with the first push; a thread that ends by itself has
 * told nobody anything, as far as anybody knows, and the next push begins another.
 */
export class PushThread implements Pusher {
  readonly #needs: Needs;
  #worker: Worker | null = null;
  readonly #waiting = new Map<number, (result: PushResult) => void>();
  #heads: Head[] = [];
  #bodies: Push["body"][] = [];
  #nextId = 1;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  push(request: Push, signing: Signing | null = null): Promise<PushResult> {
    return new Promise((resolve) => {
      const id = this.#nextId++;
      this.#waiting.set(id, resolve);
      const { method, url, headers, body } = request;
      this.#bodies.push(body);
      if (this.#heads.push([id, method, url, headers, signing]) === 1) setImmediate(this.#send);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#giveUp("was called off, because this server stops");
    await worker?.terminate();
  }

  readonly #send = (): void => {
    if (this.#heads.length === 0) return;
    const letters: Letters = [JSON.stringify(this.#heads), this.#bodies];
    this.#forgetLeaving();
    try {
      this.#worker ??= this.#begin();
      this.#worker.postMessage(letters);
    } catch (error) {
      this.#needs.log.error({ err: error }, "no thread could be begun that sends callbacks");
      this.#giveUp(CUT_OFF);
    }
  };

  #begin(): Worker {
    const worker = new Worker(new URL("push-worker.ts", import.meta.url), { workerData: this.#needs.opened });
    worker.unref();
    worker.on("message", (answered: string) => this.#settle(JSON.parse(answered) as Answered[]));
    worker.on("error", (error) => this.#needs.log.error({ err: error }, "the thread that sends callbacks has failed"));
    worker.on("exit", () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#giveUp(CUT_OFF);
    });
    return worker;
  }

  #settle(answered: readonly Answered[]): void {
    for (const each of answered) {
      const [id] = each;
      this.#waiting.get(id)?.(unpackAnswer(each));
      this.#waiting.delete(id);
    }
  }

  #forgetLeaving(): void {
    this.#heads = [];
    this.#bodies = [];
  }

  /** What has not left either is not sent any more: it is told as failed now. */
  #giveUp(reason: string): void {
    this.#forgetLeaving();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const resolve of waiting)
      resolve({
        kind: "failed",
        status: null,
        reason,
        timedOut: false,
        retryAfter: null,
        gone: false,
        ms: 0,
        excerpt: "",
      });
  }
}
