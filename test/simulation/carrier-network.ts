import type { Carrier, KnownOutcome, MaySend, OnReceipt, Outcome } from "../../src/carriers/carrier.ts";
import type { CreateSmppCarrier, SmppCarrierDeps } from "../../src/carriers/smpp/deps.ts";
import { messageIdOf, type Message, type RouteClass } from "../../src/model/message.ts";
import type { ReceiptState } from "../../src/model/receipt.ts";
import type { Random } from "../torture/random.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** One arrival of a message at an SMSC that took it. */
export interface Copy {
  messageId: string;
  carrierMessageId: string;
  carrier: string;
  recipient: string;
  text: string;
  routeClass: RouteClass;
  process: SimulatedProcess;
  /** The last moment at which the sender could have withdrawn it. */
  writtenAt: number;
  takenAt: number;
  /** When the submit ack arrived at its sender; null if it never did. */
  acknowledgedAt: number | null;
  /** Every state that the SMSC reported for it. */
  reported: ReceiptState[];
  /** The reported states that the service acknowledged. */
  heard: ReceiptState[];
}

/** A submit that left its node, whatever the SMSC did with it. */
export interface WrittenSubmit {
  messageId: string;
  carrier: string;
  campaignName: string | null;
  recipient: string;
  routeClass: RouteClass;
  process: SimulatedProcess;
  at: number;
  /** Null while it is on its way. */
  fate: keyof SubmitFates | null;
}

/** A period in which a carrier, or the line of one node to it, was down. */
interface Outage {
  place: string;
  from: number;
  until: number;
}

/** Relative frequencies of what an SMSC does with a submit. */
export interface SubmitFates {
  taken: number;
  busy: number;
  refusedMessage: number;
  refusedCarrier: number;
  /** Taken; the ack never comes. */
  takenInSilence: number;
  /** Not taken, and no answer. */
  lostInSilence: number;
  /** Taken; the ack comes after the time-out. */
  takenLate: number;
}

const IN_WORDS: Readonly<Record<keyof SubmitFates, string>> = {
  taken: "takes",
  busy: "is too busy for",
  refusedMessage: "refuses",
  refusedCarrier: "is unable to send",
  takenInSilence: "takes, without an answer,",
  lostInSilence: "loses, without an answer,",
  takenLate: "takes, and answers too late,",
};

export const HEALTHY: SubmitFates = {
  taken: 100,
  busy: 0,
  refusedMessage: 2,
  refusedCarrier: 0,
  takenInSilence: 0,
  lostInSilence: 0,
  takenLate: 0,
};

/** Every submit is taken. */
export const PERFECT: SubmitFates = { ...HEALTHY, refusedMessage: 0 };

export const ANSWER_TIMEOUT_MS = 10_000;
const RECEIPT_RETRY_MS = 5000;
/** Share of the answers that come late, of SMSCs that are busy or refuse while others answer late. */
const LATE_REFUSALS = 0.2;

/** The SMSCs outside, as every node reaches them: they take, refuse, stay silent, and report what became of messages. */
export class CarrierNetwork {
  readonly copies: Copy[] = [];
  readonly written: WrittenSubmit[] = [];
  readonly outages: Outage[] = [];
  /** Submits by fate and receipts by kind, for the report. */
  readonly counts = new Map<string, number>();
  fates: SubmitFates = HEALTHY;
  receiptsAreOrderly = false;
  /** Submits and receipts that the outside world still has under way. */
  pending = 0;
  readonly #world: World;
  readonly #lines = new Map<string, Line>();
  /** Carriers that are down, by `process/carrier` or by `carrier` alone. */
  readonly #down = new Set<string>();
  readonly #submits = new Map<string, number>();
  #serial = 0;

  constructor(world: World) {
    this.#world = world;
  }

