import type { InboundMessage } from "../../model/inbound.ts";
import { mediaIdIn } from "../../model/media.ts";
import { isRcs, type Message } from "../../model/message.ts";
import { readServiceAccount, type RbmSecrets, type RbmSettings } from "../../model/rbm-connection.ts";
import type { RcsContent } from "../../model/rcs.ts";
import type {
  Carrier,
  FileLocation,
  MarkOutcome,
  MaySend,
  OnReceipt,
  Outcome,
  ReachOutcome,
  RevokeOutcome,
} from "../carrier.ts";
import type { CarrierMedia } from "../carrier-media.ts";
import { HttpCarrierBase } from "../http-carrier-base.ts";
import type { PlatformAnswer, PlatformWebhook, PlatformDeps } from "../http-platform.ts";
import type { HealthVerdict } from "../connection-health.ts";
import { AccessToken } from "./access-token.ts";
import { agentMessage } from "./submit.ts";
import { RbmApi } from "./api.ts";
import { Capabilities } from "./capabilities.ts";
import { markOf } from "./mark-read.ts";
import { readReach } from "./reach.ts";
import { FILE_LIFE_MS, UploadedFiles } from "./uploaded-files.ts";
import { missingFeature } from "./features.ts";
import { platformIdOf } from "./message-id.ts";
import { verifyWebhook } from "./verify-signature.ts";
import { readEvent } from "./receive.ts";
import { cannotShow, notOnRcs, refused, classifyResponse } from "./classify-response.ts";

/** Dependencies of the RBM carrier. */
export interface RbmCarrierDeps extends PlatformDeps<RbmSettings, RbmSecrets> {
  media: CarrierMedia;
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

  /** The address is public and hard to guess. */
  locateFile(uri: string): Promise<FileLocation> {
    const isWeb = /^https?:\/\//.test(uri);
    const gone = { kind: "gone", description: "The platform named no address of the web" } as const;
    return Promise.resolve(isWeb ? { kind: "found", url: uri, headers: {} } : gone);
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
    written: RcsContent,
    agentId: string,
    maySend: MaySend | undefined,
  ): Promise<HealthVerdict> {
    const { settings, clock } = this.#deps;
    const number = message.recipient;
    const platformId = platformIdOf(message);
    const content = await this.#withMediaUrls(written);
    if (!content)
      return refused("message", "MEDIA_NOT_FOUND", "The uploaded file of the message was deleted or has expired");
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
    const files = await Promise.all(
      content.cards.map((card, index) => this.#fileOf(agentId, card, written.cards[index]?.fileUrl ?? "")),
    );
    if (files.some((file) => file !== null)) body = bodyOf(files);
    const sent = await this.#api.send({ agentId, number }, platformId, JSON.stringify(body), maySend);
    const verdict = classifyResponse(sent, platformId);
    if (verdict.code === "NOT_FOUND") this.#capabilities.markUnreachable(agentId, number);
    if (verdict.code === "PERMISSION_DENIED") this.#logSuspended(verdict.code);
    return verdict;
  }

  /** The platform fetches stored media by signed URLs. Null if a file is gone. */
  async #withMediaUrls(content: RcsContent): Promise<RcsContent | null> {
    const { media, accountId } = this.#deps;
    const ids = content.cards.map(({ fileUrl }) => (fileUrl === null ? null : mediaIdIn(fileUrl)));
    if (ids.every((id) => id === null)) return content;
    for (const id of ids) if (id !== null && !(await media.find({ accountId, id }))) return null;
    const cards = content.cards.map((card, index) => {
      const id = ids[index] ?? null;
      return id === null ? card : { ...card, fileUrl: media.signedUrl({ accountId, id }) };
    });
    return { ...content, cards };
  }

  /** The platform's name of a card's file; null where its URL is sent. */
  async #fileOf(agentId: string, card: RcsContent["cards"][number], written: string): Promise<string | null> {
    const { media, accountId, settings } = this.#deps;
    const id = mediaIdIn(written);
    if (id === null) return settings.uploadFiles ? this.#files.nameOf(agentId, card) : null;
    const handed = await media.handOver({ accountId, id }, `${this.name} ${agentId}`, async () => {
      const name = await this.#files.upload(agentId, card);
      return name === null
        ? { kind: "failed", description: "The platform did not fetch the file" }
        : { kind: "taken", platformId: name, lifeMs: FILE_LIFE_MS };
    });
    return handed.kind === "taken" ? handed.platformId : null;
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
