import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { messageView } from "../src/http/v1/messages.ts";
import { newId } from "../src/lib/ids.ts";
import { cancelRequest } from "../src/messages/cancel.ts";
import { settleCampaigns } from "../src/messages/campaign.ts";
import { Dispatcher } from "../src/messages/dispatcher.ts";
import { Sidings } from "../src/messages/sidings.ts";
import type { MessageRef, RouteClass } from "../src/model/message.ts";
import { readTrail } from "../src/model/trail.ts";
import { NOBODY, type Store } from "../src/store/store.ts";
import { claimDue } from "../src/work/claim.ts";
import { Lanes } from "../src/work/lanes.ts";
import { catalogRecord } from "./support/catalog-record.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { Workshop, type ScriptedCarrier } from "./support/workshop.ts";

const HOUR_MS = 3_600_000;
const LANE_CAPACITY = 2000;

describe.each(ENGINES)("a line that is down on %s", { timeout: 120_000 }, (engine) => {
  let shop: Workshop;
  let dead: ScriptedCarrier;
  let alive: ScriptedCarrier;
  let turn: () => Promise<void>;
  /** How many messages were claimed since somebody last looked. */
  let claimed: number;

  /** A node that has just started. */
  function start(): void {
    const { clock, catalog, needs } = shop;
    const watched: Store = {
      ...shop.store,
      async claim(asked) {
        const messages = await shop.store.claim(asked);
        claimed += messages.length;
        return messages;
      },
    };
    const sidings = new Sidings({ store: watched, catalog, carriers: needs.carriers, clock });
    const lanes = new Lanes(LANE_CAPACITY);
    const dispatcher = new Dispatcher({ ...needs, sidings, lanes }, 500);
    turn = async () => {
      await needs.membership.beat();
      await sidings.tend();
      await claimDue({ store: watched, lanes, membership: needs.membership, clock, sidings });
      dispatcher.wake();
      await eventually(
        async () => dispatcher.inFlight + lanes.size,
        (busy) => busy === 0,
      );
    };
  }

  beforeEach(async () => {
    shop = await Workshop.open(engine);
    claimed = 0;
    shop.route("Everything to the simulator", { carrier: "dead" });
    shop.route("What is alive", { carrier: "alive", senders: ["ALIVE"], priority: 1 });
    dead = shop.addCarrier("dead");
    alive = shop.addCarrier("alive");
    dead.up = false;
    start();
  });
  afterEach(() => shop.close());

  interface Bulk {
    sender?: string;
    routeClass?: RouteClass;
    campaignName?: string;
    validityMs?: number;
  }

  /** Stores messages of one request that are nobody's, as what does not fit in the lanes is. */
  async function store(count: number, bulk: Bulk = {}): Promise<MessageRef[]> {
    const { sender = "HELIOG", routeClass = "PROMO", campaignName = null, validityMs = HOUR_MS } = bulk;
    const now = shop.clock.now();
    const requestId = newId(now);
    const message = {
      accountId: 1,
      requestId,
      channel: "sms",
      routeClass,
      test: false,
      sender,
      content: { text: "Hello", encoding: "gsm7", flash: false },
      segments: 1,
      campaignName,
      createdAt: now,
      dueAt: now,
      expiresAt: now + validityMs,
    } as const;
    const recipients = Array.from({ length: count }, (_, index) => ({
      number: String(15_550_000_000 + index),
      failure: null,
      credits: 1,
    }));
    await shop.store.accept([
      { message, recipients, trail: null, owner: NOBODY, metered: false, links: null, idempotency: null },
    ]);
    shop.clock.advance(1);
    return recipients.map((_, index) => ({ accountId: 1, requestId, n: index + 1 }));
  }

  const first = ([ref]: readonly MessageRef[]): MessageRef => ref ?? { accountId: 1, requestId: newId(0), n: 1 };
  const lookAgain = async (): Promise<void> => {
    shop.clock.advance(1000);
    await turn();
  };

  test("keeps no message for another line waiting, however many stand before it", async () => {
    for (let n = 0; n < 6; n += 1) await store(1000);
    await store(1, { sender: "ALIVE" });
    await turn();
    expect(alive.submitted).toHaveLength(0);
    await turn();
    expect(alive.submitted).toHaveLength(1);
    expect(claimed, "the rest was put aside without being claimed").toBeLessThan(2000);
  });

  test("keeps it waiting no longer where more stand before it than are put aside in a turn", async () => {
    for (let n = 0; n < 30; n += 1) await store(1000);
    await store(1, { sender: "ALIVE" });
    await turn();
    await turn();
    expect(alive.submitted).toHaveLength(1);
    expect((await shop.claim()).length, "there are more that are nobody's").toBeGreaterThan(0);
  });

  test("lets what waits for it wait without being claimed again and again, and its trail says why", async () => {
    const refs = await store(300);
    await turn();
    expect(claimed).toBe(300);
    for (let n = 0; n < 5; n += 1) await lookAgain();
    expect(claimed).toBe(300);
    const { state, trail, attempts } = await shop.read(first(refs));
    expect({ state, attempts }).toEqual({ state: "accepted", attempts: 1 });
    expect(messageView(await shop.read(first(refs))), "nobody knows when").toMatchObject({ dueAt: null });
    expect(readTrail(trail)).toMatchObject([
      { step: "attempt", passedOver: [{ carrier: "dead", reason: "The carrier is down" }] },
    ]);
  });

  test("gives everything to be sent as soon as it is up, the urgent first, and nothing twice", async () => {
    for (let n = 0; n < 3; n += 1) await store(1000);
    await store(20, { routeClass: "OTP" });
    for (let n = 0; n < 3; n += 1) await turn();
    expect(await shop.claim(), "nobody's any more").toEqual([]);
    dead.up = true;
    while (dead.submitted.length < 3020) await turn();
    expect(dead.submitted.findLastIndex(({ routeClass }) => routeClass === "OTP")).toBeLessThan(100);
    expect(new Set(dead.submitted.map(({ requestId, n }) => `${requestId} ${n}`)).size).toBe(3020);
    expect(await shop.store.listSidings()).toEqual([]);
  });

  test("that is back and gone again is tried with a few, not with all", async () => {
    for (let n = 0; n < 2; n += 1) await store(1000);
    await turn();
    await turn();
    dead.up = true;
    dead.answer = () => {
      dead.up = false;
      return { kind: "down", description: "gone again" };
    };
    claimed = 0;
    await turn();
    await lookAgain();
    expect(claimed).toBeLessThan(50);
  });

  test("ends what waits for it when its validity ends", async () => {
    const [short, long] = [await store(2, { validityMs: 60_000 }), await store(2)];
    await turn();
    shop.clock.advance(59_000);
    await turn();
    expect(await shop.read(first(short))).toMatchObject({ state: "accepted" });
    await lookAgain();
    expect(await shop.read(first(short))).toMatchObject({ state: "expired", errorCode: "EXPIRED_IN_QUEUE" });
    expect(await shop.read(first(long))).toMatchObject({ state: "accepted" });
  });

  test("leaves what waits for it to be cancelled, and to be paused with its campaign", async () => {
    const single = await store(1);
    const ofCampaign = await store(2, { campaignName: "spring" });
    await turn();
    await cancelRequest({ ...shop.needs, store: shop.store }, 1, first(single).requestId);
    expect(await shop.read(first(single))).toMatchObject({ state: "cancelled" });

    const campaign = (status: "paused" | "running", pausedAt: number | null, pausedMs: number) => {
      const record = catalogRecord("campaign", "spring", { status, pausedAt, pausedMs });
      shop.catalog.of(1).put({ ...record, updatedAt: shop.clock.now() });
    };
    const { expiresAt } = await shop.read(first(ofCampaign));
    campaign("paused", shop.clock.now(), 0);
    await settleCampaigns({ ...shop.needs, store: shop.store });
    expect(await shop.read(first(ofCampaign))).toMatchObject({ state: "scheduled" });
    shop.clock.advance(2 * HOUR_MS);
    await shop.needs.membership.beat();
    campaign("running", null, 2 * HOUR_MS);
    await settleCampaigns({ ...shop.needs, store: shop.store });
    dead.up = true;
    await turn();
    expect(dead.submitted).toHaveLength(2);
    expect((await shop.read(first(ofCampaign))).expiresAt).toBe(expiresAt + 2 * HOUR_MS);
  });

  test("gives up its messages to another route, at once where there is one and as soon as one is made", async () => {
    for (let n = 0; n < 2; n += 1) await store(1000);
    await turn();
    await turn();
    shop.route("Another for some", { carrier: "alive", prefixes: ["155500005"], priority: 2 });
    while (alive.submitted.length < 200) await lookAgain();
    expect(alive.submitted.every(({ recipient }) => recipient.startsWith("155500005"))).toBe(true);
    shop.route("Another for all", { carrier: "alive", priority: 3 });
    while (alive.submitted.length < 2000) await lookAgain();
    expect(dead.submitted).toEqual([]);
    await store(1);
    await turn();
    expect(alive.submitted).toHaveLength(2001);
  });

  test("is waited for across a restart, by a node that looks at a few to know it", async () => {
    for (let n = 0; n < 2; n += 1) await store(1000);
    await turn();
    await turn();
    start();
    claimed = 0;
    for (let n = 0; n < 3; n += 1) await lookAgain();
    expect(claimed).toBeLessThan(50);
    dead.up = true;
    while (dead.submitted.length < 2000) await turn();
    expect(new Set(dead.submitted.map(({ requestId, n }) => `${requestId} ${n}`)).size).toBe(2000);
  });

  test("lets a node that dies with what it had fetched leave it to the others", async () => {
    await store(20);
    await turn();
    dead.up = true;
    const [owner = NOBODY] = await shop.store.listSidings();
    const { node } = shop.needs.membership;
    const asked = { from: owner, routeClass: "PROMO", dueBy: Number.MAX_SAFE_INTEGER, limit: 5 } as const;
    expect(await shop.store.claim({ ...asked, node, at: shop.clock.now() })).toHaveLength(5);
    expect(await shop.claim(node), "due at once, although it would have waited for long").toHaveLength(5);
  });
});
