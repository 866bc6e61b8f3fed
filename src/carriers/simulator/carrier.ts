import { EventEmitter } from "node:events";
import { maskAddress } from "../../email/address.ts";
import { createBatcher, type Batcher } from "../../lib/batcher.ts";
import type { Clock } from "../../lib/clock.ts";
import { DelayQueue } from "../../lib/delay-queue.ts";
import { newId } from "../../lib/ids.ts";
import { retryUntil } from "../../lib/async.ts";
import type { Log } from "../../lib/log.ts";
import { SIMULATOR } from "../../model/catalog.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import {
  isEmail,
  isSms,
  messageIdOf,
  parseMessageId,
  type Channel,
  type Message,
  type MessageContent,
} from "../../model/message.ts";
import type { Chaos, PhoneMessage } from "../../model/phone.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { PhoneStore } from "../../store/phones.ts";
import { isAway } from "../../store/store.ts";
import type { Carrier, Inbound, MarkOutcome, OnInbound, OnReceipt, Outcome } from "../carrier.ts";
import { outcomeOf, readReceiptAfter, type ScriptedReceipt } from "./scripted-outcome.ts";

const CHANNEL_NAMES: Record<Channel, string> = {
  sms: "SMS",
  rcs: "RCS",
  chatapp: "the chat app",
  email: "e-mail",
};

/** Receipts overdue by this time were lost with their process. */
const OVERDUE_MS = 5000;
const RESEND_AT_ONCE = 500;

interface CarrierDeps {
  store: PhoneStore;
  clock: Clock;
  log: Log;
  /** Fault injection settings of a carrier. */
  chaosOf(accountId: number, carrier: string): Chaos;
  random?: () => number;
}

/** Settings of a simulator carrier. */
interface SimulatedCarrierSettings {
  name: string;
  messagesPerSecond: number | null;
}

interface DueReport {
  message: PhoneMessage;
  report: ScriptedReceipt;
  /** Receipts of the message that are not acknowledged yet, including this one. */
  pending: { count: number };
}

/**
 * A carrier with simulated phones. Like a real one it stores accepted messages, and repeats a receipt until it is
 * acknowledged, even after a restart.
 */
export class SimulatorCarrier implements Carrier {
  readonly name = SIMULATOR;
  readonly messagesPerSecond = null;
  /** Emits `message` for each message that reached a phone through this process. */
  readonly arrivals = new EventEmitter<{ message: [PhoneMessage] }>();
  readonly #deps: CarrierDeps;
  readonly #random: () => number;
  readonly #received: Batcher<PhoneMessage, void>;
  readonly #reported: Batcher<PhoneMessage, void>;
  readonly #due: DelayQueue<DueReport>;
  readonly #delivering = new Set<Promise<void>>();
  #onReceipt: OnReceipt | null = null;
  #onInbound: OnInbound | null = null;
  #onRead: OnReceipt | null = null;

