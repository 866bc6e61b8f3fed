import type { Message, MessageRef } from "../../model/message.ts";
import type { BindOptions } from "../../smpp/client.ts";
import type { BindCommand } from "../../smpp/pdu.ts";
import { responseTo } from "../../smpp/respond.ts";
import type { Answer, Incoming } from "../../smpp/session.ts";
import { STATUS } from "../../smpp/status.ts";
import type {
  BindState,
  Carrier,
  CarrierState,
  KnownOutcome,
  OnReceipt,
  Outcome,
  Patience,
  Receipt,
} from "../carrier.ts";
import { bindOptionsOf } from "./bind-options.ts";
import { hear } from "./hear.ts";
import { LateAnswers } from "./late-answers.ts";
import { Line, type LineState } from "./line.ts";
import { Lines } from "./lines.ts";
import { canonical, learn } from "./message-id.ts";
import type { CreateSmppCarrier, SmppCarrierNeeds } from "./needs.ts";
import { References } from "./parts.ts";
import { say, type SayNeeds } from "./say.ts";
import { fullSpeed, pauseLeftMs, perSecondAt, queueFull, throttled, withContract } from "../speed.ts";
import type { SubmitVerdict } from "./status.ts";
import { submitsOf } from "./submits.ts";
import { Tally } from "../tally.ts";
import { registeredDelivery } from "./validity.ts";

/** In hand besides what waits for an answer: being written down before, or after. Else the line would idle meanwhile. */
const IN_HAND_PER_WINDOW = 2;

/** What was learned stays until so many receipts in a row say the same otherwise: an id alone may fit by chance. */
const AGREEING_HITS = 3;

/** A carrier that speaks SMPP: its binds, what is said on them, and what is heard. */
export const createSmppCarrier: CreateSmppCarrier = (needs) => new SmppCarrier(needs);

class SmppCarrier implements Carrier {
  readonly name: string;
  readonly #needs: SmppCarrierNeeds;
  readonly #lines: Lines;
  readonly #references: References;
  readonly #tally = new Tally();
  readonly #late = new LateAnswers();
  readonly #saying: SayNeeds;
  /** Late answers that are being written down. */
  readonly #handedIn = new Set<Promise<void>>();
  #speed;
  /** Only where somebody has not said it. */
  #learnedIdForm: string | null;
  /** What receipts have said of their form since it was learned, where that is another. */
  #otherIdForm = { form: "", hits: 0 };
  #onReceipt: OnReceipt | null = null;
  #isStopping = false;

