import type { InboundMessage } from "../../model/inbound.ts";
import { isRcs, type Message } from "../../model/message.ts";
import { readServiceAccount, type RbmSecrets, type RbmSettings } from "../../model/rbm-connection.ts";
import type { RcsContent } from "../../model/rcs.ts";
import type { Carrier, MarkOutcome, OnReceipt, MaySend, Outcome, ReachOutcome, RevokeOutcome } from "../carrier.ts";
import { HttpCarrierBase } from "../http-carrier-base.ts";
import type { PlatformAnswer, PlatformWebhook, PlatformDeps } from "../http-platform.ts";
import type { HealthVerdict } from "../connection-health.ts";
import { AccessToken } from "./access-token.ts";
import { agentMessage } from "./submit.ts";
import { RbmApi } from "./api.ts";
import { Capabilities } from "./capabilities.ts";
import { markOf } from "./mark-read.ts";
import { readReach } from "./reach.ts";
import { UploadedFiles } from "./uploaded-files.ts";
import { missingFeature } from "./features.ts";
import { platformIdOf } from "./message-id.ts";
import { verifyWebhook } from "./verify-signature.ts";
import { readEvent } from "./receive.ts";
import { cannotShow, notOnRcs, refused, classifyResponse } from "./classify-response.ts";

/** Dependencies of the RBM carrier. */
export interface RbmCarrierDeps extends PlatformDeps<RbmSettings, RbmSecrets> {
  /** The platform's agent id of a bot. */
  agentOf(botId: string): string;
  /** The bot of an agent id; an unknown agent id is returned as it is. */
  botOf(agentId: string): string;
  /** The user unsubscribed in the phone's own menu, without a message. Resolves once it is committed. */
  onOptOut(number: string, at: number): Promise<void>;
  /** The user subscribed again in the same way. Resolves once it is committed. */
  onOptIn(number: string, at: number): Promise<void>;
}

/** The platform takes 10,000 numbers, and its answer about so many would be longer than the longest that is read. */
const REACH_BATCH = 1000;
const HOUR_MS = 3_600_000;
const PHONES_REMEMBERED_MAX = 100_000;
/** A suspended agent fails for every message; log it only this often. */
const LOG_INTERVAL_MS = 60_000;

const UNAUTHENTICATED: PlatformAnswer = { status: 401, text: "" };
const OK: PlatformAnswer = { status: 200, text: "" };
const RETRY_LATER: PlatformAnswer = { status: 503, text: "" };

/** A carrier for Google's RCS for Business. */
export const createRbmCarrier = (deps: RbmCarrierDeps): Carrier => new RbmCarrier(deps);

