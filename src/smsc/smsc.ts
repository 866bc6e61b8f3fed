import { outcomeOf, type ScriptedReceipt } from "../carriers/simulator/scripted-outcome.ts";
import type { Clock } from "../lib/clock.ts";
import { encodeGsm7 } from "../lib/gsm7.ts";
import { deliverSm, type Bind, type DeliverSm, type SubmitSm } from "../smpp/pdu.ts";
import { responseTo } from "../smpp/respond.ts";
import { listen, type ServerOptions, type SmppServer, type BindDecision } from "../smpp/server.ts";
import type { Answer, Incoming, Session } from "../smpp/session.ts";
import { STATUS } from "../smpp/status.ts";
import { tlv } from "../smpp/tlv.ts";
import { spellId } from "./message-ids.ts";
import { GOOD, type SmscBehavior } from "./behavior.ts";
import { writeReceipt } from "./write-receipt.ts";

const SECOND_MS = 1000;
const UCS2 = 0x08;

/** Counts since the start. */
export interface SmscCounts {
  submits: number;
  taken: number;
  throttled: number;
  refused: number;
  /** Acknowledged receipts and inbound messages. */
  delivered: number;
  /** Receipts and inbound messages that are not acknowledged yet. */
  owed: number;
}

interface SmscOptions {
  host?: string;
  port: number;
  tls?: ServerOptions["tls"];
  behavior?: Partial<SmscBehavior>;
  clock: Clock;
  random?: () => number;
  /** Called for every accepted submit. */
  onTaken?: (submit: SubmitSm, id: string) => void;
}

/** An ESME, which may have any number of binds. */
interface Customer {
  sessions: Set<Session>;
  owed: DeliverSm[];
  /** Submit attempts per phone, for phones that throttle at first. */
  tries: Map<string, number>;
}

/**
 * A simulated SMSC over TCP for tests. It keeps receipts in memory until they are acknowledged and delivers them again on
 * the next bind, as real ones do.
 */
