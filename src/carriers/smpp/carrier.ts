import type { Message, MessageRef } from "../../model/message.ts";
import type { Receipt } from "../../model/receipt.ts";
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
  MaySend,
  Outcome,
  StopTimeouts,
} from "../carrier.ts";
import { bindOptionsOf } from "./bind-options.ts";
import { handleDeliverSm } from "./receive.ts";
import { LateAnswers } from "./late-answers.ts";
import { SmppConnection, type SmppConnectionState } from "./connection.ts";
import { SmppConnections } from "./connections.ts";
import { canonical, learnFormat } from "./message-id.ts";
import type { CreateSmppCarrier, SmppCarrierDeps } from "./deps.ts";
import { References } from "../../smpp-text/parts.ts";
import { submitParts, type SubmitPartsDeps } from "./submit.ts";
import { fullRate, pauseLeftMs, perSecondAt, queueFull, throttled, withContract } from "../adaptive-rate.ts";
import type { SubmitClass } from "./classify-response.ts";
import { submitPdusOf } from "./submit-pdus.ts";
import { ResponseCounts } from "../response-counts.ts";
import { registeredDelivery } from "./validity.ts";

/**
 * Messages being committed before or after their submit are in hand too. Without them the window would be idle meanwhile.
 */
const IN_HAND_PER_WINDOW = 2;

/** A learned format is replaced after this many consecutive receipts in another one: a single id may match by chance. */
const AGREEING_HITS = 3;

/** A carrier over SMPP. */
export const createSmppCarrier: CreateSmppCarrier = (deps) => new SmppCarrier(deps);

class SmppCarrier implements Carrier {
  readonly name: string;
  readonly #deps: SmppCarrierDeps;
  readonly #connections: SmppConnections;
  readonly #references: References;
  readonly #counts = new ResponseCounts();
  readonly #lateAnswers = new LateAnswers();
  readonly #submitDeps: SubmitPartsDeps;
  /** Late responses that are being committed. */
  readonly #storing = new Set<Promise<void>>();
  #rate;
  /** Used only if the settings do not fix the format. */
  #learnedIdForm: string | null;
  /** Another format seen since the current one was learned. */
  #otherIdForm = { form: "", hits: 0 };
  #onReceipt: OnReceipt | null = null;
  #isStopping = false;

