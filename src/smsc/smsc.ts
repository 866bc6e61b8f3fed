import { fateOf, type FatedReport } from "../carriers/simulator/fate.ts";
import type { Clock } from "../lib/clock.ts";
import { encodeGsm7 } from "../lib/gsm7.ts";
import { deliverSm, type Bind, type DeliverSm, type SubmitSm } from "../smpp/pdu.ts";
import { responseTo } from "../smpp/respond.ts";
import { listen, type ServerOptions, type SmppServer, type Verdict } from "../smpp/server.ts";
import type { Answer, Incoming, Session } from "../smpp/session.ts";
import { STATUS } from "../smpp/status.ts";
import { tlv } from "../smpp/tlv.ts";
import { spellId } from "./message-ids.ts";
import { GOOD, type Whims } from "./whims.ts";
import { writeReceipt } from "./write-receipt.ts";

const SECOND_MS = 1000;
const UCS2 = 0x08;

/** What has happened so far. */
export interface SmscCounts {
  submits: number;
  taken: number;
  throttled: number;
  refused: number;
  /** Receipts and texts that were acknowledged. */
  delivered: number;
  /** Receipts and texts that wait for somebody who takes them. */
  owed: number;
}

interface SmscOptions {
  host?: string;
  port: number;
  tls?: ServerOptions["tls"];
  whims?: Partial<Whims>;
  clock: Clock;
  random?: () => number;
  /** Told of every submit that was taken. */
  onTaken?: (submit: SubmitSm, id: string) => void;
}

/** Somebody who may send and is owed receipts, on any number of binds. */
interface Customer {
  sessions: Set<Session>;
  owed: DeliverSm[];
  /** How often each phone was tried, for those that are throttled at first. */
  tries: Map<string, number>;
}

/**
 * A simulated SMSC over TCP, for whoever tests what speaks to one. It keeps receipts until they are acknowledged and brings
 * them again on the next bind, as real ones do; what it forgets when it ends, it has only ever had in memory.
 */
export class Smsc {
  readonly counts: SmscCounts = { submits: 0, taken: 0, throttled: 0, refused: 0, delivered: 0, owed: 0 };
  #whims: Whims;
  readonly #options: SmscOptions;
  readonly #random: () => number;
  readonly #customers = new Map<string, Customer>();
  readonly #submitsOn = new WeakMap<Session, number>();
  #server: SmppServer | null = null;
  #nextId: bigint;
  #second = { at: 0, submits: 0 };

  private constructor(options: SmscOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#whims = { ...GOOD, ...options.whims };
    // Begins where letters and leading zeros make a difference between the spellings.
    this.#nextId = 0xab_c000n + BigInt(Math.floor(this.#random() * 0x1000_0000));
  }

