import type { Carrier, MaySend, Outcome } from "../../src/carriers/carrier.ts";
import { Catalog } from "../../src/records/catalog.ts";
import { MATCH_ALL } from "../../src/records/sample-data.ts";
import type { MediaVerdict } from "../../src/egress/media.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { dispatch } from "../../src/pipeline/dispatch/dispatch.ts";
import type { DispatchDeps } from "../../src/pipeline/dispatch/dispatch-deps.ts";
import { RecentSubmissions } from "../../src/pipeline/receipts/recent-submissions.ts";
import type { FailOverDeps } from "../../src/pipeline/dispatch/failover.ts";
import type { AutomaticReply } from "../../src/pipeline/accept/prepare-reply.ts";
import type { SendReply } from "../../src/pipeline/inbound/send-reply.ts";
import { createEncryptedTexts } from "../../src/pipeline/accept/encrypted-text.ts";
import { SimulatedLive } from "../../src/pipeline/dispatch/simulated-live.ts";
import { DEFAULT_SETTINGS, type AccountSettings } from "../../src/model/account.ts";
import { carrierKey, SIMULATOR, type CarrierContent, type RouteContent } from "../../src/model/catalog.ts";
import {
  ROUTE_CLASSES,
  type Message,
  type MessageRef,
  type RouteClass,
  type SmsContent,
} from "../../src/model/message.ts";
import { UNOWNED, type Acceptance, type StoredMessage } from "../../src/store/store.ts";
import { ClaimYield } from "../../src/pipeline/dispatch/claim-yield.ts";
import { CarrierLimiter } from "../../src/pipeline/dispatch/carrier-limiter.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { Membership } from "../../src/cluster/membership.ts";
import { createMetrics } from "../../src/metrics.ts";
import { catalogRecord } from "./catalog-record.ts";
import { openStore, type EngineName, type OpenStore } from "./engines.ts";
import { MovedClock } from "./moved-clock.ts";
import { StopGuard } from "../../src/pipeline/dispatch/stop-guard.ts";

/** A carrier that responds as the test scripts it and records its messages. */
export class ScriptedCarrier implements Carrier {
  readonly name: string;
  messagesPerSecond: number | null = null;
  up = true;
  elsewhere = false;
  connecting = false;
  capacity?: number;
  repeatsSafely?: true;
  sendsNoReceipts = false;
  readonly submitted: Message[] = [];
  /** The last message's check before it is written to the network. */
  maySend: MaySend | undefined;
  learnIdFormat: NonNullable<Carrier["learnIdFormat"]> = () => {};
  answer: (message: Message) => Outcome | Promise<Outcome> = () => ({ kind: "taken", carrierMessageId: newId(0) });

  constructor(name = "scripted") {
    this.name = name;
  }

  isUp(): boolean {
    return this.up;
  }
  isConnecting(): boolean {
    return this.connecting;
  }
  isElsewhere(): boolean {
    return this.elsewhere;
  }
  async submit(message: Message, maySend?: MaySend): Promise<Outcome> {
    this.submitted.push(message);
    this.maySend = maySend;
    return this.answer(message);
  }
  async start(): Promise<void> {}
  async stop(): Promise<void> {}
}

const HELLO: SmsContent = { text: "Hello", encoding: "gsm7", flash: false };

/** The pipeline without HTTP: a real store, a scripted carrier and a clock to move. */
export class TestPipeline {
  readonly clock = new MovedClock();
  readonly carrier = new ScriptedCarrier();
  /** Additional carriers by their qualified names. */
  readonly others = new Map<string, ScriptedCarrier>();
  readonly catalog: Catalog;
  readonly simulatedLive: SimulatedLive;
  settings: AccountSettings = DEFAULT_SETTINGS;
  /** Result of every media check; null while a check is pending. */
  media: MediaVerdict | null = { kind: "unknown" };
  /** State of the code in encrypted messages. */
  codeEnd: string | null = null;
  /** Automatic replies, with the ids of the messages that they answer. */
  readonly replies: [AutomaticReply, string][] = [];
  readonly deps: DispatchDeps & FailOverDeps & { stopGuard: StopGuard; sendReply: SendReply };
  readonly opened: OpenStore;

