import type { Agent } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../src/catalog/catalog.ts";
import { EgressRules } from "../src/egress/addresses.ts";
import { createGuardedAgent } from "../src/egress/guarded-agent.ts";
import { newId } from "../src/lib/ids.ts";
import { createLog } from "../src/lib/log.ts";
import { DEFAULT_SETTINGS } from "../src/model/account.ts";
import { messageOf, type Callback, type StatusWord } from "../src/model/callback.ts";
import { messageIdOf } from "../src/model/message.ts";
import { NOBODY, type Store } from "../src/store/store.ts";
import { newSecret } from "../src/webhooks/sign.ts";
import { Teller } from "../src/webhooks/teller.ts";
import { Membership } from "../src/work/membership.ts";
import { createMeters } from "../src/work/meters.ts";
import { catalogRecord } from "./support/catalog-record.ts";
import { ENGINES, openStore, type OpenStore } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { MovedClock } from "./support/moved-clock.ts";
import { openSink, type Sink } from "./support/sink.ts";

/** What one endpoint may have in memory. */
const ROOM = 5000;

describe.each(ENGINES)("telling a crowd on %s", { timeout: 120_000 }, (engine) => {
  let opened: OpenStore;
  let sink: Sink;
  let agent: Agent;
  let teller: Teller;
  let membership: Membership;
  let endpointId: string;
  const clock = new MovedClock();
  /** How many callbacks were claimed, and how many put back. */
  const traffic = { claimed: 0, putBack: 0 };

  beforeEach(async () => {
    opened = await openStore(engine);
    sink = await openSink();
    agent = createGuardedAgent({ rules: new EgressRules({ allow: [], loopback: true }), clock });
    Object.assign(traffic, { claimed: 0, putBack: 0 });
    const { store } = opened;
    const log = createLog("silent");
    const catalog = new Catalog({ store, clock });
    membership = new Membership({ store, clock, log }, { alone: true, silentMs: 30_000, sends: true });
    await membership.join();
    const endpoint = catalogRecord("dlrConfig", "reports", {
      provider: "ALL",
      method: "POST",
      url: sink.url,
      headers: [],
      enabled: true,
      disabledReason: null,
      secrets: [{ sealed: newSecret(), until: null }],
    });
    catalog.of(1).put(endpoint);
    endpointId = endpoint.id;
    teller = new Teller({
      store: watched(store),
      catalog,
      membership,
      agent,
      clock,
      log,
      meters: createMeters(),
      figures: { onTold: () => {} },
      accountOf: (id) => ({ id, name: "default", suspended: false, settings: DEFAULT_SETTINGS }),
      seal: { seal: (text) => text, open: (text) => text },
      operatorOf: () => "",
    });
  });
  afterEach(async () => {
    await teller.stop();
    await agent.close();
    await sink.close();
    await opened.discard();
  });

  const watched = (store: Store): Store => ({
    ...store,
    async claimCallbacks(claim) {
      const claimed = await store.claimCallbacks(claim);
      traffic.claimed += claimed.length;
      return claimed;
    },
    settleCallbacks(batch) {
      traffic.putBack += batch.filter(({ state }) => state === "waiting").length;
      return store.settleCallbacks(batch);
    },
  });

  const report = (status: StatusWord, requestId = newId(clock.now())): Callback => ({
    accountId: 1,
    eventId: newId(clock.now()),
    endpointId,
    attempts: 0,
    happening: {
      kind: "status",
      status,
      at: clock.now(),
      message: {
        messageId: messageIdOf({ requestId, n: 1 }),
        channel: "sms",
        recipient: "15550100100",
        sender: "HELIOG",
        credits: 1,
        createdAt: clock.now(),
        session: false,
      },
      gateway: "",
      errorCode: null,
      description: null,
    },
  });

  /** Stored as this node's, as what it has just written is. */
  async function own(callbacks: readonly Callback[]): Promise<readonly Callback[]> {
    await opened.store.storeCallbacks(callbacks, clock.now());
    const claim = { node: membership.node, from: NOBODY, dueBy: clock.now(), limit: callbacks.length };
    return opened.store.claimCallbacks(claim);
  }

  /** Answers nothing until it is told to, and then everything. */
  function holdAnswers(): () => void {
    const held: (() => void)[] = [];
    sink.answer((_heard, response) => held.push(() => response.writeHead(200).end()));
    return () => {
      sink.answer((_heard, response) => response.writeHead(200).end());
      for (const answer of held) answer();
    };
  }

  async function showWell(): Promise<void> {
    teller.take(await own([report("delivered")]));
    await eventually(
      async () => teller.healthOf(1, endpointId).last,
      (last) => last?.outcome === "delivered",
    );
  }

  /** With what the jobs of a server do meanwhile, where that matters. */
  const untilDone = (meanwhile: () => Promise<void> = async () => {}): Promise<number> =>
    eventually(
      async () => {
        await meanwhile();
        return opened.store.countWaitingCallbacks();
      },
      (waiting) => waiting === 0,
      100_000,
    );

  const waitingBesides = async (): Promise<number> =>
    (await opened.execute(`select 1 from callbacks where state = 'waiting' and owner = ${NOBODY}`)).length;

  test("what an endpoint that answers well has no room for is told as soon as it has, and no clock has to move", async () => {
    await showWell();
    const release = holdAnswers();
    teller.take(await own(Array.from({ length: ROOM + 700 }, () => report("delivered"))));
    await eventually(waitingBesides, (count) => count === 700);
    release();
    await untilDone();
    const told = sink.heard.map(({ headers }) => headers["webhook-id"]);
    expect(told).toHaveLength(1 + ROOM + 700);
    expect(new Set(told).size, "nobody is told twice").toBe(told.length);
    expect(traffic, "each was put back and claimed once").toEqual({ claimed: 700, putBack: 700 });
  });

  test("what waits for an endpoint without room is not claimed and put back meanwhile, and keeps no other endpoint waiting", async () => {
    await showWell();
    const release = holdAnswers();
    await opened.store.storeCallbacks(
      Array.from({ length: ROOM + 700 }, () => report("delivered")),
      clock.now(),
    );
    await teller.claim();
    const { claimed } = traffic;
    expect(claimed).toBe(ROOM);
    expect(teller.hasRoomFor(1, endpointId)).toBe(false);
    const other = { ...report("failed"), endpointId: newId(clock.now()) };
    await opened.store.storeCallbacks([other], clock.now());
    await teller.claim();
    await teller.claim();
    expect(traffic).toEqual({ claimed: claimed + 1, putBack: 0 });
    expect(await waitingBesides()).toBe(700);
    release();
    await untilDone();
    expect(traffic).toEqual({ claimed: ROOM + 701, putBack: 0 });
    expect(teller.hasRoomFor(1, endpointId)).toBe(true);
  });

  test("the order within a message is kept between what is in memory and what found no room there", async () => {
    await showWell();
    const release = holdAnswers();
    const first = Array.from({ length: ROOM + 300 }, () => report("unknown"));
    clock.advance(1);
    const later = first.map(({ happening }) => report("delivered", messageOf(happening)?.requestId));
    teller.take(await own(first));
    await eventually(waitingBesides, (count) => count === 300);
    await opened.store.storeCallbacks(later, clock.now());
    release();
    await untilDone(() => teller.claim());
    const statuses = new Map<string, string[]>();
    for (const { body } of sink.heard.slice(1)) {
      const { messageId, status } = body as { messageId: string; status: string };
      statuses.set(messageId, [...(statuses.get(messageId) ?? []), status]);
    }
    expect(new Set([...statuses.values()].map((told) => told.join(", ")))).toEqual(new Set(["Pending, Delivered"]));
  });
});
