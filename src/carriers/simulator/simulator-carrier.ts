import { EventEmitter } from "node:events";
import { createBatcher, type Batcher } from "../../lib/batcher.ts";
import type { Clock } from "../../lib/clock.ts";
import { DelayQueue } from "../../lib/delay-queue.ts";
import { newId } from "../../lib/ids.ts";
import { insist } from "../../lib/insist.ts";
import type { Log } from "../../lib/log.ts";
import { SIMULATOR } from "../../model/catalog.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import {
  isRcs,
  isSms,
  messageIdOf,
  parseMessageId,
  type Channel,
  type Message,
  type MessageContent,
} from "../../model/message.ts";
import type { Chaos, PhoneMessage } from "../../model/phone.ts";
import type { PhoneStore } from "../../store/phone-store.ts";
import { isAway } from "../../store/store.ts";
import type { Carrier, Inbound, OnInbound, OnReceipt, Outcome, Receipt } from "../carrier.ts";
import { fateOf, readReport, type FatedReport } from "./fate.ts";

const CHANNEL_NAMES: Record<Channel, string> = { sms: "SMS", rcs: "RCS", chatapp: "the chat app" };

/** Reports that are this late were lost with the process that should have sent them. */
const OVERDUE_MS = 5000;
const RESEND_AT_ONCE = 500;

interface Needs {
  store: PhoneStore;
  clock: Clock;
  log: Log;
  /** How the carrier of this name misbehaves for an account. */
  chaosOf(accountId: number, carrier: string): Chaos;
  random?: () => number;
}

/** One of the lines into the simulated network. */
interface Line {
  name: string;
  messagesPerSecond: number | null;
}

interface DueReport {
  message: PhoneMessage;
  report: FatedReport;
  /** How many reports of the message have not been taken yet, this one included. */
  owed: { count: number };
}

/**
 * A carrier with phones inside. It behaves as a real one does: a message it has taken is on its disk, and it repeats a
 * report until the report has been taken, even over a restart.
 */