  private constructor(opened: OpenStore) {
    this.opened = opened;
    const log = createLog("silent");
    const { store } = opened;
    this.catalog = new Catalog({ store, clock: this.clock });
    this.simulatedLive = new SimulatedLive({ catalog: this.catalog, clock: this.clock, log });
    const commits = createGroupCommit({ store, clock: this.clock, log }, { acceptBacklog: 1000 });
    const membership = new Membership(
      { store, clock: this.clock, log },
      { alone: true, silentMs: 30_000, sends: true },
    );
    this.deps = {
      commits,
      store,
      membership,
      catalog: this.catalog,
      carriers: {
        find: (accountId, name) =>
          name === SIMULATOR ? this.carrier : (this.others.get(carrierKey(accountId, name)) ?? null),
      },
      carrierLimiter: new CarrierLimiter({ clock: this.clock, nodeCount: () => 1 }),
      claimYield: new ClaimYield(),
      accountOf: (id) => ({ id, name: "default", suspended: false, settings: this.settings }),
      media: { peek: () => this.media },
      encryptedTexts: createEncryptedTexts({ encrypt: (text) => text, decrypt: (sealed) => sealed }),
      endStateOfCode: async () => this.codeEnd,
      clock: this.clock,
      log,
      metrics: createMetrics(),
      stopGuard: new StopGuard({ store, clock: this.clock }),
      sendReply: async (reply, id) => void this.replies.push([reply, id]),
      recentSubmissions: new RecentSubmissions(this.clock),
      simulatedLive: this.simulatedLive,
    };
    this.route("Everything to the simulator", { carrier: SIMULATOR });
  }

  static async open(engine: EngineName): Promise<TestPipeline> {
    const pipeline = new TestPipeline(await openStore(engine));
    await pipeline.deps.membership.join();
    return pipeline;
  }

  get store() {
    return this.opened.store;
  }

  /** Adds or changes a route of account 1. */
  route(name: string, content: Partial<RouteContent> & Pick<RouteContent, "carrier">): string {
    const now = this.clock.now();
    const known = this.catalog.of(1).named("route").get(name);
    const id = known?.id ?? newId(now);
    this.catalog.of(1).put({
      accountId: 1,
      kind: "route",
      id,
      name,
      origin: "authored",
      content: { ...MATCH_ALL, ...known?.content, ...content },
      createdAt: now,
      updatedAt: now,
    });
    return id;
  }

  /** Adds a carrier of account 1 with a record, which makes it a real carrier for its channel. */
  addRealCarrier(name: string, adapter: "smpp" | "rbm" | "whatsapp" = "smpp"): ScriptedCarrier {
    // Routing reads only the adapter of a carrier record.
    const content = { adapter, messagesPerSecond: null, chaos: null, [adapter]: {} } as unknown as CarrierContent;
    this.catalog.of(1).put({ ...catalogRecord("carrier", name, content), kind: "carrier", content });
    return this.addCarrier(name);
  }

  /** Adds a carrier of account 1. */
  addCarrier(name: string): ScriptedCarrier {
    const carrier = new ScriptedCarrier(carrierKey(1, name));
    this.others.set(carrier.name, carrier);
    return carrier;
  }

  /** Stores a message owned by this node, valid for an hour. */
  async accept(
    routeClass: RouteClass = "TRANS",
    validityMs = 3_600_000,
    own: Partial<Pick<Message, "recipient" | "campaignName" | "channel" | "sender" | "content" | "dueAt">> = {},
  ): Promise<Message> {
    const { recipient = "15550100100", campaignName = null, channel = "sms", sender = "HELIOG", content = HELLO } = own;
    const now = this.clock.now();
    const message: Acceptance["message"] = {
      accountId: 1,
      requestId: newId(now),
      channel,
      routeClass,
      test: false,
      sender,
      content,
      segments: 1,
      campaignName,
      createdAt: now,
      dueAt: own.dueAt ?? now,
      expiresAt: now + validityMs,
    };
    await this.deps.commits.accept.add({
      message,
      recipients: [{ number: recipient, failure: null, credits: 1 }],
      timeline: null,
      owner: this.deps.membership.node,
      metered: this.settings.credits === "metered",
      links: null,
      idempotency: null,
    });
    return {
      ...message,
      n: 1,
      recipient,
      credits: 1,
      tried: [],
      carrier: null,
      state: "accepted",
      attempts: 0,
      repeats: 0,
    };
  }

  dispatch(message: Message): Promise<void> {
    return dispatch(this.deps, message);
  }

  /** Claims due messages of any class that are unowned or owned by `from`. */
  async claim(from = UNOWNED): Promise<Message[]> {
    const claimed: Message[] = [];
    for (const routeClass of ROUTE_CLASSES) {
      const { node } = this.deps.membership;
      claimed.push(...(await this.store.claim({ node, from, routeClass, dueBy: this.clock.now(), limit: 100 })));
    }
    return claimed;
  }

  async read({ accountId, requestId, n }: MessageRef): Promise<StoredMessage> {
    const message = await this.store.findMessage({ accountId, requestId, n });
    if (!message) throw new Error("message not found");
    return message;
  }

  close(): Promise<void> {
    return this.opened.discard();
  }
}
