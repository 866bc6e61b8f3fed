import { memoize } from "../../lib/memoize.ts";
import { createYield } from "../../lib/async.ts";
import { isSms, messageIdOf, needsSmpp, type Message } from "../../model/message.ts";
import type { HttpSecrets, HttpSettings } from "../../model/http-connection.ts";
import type { Carrier, OnReceipt, MaySend, Outcome } from "../carrier.ts";
import { HttpCarrierBase } from "../http-carrier-base.ts";
import { exchangeHttp, type HttpExchangeRequest, type HttpExchange } from "../http-exchange.ts";
import type { PlatformAnswer, PlatformWebhook, PlatformDeps } from "../http-platform.ts";
import type { UndecodableText } from "./decode-text.ts";
import { createReceiver, type ReceivedEvents } from "./receive.ts";
import { parseWebhook } from "./parse-webhook.ts";
import { createClassifier, type ClassifiedResponse } from "./classify-response.ts";
import { createSignatureCheck } from "./verify-signature.ts";
import { createSubmitRequest } from "./submit.ts";

type CarrierDeps = PlatformDeps<HttpSettings, HttpSecrets>;

/** Repetitions of an inbound message come soon after it. */
const FIRST_RECEIVED_MAX = 10_000;
const RETRY_LATER: PlatformAnswer = { status: 503, text: "Not now: send this again" };
const UNAUTHENTICATED: PlatformAnswer = {
  status: 401,
  text: "This call does not show that it comes from the provider",
};
const UNMAPPED: PlatformAnswer = { status: 400, text: "Nothing in this call is mapped to a receipt or a text" };

/** A carrier for SMS providers that offer only an HTTP API, which the settings describe. */
export const createHttpCarrier = (deps: CarrierDeps): Carrier => new HttpCarrier(deps);

class HttpCarrier extends HttpCarrierBase {
  readonly #deps: CarrierDeps;
  readonly #createRequest;
  readonly #classify;
  readonly #verify;
  readonly #parseEvents;
  readonly #host: string;
  readonly #yield = createYield();

  constructor(deps: CarrierDeps) {
    super(deps, deps.settings.requestsMax);
    const { name, accountId, settings, secrets, clock, log } = deps;
    this.#deps = deps;
    this.#createRequest = createSubmitRequest({ settings, secrets, callbackUrl: () => deps.callbackUrl() });
    this.#classify = createClassifier(settings);
    this.#verify = createSignatureCheck(settings.proof, secrets);
    const firstReceivedAt = memoize(FIRST_RECEIVED_MAX, () => clock.now());
    const loggedKinds = new Set<UndecodableText>();
    const onUndecodableText = (found: UndecodableText): void => {
      if (loggedKinds.has(found)) return;
      loggedKinds.add(found);
      log.warn({ carrier: name, found }, "HTTP carrier inbound text contradicts its charset");
    };
    this.#parseEvents = createReceiver({
      name,
      accountId,
      settings,
      clock,
      firstReceivedAt,
      onUndecodableText,
    });
    this.#host = URL.parse(settings.baseUrl)?.host ?? "";
  }

  override async submit(message: Message, maySend?: MaySend): Promise<Outcome> {
    const { content } = message;
    if (!isSms(content))
      return {
        kind: "refused",
        fault: "message",
        code: "NOT_SMS",
        description: "The carrier takes text messages only",
      };
    if (needsSmpp(content))
      return {
        kind: "refused",
        fault: "carrier",
        code: "BINARY_UNSUPPORTED",
        description:
          "The carrier takes plain texts only: no binary messages, user data headers, message waiting indications or protocol ids",
      };
    const { egress, clock } = this.#deps;
    const request = this.#createRequest(message, content, clock.now());
    let response: HttpExchange | null = null;
    let partIds: readonly string[] = [];
    const outcome = await this.health.run(async () => {
      response = await exchangeHttp(egress, clock, { ...request, maySend });
      const verdict = this.#classifyAndLog(response, message);
      ({ partIds = [] } = verdict);
      return verdict;
    });
    const responseText = `${statusOf(response)}${describeOutcome(outcome)}${partIds.length > 0 ? `, took ${partIds.join(" ")}` : ""}`;
    return { ...outcome, exchange: `${this.#describeRequest(request, message)} -> ${responseText}` };
  }

  override async handleWebhook(webhook: PlatformWebhook): Promise<PlatformAnswer> {
    const verified = this.#verify(webhook);
    if (verified === "nothing") return UNAUTHENTICATED;
    const onReceipt = this.onReceipt;
    if (!onReceipt) return RETRY_LATER;
    const { log, settings } = this.#deps;
    try {
      if (await this.#store(this.#parseEvents(parseWebhook(webhook, verified)), onReceipt))
        return { status: 200, text: settings.answer };
    } catch (error) {
      log.warn({ err: error, carrier: this.name }, "HTTP carrier webhook not stored, provider will repeat it");
      return RETRY_LATER;
    }
    log.warn({ carrier: this.name }, "HTTP carrier webhook matched no field mapping");
    return UNMAPPED;
  }

  /** Returns false if the webhook contained no event. */
  async #store(slices: Iterable<ReceivedEvents>, onReceipt: OnReceipt): Promise<boolean> {
    const { onInbound } = this.#deps;
    let count = 0;
    let isFirst = true;
    for (const { receipts, inbound } of slices) {
      if (!isFirst) await this.#yield();
      isFirst = false;
      count += receipts.length + inbound.length;
      await Promise.all([...receipts.map((receipt) => onReceipt(receipt)), ...inbound.map((each) => onInbound(each))]);
    }
    return count > 0;
  }

  #classifyAndLog(response: HttpExchange, message: Message): ClassifiedResponse {
    const { clock, log, settings } = this.#deps;
    const own = messageIdOf(message);
    const verdict = this.#classify(response, clock.now(), own);
    const { outcome } = verdict;
    if (outcome.kind === "taken" && settings.id !== null && outcome.carrierMessageId === own)
      log.warn({ carrier: this.name }, "HTTP carrier response without message id");
    return verdict;
  }

  /** Excludes path and body, which may contain secrets, numbers and text. */
  #describeRequest({ method }: HttpExchangeRequest, { recipient, sender, segments }: Message): string {
    return `${method} ${this.#host} to=${"*".repeat(8)}${recipient.slice(-4)} from=${sender} parts=${segments}`;
  }
}

const statusOf = (response: HttpExchange | null): string =>
  response?.kind === "answered" ? `${response.status} ` : "";

function describeOutcome(outcome: Outcome): string {
  if (outcome.kind === "taken") return `taken ${(outcome.partIds ?? [outcome.carrierMessageId]).join(" ")}`;
  if (outcome.kind === "refused") return `refused ${outcome.code}`;
  return outcome.kind === "unknown" ? "nothing" : outcome.kind;
}
