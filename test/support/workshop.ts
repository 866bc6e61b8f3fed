import type { Carrier, Outcome } from "../../src/carriers/carrier.ts";
import { Catalog } from "../../src/catalog/catalog.ts";
import { EVERYTHING } from "../../src/catalog/samples.ts";
import type { Verdict } from "../../src/egress/media.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { dispatch } from "../../src/messages/dispatch.ts";
import type { DispatchNeeds } from "../../src/messages/dispatch-needs.ts";
import { JustTaken } from "../../src/messages/just-taken.ts";
import type { FailOverNeeds } from "../../src/messages/fail-over.ts";
import { createSealedWords } from "../../src/messages/sealed-words.ts";
import { DEFAULT_SETTINGS, type AccountSettings } from "../../src/model/account.ts";
import { carrierKey, SIMULATOR, type RouteContent } from "../../src/model/catalog.ts";
import {
  ROUTE_CLASSES,
  type Message,
  type MessageRef,
  type RouteClass,
  type SmsContent,
} from "../../src/model/message.ts";
import { NOBODY, type Acceptance, type StoredMessage } from "../../src/store/store.ts";
import { Claimed } from "../../src/work/claimed.ts";
import { Gates } from "../../src/work/gates.ts";
import { createGroupCommit } from "../../src/work/group-commit.ts";
import { Membership } from "../../src/work/membership.ts";
import { createMeters } from "../../src/work/meters.ts";
import { openStore, type EngineName, type OpenStore } from "./engines.ts";
import { MovedClock } from "./moved-clock.ts";

/** A carrier that answers what the test says and remembers what it was given. */
export class ScriptedCarrier implements Carrier {
  readonly name: string;
  messagesPerSecond: number | null = null;
  up = true;
  elsewhere = false;
  repeatsSafely?: true;
  reportsNothing = false;
  readonly submitted: Message[] = [];
  learned: NonNullable<Carrier["learned"]> = () => {};
  answer: (message: Message) => Outcome | Promise<Outcome> = () => ({ kind: "taken", carrierMessageId: newId(0) });

  constructor(name = "scripted") {
    this.name = name;
  }

  isUp(): boolean {
    return this.up;
  }
  isElsewhere(): boolean {
    return this.elsewhere;
  }
  async submit(message: Message): Promise<Outcome> {
    this.submitted.push(message);
    return this.answer(message);
  }
  async start(): Promise<void> {}
  async stop(): Promise<void> {}
}

const HELLO: SmsContent = { text: "Hello", encoding: "gsm7", flash: false };

/** The middle of the house without its doors: a real store, a scripted carrier, a clock to move. */
export class Workshop {
  readonly clock = new MovedClock();
  readonly carrier = new ScriptedCarrier();
  /** Carriers besides the first, by their names in the whole service. */
  readonly others = new Map<string, ScriptedCarrier>();
  readonly catalog: Catalog;
  settings: AccountSettings = DEFAULT_SETTINGS;
  /** What is found behind every link; null while somebody looks. */
  media: Verdict | null = { kind: "unknown" };
  /** What has become of the code in sealed messages. */
  codeEnd: string | null = null;
  readonly needs: DispatchNeeds & FailOverNeeds;
  readonly opened: OpenStore;

  private constructor(opened: OpenStore) {
    this.opened = opened;
    const log = createLog("silent");
    const { store } = opened;
    this.catalog = new Catalog({ store, clock: this.clock });
    const commits = createGroupCommit({ store, clock: this.clock, log }, { acceptBacklog: 1000 });
    const membership = new Membership(
      { store, clock: this.clock, log },
      { alone: true, silentMs: 30_000, sends: true },
    );
    this.needs = {
      commits,
      store,
      membership,
      catalog: this.catalog,
      carriers: {
        find: (accountId, name) =>
          name === SIMULATOR ? this.carrier : (this.others.get(carrierKey(accountId, name)) ?? null),
      },
      gates: new Gates({ clock: this.clock, nodeCount: () => 1 }),
      claimed: new Claimed(),
      accountOf: (id) => ({ id, name: "default", suspended: false, settings: this.settings }),
      media: { look: () => this.media },
      words: createSealedWords({ seal: (text) => text, open: (sealed) => sealed }),
      endOfCode: async () => this.codeEnd,
      clock: this.clock,
      log,
      meters: createMeters(),
      taken: new JustTaken(this.clock),
    };
    this.route("Everything to the simulator", { carrier: SIMULATOR });
  }

  static async open(engine: EngineName): Promise<Workshop> {
    const workshop = new Workshop(await openStore(engine));
    await workshop.needs.membership.join();
    return workshop;
  }

  get store() {
    return this.opened.store;
  }

  /** Adds a route of account 1, or changes the one of that name. */
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
      content: { ...EVERYTHING, ...known?.content, ...content },
      createdAt: now,
      updatedAt: now,
    });
    return id;
  }

  /** Adds a carrier of account 1. */
  addCarrier(name: string): ScriptedCarrier {
    const carrier = new ScriptedCarrier(carrierKey(1, name));
    this.others.set(carrier.name, carrier);
    return carrier;
  }

  /** Stores a message that this node owns, valid for an hour. */
  async accept(
    routeClass: RouteClass = "TRANS",
    validityMs = 3_600_000,
    own: Partial<Pick<Message, "recipient" | "campaignName" | "channel" | "sender" | "content">> = {},
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
      dueAt: now,
      expiresAt: now + validityMs,
    };
    await this.needs.commits.accept.add({
      message,
      recipients: [{ number: recipient, failure: null, credits: 1 }],
      trail: null,
      owner: this.needs.membership.node,
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
    return dispatch(this.needs, message);
  }

  /** What is due, claimed from nobody or from `from`, of any lane. */
  async claim(from = NOBODY): Promise<Message[]> {
    const claimed: Message[] = [];
    for (const routeClass of ROUTE_CLASSES) {
      const { node } = this.needs.membership;
      claimed.push(...(await this.store.claim({ node, from, routeClass, dueBy: this.clock.now(), limit: 100 })));
    }
    return claimed;
  }

  async read({ accountId, requestId, n }: MessageRef): Promise<StoredMessage> {
    const message = await this.store.findMessage({ accountId, requestId, n });
    if (!message) throw new Error("the message is gone");
    return message;
  }

  close(): Promise<void> {
    return this.opened.discard();
  }
}