export class Smsc {
  readonly counts: SmscCounts = { submits: 0, taken: 0, throttled: 0, refused: 0, delivered: 0, owed: 0 };
  #behavior: SmscBehavior;
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
    this.#behavior = { ...GOOD, ...options.behavior };
    // Starts where letters and leading zeros make the id formats differ.
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
      onBind: (bind) => smsc.#onBind(bind),
    });
    return smsc;
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  get sessions(): number {
    return this.#server?.sessions.size ?? 0;
  }

  get behavior(): Readonly<SmscBehavior> {
    return this.#behavior;
  }

  /** Changes the behaviour from now on. */
  setBehavior(changes: Partial<SmscBehavior>): void {
    this.#behavior = { ...this.#behavior, ...changes };
  }

  /**
   * Sends a message from a phone, with an optional message reference. It goes to the bound ESME, or to the first one that
   * binds.
   */
  sendFromPhone(from: string, to: string, text: string, count?: number): void {
    const gsm = encodeGsm7(text);
    const message = deliverSm({
      source: { ton: 1, npi: 1, address: from },
      destination: { ton: 0, npi: 0, address: to },
      dataCoding: gsm ? 0 : UCS2,
      shortMessage: gsm ?? Buffer.from(text, "utf16le").swap16(),
      tlvs: count === undefined ? [] : [tlv("user_message_reference", count)],
    });
    const customer = [...this.#customers.values()].find(({ sessions }) => sessions.size > 0);
    this.#deliverNew(customer ?? this.#customerOf(this.#behavior.systemId ?? ""), message);
  }

  /** Closes every connection at once. */
  closeConnections(): void {
    for (const session of this.#server?.sessions ?? []) session.destroy();
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  #onBind({ systemId, password, command }: Bind): BindDecision {
    const behavior = this.#behavior;
    if (behavior.systemId !== null && systemId !== behavior.systemId)
      return { kind: "refused", status: STATUS.ESME_RINVSYSID };
    if (behavior.password !== null && password !== behavior.password)
      return { kind: "refused", status: STATUS.ESME_RINVPASWD };
    const customer = this.#customerOf(systemId);
    return {
      kind: "accepted",
      onRequest: (pdu, session) => this.#answer(customer, pdu, session),
      onBound: (session) => {
        if (command === "bind_transmitter") return;
        customer.sessions.add(session);
        void session.closed.then(() => customer.sessions.delete(session));
        for (const owed of customer.owed.splice(0)) this.#deliver(customer, owed);
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
      // Deferred: the session is still reading the chunk that reached the limit.
      queueMicrotask(() => session.destroy());
      return null;
    }
    const answer = this.#take(customer, pdu);
    const { answerAfterMs, lateAnswerPercent } = this.#behavior;
    const waitMs = answerAfterMs + (this.#chance(lateAnswerPercent) ? 5 * (answerAfterMs + 1) : 0);
    return waitMs === 0
      ? answer
      : new Promise((resolve) => void this.#options.clock.after(waitMs, () => resolve(answer)));
  }

  #isHangUp(session: Session): boolean {
    const { hangUpAfter } = this.#behavior;
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
    const scripted = outcomeOf({ recipient, channel: "sms", attempts }, this.#behavior, this.#random);
    if (scripted.submit === "busy") {
      customer.tries.set(recipient, attempts + 1);
      return refuse(STATUS.ESME_RTHROTTLED);
    }
    if (scripted.submit === "refused") return refuse(STATUS.ESME_RINVDSTADR);
    if (scripted.submit === "refused by the carrier" || scripted.submit === "not there")
      return refuse(STATUS.ESME_RSUBMITFAIL);
    const id = this.#nextId;
    this.#nextId += 1n;
    this.counts.taken += 1;
    const given = spellId(id, this.#behavior.idForm);
    onTaken?.(submit, given);
    for (const report of submit.registeredDelivery === 0 ? [] : scripted.reports)
      this.#report(customer, submit, id, report, now);
    const isSilent = scripted.submit === "unknown" || this.#chance(this.#behavior.silentPercent);
    return isSilent ? null : responseTo(submit, { messageId: given });
  }

  #isTooFast(now: number): boolean {
    const { messagesPerSecond } = this.#behavior;
    if (messagesPerSecond === null) return false;
    const second = Math.floor(now / SECOND_MS);
    if (second !== this.#second.at) this.#second = { at: second, submits: 0 };
    this.#second.submits += 1;
    return this.#second.submits > messagesPerSecond;
  }

  #report(customer: Customer, submit: SubmitSm, id: bigint, report: ScriptedReceipt, submittedAt: number): void {
    const { clock } = this.#options;
    // Decoded fields are views of the read buffer, which must not stay in memory until the receipt is sent.
    const { source, destination } = submit;
    clock.after(report.afterMs, () => {
      const spelt = spellId(id, this.#behavior.receiptIdForm);
      const times = { submittedAt, now: clock.now() };
      this.#deliverNew(
        customer,
        writeReceipt({ source, destination, shortMessage: Buffer.alloc(0) }, spelt, report, this.#behavior, times),
      );
    });
  }

  #deliverNew(customer: Customer, message: DeliverSm): void {
    this.counts.owed += 1;
    this.#deliver(customer, message);
  }

  /** The message stays owed until it is acknowledged; the next bind receives it again. */
  #deliver(customer: Customer, message: DeliverSm): void {
    const session = leastLoaded(customer.sessions);
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
      // Refused temporarily or not answered: retry in a second.
      this.#options.clock.after(SECOND_MS, () => this.#deliver(customer, message));
    });
  }

  #chance(percent: number): boolean {
    return percent > 0 && this.#random() * 100 < percent;
  }
}

function leastLoaded(sessions: Iterable<Session>): Session | null {
  let best: Session | null = null;
  for (const session of sessions) if (session.isOpen && (best === null || session.free > best.free)) best = session;
  return best;
}
