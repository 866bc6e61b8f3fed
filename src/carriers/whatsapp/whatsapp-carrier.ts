import type { PulledTemplates } from "../../model/chatapp.ts";
import type { Message } from "../../model/message.ts";
import type { Carrier, CarrierState, OnReceipt, Outcome, Patience } from "../carrier.ts";
import { exchange } from "../exchange.ts";
import type { PlatformAnswer, PlatformCall } from "../platform.ts";
import { Standing } from "../standing.ts";
import { meaningOf, type ErrorClass } from "./error-codes.ts";
import { HeldNumbers } from "./held-numbers.ts";
import { judgeAnswer } from "./judge-answer.ts";
import type { WhatsappCarrierNeeds } from "./needs.ts";
import { Pairs } from "./pairs.ts";
import { pullTemplates } from "./pull-templates.ts";
import { answerHandshake, isSigned } from "./prove.ts";
import { readCall, type Told, type ToldInbound } from "./read-call.ts";
import { requestOf, type WhatsappRequest } from "./request.ts";
import { hide, messagesUrl, proofOf } from "./ways.ts";

/** A line to the WhatsApp Cloud API: what is posted to it, and what it calls back with. */
export const createWhatsappCarrier = (needs: WhatsappCarrierNeeds): Carrier => new WhatsappCarrier(needs);

const SECOND_MS = 1000;

class WhatsappCarrier implements Carrier {
  readonly name: string;
  readonly #needs: WhatsappCarrierNeeds;
  readonly #standing: Standing;
  readonly #pairs = new Pairs();
  readonly #held = new HeldNumbers();
  readonly #headers: Readonly<Record<string, string>>;
  #onReceipt: OnReceipt | null = null;

  constructor(needs: WhatsappCarrierNeeds) {
    const { name, settings, secrets, messagesPerSecond, clock, log, meters } = needs;
    this.name = name;
    this.#needs = needs;
    this.#headers = { "content-type": "application/json", ...proofOf(settings, secrets) };
    const requestsMax = settings.connections;
    this.#standing = new Standing({ name, messagesPerSecond, requestsMax, clock, log, meters });
  }

  get messagesPerSecond(): number | null {
    return this.#standing.messagesPerSecond;
  }

  get capacity(): number {
    return this.#standing.capacity;
  }

  isUp(): boolean {
    return this.#standing.isUp();
  }

  async submit(message: Message): Promise<Outcome> {
    const { settings, phoneNumberOf, templateOf, clock } = this.#needs;
    const { content, sender, recipient } = message;
    const request = requestOf(message, "templateName" in content ? templateOf(content.templateName) : null);
    if ("code" in request) return { kind: "refused", fault: "message", ...request };
    const phoneNumberId = phoneNumberOf(sender) ?? settings.phoneNumberId;
    const url = messagesUrl(settings, phoneNumberId);
    if (url === null) return { kind: "refused", fault: "carrier", ...NO_PHONE_NUMBER_ID };
    const number = phoneNumberId ?? sender;
    const reason = this.#held.reasonFor(number, clock.now());
    if (reason !== null) return { kind: "down", description: reason };
    const waitMs = this.#pairs.take(`${sender} ${recipient}`, clock.now());
    if (waitMs > 0) return { kind: "busy", retryAfterMs: waitMs };
    return this.#mindNumber(number, await this.#standing.run(() => this.#ask(message, request, url)));
  }

  /** A number that the platform has stopped is down for its messages: they take another route, or wait. */
  #mindNumber(number: string, outcome: Outcome): Outcome {
    const { clock, log } = this.#needs;
    if (outcome.kind === "taken") this.#held.taken(number);
    if (outcome.kind !== "refused" || !isAbout("number", outcome.code)) return outcome;
    const { code, description, exchange: said } = outcome;
    // Without the platform's words, which are about this message, for whatever waits behind it.
    if (this.#held.refused(number, meaningOf(Number(code)).description, clock.now()))
      log.error(
        { carrier: this.name, errorCode: code },
        "one number of a carrier sends nothing more until somebody helps",
      );
    return { kind: "down", description, ...(said === undefined ? {} : { exchange: said }) };
  }

