import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { Catalog } from "../../src/records/catalog.ts";
import { receive } from "../../src/pipeline/inbound/receive.ts";
import { changeCampaign } from "../../src/pipeline/campaigns.ts";
import { PAUSED_MS, type CampaignContent } from "../../src/model/catalog.ts";
import type { Message } from "../../src/model/message.ts";
import { LEASE_MS, StopGuard } from "../../src/pipeline/dispatch/stop-guard.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES, hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Answer, type TestServer } from "../support/test-server.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { TestPipeline } from "../support/test-pipeline.ts";
import { transitionAll, type TransitionFields } from "../support/transitions.ts";

const NUMBER = "15550100100";
const CAMPAIGN = "autumn";
const RUNNING: CampaignContent = { status: "running", pausedAt: null, pausedMs: 0 };

describe.each(ENGINES)("stops on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const optOut = (number = NUMBER): Promise<void> =>
    pipeline.store.addOptOuts([{ accountId: 1, number, source: "reply", note: null, createdAt: pipeline.clock.now() }]);
  /** The campaign is changed by another node, of whose changes this one has not heard yet. */
  async function changeElsewhere(status: CampaignContent["status"]): Promise<void> {
    const catalog = new Catalog({ store: pipeline.store, clock: pipeline.clock });
    await catalog.refresh();
    const campaign = catalog.of(1).named("campaign").get(CAMPAIGN);
    if (!campaign) throw new Error("there is no such campaign");
    const { clock, commits } = pipeline.deps;
    await changeCampaign(
      { catalog, clock, commits, store: pipeline.store, stopGuard: { waitUntilEffective: async () => {} } },
      campaign,
      status,
    );
  }
  async function inCampaign(routeClass: "PROMO" | "TRANS" = "TRANS"): Promise<Message> {
    pipeline.catalog.learn(1, "campaign", CAMPAIGN, RUNNING);
    await pipeline.catalog.saveLearned();
    return pipeline.accept(routeClass, 3_600_000, { campaignName: CAMPAIGN });
  }
  /** Calls back right after the next intent is committed, before its message is handed to the carrier. */
  function afterIntent(run: () => Promise<void>): void {
    const { move } = pipeline.deps.commits;
    const { add } = move;
    move.add = async (step) => {
      const result = await add.call(move, step);
      if (step.kind === "submitting") {
        move.add = add;
        await run();
      }
      return result;
    };
  }

  describe("an opt-out", () => {
    test("an opt-out stops a promotion accepted a moment before", async () => {
      const message = await pipeline.accept("PROMO");
      await optOut();
      await pipeline.dispatch(message);
      expect(pipeline.carrier.submitted).toEqual([]);
      expect(await pipeline.read(message)).toMatchObject({ state: "rejected", errorCode: "RECIPIENT_OPTED_OUT" });
    });

    test("an opt-out stops no other message", async () => {
      const [trans, promo] = [
        await pipeline.accept("TRANS"),
        await pipeline.accept("PROMO", 1000, { recipient: "15550100101" }),
      ];
      await optOut();
      await pipeline.dispatch(trans);
      await pipeline.dispatch(promo);
      expect(pipeline.carrier.submitted.map(({ recipient }) => recipient)).toEqual([NUMBER, "15550100101"]);
    });

    test("an opt-out stops the repeat of a promotion in doubt, which then waits for its receipt", async () => {
      pipeline.route("Everything to the simulator", { carrier: "simulator", repeatPromotionsInDoubt: true });
      const message = await pipeline.accept("PROMO");
      pipeline.carrier.answer = () => ({ kind: "unknown", description: "no answer" });
      await pipeline.dispatch(message);
      pipeline.clock.advance(60_000);
      await optOut();
      for (const claimed of await pipeline.claim()) await pipeline.dispatch(claimed);
      expect(pipeline.carrier.submitted).toHaveLength(1);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitting", dueAt: message.expiresAt });
    });

    test("an opt-out on this node stops a promotion whose intent is committed", async () => {
      const message = await pipeline.accept("PROMO");
      afterIntent(async () => {
        await optOut();
        await pipeline.deps.stopGuard.waitUntilEffective({ accountId: 1, numbers: [NUMBER] });
      });
      await pipeline.dispatch(message);
      expect(pipeline.carrier.submitted).toEqual([]);
      for (const claimed of await pipeline.claim()) await pipeline.dispatch(claimed);
      expect(pipeline.carrier.submitted).toEqual([]);
      expect(await pipeline.read(message)).toMatchObject({ state: "rejected", errorCode: "RECIPIENT_OPTED_OUT" });
    });

    test("an opt-out on another node stops a promotion of a node that stalled after the intent", async () => {
      const message = await pipeline.accept("PROMO");
      afterIntent(async () => {
        await optOut();
        pipeline.clock.advance(LEASE_MS);
      });
      await pipeline.dispatch(message);
      expect(pipeline.carrier.submitted).toEqual([]);
      for (const claimed of await pipeline.claim()) await pipeline.dispatch(claimed);
      expect(await pipeline.read(message)).toMatchObject({ state: "rejected", errorCode: "RECIPIENT_OPTED_OUT" });
    });

    test("a stalled node checks again and sends if there is no opt-out", async () => {
      const message = await pipeline.accept("PROMO");
      afterIntent(async () => pipeline.clock.advance(LEASE_MS));
      await pipeline.dispatch(message);
      expect(pipeline.carrier.submitted).toHaveLength(1);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
    });

    test("an opt-out withdraws a promotion that waits in its carrier for the window, as not sent", async () => {
      const message = await pipeline.accept("PROMO");
      pipeline.carrier.answer = async () => {
        await optOut();
        await pipeline.deps.stopGuard.waitUntilEffective({ accountId: 1, numbers: [NUMBER] });
        return pipeline.carrier.maySend?.() === false
          ? { kind: "down", description: "not written" }
          : { kind: "taken", carrierMessageId: "1" };
      };
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
      for (const claimed of await pipeline.claim()) await pipeline.dispatch(claimed);
      expect(await pipeline.read(message)).toMatchObject({ state: "rejected", errorCode: "RECIPIENT_OPTED_OUT" });
    });

    test("a STOP is acknowledged once promotions to the number are stopped on this node", async () => {
      const lease = pipeline.deps.stopGuard.issueLease(await pipeline.accept("PROMO"));
      const other = pipeline.deps.stopGuard.issueLease(
        await pipeline.accept("PROMO", 1000, { recipient: "15550100101" }),
      );
      await receive(
        { ...pipeline.deps, store: pipeline.store },
        {
          accountId: 1,
          channel: "sms",
          from: NUMBER,
          to: "HELIOG",
          content: { kind: "text", text: "STOP" },
          answers: null,
          at: pipeline.clock.now(),
        },
      );
      expect([lease(), other()]).toEqual([false, true]);
    });
  });

  describe("campaigns changed on another node", () => {
    test("a campaign paused on another node is held at once, and sent once when resumed", async () => {
      const message = await inCampaign();
      await changeElsewhere("paused");
      await pipeline.dispatch(message);
      expect(pipeline.carrier.submitted).toEqual([]);
      expect(await pipeline.read(message)).toMatchObject({ state: "scheduled", dueAt: message.dueAt + PAUSED_MS });
      await changeElsewhere("running");
      for (const claimed of await pipeline.claim()) await pipeline.dispatch(claimed);
      expect(pipeline.carrier.submitted).toHaveLength(1);
    });

    test("a campaign cancelled on another node is cancelled at once", async () => {
      const message = await inCampaign("PROMO");
      await pipeline.store.release(0, []);
      const catalog = new Catalog({ store: pipeline.store, clock: pipeline.clock });
      await catalog.refresh();
      const campaign = catalog.of(1).named("campaign").get(CAMPAIGN);
      if (!campaign) throw new Error("there is no such campaign");
      await catalog.change((revision) =>
        pipeline.store.changeCatalogRecord({ ...campaign, content: { ...RUNNING, status: "cancelled" } }, revision),
      );
      await pipeline.dispatch(message);
      expect(pipeline.carrier.submitted).toEqual([]);
      expect(await pipeline.read(message)).toMatchObject({ state: "cancelled", errorCode: "CANCELLED" });
    });
  });

  test("recipients of one request are stopped one by one", async () => {
    const to = Array.from({ length: 5 }, (_, index) => `3360000000${index}`);
    const request = acceptance({ to, routeClass: "PROMO", owner: 1, campaignName: CAMPAIGN });
    await pipeline.store.accept([request]);
    await optOut(to[2]);
    const { requestId } = request.message;
    const intents = to.map((recipient, index): TransitionFields => ({
      accountId: 1,
      requestId,
      n: index + 1,
      to: "submitting",
      at: NOON,
      owner: 1,
      ownedBy: 1,
      carrier: "simulator",
      attempt: true,
      attemptIs: 0,
      unlessStopped: true,
      expected: { channel: "sms", routeClass: "PROMO", recipient, campaignName: null },
    }));
    const moved = (await transitionAll(pipeline.store, intents)).map(
      (result) => !(result instanceof Error) && result.moved,
    );
    expect(moved).toEqual([true, true, false, true, true]);
  });
});

