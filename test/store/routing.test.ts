import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Receipt } from "../../src/model/receipt.ts";
import { dispatch } from "../../src/pipeline/dispatch/dispatch.ts";
import { Dispatcher } from "../../src/pipeline/dispatch/dispatcher.ts";
import { failOver } from "../../src/pipeline/dispatch/failover.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { SIMULATOR } from "../../src/model/catalog.ts";
import type { Message, RouteClass } from "../../src/model/message.ts";
import { decodeTimeline, type TimelineEntry } from "../../src/model/timeline.ts";
import { StorageUnavailable } from "../../src/store/store.ts";
import { PriorityQueues } from "../../src/pipeline/dispatch/priority-queues.ts";
import { catalogRecord } from "../support/catalog-record.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const EVERYTHING = "Everything to the simulator";

describe.each(ENGINES)("routes on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  async function trailOf(message: Message): Promise<TimelineEntry[]> {
    return decodeTimeline((await pipeline.read(message)).timeline);
  }
  const carrierOf = async (message: Message) => (await pipeline.read(message)).carrier;

  describe("route selection", () => {
    test("a message takes the matching route with the lowest priority number", async () => {
      pipeline.addCarrier("india");
      pipeline.route("India", { carrier: "india", prefixes: ["91"], priority: 1 });
      const [there, elsewhere] = [
        await pipeline.accept("TRANS", 60_000, { recipient: "919876543210" }),
        await pipeline.accept("TRANS", 60_000, { recipient: "15550100100" }),
      ];
      await pipeline.dispatch(there);
      await pipeline.dispatch(elsewhere);
      expect(await carrierOf(there)).toBe("1/india");
      expect(await carrierOf(elsewhere)).toBe("scripted");
    });

    test("a route matches route class and sender too", async () => {
      pipeline.addCarrier("codes");
      pipeline.route("Codes", { carrier: "codes", routeClasses: ["OTP"], senders: ["HELIOG"], priority: 1 });
      pipeline.route("Others", { carrier: "codes", senders: ["OTHER"], priority: 1 });
      const otp = await pipeline.accept("OTP");
      const trans = await pipeline.accept("TRANS");
      await pipeline.dispatch(otp);
      await pipeline.dispatch(trans);
      expect(await carrierOf(otp)).toBe("1/codes");
      expect(await carrierOf(trans)).toBe("scripted");
    });

    test("routes of equal priority are used in proportion to their weights", async () => {
      pipeline.addCarrier("light");
      pipeline.addCarrier("heavy");
      pipeline.route("Light", { carrier: "light", priority: 1, weight: 1 });
      pipeline.route("Heavy", { carrier: "heavy", priority: 1, weight: 9 });
      for (let sent = 0; sent < 200; sent += 1) await pipeline.dispatch(await pipeline.accept());
      const heavy = pipeline.others.get("1/heavy")?.submitted.length ?? 0;
      expect(heavy + (pipeline.others.get("1/light")?.submitted.length ?? 0)).toBe(200);
      // 180 are expected; fewer than 150 or more than 198 happen less than once in a million runs.
      expect(heavy).toBeGreaterThan(150);
      expect(heavy).toBeLessThan(199);
    });

    test("a disabled route is not used", async () => {
      pipeline.addCarrier("off");
      pipeline.route("Off", { carrier: "off", priority: 1, enabled: false });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      expect(await carrierOf(message)).toBe("scripted");
    });

    test("a test key's message goes to the simulator, whatever the routes", async () => {
      pipeline.addCarrier("real");
      pipeline.route(EVERYTHING, { carrier: "real" });
      const message = { ...(await pipeline.accept()), test: true };
      await pipeline.dispatch(message);
      expect(await carrierOf(message)).toBe("scripted");
    });

    test("a message fails at once if its routes were removed after it was accepted", async () => {
      const message = await pipeline.accept();
      pipeline.route(EVERYTHING, { carrier: SIMULATOR, enabled: false });
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "rejected", errorCode: "NO_ROUTE" });
    });
  });

  describe("a carrier that does not accept", () => {
    test("a carrier that is down is skipped, and the timeline shows it", async () => {
      pipeline.addCarrier("first").up = false;
      pipeline.route("First", { carrier: "first", priority: 1 });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      expect(await carrierOf(message)).toBe("scripted");
      expect(await trailOf(message)).toContainEqual(
        expect.objectContaining({
          step: "attempt",
          carrier: "scripted",
          passedOver: [{ route: "First", carrier: "first", reason: "The carrier is down" }],
        }),
      );
    });

    test("after a carrier's temporary refusal the next one is tried at once", async () => {
      pipeline.addCarrier("first").answer = () => ({
        kind: "refused",
        fault: "carrier",
        code: "58",
        description: "Out of credit",
      });
      pipeline.route("First", { carrier: "first", priority: 1 });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted", attempts: 2 });
    });

    test("a carrier's refusal of the message itself ends it without other attempts", async () => {
      pipeline.addCarrier("first").answer = () => ({
        kind: "refused",
        fault: "message",
        code: "11",
        description: "Invalid number",
      });
      pipeline.route("First", { carrier: "first", priority: 1 });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "rejected", errorCode: "11" });
      expect(pipeline.carrier.submitted).toEqual([]);
    });

    test("the refusal of the last carrier ends the message", async () => {
      const refusal = { kind: "refused", fault: "carrier", code: "58", description: "Out of credit" } as const;
      pipeline.addCarrier("first").answer = () => refusal;
      pipeline.carrier.answer = () => ({ ...refusal, code: "59" });
      pipeline.route("First", { carrier: "first", priority: 1 });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "rejected", errorCode: "59" });
    });

    test("with every carrier down the message waits, and is sent when one is back", async () => {
      pipeline.carrier.up = false;
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
      expect(pipeline.carrier.submitted).toEqual([]);
      expect(await pipeline.claim()).toEqual([]);
      pipeline.carrier.up = true;
      pipeline.clock.advance(1200);
      const [again] = await pipeline.claim();
      if (again) await pipeline.dispatch(again);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
    });

    test("a message without a submit response is not sent by another carrier", async () => {
      pipeline.addCarrier("first").answer = () => ({ kind: "unknown", description: "The line broke" });
      pipeline.route("First", { carrier: "first", priority: 1 });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitting" });
      expect(pipeline.carrier.submitted).toEqual([]);
    });

    test("a message in doubt is repeated by its own carrier only, whose refusal does not end it", async () => {
      const first = pipeline.addCarrier("first");
      first.answer = () => ({ kind: "unknown", description: "The line broke" });
      pipeline.route("First", { carrier: "first", priority: 1 });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      first.up = false;
      pipeline.clock.advance(1200);
      for (const again of await pipeline.claim()) await pipeline.dispatch(again);
      expect(pipeline.carrier.submitted).toEqual([]);
      first.up = true;
      first.answer = () => ({ kind: "refused", fault: "carrier", code: "58", description: "Out of credit" });
      pipeline.clock.advance(10_000);
      for (const again of await pipeline.claim()) await pipeline.dispatch(again);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitting" });
      expect(first.submitted).toHaveLength(2);
    });

    test("a message in doubt stays in doubt when its carrier's rate limit is reached at a second route", async () => {
      const line = pipeline.addCarrier("line");
      const other = pipeline.addCarrier("other");
      line.messagesPerSecond = 1;
      line.answer = () => ({ kind: "unknown", description: "The line broke" });
      pipeline.route(EVERYTHING, { carrier: "line", priority: 1 });
      pipeline.route("Second", { carrier: "line", priority: 2 });
      pipeline.route("Other", { carrier: "other", priority: 3 });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      line.answer = () => ({ kind: "down", description: "Not there" });
      pipeline.clock.advance(10_000);
      for (const again of await pipeline.claim()) await pipeline.dispatch(again);
      expect(line.submitted).toHaveLength(2);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitting", repeats: 0 });
      line.up = false;
      pipeline.clock.advance(10_000);
      for (const again of await pipeline.claim()) await pipeline.dispatch(again);
      expect(other.submitted).toEqual([]);
    });

    test("a promotion whose policy check failed with the store is not in doubt, and is sent later", async () => {
      const message = await pipeline.accept("PROMO");
      const asking = { ...pipeline.deps.commits.stops, add: () => Promise.reject(new StorageUnavailable("away")) };
      const commits = { ...pipeline.deps.commits, stops: asking };
      await dispatch({ ...pipeline.deps, commits, stopGuard: { issueLease: () => () => false } }, message);
      expect(pipeline.carrier.submitted).toEqual([]);
      expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
      pipeline.clock.advance(1000);
      for (const again of await pipeline.claim()) await pipeline.dispatch(again);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
    });

    test("a promotion in doubt is sent again if its route says so", async () => {
      pipeline.route(EVERYTHING, { carrier: SIMULATOR, repeatPromotionsInDoubt: true });
      pipeline.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
      const message = await pipeline.accept("PROMO");
      await pipeline.dispatch(message);
      pipeline.clock.advance(1200);
      const [again] = await pipeline.claim();
      if (again) await pipeline.dispatch(again);
      expect(pipeline.carrier.submitted).toHaveLength(2);
    });
  });

  describe("failover on outcome", () => {
    const receipt = (carrier: string, carrierMessageId: string, state: Receipt["state"]): Receipt => ({
      carrier,
      carrierMessageId,
      state,
      errorCode: null,
      description: null,
      at: pipeline.clock.now(),
    });
    async function silent(routeClass: RouteClass = "TRANS", campaignName: string | null = null): Promise<Message> {
      pipeline.addCarrier("first").answer = () => ({ kind: "taken", carrierMessageId: "f-1" });
      pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "s-1" });
      pipeline.route("First", { carrier: "first", priority: 1, failoverAfterSeconds: 10 });
      const message = await pipeline.accept(routeClass, 3_600_000, { campaignName });
      await pipeline.dispatch(message);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "1/first" });
      return message;
    }
    const optOut = ({ accountId, recipient: number }: Message): Promise<unknown> =>
      pipeline.store.addOptOuts([{ accountId, number, source: "reply", note: null, createdAt: 1 }]);
    async function dispatchClaimed(): Promise<void> {
      for (const message of await pipeline.claim()) await pipeline.dispatch(message);
    }
    async function sendAgain(): Promise<void> {
      await failOver(pipeline.deps);
      await dispatchClaimed();
    }

    test("without a delivery in time the next route is tried, and the first is not tried again", async () => {
      const message = await silent();
      pipeline.clock.advance(9999);
      await sendAgain();
      expect(pipeline.carrier.submitted).toEqual([]);
      pipeline.clock.advance(1);
      await sendAgain();
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
      pipeline.clock.advance(15_000);
      await sendAgain();
      expect(pipeline.carrier.submitted).toHaveLength(1);
    });

    test("a carrier is not tried again if its route was disabled at the failover and enabled afterwards", async () => {
      const message = await silent();
      pipeline.route("First", { carrier: "first", enabled: false });
      pipeline.clock.advance(10_000);
      await failOver(pipeline.deps);
      pipeline.route("First", { carrier: "first", enabled: true });
      for (const claimed of await pipeline.claim()) await pipeline.dispatch(claimed);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    });

    test("a promotion whose recipient has opted out stays with the first carrier, whose failure ends it", async () => {
      const message = await silent("PROMO");
      await optOut(message);
      pipeline.clock.advance(10_000);
      await sendAgain();
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "1/first", tried: [] });
      await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "undelivered"));
      await sendAgain();
      expect(await pipeline.read(message)).toMatchObject({ state: "undelivered", carrier: "1/first" });
      expect(pipeline.carrier.submitted).toEqual([]);
    });

    test("a message of a cancelled campaign stays with the first carrier", async () => {
      const message = await silent("PROMO", "autumn");
      pipeline.catalog.learn(1, "campaign", "autumn", { status: "cancelled", pausedAt: null, pausedMs: 0 });
      pipeline.clock.advance(10_000);
      await sendAgain();
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "1/first", tried: [] });
      expect(await trailOf(message)).toContainEqual(
        expect.objectContaining({ reason: "No delivery in time, and its campaign was cancelled" }),
      );
    });

    test("a message that expires on its way to the next route says so", async () => {
      const message = await silent();
      pipeline.clock.advance(10_000);
      await failOver(pipeline.deps);
      const claimed = await pipeline.claim();
      pipeline.clock.advance(3_600_000);
      for (const each of claimed) await pipeline.dispatch(each);
      const description = "The message waited longer than its validity for its next route.";
      expect(await pipeline.read(message)).toMatchObject({
        state: "expired",
        errorCode: "EXPIRED_IN_QUEUE",
        description,
      });
    });

    test.each<[string, (message: Message) => unknown]>([
      ["RECIPIENT_OPTED_OUT", optOut],
      [
        "NO_ROUTE",
        () => ["First", EVERYTHING].map((name) => pipeline.route(name, { carrier: "first", enabled: false })),
      ],
    ])(
      "%s stops a message on its way to the next route, and a late delivery by the first one counts",
      async (errorCode, stop) => {
        const message = await silent("PROMO");
        pipeline.clock.advance(10_000);
        await failOver(pipeline.deps);
        await stop(message);
        await dispatchClaimed();
        expect(pipeline.carrier.submitted).toEqual([]);
        expect(await pipeline.read(message)).toMatchObject({ state: "expired", errorCode });
        await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "delivered"));
        expect(await pipeline.read(message)).toMatchObject({ state: "delivered", errorCode: null });
      },
    );

    test("a delivery in time ends the failover plan", async () => {
      const message = await silent();
      await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "delivered"));
      pipeline.clock.advance(10_000);
      await sendAgain();
      expect(pipeline.carrier.submitted).toEqual([]);
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    });

    test("a failure receipt in time does not end the message: the next route is tried at once", async () => {
      const message = await silent();
      await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "undelivered"));
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
      await sendAgain();
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    });

    test("a late failure receipt of the first route is ignored, a late delivery counts", async () => {
      const message = await silent();
      pipeline.clock.advance(10_000);
      await sendAgain();
      await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "undelivered"));
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
      await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "delivered"));
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    });

    test("while failover is pending, a failure receipt of the first route is ignored and a delivery is final", async () => {
      const [failing, arriving] = [await silent(), await silent()];
      pipeline.others.set("1/first", pipeline.addCarrier("first"));
      pipeline.clock.advance(10_000);
      await failOver(pipeline.deps);
      const refOf = ({ accountId, requestId, n }: Message) => ({ accountId, requestId, n });
      await receiveReceipt(pipeline.deps, { ...receipt("1/first", "f-x", "expired"), ref: refOf(failing) });
      expect(await pipeline.read(failing)).toMatchObject({ state: "accepted" });
      await receiveReceipt(pipeline.deps, { ...receipt("1/first", "f-y", "delivered"), ref: refOf(arriving) });
      expect(await pipeline.read(arriving)).toMatchObject({ state: "delivered" });
      for (const claimed of await pipeline.claim()) await pipeline.dispatch(claimed);
      expect(pipeline.carrier.submitted.map(({ requestId }) => requestId)).toEqual([failing.requestId]);
    });

    test("a failover plan of a message in a final state is dropped", async () => {
      const message = await silent();
      await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "delivered"));
      const given: string[] = [];
      const store = {
        ...pipeline.store,
        listFailovers: async () => [await pipeline.read(message)],
        dropFailover: async ({ requestId }: { requestId: string }) => void given.push(requestId),
      };
      await failOver({ ...pipeline.deps, store });
      expect(given).toEqual([message.requestId]);
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    });

    test("two nodes that fail over at the same moment send the message once", async () => {
      const message = await silent();
      pipeline.clock.advance(10_000);
      const due = await pipeline.store.listFailovers(pipeline.clock.now(), 10);
      const stale = { ...pipeline.deps, store: { ...pipeline.store, listFailovers: () => Promise.resolve(due) } };
      await failOver(pipeline.deps);
      const claimed = await pipeline.claim();
      await failOver(stale);
      for (const each of [...claimed, ...(await pipeline.claim())]) await pipeline.dispatch(each);
      expect(pipeline.carrier.submitted).toHaveLength(1);
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    });

    test("an unknown receipt is not a delivery: the next route is tried", async () => {
      const message = await silent();
      await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "unknown"));
      pipeline.clock.advance(10_000);
      await sendAgain();
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    });

    test.each(["here", "on another node"] as const)(
      "a failure receipt moves the message to a carrier whose connection is %s, and a node with that connection sends it",
      async (where) => {
        const message = await silent();
        pipeline.carrier.elsewhere = where === "on another node";
        await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "undelivered"));
        await failOver(pipeline.deps);
        expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
        pipeline.carrier.elsewhere = false;
        for (const again of await pipeline.claim()) await pipeline.dispatch(again);
        expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
      },
    );

    test("a node without the next carrier's connection fails over at once", async () => {
      const message = await silent();
      pipeline.carrier.elsewhere = true;
      pipeline.clock.advance(10_000);
      await failOver(pipeline.deps);
      expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
    });

    test("while the next carrier is down a failure receipt is kept, and the message is sent there once it is up", async () => {
      const message = await silent();
      pipeline.carrier.up = false;
      await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "undelivered"));
      await sendAgain();
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "1/first" });
      pipeline.carrier.up = true;
      pipeline.clock.advance(2000);
      await sendAgain();
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    });

    test("a failure receipt is final when the next carrier stays down until the validity ends", async () => {
      const message = await silent();
      pipeline.carrier.up = false;
      await receiveReceipt(pipeline.deps, receipt("1/first", "f-1", "undelivered"));
      await sendAgain();
      pipeline.clock.advance(3_600_000);
      await sendAgain();
      expect(await pipeline.read(message)).toMatchObject({ state: "undelivered" });
      expect(pipeline.carrier.submitted).toEqual([]);
    });

    test("without another route the message stays with the first carrier", async () => {
      pipeline.addCarrier("only").answer = () => ({ kind: "taken", carrierMessageId: "o-1" });
      pipeline.route(EVERYTHING, { carrier: "only", failoverAfterSeconds: 10 });
      const message = await pipeline.accept();
      await pipeline.dispatch(message);
      pipeline.clock.advance(10_000);
      await sendAgain();
      await sendAgain();
      expect(pipeline.others.get("1/only")?.submitted).toHaveLength(1);
      expect((await trailOf(message)).filter(({ step }) => step === "failover")).toHaveLength(1);
      await receiveReceipt(pipeline.deps, receipt("1/only", "o-1", "delivered"));
      expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    });
  });

  describe("a carrier's rate limit", () => {
    async function start(speed: number | null): Promise<{ queues: PriorityQueues; dispatcher: Dispatcher }> {
      pipeline.carrier.messagesPerSecond = speed;
      const queues = new PriorityQueues(1000, (routeClass) => pipeline.deps.carrierLimiter.waitingCount(routeClass));
      return { queues, dispatcher: new Dispatcher({ ...pipeline.deps, queues }, 100) };
    }
    const settle = async (): Promise<void> => {
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await pipeline.deps.commits.idle();
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await pipeline.deps.commits.idle();
    };

    test("the rate limit is kept, and waiting messages go in queue order", async () => {
      const { queues, dispatcher } = await start(10);
      for (let sent = 0; sent < 30; sent += 1) queues.push(await pipeline.accept("PROMO"));
      dispatcher.wake();
      await settle();
      expect(pipeline.carrier.submitted).toHaveLength(10);
      queues.push(await pipeline.accept("OTP"));
      dispatcher.wake();
      await settle();
      pipeline.clock.advance(100);
      await settle();
      expect(pipeline.carrier.submitted.map(({ routeClass }) => routeClass).slice(10)).toEqual<RouteClass[]>(["OTP"]);
      pipeline.clock.advance(1900);
      await settle();
      expect(pipeline.carrier.submitted).toHaveLength(30);
      pipeline.clock.advance(200);
      await settle();
      expect(pipeline.carrier.submitted).toHaveLength(31);
      await dispatcher.stop();
    });

    test("messages of a cancelled campaign use none of the rate limit: the next one is sent at once", async () => {
      const { queues, dispatcher } = await start(10);
      for (let sent = 0; sent < 200; sent += 1)
        queues.push(await pipeline.accept("TRANS", 3_600_000, { campaignName: "autumn" }));
      dispatcher.wake();
      await settle();
      expect(pipeline.carrier.submitted).toHaveLength(10);
      const content = { status: "cancelled", pausedAt: null, pausedMs: 0 } as const;
      pipeline.catalog.of(1).put({ ...catalogRecord("campaign", "autumn", content), kind: "campaign", content });
      const last = await pipeline.accept("TRANS");
      queues.push(last);
      dispatcher.wake();
      pipeline.clock.advance(100);
      await eventually(
        async () => {
          await settle();
          return pipeline.read(last);
        },
        ({ state }) => state === "submitted",
      );
      expect(pipeline.carrier.submitted).toHaveLength(11);
      // The limiter refunds no more than was acquired.
      for (let sent = 0; sent < 30; sent += 1) queues.push(await pipeline.accept("TRANS"));
      dispatcher.wake();
      await settle();
      expect(pipeline.carrier.submitted).toHaveLength(11);
      await dispatcher.stop();
    });

    test("the rate limit is not exceeded after waiting messages have expired", async () => {
      const { queues, dispatcher } = await start(10);
      for (let sent = 0; sent < 100; sent += 1) queues.push(await pipeline.accept("TRANS", 50));
      dispatcher.wake();
      await settle();
      expect(pipeline.carrier.submitted).toHaveLength(10);
      pipeline.clock.advance(100);
      await settle();
      for (let sent = 0; sent < 30; sent += 1) queues.push(await pipeline.accept("TRANS"));
      dispatcher.wake();
      await settle();
      expect(pipeline.carrier.submitted.length).toBeLessThanOrEqual(11);
      await dispatcher.stop();
    });

    test("messages wait in memory for a connecting carrier and try no other", async () => {
      const { queues, dispatcher } = await start(null);
      const line = pipeline.addCarrier("line");
      Object.assign(line, { up: false, connecting: true, capacity: 0 });
      pipeline.route("Line", { carrier: "line", priority: 1 });
      const message = await pipeline.accept("TRANS");
      queues.push(message);
      dispatcher.wake();
      await settle();
      expect(await pipeline.read(message)).toMatchObject({ state: "accepted", attempts: 0 });
      Object.assign(line, { up: true, connecting: false, capacity: 10 });
      pipeline.clock.advance(100);
      await settle();
      expect(await pipeline.read(message)).toMatchObject({ state: "submitted", carrier: "1/line", attempts: 1 });
      expect(pipeline.carrier.submitted).toEqual([]);
      await dispatcher.stop();
    });

    test("the rate limit is kept for the second route too, and for messages that waited at another limit", async () => {
      const { queues, dispatcher } = await start(1);
      pipeline.addCarrier("first").answer = () => ({
        kind: "refused",
        fault: "carrier",
        code: "58",
        description: "No",
      });
      pipeline.route("First", { carrier: "first", priority: 1 });
      for (let sent = 0; sent < 20; sent += 1) queues.push(await pipeline.accept("TRANS"));
      dispatcher.wake();
      await settle();
      expect(pipeline.carrier.submitted).toHaveLength(1);
      await dispatcher.stop();
    });

    test("messages that wait for one carrier delay none for another", async () => {
      const { queues, dispatcher } = await start(1);
      pipeline.addCarrier("fast");
      pipeline.route("Fast", { carrier: "fast", prefixes: ["44"], priority: 1 });
      for (let sent = 0; sent < 150; sent += 1) queues.push(await pipeline.accept("TRANS"));
      queues.push(await pipeline.accept("TRANS", 60_000, { recipient: "447700900123" }));
      dispatcher.wake();
      await settle();
      expect(pipeline.others.get("1/fast")?.submitted).toHaveLength(1);
      await dispatcher.stop();
    });
  });
});
