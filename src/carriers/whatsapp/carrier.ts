import type {
  ChatTemplate,
  PulledTemplates,
  SubmittedTemplate,
  TemplateNews,
  TemplateSubmission,
} from "../../model/chatapp.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import { mediaIdIn } from "../../model/media.ts";
import { mediaOf, type Message, type MessageRef } from "../../model/message.ts";
import type { Carrier, FileLocation, MarkOutcome, OnReceipt, MaySend, Outcome } from "../carrier.ts";
import type { CarrierMedia } from "../carrier-media.ts";
import { templateIn } from "../../model/template-language.ts";
import { HttpCarrierBase } from "../http-carrier-base.ts";
import { exchangeHttp } from "../http-exchange.ts";
import type { PlatformAnswer, PlatformWebhook, PlatformDeps } from "../http-platform.ts";
import { meaningOf, type ErrorClass } from "./error-codes.ts";
import { BlockedNumbers } from "./blocked-numbers.ts";
import { classifyWhatsappResponse } from "./classify-response.ts";
import { Pairs } from "./pairs.ts";
import { locateFile } from "./locate-file.ts";
import { markRead, readMarkOf } from "./mark-read.ts";
import { pullTemplates } from "./pull-templates.ts";
import { answerHandshake, isSigned } from "./verify-signature.ts";
import { parseWhatsappWebhook, type WhatsappEvent, type WhatsappInbound } from "./receive.ts";
import { submitTemplate } from "./submit-template.ts";
import { requestOf, type WhatsappRequest } from "./submit.ts";
import { uploadMedia } from "./upload-media.ts";
import { hide, messagesUrl, appSecretProof } from "./api-urls.ts";
import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-connection.ts";

/** Dependencies of the WhatsApp carrier. */
export interface WhatsappCarrierDeps extends PlatformDeps<WhatsappSettings, WhatsappSecrets> {
  media: CarrierMedia;
  /** Platform id of a business number (with plus); null if its record has none. */
  phoneNumberOf(from: string): string | null;
  /** Stored template by name, with facts that a request does not contain. */
  templateOf(name: string): ChatTemplate | null;
  /** Finds our message by the platform's id. Without it, replies have no reference to the message. */
  messageOf?(carrierMessageId: string): Promise<Pick<MessageRef, "requestId" | "n"> | null>;
  /** Called for a template status webhook; resolves once it is committed. */
  onTemplateStatus?(news: TemplateNews): Promise<void>;
  /** The user stopped marketing messages in the app, without a message. Resolves once it is committed. */
  onOptOut?(number: string, at: number): Promise<void>;
  /** The user resumed them in the same way. Resolves once it is committed. */
  onOptIn?(number: string, at: number): Promise<void>;
}

/** A carrier for the WhatsApp Cloud API. */
export const createWhatsappCarrier = (deps: WhatsappCarrierDeps): Carrier => new WhatsappCarrier(deps);

const SECOND_MS = 1000;

class WhatsappCarrier extends HttpCarrierBase {
  readonly #deps: WhatsappCarrierDeps;
  readonly #pairs = new Pairs();
  readonly #blocked = new BlockedNumbers();
  readonly #headers: Readonly<Record<string, string>>;

  constructor(deps: WhatsappCarrierDeps) {
    super(deps, deps.settings.connections);
    const { settings, secrets } = deps;
    this.#deps = deps;
    this.#headers = { "content-type": "application/json", ...appSecretProof(settings, secrets) };
  }

