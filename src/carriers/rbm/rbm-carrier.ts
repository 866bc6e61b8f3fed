import { isRcs, type Message } from "../../model/message.ts";
import { readServiceAccount } from "../../model/rbm-line.ts";
import type { RcsContent } from "../../model/rcs.ts";
import type { Carrier, CarrierState, OnReceipt, Outcome, Patience } from "../carrier.ts";
import type { PlatformAnswer, PlatformCall } from "../platform.ts";
import { Standing, type Verdict } from "../standing.ts";
import { AccessToken } from "./access-token.ts";
import { agentMessage } from "./agent-message.ts";
import { RbmApi } from "./api.ts";
import { Capabilities } from "./capabilities.ts";
import { platformIdOf } from "./message-id.ts";
import type { RbmCarrierNeeds } from "./needs.ts";
import { readCall } from "./read-call.ts";
import { readEvent } from "./read-event.ts";
import { cannotShow, notOnRcs, refused, verdictOf } from "./verdict.ts";

const HOUR_MS = 3_600_000;
const PHONES_REMEMBERED_MAX = 100_000;
/** An agent that may not send says so to every message; once in a while is enough to hear of it. */
const ALARM_PAUSE_MS = 60_000;

const NO: PlatformAnswer = { status: 401, text: "" };
const FINE: PlatformAnswer = { status: 200, text: "" };
const LATER: PlatformAnswer = { status: 503, text: "" };

/** A carrier that is Google's RCS for Business. */
export const createRbmCarrier = (needs: RbmCarrierNeeds): Carrier => new RbmCarrier(needs);

class RbmCarrier implements Carrier {
  readonly name: string;
  /** The platform ignores an id that it has seen. */
  readonly repeatsSafely = true;
  readonly #needs: RbmCarrierNeeds;
  readonly #standing: Standing;
  readonly #api: RbmApi;
  readonly #capabilities: Capabilities;
  #onReceipt: OnReceipt | null = null;
  #alarmedAt = Number.NEGATIVE_INFINITY;