  static async open(options: SmscOptions): Promise<Smsc> {
    const smsc = new Smsc(options);
    const { host, port, tls, clock } = options;
    smsc.#server = await listen({
      port,
      ...(host === undefined ? {} : { host }),
      ...(tls === undefined ? {} : { tls }),
      systemId: "heliograph",
      window: 1000,
      clock,
      onBind: (bind) => smsc.#welcome(bind),
    });
    return smsc;
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  get sessions(): number {
    return this.#server?.sessions.size ?? 0;
  }

  get whims(): Readonly<Whims> {
    return this.#whims;
  }

  /** Behaves otherwise from now on. */
  behave(whims: Partial<Whims>): void {
    this.#whims = { ...this.#whims, ...whims };
  }

  /** A phone sends a text, with its own count of it where one is given; it goes to whoever is bound, or to the first who binds. */
  text(from: string, to: string, words: string, count?: number): void {
    const gsm = encodeGsm7(words);
    const message = deliverSm({
      source: { ton: 1, npi: 1, address: from },
      destination: { ton: 0, npi: 0, address: to },
      dataCoding: gsm ? 0 : UCS2,
      shortMessage: gsm ?? Buffer.from(words, "utf16le").swap16(),
      tlvs: count === undefined ? [] : [tlv("user_message_reference", count)],
    });
    const customer = [...this.#customers.values()].find(({ sessions }) => sessions.size > 0);
    this.#owe(customer ?? this.#customerOf(this.#whims.systemId ?? ""), message);
  }

  /** Cuts every connection, with whatever is under way. */
  hangUp(): void {
    for (const session of this.#server?.sessions ?? []) session.destroy();
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  #welcome({ systemId, password, command }: Bind): Verdict {
    const { whims } = this;
    if (whims.systemId !== null && systemId !== whims.systemId)
      return { kind: "refused", status: STATUS.ESME_RINVSYSID };
    if (whims.password !== null && password !== whims.password)
      return { kind: "refused", status: STATUS.ESME_RINVPASWD };
    const customer = this.#customerOf(systemId);
    return {
      kind: "welcome",
      onRequest: (pdu, session) => this.#answer(customer, pdu, session),
      onBound: (session) => {
        if (command === "bind_transmitter") return;
        customer.sessions.add(session);
        void session.closed.then(() => customer.sessions.delete(session));
        for (const owed of customer.owed.splice(0)) this.#bring(customer, owed);
      },
    };
  }

  #customerOf(systemId: string): Customer {
    const customer = this.#customers.get(systemId) ?? { sessions: new Set(), owed: [], tries: new Map() };
    this.#customers.set(systemId, customer);
    return customer;
  }

  #answer(customer: Customer, pdu: Incoming, session: Session): Answer | Promise<Answer> {
    if (pdu.command === "outbind" || pdu.command === "alert_notification") return null;
    if (pdu.command !== "submit_sm") return responseTo(pdu, { status: STATUS.ESME_RINVCMDID });
    this.counts.submits += 1;
    if (this.#isHangUp(session)) {
      // Not here: the session is still reading what made it so many.
      queueMicrotask(() => session.destroy());
      return null;
    }
    const answer = this.#take(customer, pdu);
    const { answerAfterMs, lateAnswerPercent } = this.#whims;
    const waitMs = answerAfterMs + (this.#chance(lateAnswerPercent) ? 5 * (answerAfterMs + 1) : 0);
    return waitMs === 0
      ? answer
      : new Promise((resolve) => void this.#options.clock.after(waitMs, () => resolve(answer)));
  }

  #isHangUp(session: Session): boolean {
    const { hangUpAfter } = this.#whims;
    if (hangUpAfter === null) return false;
    const submits = (this.#submitsOn.get(session) ?? 0) + 1;
    this.#submitsOn.set(session, submits);
    return submits > hangUpAfter;
  }

  #take(customer: Customer, submit: SubmitSm): Answer {
    const { clock, onTaken } = this.#options;
    const now = clock.now();
    const refuse = (status: number): Answer => {
      this.counts[status === STATUS.ESME_RTHROTTLED ? "throttled" : "refused"] += 1;
      return responseTo(submit, { status });
    };
    if (this.#isTooFast(now)) return refuse(STATUS.ESME_RTHROTTLED);
    const recipient = submit.destination.address.replace(/^\+/, "");
    const attempts = customer.tries.get(recipient) ?? 0;
    const fate = fateOf({ recipient, channel: "sms", attempts }, this.#whims, this.#random);
    if (fate.submit === "busy") {
      customer.tries.set(recipient, attempts + 1);
      return refuse(STATUS.ESME_RTHROTTLED);
    }
    if (fate.submit === "refused") return refuse(STATUS.ESME_RINVDSTADR);
    if (fate.submit === "refused by the carrier" || fate.submit === "not there") return refuse(STATUS.ESME_RSUBMITFAIL);
    const id = this.#nextId;
    this.#nextId += 1n;
    this.counts.taken += 1;
    const given = spellId(id, this.#whims.idForm);
    onTaken?.(submit, given);
    for (const report of submit.registeredDelivery === 0 ? [] : fate.reports)
      this.#report(customer, submit, id, report, now);
    const isSilent = fate.submit === "unknown" || this.#chance(this.#whims.silentPercent);
    return isSilent ? null : responseTo(submit, { messageId: given });
  }

  #isTooFast(now: number): boolean {
    const { messagesPerSecond } = this.#whims;
    if (messagesPerSecond === null) return false;
    const second = Math.floor(now / SECOND_MS);
    if (second !== this.#second.at) this.#second = { at: second, submits: 0 };
    this.#second.submits += 1;
    return this.#second.submits > messagesPerSecond;
  }

  #report(customer: Customer, submit: SubmitSm, id: bigint, report: FatedReport, submittedAt: number): void {
    const { clock } = this.#options;
    // What was decoded lies in the buffer that was read, which must not be kept for as long as a receipt takes.
    const { source, destination } = submit;
    clock.after(report.afterMs, () => {
      const spelt = spellId(id, this.#whims.receiptIdForm);
      const times = { submittedAt, now: clock.now() };
      this.#owe(
        customer,
        writeReceipt({ source, destination, shortMessage: Buffer.alloc(0) }, spelt, report, this.#whims, times),
      );
    });
  }

  #owe(customer: Customer, message: DeliverSm): void {
    this.counts.owed += 1;
    this.#bring(customer, message);
  }

  /** Until it is acknowledged it is owed; whoever binds next is brought it again. */
  #bring(customer: Customer, message: DeliverSm): void {
    const session = roomiest(customer.sessions);
    if (!session) {
      customer.owed.push(message);
      return;
    }
    void session.request(message).then((outcome) => {
      if (outcome.kind === "answer" && outcome.pdu.status === 0) {
        this.counts.owed -= 1;
        this.counts.delivered += 1;
        return;
      }
      // Refused for now, or nobody knows: again in a moment.
      this.#options.clock.after(SECOND_MS, () => this.#bring(customer, message));
    });
  }

  #chance(percent: number): boolean {
    return percent > 0 && this.#random() * 100 < percent;
  }
}

function roomiest(sessions: Iterable<Session>): Session | null {
  let best: Session | null = null;
  for (const session of sessions) if (session.isOpen && (best === null || session.free > best.free)) best = session;
  return best;
}
