import { Worker } from "node:worker_threads";
import type { Opened } from "../../egress/addresses.ts";
import type { Log } from "../../lib/log.ts";
import type { WebhookRequest } from "../../model/callback.ts";
import type { WebhookTransport, DeliveryResult } from "./transport.ts";
import { unpackAnswer, type Answered, type Head, type WireMessages } from "./wire-messages.ts";
import type { Signing } from "../sign.ts";

const CUT_OFF = "was cut off, because a part of this server failed";

interface ThreadDeps {
  /** Addresses allowed besides public ones. */
  opened: Opened;
  log: Log;
}

/**
 * Sends webhooks in a worker thread: customers' connections would take a quarter of the event loop. Requests of one turn cross
 * together, and so do results. The first request starts the thread. If it crashes, requests in flight are reported as failed,
 * and the next request starts a new one. Next: src/webhooks/transport/worker.ts
 */
export class TransportThread implements WebhookTransport {
  readonly #deps: ThreadDeps;
  #worker: Worker | null = null;
  readonly #waiting = new Map<number, (result: DeliveryResult) => void>();
  #heads: Head[] = [];
  #bodies: WebhookRequest["body"][] = [];
  #nextId = 1;

  constructor(deps: ThreadDeps) {
    this.#deps = deps;
  }

  sendWebhook(request: WebhookRequest, signing: Signing | null = null): Promise<DeliveryResult> {
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
    const letters: WireMessages = [JSON.stringify(this.#heads), this.#bodies];
    this.#forgetLeaving();
    try {
      this.#worker ??= this.#begin();
      this.#worker.postMessage(letters);
    } catch (error) {
      this.#deps.log.error({ err: error }, "webhook thread could not be started");
      this.#giveUp(CUT_OFF);
    }
  };

  #begin(): Worker {
    const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData: this.#deps.opened });
    worker.unref();
    worker.on("message", (answered: string) => this.#settle(JSON.parse(answered) as Answered[]));
    worker.on("error", (error) => this.#deps.log.error({ err: error }, "webhook thread failed"));
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

  /** Requests that have not crossed yet are reported as failed and not sent. */
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