describe("the stop guard", () => {
  const settled = async (
    nodes: number,
  ): Promise<{ clock: MovedClock; isSettled: () => boolean; run: Promise<void> }> => {
    const clock = new MovedClock();
    const guard = new StopGuard({ clock, store: { countNodes: async () => nodes } });
    let isSettled = false;
    const run = guard.waitUntilEffective({ accountId: 1, numbers: [NUMBER] }).then(() => {
      isSettled = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    return { clock, isSettled: () => isSettled, run };
  };

  test("the stop guard acknowledges a stop at once without other nodes", async () => {
    expect((await settled(1)).isSettled()).toBe(true);
  });

  test("the stop guard acknowledges a stop after the leases of other nodes have expired", async () => {
    const { clock, isSettled, run } = await settled(2);
    clock.advance(LEASE_MS - 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled()).toBe(false);
    clock.advance(1);
    await run;
    expect(isSettled()).toBe(true);
  });
});

describe.runIf(hasPostgres)("two nodes on one database", () => {
  let one: TestServer;
  let two: TestServer;
  beforeAll(async () => {
    const { url } = await migratedDatabase(inject("postgresUrl"));
    one = await startTestServer("postgres", { env: { HELIOGRAPH_DATABASE_URL: url } });
    two = await startTestServer("postgres", { env: { ...one.env, HELIOGRAPH_PORT: "0" } });
    const carrier = { name: "paced", messagesPerSecond: 10 };
    await one.request("POST", "/api/carriers", carrier);
    const route = { name: "Paced", carrier: "paced", senders: ["PACED"], priority: 1 };
    await one.request("POST", "/api/routes", route);
    for (const server of [one, two])
      await eventually(
        () => server.request<{ data: object[] }>("GET", "/api/routes?name=Paced", undefined, { apikey: one.key }),
        ({ body }) => body.data.length === 1,
      );
  });
  afterAll(() => Promise.all([one, two].map((server) => server.close())));

  const COUNT = 40;
  const numbers = (from: number): string[] => Array.from({ length: COUNT }, (_, index) => `1555${from + index}`);
  /** Sends a promotion to each number, in halves by either node. */
  async function sendAll(to: readonly string[], fields: Record<string, unknown>): Promise<void> {
    const half = to.length / 2;
    const sent = await Promise.all(
      [one, two].map(
        (server, index) =>
        server.send({ to: to.slice(index * half, (index + 1) * half), type: "PROMO", sender: "PACED", ...fields }, { apikey: one.key }), // prettier-ignore
      ),
    );
    expect(sent.map(({ status }) => status)).toEqual([200, 200]);
  }
  const post = (server: TestServer, path: string, body?: object): Promise<Answer<{ id: string }>> =>
    server.request("POST", path, body, { apikey: one.key });
  const arrivedAt = async (number: string): Promise<number> => (await one.onPhone(number))[0]?.receivedAt ?? 0;
  const countArrived = async (to: readonly string[]): Promise<number> =>
    (await Promise.all(to.map(arrivedAt))).filter((at) => at > 0).length;

  test("no promotion leaves either node after one has acknowledged the opt-out", async () => {
    const to = numbers(2_000_000);
    await sendAll(to, {});
    const acknowledged = new Map<string, number>();
    const stopped = to.filter((_, index) => index % 2 === 0);
    await Promise.all(
      stopped.map(async (number, index) => {
        const { status } = await post(index % 4 < 2 ? two : one, "/api/optouts", { number });
        acknowledged.set(number, Date.now());
        expect(status).toBe(200);
      }),
    );
    // All others arrive, so by then those that were stopped would have arrived as well.
    const others = to.filter((number) => !acknowledged.has(number));
    await eventually(() => countArrived(others), (count) => count === others.length); // prettier-ignore
    const arrivals = await Promise.all(stopped.map(arrivedAt));
    expect(arrivals.filter((at, index) => at > (acknowledged.get(stopped[index] ?? "") ?? 0))).toEqual([]);
    expect(arrivals.filter((at) => at === 0).length, "some were stopped in time").toBeGreaterThan(0);
  });

  test("no message of a campaign leaves either node after one has acknowledged its pause", async () => {
    const to = numbers(3_000_000);
    await sendAll(to, { campaignName: "paced" });
    const { body } = await one.request<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns");
    const id = body.data.find(({ name }) => name === "paced")?.id;
    expect((await post(two, `/api/campaigns/${id}/pause`)).status).toBe(200);
    const pausedAt = Date.now();
    // Once messages queued behind the campaign have arrived, the campaign's own have had time enough.
    const behind = numbers(4_000_000);
    await sendAll(behind, {});
    await eventually(() => countArrived(behind), (count) => count === COUNT); // prettier-ignore
    const arrivals = await Promise.all(to.map(arrivedAt));
    expect(arrivals.filter((at) => at > pausedAt)).toEqual([]);
    const held = arrivals.filter((at) => at === 0).length;
    expect(held, "some were paused in time").toBeGreaterThan(0);
    expect((await post(one, `/api/campaigns/${id}/resume`)).status).toBe(200);
    await eventually(() => countArrived(to), (count) => count === COUNT); // prettier-ignore
    expect(await Promise.all(to.map(async (number) => (await one.onPhone(number)).length))).toEqual(to.map(() => 1));
  });
});