  constructor(needs: SmppCarrierNeeds) {
    this.name = needs.name;
    this.#needs = needs;
    this.#learnedIdForm = needs.settings.idForm === "auto" ? needs.learnedIdForm : null;
    this.#references = new References(Math.random);
    this.#saying = {
      clock: needs.clock,
      policy: needs.settings.statusPolicy,
      onVerdict: (verdict) => this.#onVerdict(verdict),
      expectLate: (session, sequence, take) => this.#late.expect(session, sequence, take),
    };
    this.#speed = fullSpeed(needs.messagesPerSecond());
    const isPair = needs.settings.bindAs === "transmitter and receiver";
    this.#lines = new Lines({
      binds: isPair ? ["bind_transmitter", "bind_receiver"] : ["bind_transceiver"],
      open: (as) => this.#openLine(as),
    });
  }

  /** The contracted speed, or less for a while after the carrier has asked for it. */
  get messagesPerSecond(): number | null {
    const { clock, messagesPerSecond } = this.#needs;
    const now = clock.now();
    this.#speed = withContract(this.#speed, messagesPerSecond(), now);
    return perSecondAt(this.#speed, now);
  }

  /** Whoever has more of the binds sends more; what a line without a contract was slowed to is this node's alone. */
  get share(): number {
    const { messagesPerSecond, share, settings } = this.#needs;
    return messagesPerSecond() === null ? 1 : share().connections / Math.max(1, settings.connections);
  }

  get reportsNothing(): boolean {
    const { receipts, intermediateReceipts: intermediate } = this.#needs.settings;
    return registeredDelivery({ receipts, intermediate }) === 0;
  }

  get capacity(): number {
    return pauseLeftMs(this.#speed, this.#needs.clock.now()) > 0 ? 0 : this.#lines.window * IN_HAND_PER_WINDOW;
  }

  isUp(): boolean {
    return this.#lines.window > 0;
  }

  isElsewhere(): boolean {
    return this.#needs.share().connections === 0;
  }

  async submit(message: Message): Promise<Outcome> {
    const { settings, clock } = this.#needs;
    const now = clock.now();
    const submits = submitsOf(message, settings, this.#references, now);
    if ("code" in submits) return { kind: "refused", fault: "message", ...submits };
    const session = this.#lines.pick();
    // A line that we end ourselves is not down: what comes too late for it waits, and takes no other route.
    if (!session) return this.#isStopping ? { kind: "busy" } : { kind: "down", description: this.#whyDown() };
    const [first] = submits;
    const asked = `submit_sm to=${"*".repeat(8)}${message.recipient.slice(-4)} from=${message.sender} data_coding=${first?.dataCoding ?? 0} parts=${submits.length}`;
    const said = await say(this.#saying, session, submits, this.#lateFor(message, asked));
    if (said.kind === "down" && this.#isStopping) return { kind: "busy" };
    return { ...said, exchange: `${asked} -> ${wordsOf(said)}` };
  }

  /** It may be kept for as long as the bind lives, and so has nothing of the message but what names it. */
  #lateFor({ accountId, requestId, n }: MessageRef, asked: string): (outcome: KnownOutcome) => void {
    return (outcome) =>
      this.#handIn({ accountId, requestId, n }, { ...outcome, exchange: `${asked} -> ${wordsOf(outcome)}` });
  }

  /** What is not written down is as if it had not come: the message stays in doubt. */
  #handIn(message: MessageRef, outcome: KnownOutcome): void {
    const { onLateAnswer, log } = this.#needs;
    log.info({ carrier: this.name, outcome: outcome.kind }, "carrier answered after its time");
    const handedIn = onLateAnswer({ message, carrier: this.name, outcome })
      .catch((error: unknown) => log.warn({ err: error, carrier: this.name }, "late answer could not be kept"))
      .finally(() => this.#handedIn.delete(handedIn));
    this.#handedIn.add(handedIn);
  }

  learned({ spelt }: Receipt, knownAs: string): void {
    const form = spelt === undefined ? null : learn(knownAs, spelt);
    if (form === null || form === this.#learnedIdForm) return;
    this.#otherIdForm = { form, hits: form === this.#otherIdForm.form ? this.#otherIdForm.hits + 1 : 1 };
    if (this.#learnedIdForm !== null && this.#otherIdForm.hits < AGREEING_HITS) return;
    this.#learnedIdForm = form;
    this.#otherIdForm = { form: "", hits: 0 };
    this.#needs.onLearned(form);
    this.#needs.log.info({ carrier: this.name, form }, "receipts of the carrier spell ids in another way: learned");
  }

  start(onReceipt: OnReceipt): Promise<void> {
    this.#isStopping = false;
    this.#onReceipt = onReceipt;
    this.onShare();
    return Promise.resolve();
  }

  onShare(): void {
    if (this.#onReceipt) this.#lines.resize(this.#needs.share().connections);
  }

  async stop(patience?: Patience): Promise<void> {
    this.#isStopping = true;
    await this.#lines.stop(patience);
    await Promise.all(this.#handedIn);
    this.#onReceipt = null;
  }

  state(): CarrierState {
    const now = this.#needs.clock.now();
    return {
      binds: this.#lines.states().map(({ as, state, session }) => bindState(as, state, session?.pending ?? 0)),
      submitsPerSecond: this.#tally.perSecond(now),
      speed: this.messagesPerSecond,
      pausedUntil: pauseLeftMs(this.#speed, now) > 0 ? now + pauseLeftMs(this.#speed, now) : null,
      errors: this.#tally.errors,
      lastError: this.#tally.lastError,
      learnedIdForm: this.#learnedIdForm,
    };
  }

  #openLine(as: BindCommand): Line {
    const { name, clock, log, settings, addressOf, meters } = this.#needs;
    return new Line({
      name,
      clock,
      log,
      // Looked up for every bind: a carrier that moves is followed, and it may never move to where we must not go.
      options: async () => this.#bindOptions(as, await addressOf(settings.host)),
      onRefused: (code) => meters.carrierErrors(name, code).inc(),
    });
  }

  #bindOptions(as: BindCommand, address: string): BindOptions {
    const { log } = this.#needs;
    return {
      ...bindOptionsOf(this.#needs, as, address),
      onRequest: (pdu) => this.#hear(pdu),
      // Without what it was about: it may hold numbers and texts.
      onOddity: (oddity, session) => {
        if (oddity.kind === "stray" && this.#late.hear(session, oddity.sequence, oddity.pdu)) return;
        log.warn({ carrier: this.name, oddity: oddity.kind }, "carrier said something odd");
      },
    };
  }

  /** Acknowledges after the commit; what could not be kept, the carrier is to bring again later. */
  async #hear(pdu: Incoming): Promise<Answer> {
    if (pdu.command !== "deliver_sm" && pdu.command !== "data_sm") {
      if (pdu.command === "outbind" || pdu.command === "alert_notification") return null;
      return responseTo(pdu, { status: STATUS.ESME_RINVCMDID });
    }
    const { accountId, settings, clock, log, onInbound, onInboundPart } = this.#needs;
    const onReceipt = this.#onReceipt;
    if (!onReceipt) return responseTo(pdu, { status: STATUS.ESME_RX_T_APPN });
    const form = this.#learnedIdForm ?? settings.idForm;
    const spell = (id: string): string => canonical(id, form);
    try {
      const hearing = {
        accountId,
        carrier: this.name,
        settings,
        clock,
        log,
        spell,
        onReceipt,
        onInbound,
        onInboundPart,
      };
      await hear(hearing, pdu);
      return responseTo(pdu, {});
    } catch (error) {
      log.warn({ err: error, carrier: this.name }, "what the carrier delivered could not be kept, it will come again");
      return responseTo(pdu, { status: STATUS.ESME_RX_T_APPN });
    }
  }

  #onVerdict(verdict: SubmitVerdict): void {
    const now = this.#needs.clock.now();
    this.#tally.answered(now);
    if (verdict.kind === "taken") return;
    this.#tally.failed(now, verdict.code, verdict.description);
    this.#needs.meters.carrierErrors(this.name, verdict.code).inc();
    if (verdict.kind === "busy" && verdict.cause === "throttled")
      this.#speed = throttled(this.#speed, now, this.#tally.perSecond(now));
    if (verdict.kind === "busy" && verdict.cause === "queue full") this.#speed = queueFull(this.#speed, now);
    if (verdict.kind === "refused" && verdict.alarm)
      this.#needs.log.error(
        { carrier: this.name, code: verdict.code },
        `carrier refuses messages: ${verdict.description}`,
      );
  }

  #whyDown(): string {
    for (const { state } of this.#lines.states()) if (state.kind === "waiting") return state.reason;
    return "The carrier is not bound";
  }
}

function wordsOf(outcome: Outcome): string {
  if (outcome.kind === "taken") return `taken ${(outcome.partIds ?? [outcome.carrierMessageId]).join(" ")}`;
  if (outcome.kind === "refused") return `refused ${outcome.code}`;
  return outcome.kind === "unknown" ? "nothing" : outcome.kind;
}

const BIND_NAMES: Readonly<Record<BindCommand, BindState["as"]>> = {
  bind_transceiver: "transceiver",
  bind_transmitter: "transmitter",
  bind_receiver: "receiver",
};

function bindState(as: BindCommand, state: LineState, inFlight: number): BindState {
  const { since } = state;
  const common = { as: BIND_NAMES[as], since, inFlight, reason: null, nextTryAt: null };
  if (state.kind === "waiting")
    return {
      ...common,
      state: state.code === null ? "waiting" : "refused",
      reason: state.code === null ? state.reason : `${state.reason} (${state.code})`,
      nextTryAt: state.until,
    };
  return { ...common, state: state.kind === "closed" ? "closing" : state.kind };
}