  constructor(deps: SmppCarrierDeps) {
    this.name = deps.name;
    this.#deps = deps;
    this.#learnedIdForm = deps.settings.idForm === "auto" ? deps.learnedIdForm : null;
    this.#references = new References(Math.random);
    this.#submitDeps = {
      clock: deps.clock,
      policy: deps.settings.statusPolicy,
      onResponse: (verdict) => this.#onSubmitResponse(verdict),
      expectLate: (session, sequence, take) => this.#lateAnswers.expect(session, sequence, take),
    };
    this.#rate = fullRate(deps.messagesPerSecond());
    const isPair = deps.settings.bindAs === "transmitter and receiver";
    this.#connections = new SmppConnections({
      binds: isPair ? ["bind_transmitter", "bind_receiver"] : ["bind_transceiver"],
      open: (as) => this.#openConnection(as),
    });
  }

  /** The contracted rate, or less after throttling. */
  get messagesPerSecond(): number | null {
    const { clock, messagesPerSecond } = this.#deps;
    const now = clock.monotonic();
    this.#rate = withContract(this.#rate, messagesPerSecond(), now);
    return perSecondAt(this.#rate, now);
  }

  /** Proportional to this node's binds. Without a contract the reduced rate applies to this node alone. */
  get share(): number {
    const { messagesPerSecond, share, settings } = this.#deps;
    return messagesPerSecond() === null ? 1 : share().connections / Math.max(1, settings.connections);
  }

  get sendsNoReceipts(): boolean {
    const { receipts, intermediateReceipts: intermediate } = this.#deps.settings;
    return registeredDelivery({ receipts, intermediate }) === 0;
  }

  get capacity(): number {
    return pauseLeftMs(this.#rate, this.#deps.clock.monotonic()) > 0
      ? 0
      : this.#connections.window * IN_HAND_PER_WINDOW;
  }

  isUp(): boolean {
    return this.#connections.window > 0;
  }

  isConnecting(): boolean {
    return !this.#isStopping && this.#connections.window === 0 && this.#connections.isUntried;
  }

  isElsewhere(): boolean {
    return this.#deps.share().connections === 0;
  }

  async submit(message: Message, maySend?: MaySend): Promise<Outcome> {
    const { settings, clock } = this.#deps;
    const now = clock.now();
    const submits = submitPdusOf(message, settings, this.#references, now);
    if ("code" in submits) return { kind: "refused", fault: "message", ...submits };
    const session = this.#connections.pick();
    // A connection that we stop ourselves is not down: late messages wait and use no other route.
    if (!session) return this.#isStopping ? { kind: "busy" } : { kind: "down", description: this.#downReason() };
    const [first] = submits;
    const request = `submit_sm to=${"*".repeat(8)}${message.recipient.slice(-4)} from=${message.sender} data_coding=${first?.dataCoding ?? 0} parts=${submits.length}`;
    const submitted = await submitParts(
      this.#submitDeps,
      session,
      submits,
      this.#lateHandler(message, request),
      maySend,
    );
    if (submitted.kind === "down" && this.#isStopping) return { kind: "busy" };
    return { ...submitted, exchange: `${request} -> ${describeOutcome(submitted)}` };
  }

  /** Kept as long as the bind, so it refers to the message by key only. */
  #lateHandler({ accountId, requestId, n }: MessageRef, request: string): (outcome: KnownOutcome) => void {
    return (outcome) =>
      this.#storeLateOutcome(
        { accountId, requestId, n },
        { ...outcome, exchange: `${request} -> ${describeOutcome(outcome)}` },
      );
  }

  /** If the commit fails, the outcome stays unknown. */
  #storeLateOutcome(message: MessageRef, outcome: KnownOutcome): void {
    const { onLateAnswer, log } = this.#deps;
    log.info({ carrier: this.name, outcome: outcome.kind }, "SMPP late response received");
    const storing = onLateAnswer({ message, carrier: this.name, outcome })
      .catch((error: unknown) => log.warn({ err: error, carrier: this.name }, "SMPP late response not stored"))
      .finally(() => this.#storing.delete(storing));
    this.#storing.add(storing);
  }

  learnIdFormat({ spelt }: Receipt, knownAs: string): void {
    const form = spelt === undefined ? null : learnFormat(knownAs, spelt);
    if (form === null || form === this.#learnedIdForm) return;
    this.#otherIdForm = { form, hits: form === this.#otherIdForm.form ? this.#otherIdForm.hits + 1 : 1 };
    if (this.#learnedIdForm !== null && this.#otherIdForm.hits < AGREEING_HITS) return;
    this.#learnedIdForm = form;
    this.#otherIdForm = { form: "", hits: 0 };
    this.#deps.onLearned(form);
    this.#deps.log.info({ carrier: this.name, form }, "SMPP message-id format learned");
  }

  start(onReceipt: OnReceipt): Promise<void> {
    this.#isStopping = false;
    this.#onReceipt = onReceipt;
    this.onShareChanged();
    return Promise.resolve();
  }

  onShareChanged(): void {
    if (this.#onReceipt) this.#connections.resize(this.#deps.share().connections);
  }

  async stop(timeouts?: StopTimeouts): Promise<void> {
    this.#isStopping = true;
    await this.#connections.stop(timeouts);
    await Promise.all(this.#storing);
    this.#onReceipt = null;
  }

  state(): CarrierState {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    const pauseMs = pauseLeftMs(this.#rate, now);
    return {
      binds: this.#connections.states().map(({ as, state, session }) => bindState(as, state, session?.pending ?? 0)),
      submitsPerSecond: this.#counts.perSecond(now),
      speed: this.messagesPerSecond,
      pausedUntil: pauseMs > 0 ? clock.now() + pauseMs : null,
      errors: this.#counts.errors,
      lastError: this.#counts.lastError,
      learnedIdForm: this.#learnedIdForm,
    };
  }

  #openConnection(as: BindCommand): SmppConnection {
    const { name, clock, log, settings, addressOf, metrics } = this.#deps;
    return new SmppConnection({
      name,
      clock,
      log,
      // Resolved for every bind: this follows a carrier that moves, and re-checks the SSRF rules.
      options: async () => this.#bindOptions(as, await addressOf(settings.host)),
      onRefused: (code) => metrics.carrierErrors(name, code).inc(),
    });
  }

  #bindOptions(as: BindCommand, address: string): BindOptions {
    const { log } = this.#deps;
    return {
      ...bindOptionsOf(this.#deps, as, address),
      onRequest: (pdu) => this.#handleRequest(pdu),
      // Without the PDU, which may contain numbers and message text.
      onViolation: (found, session) => {
        if (found.kind === "stray" && this.#lateAnswers.receive(session, found.sequence, found.pdu)) return;
        log.warn({ carrier: this.name, violation: found.kind }, "SMPP protocol violation by peer");
      },
    };
  }

  /** Acknowledges after the commit. If the commit fails, the carrier is asked to deliver again. */
  async #handleRequest(pdu: Incoming): Promise<Answer> {
    if (pdu.command !== "deliver_sm" && pdu.command !== "data_sm") {
      if (pdu.command === "outbind" || pdu.command === "alert_notification") return null;
      return responseTo(pdu, { status: STATUS.ESME_RINVCMDID });
    }
    const { accountId, settings, clock, log, onInbound, onInboundPart } = this.#deps;
    const onReceipt = this.#onReceipt;
    if (!onReceipt) return responseTo(pdu, { status: STATUS.ESME_RX_T_APPN });
    const form = this.#learnedIdForm ?? settings.idForm;
    const canonicalId = (id: string): string => canonical(id, form);
    try {
      const receiveDeps = {
        accountId,
        carrier: this.name,
        settings,
        clock,
        log,
        canonicalId,
        onReceipt,
        onInbound,
        onInboundPart,
      };
      await handleDeliverSm(receiveDeps, pdu);
      return responseTo(pdu, {});
    } catch (error) {
      log.warn({ err: error, carrier: this.name }, "SMPP delivery not stored, carrier will repeat it");
      return responseTo(pdu, { status: STATUS.ESME_RX_T_APPN });
    }
  }

  #onSubmitResponse(verdict: SubmitClass): void {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    this.#counts.countResponse(now);
    if (verdict.kind === "taken") return;
    this.#counts.countError(clock.now(), verdict.code, verdict.description);
    this.#deps.metrics.carrierErrors(this.name, verdict.code).inc();
    if (verdict.kind === "busy" && verdict.cause === "throttled")
      this.#rate = throttled(this.#rate, now, this.#counts.perSecond(now));
    if (verdict.kind === "busy" && verdict.cause === "queue full") this.#rate = queueFull(this.#rate, now);
    if (verdict.kind === "refused" && verdict.alarm)
      this.#deps.log.error(
        { carrier: this.name, errorCode: verdict.code, description: verdict.description },
        "SMPP messages refused, operator action needed",
      );
  }

  #downReason(): string {
    for (const { state } of this.#connections.states()) if (state.kind === "waiting") return state.reason;
    return "The carrier is not bound";
  }
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.kind === "taken") return `taken ${(outcome.partIds ?? [outcome.carrierMessageId]).join(" ")}`;
  if (outcome.kind === "refused") return `refused ${outcome.code}`;
  return outcome.kind === "unknown" ? "nothing" : outcome.kind;
}

const BIND_NAMES: Readonly<Record<BindCommand, BindState["as"]>> = {
  bind_transceiver: "transceiver",
  bind_transmitter: "transmitter",
  bind_receiver: "receiver",
};

function bindState(as: BindCommand, state: SmppConnectionState, inFlight: number): BindState {
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
