import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Receipt } from "../src/carriers/carrier.ts";
import { dispatch } from "../src/messages/dispatch.ts";
import { Dispatcher } from "../src/messages/dispatcher.ts";
import { failOver } from "../src/messages/fail-over.ts";
import { report } from "../src/messages/report.ts";
import { SIMULATOR } from "../src/model/catalog.ts";
import type { Message, RouteClass } from "../src/model/message.ts";
import { readTrail, type TrailEntry } from "../src/model/trail.ts";
import { StorageUnavailable } from "../src/store/store.ts";
import { Lanes } from "../src/work/lanes.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop } from "./support/workshop.ts";

const EVERYTHING = "Everything to the simulator";

describe.each(ENGINES)("routes on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  async function trailOf(message: Message): Promise<TrailEntry[]> {
    return readTrail((await shop.read(message)).trail);
  }
  const carrierOf = async (message: Message) => (await shop.read(message)).carrier;

  describe("which route a message takes", () => {
    test("the one with the lowest priority number that matches", async () => {
      shop.addCarrier("india");
      shop.route("India", { carrier: "india", prefixes: ["91"], priority: 1 });
      const [there, elsewhere] = [
        await shop.accept("TRANS", 60_000, { recipient: "919876543210" }),
        await shop.accept("TRANS", 60_000, { recipient: "15550100100" }),
      ];
      await shop.dispatch(there);
      await shop.dispatch(elsewhere);
      expect(await carrierOf(there)).toBe("1/india");
      expect(await carrierOf(elsewhere)).toBe("scripted");
    });

    test("route class and sender must fit as well", async () => {
      shop.addCarrier("codes");
      shop.route("Codes", { carrier: "codes", routeClasses: ["OTP"], senders: ["HELIOG"], priority: 1 });
      shop.route("Others", { carrier: "codes", senders: ["OTHER"], priority: 1 });
      const otp = await shop.accept("OTP");
      const trans = await shop.accept("TRANS");
      await shop.dispatch(otp);
      await shop.dispatch(trans);
      expect(await carrierOf(otp)).toBe("1/codes");
      expect(await carrierOf(trans)).toBe("scripted");
    });

    test("among equals, each as often as its weight says", async () => {
      shop.addCarrier("light");
      shop.addCarrier("heavy");
      shop.route("Light", { carrier: "light", priority: 1, weight: 1 });
      shop.route("Heavy", { carrier: "heavy", priority: 1, weight: 9 });
      for (let sent = 0; sent < 200; sent += 1) await shop.dispatch(await shop.accept());
      const heavy = shop.others.get("1/heavy")?.submitted.length ?? 0;
      expect(heavy + (shop.others.get("1/light")?.submitted.length ?? 0)).toBe(200);
      // 180 are expected; fewer than 150 or more than 198 happen less than once in a million runs.
      expect(heavy).toBeGreaterThan(150);
      expect(heavy).toBeLessThan(199);
    });

    test("a route that is switched off is no route", async () => {
      shop.addCarrier("off");
      shop.route("Off", { carrier: "off", priority: 1, enabled: false });
      const message = await shop.accept();
      await shop.dispatch(message);
      expect(await carrierOf(message)).toBe("scripted");
    });

    test("a test key's message goes to the simulator whatever the routes say", async () => {
      shop.addCarrier("real");
      shop.route(EVERYTHING, { carrier: "real" });
      const message = { ...(await shop.accept()), test: true };
      await shop.dispatch(message);
      expect(await carrierOf(message)).toBe("scripted");
    });

    test("routes that went away after the message was accepted make it fail at once, visibly", async () => {
      const message = await shop.accept();
      shop.route(EVERYTHING, { carrier: SIMULATOR, enabled: false });
      await shop.dispatch(message);
      expect(await shop.read(message)).toMatchObject({ state: "rejected", errorCode: "NO_ROUTE" });
    });
  });

  describe("when a carrier does not take it", () => {
    test("a carrier that is down is passed over, and the trail says so", async () => {
      shop.addCarrier("first").up = false;
      shop.route("First", { carrier: "first", priority: 1 });
      const message = await shop.accept();
      await shop.dispatch(message);
      expect(await carrierOf(message)).toBe("scripted");
      expect(await trailOf(message)).toContainEqual(
        expect.objectContaining({
          step: "attempt",
          carrier: "scripted",
          passedOver: [{ route: "First", carrier: "first", reason: "The carrier is down" }],
        }),
      );
    });

    test("a carrier that refuses for its own reasons is followed by the next one in the same breath", async () => {
      shop.addCarrier("first").answer = () => ({
        kind: "refused",
        fault: "carrier",
        code: "58",
        description: "Out of credit",
      });
      shop.route("First", { carrier: "first", priority: 1 });
      const message = await shop.accept();
      await shop.dispatch(message);
      expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: "scripted", attempts: 2 });
    });

    test("a carrier that refuses the message itself ends it: no other would take it", async () => {
      shop.addCarrier("first").answer = () => ({
        kind: "refused",
        fault: "message",
        code: "11",
        description: "Invalid number",
      });
      shop.route("First", { carrier: "first", priority: 1 });
      const message = await shop.accept();
      await shop.dispatch(message);
      expect(await shop.read(message)).toMatchObject({ state: "rejected", errorCode: "11" });
      expect(shop.carrier.submitted).toEqual([]);
    });

    test("the refusal of the last carrier is the message's end", async () => {
      const refusal = { kind: "refused", fault: "carrier", code: "58", description: "Out of credit" } as const;
      shop.addCarrier("first").answer = () => refusal;
      shop.carrier.answer = () => ({ ...refusal, code: "59" });
      shop.route("First", { carrier: "first", priority: 1 });
      const message = await shop.accept();
      await shop.dispatch(message);
      expect(await shop.read(message)).toMatchObject({ state: "rejected", errorCode: "59" });
    });

    test("with every carrier down the message waits, and goes when one is back", async () => {
      shop.carrier.up = false;
      const message = await shop.accept();
      await shop.dispatch(message);
      expect(await shop.read(message)).toMatchObject({ state: "accepted" });
      expect(shop.carrier.submitted).toEqual([]);
      expect(await shop.claim()).toEqual([]);
      shop.carrier.up = true;
      shop.clock.advance(1200);
      const [again] = await shop.claim();
      if (again) await shop.dispatch(again);
      expect(await shop.read(message)).toMatchObject({ state: "submitted" });
    });

    test("an answer that never came is not answered by another carrier: the message may have been taken", async () => {
      shop.addCarrier("first").answer = () => ({ kind: "unknown", description: "The line broke" });
      shop.route("First", { carrier: "first", priority: 1 });
      const message = await shop.accept();
      await shop.dispatch(message);
      expect(await shop.read(message)).toMatchObject({ state: "submitting" });
      expect(shop.carrier.submitted).toEqual([]);
    });

    test("a message in doubt is repeated by its own carrier alone, and its refusal to repeat it is not its end", async () => {
      const first = shop.addCarrier("first");
      first.answer = () => ({ kind: "unknown", description: "The line broke" });
      shop.route("First", { carrier: "first", priority: 1 });
      const message = await shop.accept();
      await shop.dispatch(message);
      first.up = false;
      shop.clock.advance(1200);
      for (const again of await shop.claim()) await shop.dispatch(again);
      expect(shop.carrier.submitted).toEqual([]);
      first.up = true;
      first.answer = () => ({ kind: "refused", fault: "carrier", code: "58", description: "Out of credit" });
      shop.clock.advance(10_000);
      for (const again of await shop.claim()) await shop.dispatch(again);
      expect(await shop.read(message)).toMatchObject({ state: "submitting" });
      expect(first.submitted).toHaveLength(2);
    });

    test("a promotion that could not be judged because the store was away is not in doubt, and is sent later", async () => {
      const message = await shop.accept("PROMO");
      shop.clock.advance(10_000);
      const optedOut = { ...shop.needs.commits.optedOut, add: () => Promise.reject(new StorageUnavailable("away")) };
      await dispatch({ ...shop.needs, commits: { ...shop.needs.commits, optedOut } }, message);
      expect(await shop.read(message)).toMatchObject({ state: "accepted" });
      shop.clock.advance(1000);
      for (const again of await shop.claim()) await shop.dispatch(again);
      expect(await shop.read(message)).toMatchObject({ state: "submitted" });
    });

    test("a promotion in doubt is sent again where its route says so", async () => {
      shop.route(EVERYTHING, { carrier: SIMULATOR, repeatPromotionsInDoubt: true });
      shop.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
      const message = await shop.accept("PROMO");
      await shop.dispatch(message);
      shop.clock.advance(1200);
      const [again] = await shop.claim();
      if (again) await shop.dispatch(again);
      expect(shop.carrier.submitted).toHaveLength(2);
    });
  });

  describe("failover on outcome", () => {
    const receipt = (carrier: string, carrierMessageId: string, state: Receipt["state"]): Receipt => ({
      carrier,
      carrierMessageId,
      state,
      errorCode: null,
      description: null,
      at: shop.clock.now(),
    });
    async function silent(): Promise<Message> {
      shop.addCarrier("first").answer = () => ({ kind: "taken", carrierMessageId: "f-1" });
      shop.carrier.answer = () => ({ kind: "taken", carrierMessageId: "s-1" });
      shop.route("First", { carrier: "first", priority: 1, failoverAfterSeconds: 10 });
      const message = await shop.accept();
      await shop.dispatch(message);
      expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: "1/first" });
      return message;
    }
    async function sendAgain(): Promise<void> {
      await failOver(shop.needs);
      for (const message of await shop.claim()) await shop.dispatch(message);
    }

    test("without a delivery in time the next route is tried, and the first is not tried again", async () => {
      const message = await silent();
      shop.clock.advance(9999);
      await sendAgain();
      expect(shop.carrier.submitted).toEqual([]);
      shop.clock.advance(1);
      await sendAgain();
      expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
      shop.clock.advance(15_000);
      await sendAgain();
      expect(shop.carrier.submitted).toHaveLength(1);
    });

    test("a delivery in time ends the plan", async () => {
      const message = await silent();
      await report(shop.needs, receipt("1/first", "f-1", "delivered"));
      shop.clock.advance(10_000);
      await sendAgain();
      expect(shop.carrier.submitted).toEqual([]);
      expect(await shop.read(message)).toMatchObject({ state: "delivered" });
    });

    test("a failure reported in time does not end the message: the next route is tried at once", async () => {
      const message = await silent();
      await report(shop.needs, receipt("1/first", "f-1", "undelivered"));
      expect(await shop.read(message)).toMatchObject({ state: "submitted" });
      await sendAgain();
      expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    });

    test("bad news of the first route that comes late is no news, good news still counts", async () => {
      const message = await silent();
      shop.clock.advance(10_000);
      await sendAgain();
      await report(shop.needs, receipt("1/first", "f-1", "undelivered"));
      expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
      await report(shop.needs, receipt("1/first", "f-1", "delivered"));
      expect(await shop.read(message)).toMatchObject({ state: "delivered" });
    });

    test("while it waits for the next route, bad news of the first is no news and a delivery is its end", async () => {
      const [failing, arriving] = [await silent(), await silent()];
      shop.others.set("1/first", shop.addCarrier("first"));
      shop.clock.advance(10_000);
      await failOver(shop.needs);
      const refOf = ({ accountId, requestId, n }: Message) => ({ accountId, requestId, n });
      await report(shop.needs, { ...receipt("1/first", "f-x", "expired"), ref: refOf(failing) });
      expect(await shop.read(failing)).toMatchObject({ state: "accepted" });
      await report(shop.needs, { ...receipt("1/first", "f-y", "delivered"), ref: refOf(arriving) });
      expect(await shop.read(arriving)).toMatchObject({ state: "delivered" });
      for (const claimed of await shop.claim()) await shop.dispatch(claimed);
      expect(shop.carrier.submitted.map(({ requestId }) => requestId)).toEqual([failing.requestId]);
    });

    test("a plan that is left although the message has come to its end is given up", async () => {
      const message = await silent();
      await report(shop.needs, receipt("1/first", "f-1", "delivered"));
      const given: string[] = [];
      const store = {
        ...shop.store,
        listFailovers: async () => [await shop.read(message)],
        dropFailover: async ({ requestId }: { requestId: string }) => void given.push(requestId),
      };
      await failOver({ ...shop.needs, store });
      expect(given).toEqual([message.requestId]);
      expect(await shop.read(message)).toMatchObject({ state: "delivered" });
    });

    test("two nodes that turn at the same moment send it once", async () => {
      const message = await silent();
      shop.clock.advance(10_000);
      const due = await shop.store.listFailovers(shop.clock.now(), 10);
      const stale = { ...shop.needs, store: { ...shop.store, listFailovers: () => Promise.resolve(due) } };
      await failOver(shop.needs);
      const claimed = await shop.claim();
      await failOver(stale);
      for (const each of [...claimed, ...(await shop.claim())]) await shop.dispatch(each);
      expect(shop.carrier.submitted).toHaveLength(1);
      expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    });

    test("a carrier that says it does not know is no delivery: the next route is tried", async () => {
      const message = await silent();
      await report(shop.needs, receipt("1/first", "f-1", "unknown"));
      shop.clock.advance(10_000);
      await sendAgain();
      expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: "scripted" });
    });

    test("with no other route to try, the message stays with the first", async () => {
      shop.addCarrier("only").answer = () => ({ kind: "taken", carrierMessageId: "o-1" });
      shop.route(EVERYTHING, { carrier: "only", failoverAfterSeconds: 10 });
      const message = await shop.accept();
      await shop.dispatch(message);
      shop.clock.advance(10_000);
      await sendAgain();
      await sendAgain();
      expect(shop.others.get("1/only")?.submitted).toHaveLength(1);
      expect((await trailOf(message)).filter(({ step }) => step === "failover")).toHaveLength(1);
      await report(shop.needs, receipt("1/only", "o-1", "delivered"));
      expect(await shop.read(message)).toMatchObject({ state: "delivered" });
    });
  });

  describe("a carrier's contracted speed", () => {
    async function start(speed: number | null): Promise<{ lanes: Lanes; dispatcher: Dispatcher }> {
      shop.carrier.messagesPerSecond = speed;
      const lanes = new Lanes(1000, (routeClass) => shop.needs.gates.sizeOf(routeClass));
      return { lanes, dispatcher: new Dispatcher({ ...shop.needs, lanes }, 100) };
    }
    const settle = async (): Promise<void> => {
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await shop.needs.commits.idle();
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await shop.needs.commits.idle();
    };

    test("is kept, and what waits for it goes in the order of the lanes", async () => {
      const { lanes, dispatcher } = await start(10);
      for (let sent = 0; sent < 30; sent += 1) lanes.push(await shop.accept("PROMO"));
      dispatcher.wake();
      await settle();
      expect(shop.carrier.submitted).toHaveLength(10);
      lanes.push(await shop.accept("OTP"));
      dispatcher.wake();
      await settle();
      shop.clock.advance(100);
      await settle();
      expect(shop.carrier.submitted.map(({ routeClass }) => routeClass).slice(10)).toEqual<RouteClass[]>(["OTP"]);
      shop.clock.advance(1900);
      await settle();
      expect(shop.carrier.submitted).toHaveLength(30);
      shop.clock.advance(200);
      await settle();
      expect(shop.carrier.submitted).toHaveLength(31);
      await dispatcher.stop();
    });

    test("is kept for the second choice as well, and for whoever waited at another's gate", async () => {
      const { lanes, dispatcher } = await start(1);
      shop.addCarrier("first").answer = () => ({ kind: "refused", fault: "carrier", code: "58", description: "No" });
      shop.route("First", { carrier: "first", priority: 1 });
      for (let sent = 0; sent < 20; sent += 1) lanes.push(await shop.accept("TRANS"));
      dispatcher.wake();
      await settle();
      expect(shop.carrier.submitted).toHaveLength(1);
      await dispatcher.stop();
    });

    test("what waits for one carrier holds up no message for another", async () => {
      const { lanes, dispatcher } = await start(1);
      shop.addCarrier("fast");
      shop.route("Fast", { carrier: "fast", prefixes: ["44"], priority: 1 });
      for (let sent = 0; sent < 150; sent += 1) lanes.push(await shop.accept("TRANS"));
      lanes.push(await shop.accept("TRANS", 60_000, { recipient: "447700900123" }));
      dispatcher.wake();
      await settle();
      expect(shop.others.get("1/fast")?.submitted).toHaveLength(1);
      await dispatcher.stop();
    });
  });
});