  async #ask(message: Message, request: WhatsappRequest, url: string) {
    const { settings, secrets, wayOut, clock } = this.#needs;
    const { sender, recipient, attempts } = message;
    const pair = `${sender} ${recipient}`;
    const askedAt = clock.now();
    const answer = await exchange(wayOut, clock, {
      method: "POST",
      url,
      headers: this.#headers,
      body: JSON.stringify(request),
      limitMs: settings.responseSeconds * SECOND_MS,
    });
    const judging = {
      attempts,
      pairRefused: () => this.#pairs.refused(pair, askedAt, clock.now()),
      hide: (words: string) => hide(words, secrets),
    };
    const verdict = judgeAnswer(judging, answer);
    if (verdict.outcome.kind === "taken") this.#pairs.taken(pair);
    const what = request.type === "template" ? `template=${request.template.name}` : "text";
    const asked = `POST ${new URL(url).pathname} to=${"*".repeat(8)}${recipient.slice(-4)} from=${sender} ${what}`;
    const status = answer.kind === "answered" ? `HTTP ${answer.status} ` : "";
    const said = `${asked} -> ${status}${wordsOf(verdict.outcome, verdict.code)}`;
    return { ...verdict, outcome: { ...verdict.outcome, exchange: said } };
  }

  start(onReceipt: OnReceipt): Promise<void> {
    this.#onReceipt = onReceipt;
    this.#standing.start();
    return Promise.resolve();
  }

  async stop(patience?: Patience): Promise<void> {
    this.#onReceipt = null;
    await this.#standing.stop(patience);
  }

  templates(): Promise<PulledTemplates> {
    return pullTemplates(this.#needs);
  }

  state(): CarrierState {
    return this.#standing.state();
  }

  /** Says yes after the commit; what could not be kept, the platform brings again later. */
  async called(call: PlatformCall): Promise<PlatformAnswer> {
    const { accountId, settings, secrets, clock, log } = this.#needs;
    if (call.method === "GET") return answerHandshake(call.query, secrets.verifyToken);
    if (!isSigned(call, secrets.appSecret)) return { status: 401, text: "The signature is not right" };
    const needs = { carrier: this.name, accountId, settings, now: clock.now() };
    const told = readCall(needs, call.body.toString("utf8"));
    if (told === null) return { status: 400, text: "The body is no JSON" };
    const onReceipt = this.#onReceipt;
    if (!onReceipt) return LATER;
    this.#tellOddities(told);
    const kept = await Promise.allSettled(this.#keep(told, onReceipt));
    const failed = kept.find((each) => each.status === "rejected");
    if (!failed) return { status: 200, text: "" };
    log.warn(
      { err: failed.reason, carrier: this.name },
      "what the platform told could not be kept, it will come again",
    );
    return LATER;
  }

  #keep({ receipts, inbound, templates }: Told, onReceipt: OnReceipt): Promise<void>[] {
    const { onTemplateStatus } = this.#needs;
    return [
      ...receipts.map(async (receipt) => onReceipt(receipt)),
      ...inbound.map((each) => this.#receive(each)),
      ...templates.map(async (news) => onTemplateStatus?.(news)),
    ];
  }

  async #receive({ inbound, answersId }: ToldInbound): Promise<void> {
    const { messageOf, onInbound } = this.#needs;
    const answers = answersId === null ? null : ((await messageOf?.(answersId)) ?? null);
    await onInbound({ ...inbound, answers });
  }

  #tellOddities({ receipts, withoutNumber, unread }: Told): void {
    const { log } = this.#needs;
    const carrier = this.name;
    if (withoutNumber > 0) log.warn({ carrier, count: withoutNumber }, "messages of users without a number left out");
    if (unread > 0) log.warn({ carrier, count: unread }, "parts of a call of the platform could not be read");
    for (const { errorCode, description } of receipts)
      if (errorCode !== null && (isAbout("halted", errorCode) || isAbout("number", errorCode))) {
        log.error({ carrier, reason: errorCode }, `messages fail until somebody helps: ${description}`);
        return;
      }
  }
}

const isAbout = (errorClass: ErrorClass, code: string): boolean => meaningOf(Number(code)).errorClass === errorClass;

const LATER: PlatformAnswer = { status: 503, text: "Not now" };

const NO_PHONE_NUMBER_ID = {
  code: "NO_PHONE_NUMBER_ID",
  description:
    "The platform's id of the sending number is missing: give the number's record or the line a phoneNumberId",
};

function wordsOf(outcome: Outcome, code: string | undefined): string {
  if (outcome.kind === "taken") return `taken ${outcome.carrierMessageId}`;
  return code === undefined ? outcome.kind : `${outcome.kind} ${code}`;
}