  constructor(deps: CarrierDeps) {
    this.#deps = deps;
    this.#random = deps.random ?? Math.random;
    this.arrivals.setMaxListeners(0);
    // Phones are in our own store. While it is unavailable the simulated network is slow and not broken, so no outcome is
    // unknown.
    this.#received = batchOf((batch) => retryUntil(deps.clock, isAway, () => deps.store.receiveOnPhones(batch)));
    this.#reported = batchOf((batch) => deps.store.markReported(batch));
    this.#due = new DelayQueue(deps.clock, (reports) => {
      for (const report of reports) this.#track(this.#deliver(report));
    });
  }

  /** Another carrier on the same network and phones, with its own name. */
  createCarrier(accountId: number, { name, messagesPerSecond }: SimulatedCarrierSettings): Carrier {
    return {
      name,
      messagesPerSecond,
      isUp: () => !this.#deps.chaosOf(accountId, name).down,
      submit: (message) => this.#submit(message, name),
      markRead: () => this.markRead(),
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    };
  }

  /** Outages are simulated per account, by `submit`. */
  isUp(): boolean {
    return true;
  }

  submit(message: Message): Promise<Outcome> {
    return this.#submit(message, this.name);
  }

  /** Sends a message from a phone; resolves once it is committed. */
  async reply(sent: Omit<Inbound, "id" | "at">): Promise<InboundMessage> {
    const at = this.#deps.clock.now();
    const id = newId(at);
    const inbound = { ...sent, id, at, origin: { carrier: this.name, carrierMessageId: id } };
    await this.#onInbound?.(inbound);
    return inbound;
  }

  /** Phones show the time of the mark. */
  markRead(): Promise<MarkOutcome> {
    return Promise.resolve({ kind: "marked" });
  }

  /** Marks a message as read; resolves with the time once the receipt is committed. */
  async read(message: PhoneMessage): Promise<number> {
    const receipt = this.#receiptOf(message, readReceiptAfter(0));
    await this.#onRead?.(receipt);
    return receipt.at;
  }

  async #submit(message: Message, carrier: string): Promise<Outcome> {
    const { clock, chaosOf } = this.#deps;
    const chaos = chaosOf(message.accountId, carrier);
    const request = `submit to=${"*".repeat(8)}${message.recipient.slice(-4)} from=${message.sender} ${formOf(message)}`;
    const exchangeOf = (answer: string): { exchange: string } => ({ exchange: `${request} -> ${answer}` });
    if (chaos.down) return { kind: "down", description: "The carrier cannot be reached" };
    const outcome = outcomeOf(message, chaos, this.#random);
    if (outcome.submit === "busy") return { kind: "busy", ...exchangeOf("throttled") };
    if (outcome.submit === "refused")
      return {
        kind: "refused",
        fault: "message",
        code: "003",
        description: "The carrier refused the message",
        ...exchangeOf("refused 003"),
      };
    if (outcome.submit === "not there")
      return {
        kind: "refused",
        fault: "message",
        code: "009",
        description: `The number is not on ${CHANNEL_NAMES[message.channel]}`,
        ...exchangeOf("refused 009"),
      };
    if (outcome.submit === "refused by the carrier")
      return {
        kind: "refused",
        fault: "carrier",
        code: "004",
        description: "The carrier takes no such traffic",
        ...exchangeOf("refused 004"),
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
      reportsDueAt:
        outcome.reports.length === 0 ? null : now + Math.max(...outcome.reports.map((report) => report.afterMs)),
      carrier,
      test: message.test,
    };
    await this.#received.add(received);
    this.arrivals.emit("message", received);
    this.#schedule(received, outcome.reports);
    return outcome.submit === "unknown"
      ? { kind: "unknown", description: "The line broke before the answer came", ...exchangeOf("nothing") }
      : { kind: "taken", carrierMessageId: received.id, ...exchangeOf(`taken ${received.id}`) };
  }

  /** Registers handlers of inbound messages and read receipts on every node, because any node may serve the API. */
  setUserHandlers(onInbound: OnInbound, onRead: OnReceipt): void {
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
    await Promise.all(this.#delivering);
    await this.#reported.idle();
  }

  /** Sends the receipts that were lost with a process. Injected faults are drawn again. */
  async resendOverdue(): Promise<void> {
    const { store, clock, chaosOf } = this.#deps;
    const overdue = await store.listUnreported(clock.now() - OVERDUE_MS, RESEND_AT_ONCE);
    for (const message of overdue) {
      const chaos = { ...chaosOf(message.accountId, message.carrier), throttledPercent: 0, refusedPercent: 0 };
      const { number: recipient, channel } = message;
      const { reports } = outcomeOf({ recipient, channel, attempts: 1 }, chaos, this.#random);
      const sooner = reports.map((report) => ({ ...report, afterMs: 0 }));
      this.#schedule(message, sooner);
    }
  }

  #schedule(message: PhoneMessage, reports: readonly ScriptedReceipt[]): void {
    const pending = { count: reports.length };
    for (const report of reports) this.#due.add({ message, report, pending }, report.afterMs);
  }

  async #deliver({ message, report, pending }: DueReport): Promise<void> {
    await this.#onReceipt?.(this.#receiptOf(message, report));
    if (!this.#onReceipt) return;
    pending.count -= 1;
    // Receipts are acknowledged in any order, and all are repeated if one fails.
    if (pending.count === 0) await this.#reported.add(message);
  }

  #receiptOf(message: PhoneMessage, { state, errorCode, description }: ScriptedReceipt): Receipt {
    const ref = parseMessageId(message.messageId);
    return {
      carrier: message.carrier,
      carrierMessageId: message.id,
      ...(ref ? { ref: { accountId: message.accountId, ...ref } } : {}),
      channel: message.channel,
      state,
      errorCode,
      description,
      at: this.#deps.clock.now(),
    };
  }

  #track(delivery: Promise<void>): void {
    const tracked = delivery
      .catch((error: unknown) => this.#deps.log.warn({ err: error }, "simulator receipt not stored, will be repeated"))
      .finally(() => this.#delivering.delete(tracked));
    this.#delivering.add(tracked);
  }
}

/** The content that reaches the phone, without the fallback. */
function onTheAir(content: MessageContent): MessageContent {
  if (!("fallback" in content)) return content;
  const { fallback: _, ...shown } = content;
  return shown;
}

/** Summary of the content for the timeline. */
const formOf = ({ channel, content, segments }: Message): string =>
  isSms(content)
    ? `coding=${content.encoding} parts=${segments}`
    : `channel=${channel}${isEmail(content) ? ` email=${maskAddress(content.to)}` : ""}`;

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