export class SimulatorCarrier implements Carrier {
  readonly name = SIMULATOR;
  readonly messagesPerSecond = null;
  /** Emits `message` with each message that reached a phone through this process. */
  readonly arrivals = new EventEmitter<{ message: [PhoneMessage] }>();
  readonly #needs: Needs;
  readonly #random: () => number;
  readonly #received: Batcher<PhoneMessage, void>;
  readonly #reported: Batcher<PhoneMessage, void>;
  readonly #due: DelayQueue<DueReport>;
  readonly #handingOver = new Set<Promise<void>>();
  #onReceipt: OnReceipt | null = null;
  #onInbound: OnInbound | null = null;
  #onRead: OnReceipt | null = null;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#random = needs.random ?? Math.random;
    this.arrivals.setMaxListeners(0);
    // The phones live in our own store. While it is away their network is slow, not broken, so nothing is ever in doubt.
    this.#received = batchOf((batch) => insist(needs.clock, isAway, () => needs.store.receiveOnPhones(batch)));
    this.#reported = batchOf((batch) => needs.store.markReported(batch));
    this.#due = new DelayQueue(needs.clock, (reports) => {
      for (const report of reports) this.#track(this.#handOver(report));
    });
  }

  /** Another line into the same network, with the same phones, under a name of its own. */
  line(accountId: number, { name, messagesPerSecond }: Line): Carrier {
    return {
      name,
      messagesPerSecond,
      isUp: () => !this.#needs.chaosOf(accountId, name).down,
      submit: (message) => this.#submit(message, name),
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    };
  }

  /** The network is down for an account, not for all: `submit` says so. */
  isUp(): boolean {
    return true;
  }

  submit(message: Message): Promise<Outcome> {
    return this.#submit(message, this.name);
  }

  /** A phone's owner sends something; resolves with it once it is on disk. */
  async reply(sent: Omit<Inbound, "id" | "at">): Promise<InboundMessage> {
    const at = this.#needs.clock.now();
    const inbound = { ...sent, id: newId(at), at };
    await this.#onInbound?.(inbound);
    return inbound;
  }

  /** A phone's owner reads a message; resolves with the time once its sender has been told. */
  async read(message: PhoneMessage): Promise<number> {
    const receipt = this.#receiptOf(message, readReport(0));
    await this.#onRead?.(receipt);
    return receipt.at;
  }

  async #submit(message: Message, carrier: string): Promise<Outcome> {
    const { clock, chaosOf } = this.#needs;
    const chaos = chaosOf(message.accountId, carrier);
    const asked = `submit to=${"*".repeat(8)}${message.recipient.slice(-4)} from=${message.sender} ${formOf(message)}`;
    const said = (answer: string): { exchange: string } => ({ exchange: `${asked} -> ${answer}` });
    if (chaos.down) return { kind: "down", description: "The carrier cannot be reached" };
    const fate = fateOf(message, chaos, this.#random);
    if (fate.submit === "busy") return { kind: "busy", ...said("throttled") };
    if (fate.submit === "refused")
      return {
        kind: "refused",
        fault: "message",
        code: "003",
        description: "The carrier refused the message",
        ...said("refused 003"),
      };
    if (fate.submit === "not there")
      return {
        kind: "refused",
        fault: "message",
        code: "009",
        description: `The number is not on ${CHANNEL_NAMES[message.channel]}`,
        ...said("refused 009"),
      };
    if (fate.submit === "refused by the carrier")
      return {
        kind: "refused",
        fault: "carrier",
        code: "004",
        description: "The carrier takes no such traffic",
        ...said("refused 004"),
      };

    const now = clock.now();
    const received: PhoneMessage = {
      accountId: message.accountId,
      id: newId(now),
      number: message.recipient,
      sender: message.sender,
      channel: message.channel,
      content: onTheAir(message.content),
      messageId: messageIdOf(message),
      receivedAt: now,
      reportsDueAt: fate.reports.length === 0 ? null : now + Math.max(...fate.reports.map((report) => report.afterMs)),
      carrier,
    };
    await this.#received.add(received);
    this.arrivals.emit("message", received);
    this.#schedule(received, fate.reports);
    return fate.submit === "unknown"
      ? { kind: "unknown", description: "The line broke before the answer came", ...said("nothing") }
      : { kind: "taken", carrierMessageId: received.id, ...said(`taken ${received.id}`) };
  }

  /** Hands over what the owners of phones do: on every node, because any may be asked to let one answer or read. */
  hear(onInbound: OnInbound, onRead: OnReceipt): void {
    this.#onInbound = onInbound;
    this.#onRead = onRead;
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
      const chaos = { ...chaosOf(message.accountId, message.carrier), throttledPercent: 0, refusedPercent: 0 };
      const { number: recipient, channel } = message;
      const { reports } = fateOf({ recipient, channel, attempts: 1 }, chaos, this.#random);
      const sooner = reports.map((report) => ({ ...report, afterMs: 0 }));
      this.#schedule(message, sooner);
    }
  }

  #schedule(message: PhoneMessage, reports: readonly FatedReport[]): void {
    const owed = { count: reports.length };
    for (const report of reports) this.#due.add({ message, report, owed }, report.afterMs);
  }

  async #handOver({ message, report, owed }: DueReport): Promise<void> {
    await this.#onReceipt?.(this.#receiptOf(message, report));
    if (!this.#onReceipt) return;
    owed.count -= 1;
    // They are taken in any order, and one that was not is repeated with all the others.
    if (owed.count === 0) await this.#reported.add(message);
  }

  #receiptOf(message: PhoneMessage, { state, errorCode, description }: FatedReport): Receipt {
    const ref = parseMessageId(message.messageId);
    return {
      carrier: message.carrier,
      carrierMessageId: message.id,
      ...(ref ? { ref: { accountId: message.accountId, ...ref } } : {}),
      channel: message.channel,
      state,
      errorCode,
      description,
      at: this.#needs.clock.now(),
    };
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

/** What of a message's content reaches the phone: the text that may take its place stays here. */
function onTheAir(content: MessageContent): MessageContent {
  if (!isRcs(content)) return content;
  const { fallback: _, ...shown } = content;
  return shown;
}

/** What of a message's content a carrier's own record would show. */
const formOf = ({ channel, content, segments }: Message): string =>
  isSms(content) ? `coding=${content.encoding} parts=${segments}` : `channel=${channel}`;

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
