import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Dispatcher } from "../src/messages/dispatcher.ts";
import { report } from "../src/messages/report.ts";
import type { RouteClass } from "../src/model/message.ts";
import { NOBODY } from "../src/store/store.ts";
import { Lanes } from "../src/work/lanes.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop } from "./support/workshop.ts";

describe.each(ENGINES)("dispatch on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  test("the intent is committed before the carrier is called", async () => {
    const message = await shop.accept();
    let seen = "";
    shop.carrier.answer = async () => {
      seen = (await shop.read(message)).state;
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    await shop.dispatch(message);
    expect(seen).toBe("submitting");
    expect(await shop.read(message)).toMatchObject({
      state: "submitted",
      carrier: "scripted",
      attempts: 1,
      submittedAt: shop.clock.now(),
    });
  });

  test("what is meant for a line that other nodes have is left to them: nothing is tried, and no other route taken", async () => {
    const [line, second] = [shop.addCarrier("north"), shop.addCarrier("south")];
    shop.route("Everything to the simulator", { carrier: "north", priority: 1 });
    shop.route("Second choice", { carrier: "south", priority: 2 });
    line.elsewhere = true;
    line.up = false;
    const message = await shop.accept();
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "accepted", attempts: 0, trail: null });
    shop.clock.advance(500);
    const [again] = await shop.claim();
    expect(again).toMatchObject({ requestId: message.requestId });
    expect(second.submitted).toEqual([]);
    // The line has come to this node, or this is the node that has it.
    line.elsewhere = false;
    line.up = true;
    if (again) await shop.dispatch(again);
    expect(line.submitted).toHaveLength(1);
  });

  test("a refused message is rejected with the carrier's code and never tried again", async () => {
    const message = await shop.accept();
    shop.carrier.answer = () => ({
      kind: "refused",
      fault: "message",
      code: "0x0B",
      description: "Invalid destination",
    });
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({
      state: "rejected",
      errorCode: "0x0B",
      description: "Invalid destination",
    });
    shop.clock.advance(3_000_000);
    expect(await shop.claim()).toEqual([]);
  });

  test("a busy carrier gets the message again after a pause that grows", async () => {
    const message = await shop.accept();
    shop.carrier.answer = () => ({ kind: "busy" });
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "accepted", attempts: 1 });
    expect(await shop.claim(), "not before its time").toEqual([]);
    shop.clock.advance(1200);
    const [again] = await shop.claim();
    expect(again).toMatchObject({ attempts: 1, state: "accepted" });
    if (again) await shop.dispatch(again);
    shop.clock.advance(1200);
    expect(await shop.claim(), "the second pause is longer").toEqual([]);
    shop.clock.advance(6000);
    expect(await shop.claim()).toHaveLength(1);
  });

  test("a busy carrier that names its pause is believed", async () => {
    const message = await shop.accept();
    shop.carrier.answer = () => ({ kind: "busy", retryAfterMs: 90_000 });
    await shop.dispatch(message);
    shop.clock.advance(89_999);
    expect(await shop.claim()).toEqual([]);
    shop.clock.advance(1);
    expect(await shop.claim()).toHaveLength(1);
  });

  test("a message past its validity is Failed as EXPIRED_IN_QUEUE and never sent", async () => {
    const message = await shop.accept("OTP", 300_000);
    shop.clock.advance(300_000);
    await shop.dispatch(message);
    expect(shop.carrier.submitted).toEqual([]);
    expect(await shop.read(message)).toMatchObject({
      state: "expired",
      errorCode: "EXPIRED_IN_QUEUE",
      doneAt: shop.clock.now(),
    });
  });

  test.each<[RouteClass, string]>([
    ["OTP", "is sent again"],
    ["TRANS", "is sent again"],
  ])("%s in doubt %s", async (routeClass) => {
    const message = await shop.accept(routeClass);
    shop.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "submitting" });
    shop.clock.advance(1200);
    const [again] = await shop.claim();
    shop.carrier.answer = () => ({ kind: "taken", carrierMessageId: "c-2" });
    if (again) await shop.dispatch(again);
    expect(await shop.read(message)).toMatchObject({ state: "submitted", attempts: 2 });
    expect(shop.carrier.submitted).toHaveLength(2);
  });

  test("a message in doubt is sent again five times at most; then it waits for its receipt until its validity ends", async () => {
    const message = await shop.accept("OTP", 86_400_000);
    shop.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await shop.dispatch(message);
    for (let round = 0; round < 8; round += 1) {
      shop.clock.advance(400_000);
      await shop.needs.membership.beat();
      for (const each of await shop.claim()) await shop.dispatch(each);
    }
    expect(shop.carrier.submitted).toHaveLength(6);
    const { state, repeats, dueAt, expiresAt } = await shop.read(message);
    expect({ state, repeats, dueAt }).toEqual({ state: "submitting", repeats: 5, dueAt: expiresAt });
    shop.clock.advance(86_400_000);
    await shop.needs.membership.beat();
    for (const each of await shop.claim()) await shop.dispatch(each);
    expect(shop.carrier.submitted).toHaveLength(6);
    expect(await shop.read(message)).toMatchObject({ state: "unknown", errorCode: "SUBMIT_UNCONFIRMED" });
  });

  test("a repeat that a carrier certainly did not take is not counted as one", async () => {
    const message = await shop.accept("TRANS", 86_400_000);
    shop.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await shop.dispatch(message);
    for (const answer of [{ kind: "busy" }, { kind: "down", description: "Not bound" }] as const) {
      shop.carrier.answer = () => answer;
      shop.clock.advance(400_000);
      await shop.needs.membership.beat();
      for (const each of await shop.claim()) await shop.dispatch(each);
    }
    expect(shop.carrier.submitted).toHaveLength(3);
    expect(await shop.read(message)).toMatchObject({ state: "submitting", attempts: 3, repeats: 0 });
    // Nor one that this node did not send, because the others have declared it dead.
    shop.clock.advance(400_000);
    for (const each of await shop.claim()) await shop.dispatch(each);
    expect(shop.carrier.submitted).toHaveLength(3);
    expect(await shop.read(message)).toMatchObject({ state: "submitting", attempts: 4, repeats: 0 });
  });

  test("a carrier that throws leaves the message in doubt, not lost", async () => {
    const message = await shop.accept();
    shop.carrier.answer = () => {
      throw new Error("socket hang up");
    };
    await shop.dispatch(message);
    shop.clock.advance(1200);
    expect(await shop.claim()).toHaveLength(1);
  });

  test("PROMO in doubt is sent again by a carrier that knows a repeat, five times at most, and by no other", async () => {
    const [knowing, other] = [shop.addCarrier("knowing"), shop.addCarrier("other")];
    knowing.repeatsSafely = true;
    shop.route("Everything to the simulator", { carrier: "knowing", priority: 1 });
    shop.route("Second choice", { carrier: "other", priority: 2 });
    const message = await shop.accept("PROMO", 86_400_000);
    knowing.answer = () => ({ kind: "unknown", description: "The line broke" });
    await shop.dispatch(message);
    for (let round = 0; round < 8; round += 1) {
      shop.clock.advance(400_000);
      await shop.needs.membership.beat();
      for (const each of await shop.claim()) await shop.dispatch(each);
    }
    expect([knowing.submitted.length, other.submitted.length]).toEqual([6, 0]);
    expect(await shop.read(message)).toMatchObject({ state: "submitting", repeats: 5, carrier: "1/knowing" });
  });

  test("PROMO in doubt is sent again by the carrier that knows a repeat also when the first route leads elsewhere by now", async () => {
    const [knowing, other] = [shop.addCarrier("knowing"), shop.addCarrier("other")];
    knowing.repeatsSafely = true;
    shop.route("Everything to the simulator", { carrier: "knowing", priority: 2 });
    const message = await shop.accept("PROMO");
    knowing.answer = () => ({ kind: "unknown", description: "The line broke" });
    await shop.dispatch(message);
    shop.route("First choice", { carrier: "other", priority: 1 });
    knowing.answer = () => ({ kind: "taken", carrierMessageId: "c-3" });
    shop.clock.advance(1200);
    for (const each of await shop.claim()) await shop.dispatch(each);
    expect([knowing.submitted.length, other.submitted.length]).toEqual([2, 0]);
    expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: "1/knowing" });
  });

  describe("a message in doubt whose id the carrier knows beforehand", () => {
    const delivered = { carrier: "scripted", carrierMessageId: "known", errorCode: null, description: null } as const;

    test("is known to have arrived by its receipt, though no answer ever comes", async () => {
      const message = await shop.accept("PROMO");
      shop.carrier.answer = () => ({ kind: "unknown", description: "The line broke", carrierMessageId: "known" });
      await shop.dispatch(message);
      expect(await shop.read(message)).toMatchObject({ state: "submitting" });
      await report(shop.needs, { ...delivered, state: "delivered", at: shop.clock.now() });
      expect(await shop.read(message)).toMatchObject({ state: "delivered" });
    });

    test("is known to have arrived when its receipt came before the line broke", async () => {
      const message = await shop.accept("PROMO");
      shop.carrier.answer = async () => {
        await report(shop.needs, { ...delivered, state: "delivered", at: shop.clock.now() });
        return { kind: "unknown", description: "The line broke", carrierMessageId: "known" };
      };
      await shop.dispatch(message);
      expect(await shop.read(message)).toMatchObject({ state: "delivered" });
      expect((await shop.store.listParked({}, null, 10)).rows).toEqual([]);
    });
  });

  test("PROMO in doubt is not sent again; it waits for its receipt until its validity ends, then it is unknown", async () => {
    const message = await shop.accept("PROMO", 60_000);
    shop.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await shop.dispatch(message);
    shop.clock.advance(59_999);
    expect(await shop.claim()).toEqual([]);
    shop.clock.advance(1);
    const [again] = await shop.claim();
    if (again) await shop.dispatch(again);
    expect(shop.carrier.submitted).toHaveLength(1);
    expect(await shop.read(message)).toMatchObject({ state: "unknown", errorCode: "SUBMIT_UNCONFIRMED" });
  });

  test.each<[RouteClass, number]>([
    ["TRANS", 1],
    ["PROMO", 0],
  ])(
    "%s that a crash left in doubt is submitted %i more times by the node that takes it over",
    async (routeClass, times) => {
      const message = await shop.accept(routeClass);
      const dead = shop.needs.membership.node;
      await shop.store.move([
        { ...message, to: "submitting", at: shop.clock.now(), owner: dead, ownedBy: dead, carrier: "scripted" },
      ]);
      await shop.needs.membership.join();
      const [taken] = await shop.claim(dead);
      expect(taken).toMatchObject({ state: "submitting" });
      if (taken) await shop.dispatch(taken);
      expect(shop.carrier.submitted).toHaveLength(times);
      expect((await shop.read(message)).state).toBe(times === 1 ? "submitted" : "submitting");
    },
  );

  test("a message that another node has taken is not sent", async () => {
    const message = await shop.accept();
    await shop.needs.membership.join();
    await shop.dispatch(message);
    expect(shop.carrier.submitted).toEqual([]);
    expect((await shop.read(message)).state).toBe("accepted");
  });

  test("a node that has not been heard of for too long does not send, and the message is free for others", async () => {
    const message = await shop.accept();
    shop.clock.advance(30_000);
    await shop.dispatch(message);
    expect(shop.carrier.submitted).toEqual([]);
    expect(await shop.claim()).toHaveLength(1);
  });

  test("busy at a repeat leaves the first try in doubt: its receipt still counts", async () => {
    const message = await shop.accept();
    shop.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await shop.dispatch(message);
    shop.clock.advance(1200);
    const [again] = await shop.claim();
    shop.carrier.answer = () => ({ kind: "busy" });
    if (again) await shop.dispatch(again);
    expect((await shop.read(message)).state).toBe("submitting");
  });

  test("a node that slept past a message's validity does not end it when another has sent it", async () => {
    const message = await shop.accept("OTP", 60_000);
    const sleeper = shop.needs.membership.node;
    await shop.store.move([
      { ...message, to: "submitting", at: 1, owner: NOBODY, ownedBy: sleeper, carrier: "scripted" },
    ]);
    await shop.store.move([{ ...message, to: "submitted", at: 2, owner: NOBODY, carrier: "scripted" }]);
    shop.clock.advance(60_000);
    await shop.dispatch(message);
    expect((await shop.read(message)).state).toBe("submitted");
  });

  test("a fault of our own in the middle leaves the message for a later try, not for nobody", async () => {
    const message = await shop.accept();
    const lanes = new Lanes(10);
    lanes.push(message);
    const carriers = {
      find(): never {
        throw new Error("a bug");
      },
    };
    const dispatcher = new Dispatcher({ ...shop.needs, carriers, lanes }, 10);
    dispatcher.wake();
    await dispatcher.stop();
    shop.clock.advance(60_000);
    expect(await shop.claim()).toHaveLength(1);
  });

  test("an answer of busy that comes after another node took the message over changes nothing", async () => {
    const message = await shop.accept();
    shop.carrier.answer = async () => {
      const before = shop.needs.membership.node;
      await shop.needs.membership.join();
      await shop.claim(before);
      return { kind: "busy" };
    };
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "submitting" });
  });
});