  createFor(process: SimulatedProcess): CreateSmppCarrier {
    return (deps) => {
      const line = new Line(this, this.#world, process, deps);
      this.#lines.set(`${process.name}/${deps.name}`, line);
      return line;
    };
  }

  isUp(process: SimulatedProcess, carrier: string): boolean {
    return !this.#down.has(carrier) && !this.#down.has(`${process.name}/${carrier}`);
  }

  /** Takes lines down or up: a whole carrier, or the line of one node. */
  setDown(place: string, isDown: boolean): void {
    const { now } = this.#world;
    if (isDown) {
      if (!this.#down.has(place)) this.outages.push({ place, from: now, until: Number.POSITIVE_INFINITY });
      this.#down.add(place);
      return;
    }
    this.#down.delete(place);
    for (const outage of this.outages) if (outage.place === place) outage.until = Math.min(outage.until, now);
  }

  allUp(): void {
    for (const place of this.#down) this.setDown(place, false);
  }

  /** True if the carrier was up for a process at that time. */
  wasUp({ name }: SimulatedProcess, carrier: string, at: number): boolean {
    const places = new Set([carrier, `${name}/${carrier}`]);
    return !this.outages.some(({ place, from, until }) => places.has(place) && from <= at && at < until);
  }

  /** Lines that can carry a receipt or an inbound message now. */
  openLines(carrier: string): Line[] {
    return [...this.#lines.values()].filter(
      (line) => line.name === carrier && !line.process.isDead && line.isStarted && this.isUp(line.process, carrier),
    );
  }

  carrierNames(): string[] {
    return [...new Set([...this.#lines.values()].map(({ name }) => name))].toSorted();
  }

  count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  /** Random choices of one submit: the same ones, whatever else happens in the run. */
  randomOf(message: Message): Random {
    const key = `${message.content.text} ${message.recipient}`;
    const count = (this.#submits.get(key) ?? 0) + 1;
    this.#submits.set(key, count);
    return this.#world.randomFor(`submit ${key} ${count}`);
  }

  /** The SMSC's decision; null for silence. */
  arrive(
    line: Line,
    message: Message,
    written: WrittenSubmit,
    random: Random,
  ): { answer: KnownOutcome | null; lateMs: number } {
    const fate = random.weighted(this.fates);
    written.fate = fate;
    this.count(`submit ${fate}`);
    const isLate = fate === "takenLate" || (this.fates.takenLate > 0 && random.chance(LATE_REFUSALS));
    const lateMs = isLate ? ANSWER_TIMEOUT_MS + random.between(10, 20_000) : 0;
    if (fate === "busy") return { answer: { kind: "busy" }, lateMs };
    if (fate === "lostInSilence") return { answer: null, lateMs: 0 };
    if (fate === "refusedMessage" || fate === "refusedCarrier") {
      const fault = fate === "refusedMessage" ? "message" : "carrier";
      return { answer: { kind: "refused", fault, code: "69", description: "refused" }, lateMs };
    }
    this.#serial += 1;
    const copy: Copy = {
      messageId: messageIdOf(message),
      carrierMessageId: `smsc-${this.#serial}`,
      carrier: line.name,
      recipient: message.recipient,
      text: message.content.text,
      routeClass: message.routeClass,
      process: line.process,
      writtenAt: written.at,
      takenAt: this.#world.now,
      acknowledgedAt: null,
      reported: [],
      heard: [],
    };
    this.copies.push(copy);
    this.#planReceipts(copy, random);
    if (fate === "takenInSilence") return { answer: null, lateMs: 0 };
    const answer: KnownOutcome = { kind: "taken", carrierMessageId: copy.carrierMessageId };
    return { answer, lateMs: fate === "takenLate" ? lateMs : 0 };
  }

  copyOf(carrierMessageId: string): Copy | undefined {
    return this.copies.find((copy) => copy.carrierMessageId === carrierMessageId);
  }

  /** Receipts come early, late, repeated, contradictory and out of order, or not at all. */
  #planReceipts(copy: Copy, random: Random): void {
    const kind = random.weighted(
      this.receiptsAreOrderly
        ? { orderly: 1, none: 0, repeated: 0, contradictory: 0, enrouteLast: 0 }
        : { orderly: 60, none: 10, repeated: 15, contradictory: 5, enrouteLast: 10 },
    );
    this.count(`receipts ${kind}`);
    const final = random.weighted({ delivered: 80, undelivered: 15, rejected: 5 });
    const soon = (): number => random.between(0, random.chance(0.2) ? 30_000 : 3000);
    if (kind === "none") return;
    if (kind === "enrouteLast") this.#planReceipt(copy, "enroute", soon() + 3000);
    this.#planReceipt(copy, final, soon());
    if (kind === "repeated") this.#planReceipt(copy, final, soon());
    if (kind === "contradictory") this.#planReceipt(copy, final === "delivered" ? "undelivered" : "delivered", soon());
  }

  #planReceipt(copy: Copy, state: ReceiptState, afterMs: number): void {
    const world = this.#world;
    const at = world.now + afterMs;
    this.pending += 1;
    let isAcknowledged = false;
    const deliver = (): void => {
      const lines = this.openLines(copy.carrier);
      if (lines.length === 0) return void world.plan(RECEIPT_RETRY_MS, null, deliver);
      const line = world.random.pick(lines);
      if (!copy.reported.includes(state)) copy.reported.push(state);
      line.receive(
        {
          carrier: copy.carrier,
          carrierMessageId: copy.carrierMessageId,
          recipient: copy.recipient,
          state,
          errorCode: state === "delivered" || state === "enroute" ? null : "12",
          description: null,
          at,
        },
        () => {
          if (isAcknowledged) return;
          isAcknowledged = true;
          world.tell(`${line.process.name} acknowledges ${state} of ${copy.messageId}`);
          if (!copy.heard.includes(state)) copy.heard.push(state);
          this.pending -= 1;
        },
      );
      // Without an acknowledgement the SMSC sends it again, over any line.
      world.plan(RECEIPT_RETRY_MS + world.random.between(0, 5000), null, () => {
        if (!isAcknowledged) deliver();
      });
    };
    world.plan(afterMs, null, deliver);
  }
}

/** The line of one node to one SMSC. */
export class Line implements Carrier {
  readonly name: string;
  readonly process: SimulatedProcess;
  isStarted = false;
  readonly deps: SmppCarrierDeps;
  readonly #network: CarrierNetwork;
  readonly #world: World;
  #onReceipt: OnReceipt | null = null;

  constructor(network: CarrierNetwork, world: World, process: SimulatedProcess, deps: SmppCarrierDeps) {
    this.name = deps.name;
    this.deps = deps;
    this.process = process;
    this.#network = network;
    this.#world = world;
  }

  get messagesPerSecond(): number | null {
    return this.deps.messagesPerSecond();
  }

  isUp(): boolean {
    return this.isStarted && this.#network.isUp(this.process, this.name) && !this.isElsewhere();
  }

  isElsewhere(): boolean {
    return this.deps.share().connections === 0;
  }

  async start(onReceipt: OnReceipt): Promise<void> {
    this.#onReceipt = onReceipt;
    this.isStarted = true;
  }

  async stop(): Promise<void> {
    this.isStarted = false;
    this.#onReceipt = null;
  }

  submit(message: Message, maySend?: MaySend): Promise<Outcome> {
    const world = this.#world;
    const random = this.#network.randomOf(message);
    const usual = (): number => random.between(0, random.chance(0.05) ? 2000 : 20);
    return new Promise((resolve) => {
      world.plan(usual(), this.process, () => {
        if (!this.#network.isUp(this.process, this.name)) return resolve({ kind: "down", description: "line cut" });
        if (maySend && !maySend()) return resolve({ kind: "busy" });
        const { campaignName, recipient, routeClass } = message;
        const messageId = messageIdOf(message);
        const written: WrittenSubmit = {
          messageId,
          carrier: this.name,
          campaignName,
          recipient,
          routeClass,
          process: this.process,
          at: world.now,
          fate: null,
        };
        this.#network.written.push(written);
        let isOverdue = false;
        const timeOut = world.plan(ANSWER_TIMEOUT_MS, this.process, () => {
          isOverdue = true;
          resolve({ kind: "unknown", description: "no answer" });
        });
        this.#network.pending += 1;
        world.plan(usual(), null, () => {
          this.#network.pending -= 1;
          const { answer, lateMs } = this.#network.arrive(this, message, written, random);
          if (written.fate)
            world.tell(`the SMSC ${this.name} ${IN_WORDS[written.fate]} ${messageId} from ${this.process.name}`);
          if (!answer) return;
          world.plan(usual() + lateMs, this.process, () => {
            // The answer travels over the line that carried the submit.
            if (!this.#network.isUp(this.process, this.name)) return;
            const copy = answer.kind === "taken" ? this.#network.copyOf(answer.carrierMessageId) : undefined;
            if (copy) copy.acknowledgedAt = world.now;
            // A process that stood still may find its time-out before the answer that came in time.
            if (isOverdue) {
              void this.deps.onLateAnswer({ message, carrier: this.name, outcome: answer }).catch(() => undefined);
              return;
            }
            timeOut();
            resolve(answer);
          });
        });
      });
    });
  }

  /** Hands a receipt to the node; `onAcknowledged` runs once the node has stored it. */
  receive(receipt: Parameters<OnReceipt>[0], onAcknowledged: () => void): void {
    this.#world.plan(this.#world.random.between(0, 20), this.process, () => {
      const pass = this.#onReceipt;
      if (!pass) return;
      pass(receipt).then(onAcknowledged, () => undefined);
    });
  }
}
