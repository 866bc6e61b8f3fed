import { createRecall } from "../../lib/recall.ts";
import { createTurnstile } from "../../lib/turnstile.ts";
import { isSms, messageIdOf, type Message } from "../../model/message.ts";
import type { HttpSecrets, HttpSettings } from "../../model/http-line.ts";
import type { Carrier, CarrierState, OnReceipt, Outcome, Patience } from "../carrier.ts";
import { exchange, type Asked, type Exchange } from "../exchange.ts";
import type { PlatformAnswer, PlatformCall, PlatformNeeds } from "../platform.ts";
import { Standing } from "../standing.ts";
import { createHearing, type Told } from "./hear.ts";
import { readCall } from "./heard.ts";
import { createJudge, type Judged } from "./judge.ts";
import { createProof } from "./proof.ts";
import { createRequest } from "./request.ts";

type Needs = PlatformNeeds<HttpSettings, HttpSecrets>;

/** What phones send again is sent again soon. */
const REMEMBERED_MAX = 10_000;
const LATER: PlatformAnswer = { status: 503, text: "Not now: send this again" };
const NOT_PROVEN: PlatformAnswer = { status: 401, text: "This call does not show that it comes from the provider" };
const NOT_UNDERSTOOD: PlatformAnswer = { status: 400, text: "Nothing in this call is mapped to a receipt or a text" };

/** A carrier for text messages whose provider offers only an HTTP API, as its settings describe that. */
export const createHttpCarrier = (needs: Needs): Carrier => new HttpCarrier(needs);

class HttpCarrier implements Carrier {
  readonly name: string;
  readonly #needs: Needs;
  readonly #standing: Standing;
  readonly #ask;
  readonly #judge;
  readonly #prove;
  readonly #understand;
  readonly #host: string;
  readonly #turn = createTurnstile();
  #onReceipt: OnReceipt | null = null;

  constructor(needs: Needs) {
    const { name, accountId, settings, secrets, clock, log, meters } = needs;
    this.name = name;
    this.#needs = needs;
    this.#ask = createRequest({ settings, secrets, callbackUrl: () => needs.callbackUrl() });
    this.#judge = createJudge(settings);
    this.#prove = createProof(settings.proof, secrets);
    const firstHeard = createRecall(REMEMBERED_MAX, () => clock.now());
    this.#understand = createHearing({ name, accountId, settings, clock, firstHeard });
    this.#host = URL.parse(settings.baseUrl)?.host ?? "";
    const messagesPerSecond = (): number | null => needs.messagesPerSecond();
    const { requestsMax } = settings;
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
    const { content } = message;
    if (!isSms(content))
      return {
        kind: "refused",
        fault: "message",
        code: "NOT_SMS",
        description: "The carrier takes text messages only",
      };
    const { wayOut, clock } = this.#needs;
    const asked = this.#ask(message, content, clock.now());
    let answer: Exchange | null = null;
    let partIds: readonly string[] = [];
    const outcome = await this.#standing.run(async () => {
      answer = await exchange(wayOut, clock, asked);
      const verdict = this.#judged(answer, message);
      ({ partIds = [] } = verdict);
      return verdict;
    });
    const said = `${answered(answer)}${wordsOf(outcome)}${partIds.length > 0 ? `, took ${partIds.join(" ")}` : ""}`;
    return { ...outcome, exchange: `${this.#wordsOf(asked, message)} -> ${said}` };
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

  state(): CarrierState {
    return this.#standing.state();
  }

  async called(call: PlatformCall): Promise<PlatformAnswer> {
    const proven = this.#prove(call);
    if (proven === "nothing") return NOT_PROVEN;
    const onReceipt = this.#onReceipt;
    if (!onReceipt) return LATER;
    const { log, settings } = this.#needs;
    try {
      if (await this.#keep(this.#understand(readCall(call, proven)), onReceipt))
        return { status: 200, text: settings.answer };
    } catch (error) {
      log.warn({ err: error, carrier: this.name }, "what the provider told could not be kept, it will come again");
      return LATER;
    }
    log.warn({ carrier: this.name }, "call of the provider was not understood: see how the line maps its fields");
    return NOT_UNDERSTOOD;
  }

  /** Whether there was anything to keep. */
  async #keep(slices: Iterable<Told>, onReceipt: OnReceipt): Promise<boolean> {
    const { onInbound } = this.#needs;
    let count = 0;
    let isFirst = true;
    for (const { receipts, inbound } of slices) {
      if (!isFirst) await this.#turn();
      isFirst = false;
      count += receipts.length + inbound.length;
      await Promise.all([...receipts.map((receipt) => onReceipt(receipt)), ...inbound.map((each) => onInbound(each))]);
    }
    return count > 0;
  }

  #judged(answer: Exchange, message: Message): Judged {
    const { clock, log, settings } = this.#needs;
    const own = messageIdOf(message);
    const verdict = this.#judge(answer, clock.now(), own);
    const { outcome } = verdict;
    if (outcome.kind === "taken" && settings.id !== null && outcome.carrierMessageId === own)
      log.warn({ carrier: this.name }, "provider took a message without the id that its answers should have");
    return verdict;
  }

  /** Neither the path nor the body: secrets, numbers and texts may be in them. */
  #wordsOf({ method }: Asked, { recipient, sender, segments }: Message): string {
    return `${method} ${this.#host} to=${"*".repeat(8)}${recipient.slice(-4)} from=${sender} parts=${segments}`;
  }
}

const answered = (answer: Exchange | null): string => (answer?.kind === "answered" ? `${answer.status} ` : "");

function wordsOf(outcome: Outcome): string {
  if (outcome.kind === "taken") return `taken ${(outcome.partIds ?? [outcome.carrierMessageId]).join(" ")}`;
  if (outcome.kind === "refused") return `refused ${outcome.code}`;
  return outcome.kind === "unknown" ? "nothing" : outcome.kind;
}