  constructor(needs: RbmCarrierNeeds) {
    const { name, settings, secrets, messagesPerSecond, wayOut, clock, log, meters } = needs;
    const account = readServiceAccount(secrets.serviceAccount);
    if ("fault" in account) throw new Error(`the stored service account cannot be used: ${account.fault}`);
    this.name = name;
    this.#needs = needs;
    this.#standing = new Standing({ name, messagesPerSecond, requestsMax: settings.connections, clock, log, meters });
    const limitMs = settings.responseSeconds * 1000;
    const tokenUrl = settings.tokenUrl ?? account.tokenUrl;
    const access = new AccessToken({ account, tokenUrl, limitMs, wayOut, clock });
    this.#api = new RbmApi({ baseUrl: settings.baseUrl, limitMs, access, wayOut, clock });
    this.#capabilities = new Capabilities({
      clock,
      keptMs: settings.capabilityHours * HOUR_MS,
      max: PHONES_REMEMBERED_MAX,
      ask: (agentId, number) => this.#api.capabilities({ agentId, number }),
    });
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
    const { content, recipient, sender } = message;
    if (!isRcs(content)) {
      const description = "This line carries RCS messages only: lead others elsewhere by the route's channel";
      return { kind: "refused", fault: "carrier", code: "NOT_RCS", description };
    }
    const agentId = this.#needs.agentOf(content.botId);
    const outcome = await this.#standing.run(() => this.#handOver(message, content, agentId));
    const asked = `agentMessages to=${"*".repeat(8)}${recipient.slice(-4)} from=${sender} agent=${agentId} kind=${content.kind}`;
    return { ...outcome, exchange: `${asked} -> ${wordsOf(outcome)}` };
  }

  /** Calls a message back. The platform says yes to everything, and what is delivered by then stays delivered. */
  async revoke(message: Message): Promise<void> {
    const { log, agentOf } = this.#needs;
    const addressed = { number: message.recipient, agentId: agentOf(message.sender) };
    const answer = await this.#api.revoke(addressed, platformIdOf(message));
    if (answer.kind === "answered" && answer.status < 300) return;
    const answered = answer.kind === "answered" ? answer.status : answer.kind;
    log.warn({ carrier: this.name, answered }, "message could not be called back, it may arrive besides its text");
  }

  start(onReceipt: OnReceipt): Promise<void> {
    this.#standing.start();
    this.#onReceipt = onReceipt;
    return Promise.resolve();
  }

  async stop(patience?: Patience): Promise<void> {
    await this.#standing.stop(patience);
    this.#onReceipt = null;
  }

  state(): CarrierState {
    return this.#standing.state();
  }

  async called(call: PlatformCall): Promise<PlatformAnswer> {
    if (call.method !== "POST") return { status: 400, text: "" };
    const read = readCall(call, this.#needs.secrets.clientToken);
    if (read.kind === "stranger") return NO;
    if (read.kind === "handshake") return { status: 200, text: read.secret };
    const onReceipt = this.#onReceipt;
    if (!onReceipt) return LATER;
    try {
      await this.#hear(read.event, onReceipt);
      return FINE;
    } catch (error) {
      const { log } = this.#needs;
      log.warn({ err: error, carrier: this.name }, "what the platform told could not be kept, it will come again");
      return LATER;
    }
  }

  async #handOver(message: Message, content: RcsContent, agentId: string): Promise<Verdict> {
    const { settings, clock } = this.#needs;
    const number = message.recipient;
    const platformId = platformIdOf(message);
    const body = agentMessage(message, content, settings, clock.now());
    if (!body) return refused("message", "NOTHING_TO_SHOW", "There is nothing in the message that could be shown");
    if (settings.capabilityCheck) {
      const reach = await this.#capabilities.of(agentId, number);
      if (reach.kind === "known") {
        if (!reach.isThere) return notOnRcs();
        if (content.kind === "card" && !reach.showsCards) return cannotShow("cards");
        if (content.kind === "carousel" && !reach.showsCarousels) return cannotShow("several cards");
      } else if (isForAll(reach.answer)) return verdictOf(reach.answer, platformId);
    }
    const verdict = verdictOf(await this.#api.send({ agentId, number }, platformId, JSON.stringify(body)), platformId);
    if (verdict.code === "NOT_FOUND") this.#capabilities.isGone(agentId, number);
    if (verdict.code === "PERMISSION_DENIED") this.#alarm(verdict.code);
    return verdict;
  }

  #alarm(code: string): void {
    const { clock, log } = this.#needs;
    const now = clock.monotonic();
    if (now - this.#alarmedAt < ALARM_PAUSE_MS) return;
    this.#alarmedAt = now;
    log.error({ carrier: this.name, reason: code }, "platform lets an agent of this line send nothing");
  }

  /** Resolves once it is on disk. */
  async #hear(told: unknown, onReceipt: OnReceipt): Promise<void> {
    const { accountId, botOf, onInbound, onOptOut, onOptIn, clock, log } = this.#needs;
    const event = readEvent({ carrier: this.name, accountId, botOf }, told, clock.now());
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
        // Told again it would be no less odd, so it is taken; what it was stays unsaid, because people wrote it.
        log.warn({ carrier: this.name }, "platform told something that nobody here understands");
        return;
      case "idle":
    }
  }
}

/** What keeps one phone from being asked about would keep every message from being sent. */
const isForAll = (answer: Parameters<typeof verdictOf>[0]): boolean =>
  answer.kind === "closed" ||
  answer.kind === "unreached" ||
  (answer.kind === "answered" && (answer.status === 429 || answer.status === 401));

function wordsOf(outcome: Outcome): string {
  if (outcome.kind === "taken") return `taken ${outcome.carrierMessageId}`;
  if (outcome.kind === "refused") return `refused ${outcome.code}`;
  return outcome.kind === "unknown" ? "nothing" : outcome.kind;
}