  override async submit(message: Message, maySend?: MaySend): Promise<Outcome> {
    const { settings, phoneNumberOf, templateOf, clock } = this.#deps;
    const { content, sender, recipient } = message;
    const named = "templateName" in content ? templateOf(content.templateName) : null;
    const language = "language" in content ? content.language : null;
    const template = named && language !== null ? templateIn(named, language) : named;
    const request = requestOf(message, template);
    if ("code" in request) return { kind: "refused", fault: "message", ...request };
    const phoneNumberId = phoneNumberOf(sender) ?? settings.phoneNumberId;
    const url = messagesUrl(settings, phoneNumberId);
    if (url === null) return { kind: "refused", fault: "carrier", ...NO_PHONE_NUMBER_ID };
    const number = phoneNumberId ?? sender;
    const reason = this.#blocked.reasonFor(number, clock.monotonic());
    if (reason !== null) return { kind: "down", description: reason };
    const waitMs = this.#pairs.take(`${sender} ${recipient}`, clock.monotonic());
    if (waitMs > 0) return { kind: "busy", retryAfterMs: waitMs };
    const send = (ready: WhatsappRequest): Promise<Outcome> =>
      this.health.run(() => this.#request(message, ready, url, maySend));
    const mediaId = storedMediaOf(message);
    if (mediaId === null) return this.#trackNumber(number, await send(request));
    return this.#trackNumber(number, await this.#sendWithFile(message, template, { mediaId, phoneNumberId }, send));
  }

  /** The platform gets the file once for each number, and the message names the id that it gave. */
  async #sendWithFile(
    message: Message,
    template: ChatTemplate | null,
    { mediaId, phoneNumberId }: { mediaId: string; phoneNumberId: string | null },
    send: (request: WhatsappRequest) => Promise<Outcome>,
  ): Promise<Outcome> {
    const { media, settings, secrets, accountId } = this.#deps;
    const file = await media.find({ accountId, id: mediaId });
    if (!file) return { kind: "refused", fault: "message", ...MEDIA_GONE };
    const place = `${this.name} ${phoneNumberId ?? ""}`;
    const hand = () =>
      media.handOver(file, place, () => uploadMedia({ settings, secrets, media }, phoneNumberId, file));
    for (let isFirst = true; ; isFirst = false) {
      const handed = await hand();
      if (handed.kind === "refused")
        return { kind: "refused", fault: "message", code: "MEDIA_REFUSED", description: handed.description };
      if (handed.kind === "failed") return { kind: "down", description: handed.description };
      const request = requestOf(message, template, { id: handed.platformId, name: file.name });
      if ("code" in request) return { kind: "refused", fault: "message", ...request };
      const outcome = await send(request);
      // The platform may have lost the file before its time: it gets it once more.
      if (!isFirst || outcome.kind !== "refused" || !UNKNOWN_FILE.has(outcome.code)) return outcome;
      await media.forget(file, place);
    }
  }

  /** A blocked number is `down` for its messages: they use another route or wait. */
  #trackNumber(number: string, outcome: Outcome): Outcome {
    const { clock, log } = this.#deps;
    if (outcome.kind === "taken") this.#blocked.taken(number);
    if (outcome.kind !== "refused" || !hasClass("number", outcome.code)) return outcome;
    const { code, description, exchange: exchangeText } = outcome;
    // Without the platform's text, which is about this message, because it is shown for later messages too.
    if (this.#blocked.refused(number, meaningOf(Number(code)).description, clock.monotonic()))
      log.error({ carrier: this.name, errorCode: code }, "WhatsApp number blocked, operator action needed");
    return { kind: "down", description, ...(exchangeText === undefined ? {} : { exchange: exchangeText }) };
  }