class RbmCarrier extends HttpCarrierBase {
  /** The platform deduplicates by message id. */
  readonly repeatsSafely = true;
  readonly #deps: RbmCarrierDeps;
  readonly #api: RbmApi;
  readonly #capabilities: Capabilities;
  readonly #files: UploadedFiles;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: RbmCarrierDeps) {
    super(deps, deps.settings.connections);
    const { settings, secrets, egress, clock } = deps;
    const account = readServiceAccount(secrets.serviceAccount);
    if ("fault" in account) throw new Error(`the stored service account cannot be used: ${account.fault}`);
    this.#deps = deps;
    const limitMs = settings.responseSeconds * 1000;
    const tokenUrl = settings.tokenUrl ?? account.tokenUrl;
    const access = new AccessToken({ account, tokenUrl, limitMs, egress, clock });
    this.#api = new RbmApi({ baseUrl: settings.baseUrl, limitMs, access, egress, clock });
    this.#files = new UploadedFiles({ clock, upload: (agentId, file) => this.#api.upload(agentId, file) });
    this.#capabilities = new Capabilities({
      clock,
      cacheMs: settings.capabilityHours * HOUR_MS,
      max: PHONES_REMEMBERED_MAX,
      ask: (agentId, number) => this.#api.capabilities({ agentId, number }),
    });
  }

  override async submit(message: Message, maySend?: MaySend): Promise<Outcome> {
    const { content, recipient, sender } = message;
    if (!isRcs(content)) {
      const description = "This line carries RCS messages only: lead others elsewhere by the route's channel";
      return { kind: "refused", fault: "carrier", code: "NOT_RCS", description };
    }
    const agentId = this.#deps.agentOf(content.botId);
    const outcome = await this.health.run(() => this.#submit(message, content, agentId, maySend));
    const request = `agentMessages to=${"*".repeat(8)}${recipient.slice(-4)} from=${sender} agent=${agentId} kind=${content.kind}`;
    return { ...outcome, exchange: `${request} -> ${describeOutcome(outcome)}` };
  }

  /** The platform accepts every revocation; a message that was delivered by then stays delivered. */
  async revoke(message: Message): Promise<RevokeOutcome> {
    const { log, agentOf } = this.#deps;
    const target = { number: message.recipient, agentId: agentOf(message.sender) };
    const answer = await this.#api.revoke(target, platformIdOf(message));
    if (answer.kind === "answered" && answer.status < 300) return { kind: "accepted" };
    const answered = answer.kind === "answered" ? answer.status : answer.kind;
    log.warn({ carrier: this.name, answered }, "RBM message not revoked, may still arrive");
    return { kind: "failed", description: `The platform did not call the message back: ${answered}` };
  }

  /** The platform shows the typing for about 20 seconds, or until the next message. */
  async markRead({ origin, from, to }: InboundMessage, { typing }: { typing: boolean }): Promise<MarkOutcome> {
    if (!origin) return { kind: "failed", description: "The platform gave this message no id" };
    const target = { number: from, agentId: this.#deps.agentOf(to) };
    const read = markOf(await this.#api.event(target, { eventType: "READ", messageId: origin.carrierMessageId }));
    if (read.kind === "failed" || !typing) return read;
    return markOf(await this.#api.event(target, { eventType: "IS_TYPING" }));
  }

  async reach(bot: string, numbers: readonly string[]): Promise<ReachOutcome> {
    const reachable = new Set<string>();
    for (let from = 0; from < numbers.length; from += REACH_BATCH) {
      const part = numbers.slice(from, from + REACH_BATCH);
      const outcome = readReach(await this.#api.reach(this.#deps.agentOf(bot), part));
      if (outcome.kind === "failed") return outcome;
      for (const number of outcome.reachable) reachable.add(number);
    }
    return { kind: "known", reachable };
  }

  override async handleWebhook(webhook: PlatformWebhook): Promise<PlatformAnswer> {
    if (webhook.method !== "POST") return { status: 400, text: "" };
    const received = verifyWebhook(webhook, this.#deps.secrets.clientToken);
    if (received.kind === "stranger") return UNAUTHENTICATED;
    if (received.kind === "handshake") return { status: 200, text: received.secret };
    const onReceipt = this.onReceipt;
    if (!onReceipt) return RETRY_LATER;
    try {
      await this.#handleEvent(received.event, onReceipt);
      return OK;
    } catch (error) {
      const { log } = this.#deps;
      log.warn({ err: error, carrier: this.name }, "RBM webhook not stored, platform will repeat it");
      return RETRY_LATER;
    }
  }

  async #submit(
    message: Message,
    content: RcsContent,
    agentId: string,
    maySend: MaySend | undefined,
  ): Promise<HealthVerdict> {
    const { settings, clock } = this.#deps;
    const number = message.recipient;
    const platformId = platformIdOf(message);
    const bodyOf = (files: readonly (string | null)[]) => agentMessage(message, content, settings, clock.now(), files);
    let body = bodyOf([]);
    if (!body) return refused("message", "NOTHING_TO_SHOW", "There is nothing in the message that could be shown");
    if (settings.capabilityCheck) {
      const capability = await this.#capabilities.of(agentId, number);
      if (capability.kind === "known") {
        if (!capability.isReachable) return notOnRcs();
        const missing = missingFeature(content, capability.features);
        if (missing !== null) return cannotShow(missing);
      } else if (isGeneralFailure(capability.answer)) return classifyResponse(capability.answer, platformId);
    }
    if (settings.uploadFiles && content.cards.length > 0)
      body = bodyOf(await Promise.all(content.cards.map((card) => this.#files.nameOf(agentId, card))));
    const sent = await this.#api.send({ agentId, number }, platformId, JSON.stringify(body), maySend);
    const verdict = classifyResponse(sent, platformId);
    if (verdict.code === "NOT_FOUND") this.#capabilities.markUnreachable(agentId, number);
    if (verdict.code === "PERMISSION_DENIED") this.#logSuspended(verdict.code);
    return verdict;
  }

  #logSuspended(code: string): void {
    const { clock, log } = this.#deps;
    const now = clock.monotonic();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    log.error({ carrier: this.name, reason: code }, "RBM agent may not send, operator action needed");
  }

  /** Resolves once the event is committed. */
  async #handleEvent(payload: unknown, onReceipt: OnReceipt): Promise<void> {
    const { accountId, botOf, onInbound, onOptOut, onOptIn, clock, log } = this.#deps;
    const event = readEvent({ carrier: this.name, accountId, botOf }, payload, clock.now());
    switch (event.kind) {
      case "receipt":
        return onReceipt(event.receipt);
      case "inbound":
        return onInbound(event.inbound);
      case "optOut":
        return onOptOut(event.number, event.at);
      case "optIn":
        return onOptIn(event.number, event.at);
      case "odd":
        // Acknowledged, because a repetition would be unreadable too. Not logged, because it contains user input.
        log.warn({ carrier: this.name }, "RBM event unknown, ignored");
        return;
      case "idle":
    }
  }
}

/** Failures that are not specific to this phone. */
const isGeneralFailure = (answer: Parameters<typeof classifyResponse>[0]): boolean =>
  answer.kind === "closed" ||
  answer.kind === "unreached" ||
  (answer.kind === "answered" && (answer.status === 429 || answer.status === 401));

function describeOutcome(outcome: Outcome): string {
  if (outcome.kind === "taken") return `taken ${outcome.carrierMessageId}`;
  if (outcome.kind === "refused") return `refused ${outcome.code}`;
  return outcome.kind === "unknown" ? "nothing" : outcome.kind;
}
