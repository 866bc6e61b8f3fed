import type { Carrier, Outcome } from "../../src/carriers/carrier.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { dispatch, type DispatchNeeds } from "../../src/messages/dispatch.ts";
import { ROUTE_CLASSES, type Message, type MessageRef, type RouteClass } from "../../src/model/message.ts";
import { NOBODY, type StoredMessage } from "../../src/store/store.ts";
import { createGroupCommit } from "../../src/work/group-commit.ts";
import { Membership } from "../../src/work/membership.ts";
import { createMeters } from "../../src/work/meters.ts";
import { openStore, type EngineName, type OpenStore } from "./engines.ts";
import { MovedClock } from "./moved-clock.ts";

/** A carrier that answers what the test says and remembers what it was given. */
class ScriptedCarrier implements Carrier {
  readonly name = "scripted";
  readonly submitted: Message[] = [];
  answer: (message: Message) => Outcome | Promise<Outcome> = () => ({ kind: "taken", carrierMessageId: newId(0) });

  async submit(message: Message): Promise<Outcome> {
    this.submitted.push(message);
    return this.answer(message);
  }
  async start(): Promise<void> {}
  async stop(): Promise<void> {}
}

/** The middle of the house without its doors: a real store, a scripted carrier, a clock to move. */
export class Workshop {
  readonly clock = new MovedClock();
  readonly carrier = new ScriptedCarrier();
  readonly needs: DispatchNeeds;
  readonly opened: OpenStore;

  private constructor(opened: OpenStore) {
    this.opened = opened;
    const log = createLog("silent");
    const { store } = opened;
    const commits = createGroupCommit({ store, clock: this.clock, log }, { acceptBacklog: 1000 });
    const membership = new Membership({ store, clock: this.clock, log }, { alone: true, silentMs: 30_000 });
    this.needs = {
      commits,
      membership,
      routes: { simulator: this.carrier },
      clock: this.clock,
      log,
      meters: createMeters(),
    };
  }

  static async open(engine: EngineName): Promise<Workshop> {
    const workshop = new Workshop(await openStore(engine));
    await workshop.needs.membership.join();
    return workshop;
  }

  get store() {
    return this.opened.store;
  }

  /** Stores a message that this node owns, valid for an hour. */
  async accept(routeClass: RouteClass = "TRANS", validityMs = 3_600_000): Promise<Message> {
    const now = this.clock.now();
    const message: Omit<Message, "n" | "recipient" | "state" | "attempts"> = {
      accountId: 1,
      requestId: newId(now),
      channel: "sms",
      routeClass,
      test: false,
      sender: "HELIOG",
      content: { text: "Hello", encoding: "gsm7", flash: false },
      segments: 1,
      campaignName: null,
      createdAt: now,
      dueAt: now,
      expiresAt: now + validityMs,
    };
    const recipients = [{ number: "15550100100", failure: null }];
    await this.needs.commits.accept.add({ message, recipients, owner: this.needs.membership.node, idempotency: null });
    return { ...message, n: 1, recipient: "15550100100", state: "accepted", attempts: 0 };
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