  async #request(message: Message, request: WhatsappRequest, url: string, maySend?: MaySend) {
    const { settings, secrets, egress, clock } = this.#deps;
    const { sender, recipient, attempts } = message;
    const pair = `${sender} ${recipient}`;
    const sentAt = clock.monotonic();
    const response = await exchangeHttp(egress, clock, {
      method: "POST",
      url,
      headers: this.#headers,
      body: JSON.stringify(request),
      limitMs: settings.responseSeconds * SECOND_MS,
      maySend,
    });
    const classifyDeps = {
      attempts,
      pairRefused: () => this.#pairs.refused(pair, sentAt, clock.monotonic()),
      hide: (words: string) => hide(words, secrets),
    };
    const verdict = classifyWhatsappResponse(classifyDeps, response);
    if (verdict.outcome.kind === "taken") this.#pairs.taken(pair);
    const what = request.type === "template" ? `template=${request.template.name}` : request.type;
    const requestText = `POST ${new URL(url).pathname} to=${"*".repeat(8)}${recipient.slice(-4)} from=${sender} ${what}`;
    const status = response.kind === "answered" ? `HTTP ${response.status} ` : "";
    const exchangeText = `${requestText} -> ${status}${describeOutcome(verdict.outcome, verdict.code)}`;
    return { ...verdict, outcome: { ...verdict.outcome, exchange: exchangeText } };
  }

  async markRead({ origin, to }: InboundMessage, { typing }: { typing: boolean }): Promise<MarkOutcome> {
    const { settings, phoneNumberOf } = this.#deps;
    const url = messagesUrl(settings, phoneNumberOf(to) ?? settings.phoneNumberId);
    if (!origin || url === null) return { kind: "failed", description: NO_PHONE_NUMBER_ID.description };
    return markRead(this.#deps, url, readMarkOf(origin.carrierMessageId, typing));
  }

  locateFile(uri: string): Promise<FileLocation> {
    return locateFile(this.#deps, uri);
  }

  submitTemplate(name: string, content: ChatTemplate, submission: TemplateSubmission): Promise<SubmittedTemplate> {
    return submitTemplate(this.#deps, name, content, submission);
  }

  templates(): Promise<PulledTemplates> {
    return pullTemplates(this.#deps);
  }

  /** Acknowledges after the commit. If the commit fails, the platform repeats the webhook. */
  override async handleWebhook(webhook: PlatformWebhook): Promise<PlatformAnswer> {
    const { accountId, settings, secrets, clock, log } = this.#deps;
    if (webhook.method === "GET") return answerHandshake(webhook.query, secrets.verifyToken);
    if (!isSigned(webhook, secrets.appSecret)) return { status: 401, text: "The signature is not right" };
    const deps = { carrier: this.name, accountId, settings, now: clock.now() };
    const event = parseWhatsappWebhook(deps, webhook.body.toString("utf8"));
    if (event === null) return { status: 400, text: "The body is no JSON" };
    const onReceipt = this.onReceipt;
    if (!onReceipt) return RETRY_LATER;
    this.#logIgnored(event);
    const stored = await Promise.allSettled(this.#store(event, onReceipt));
    const failed = stored.find((each) => each.status === "rejected");
    if (!failed) return { status: 200, text: "" };
    log.warn({ err: failed.reason, carrier: this.name }, "WhatsApp webhook not stored, platform will repeat it");
    return RETRY_LATER;
  }

  #store(event: WhatsappEvent, onReceipt: OnReceipt): Promise<void>[] {
    const { receipts, inbound, templates, preferences } = event;
    const { onTemplateStatus, onOptOut, onOptIn } = this.#deps;
    return [
      ...receipts.map(async (receipt) => onReceipt(receipt)),
      ...inbound.map((each) => this.#receive(each)),
      ...templates.map(async (change) => onTemplateStatus?.(change)),
      ...preferences.map(async ({ number, isOptOut, at }) => (isOptOut ? onOptOut : onOptIn)?.(number, at)),
    ];
  }

  async #receive({ inbound, answersId }: WhatsappInbound): Promise<void> {
    const { messageOf, onInbound } = this.#deps;
    const answers = answersId === null ? null : ((await messageOf?.(answersId)) ?? null);
    await onInbound({ ...inbound, answers });
  }

  #logIgnored({ receipts, withoutNumber, unread }: WhatsappEvent): void {
    const { log } = this.#deps;
    const carrier = this.name;
    if (withoutNumber > 0)
      log.warn({ carrier, count: withoutNumber }, "WhatsApp messages of users without a number ignored");
    if (unread > 0) log.warn({ carrier, count: unread }, "WhatsApp webhook entries not readable, ignored");
    for (const { errorCode, description } of receipts)
      if (errorCode !== null && (hasClass("halted", errorCode) || hasClass("number", errorCode))) {
        log.error({ carrier, reason: errorCode, description }, "WhatsApp messages fail, operator action needed");
        return;
      }
  }
}

/** The stored media that a message shows; null if there is none. */
function storedMediaOf({ content }: Message): string | null {
  const file = mediaOf(content);
  return file && mediaIdIn(file.link);
}

/** Errors of the platform about the id of a file, among other parameters. */
const UNKNOWN_FILE: ReadonlySet<string> = new Set(["100", "131009", "131053"]);

const MEDIA_GONE = {
  code: "MEDIA_NOT_FOUND",
  description: "The uploaded file of the message was deleted or has expired",
};

const hasClass = (errorClass: ErrorClass, code: string): boolean => meaningOf(Number(code)).errorClass === errorClass;

const RETRY_LATER: PlatformAnswer = { status: 503, text: "Not now" };

const NO_PHONE_NUMBER_ID = {
  code: "NO_PHONE_NUMBER_ID",
  description:
    "The platform's id of the sending number is missing: give the number's record or the line a phoneNumberId",
};

function describeOutcome(outcome: Outcome, code: string | undefined): string {
  if (outcome.kind === "taken") return `taken ${outcome.carrierMessageId}`;
  return code === undefined ? outcome.kind : `${outcome.kind} ${code}`;
}
