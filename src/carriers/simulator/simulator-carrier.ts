import { EventEmitter } from "node:events";
import { createBatcher, type Batcher } from "../../lib/batcher.ts";
import type { Clock } from "../../lib/clock.ts";
import { DelayQueue } from "../../lib/delay-queue.ts";
import { newId } from "../../lib/ids.ts";
import { insist } from "../../lib/insist.ts";
import type { Log } from "../../lib/log.ts";
import { messageIdOf, parseMessageId, type Message } from "../../model/message.ts";
import type { Chaos, PhoneMessage } from "../../model/phone.ts";
import { StorageUnavailable, type PhoneStore } from "../../store/store.ts";
import type { Carrier, OnReceipt, Outcome } from "../carrier.ts";
import { fateOf, type FatedReport } from "./fate.ts";

const NAME = "simulator";
/** Reports that are this late were lost with the process that should have sent them. */
const OVERDUE_MS = 5000;
const RESEND_AT_ONCE = 500;

interface Needs {
  store: PhoneStore;
  clock: Clock;
  log: Log;
  chaosOf(accountId: number): Chaos;
  random?: () => number;
}

interface DueReport {
  message: PhoneMessage;
  report: FatedReport;
  last: boolean;
}

/**
 * A carrier with phones inside. It behaves as a real one does: a message it has taken is on its disk, and it repeats a
 * report until the report has been taken, even over a restart.
 */
export class SimulatorCarrier implements Carrier {
  readonly name = NAME;
  /** Emits `message` with each message that reached a phone through this process. */
  readonly arrivals = new EventEmitter<{ message: [PhoneMessage] }>();
  readonly #needs: Needs;
  readonly #random: () => number;
  readonly #received: Batcher<PhoneMessage, void>;
  readonly #reported: Batcher<PhoneMessage, void>;
  readonly #due: DelayQueue<DueReport>;
  readonly #handingOver = new Set<Promise<void>>();
  #onReceipt: OnReceipt | null = null;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#random = needs.random ?? Math.random;
    this.arrivals.setMaxListeners(0);
    // The phones live in our own store. While it is away their network is slow, not broken, so nothing is ever in doubt.
    const isAway = (error: unknown): boolean => error instanceof StorageUnavailable;
    this.#received = batchOf((batch) => insist(needs.clock, isAway, () => needs.store.receiveOnPhones(batch)));
    this.#reported = batchOf((batch) => needs.store.markReported(batch));
    this.#due = new DelayQueue(needs.clock, (reports) => {
      for (const report of reports) this.#track(this.#handOver(report));
    });
  }

  async submit(message: Message): Promise<Outcome> {
    const { clock, chaosOf } = this.#needs;
    const fate = fateOf(message.recipient, message.attempts, chaosOf(message.accountId), this.#random);
    if (fate.submit === "busy") return { kind: "busy" };
    if (fate.submit === "refused")
      return { kind: "refused", code: "003", description: "The carrier refused the message" };

    const now = clock.now();
    const received: PhoneMessage = {
      accountId: message.accountId,
      id: newId(now),
      number: message.recipient,
      sender: message.sender,
      channel: message.channel,
      content: message.content,
      messageId: messageIdOf(message),
      receivedAt: now,
      reportsDueAt: fate.reports.length === 0 ? null : now + Math.max(...fate.reports.map((report) => report.afterMs)),
    };
    await this.#received.add(received);
    this.arrivals.emit("message", received);
    this.#schedule(received, fate.reports);
    return fate.submit === "unknown"
      ? { kind: "unknown", description: "The line broke before the answer came" }
      : { kind: "taken", carrierMessageId: received.id };
  }

  async start(onReceipt: OnReceipt): Promise<void> {
    this.#onReceipt = onReceipt;
    await this.resendOverdue();
  }

  async stop(): Promise<void> {
    this.#onReceipt = null;
    this.#due.clear();
    await Promise.all(this.#handingOver);
    await this.#reported.idle();
  }

  /** Sends the reports that a process took to its grave. Those of chaos are decided anew: the network does not remember either. */
  async resendOverdue(): Promise<void> {
    const { store, clock, chaosOf } = this.#needs;
    const overdue = await store.listUnreported(clock.now() - OVERDUE_MS, RESEND_AT_ONCE);
    for (const message of overdue) {
      const chaos = { ...chaosOf(message.accountId), throttledPercent: 0 };
      const { reports } = fateOf(message.number, 1, chaos, this.#random);
      const sooner = reports.map((report) => ({ ...report, afterMs: 0 }));
      this.#schedule(message, sooner);
    }
  }

  #schedule(message: PhoneMessage, reports: readonly FatedReport[]): void {
    reports.forEach((report, index) => {
      this.#due.add({ message, report, last: index === reports.length - 1 }, report.afterMs);
    });
  }

  async #handOver({ message, report, last }: DueReport): Promise<void> {
    const ref = parseMessageId(message.messageId);
    await this.#onReceipt?.({
      carrier: NAME,
      carrierMessageId: message.id,
      ...(ref ? { ref: { accountId: message.accountId, ...ref } } : {}),
      state: report.state,
      errorCode: report.errorCode,
      description: report.description,
      at: this.#needs.clock.now(),
    });
    if (last && this.#onReceipt) await this.#reported.add(message);
  }

  #track(handOver: Promise<void>): void {
    const tracked = handOver
      .catch((error: unknown) =>
        this.#needs.log.warn({ err: error }, "simulated report was not taken, it will be repeated"),
      )
      .finally(() => this.#handingOver.delete(tracked));
    this.#handingOver.add(tracked);
  }
}

const batchOf = (write: (batch: readonly PhoneMessage[]) => Promise<void>): Batcher<PhoneMessage, void> =>
  createBatcher<PhoneMessage, void>({
    run: async (batch) => {
      await write(batch);
      return batch.map(() => undefined);
    },
    maxBatch: 1000,
    maxLoad: Number.POSITIVE_INFINITY,
    inFlight: 2,
  });
