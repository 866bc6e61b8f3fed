import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Receipt } from "../src/carriers/carrier.ts";
import { newId } from "../src/lib/ids.ts";
import { report, settleParked } from "../src/messages/report.ts";
import type { Message } from "../src/model/message.ts";
import { readTrail } from "../src/model/trail.ts";
import { isDelivery } from "../src/store/as-known.ts";
import type { Move } from "../src/store/store.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop } from "./support/workshop.ts";

describe.each(ENGINES)("delivery receipts on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  const receipt = (state: Receipt["state"], carrierMessageId = "c-1"): Receipt => ({
    carrier: "scripted",
    carrierMessageId,
    state,
    errorCode: state === "delivered" ? "000" : "017",
    description: `The carrier says ${state}`,
    at: shop.clock.now(),
  });
  async function submitted(): Promise<Message> {
    const message = await shop.accept();
    shop.carrier.answer = () => ({ kind: "taken", carrierMessageId: "c-1" });
    await shop.dispatch(message);
    return message;
  }

  test("delivered makes the message delivered, at the carrier's time and with its words", async () => {
    const message = await submitted();
    shop.clock.advance(1500);
    await report(shop.needs, receipt("delivered"));
    expect(await shop.read(message)).toMatchObject({
      state: "delivered",
      errorCode: "000",
      description: "The carrier says delivered",
      doneAt: shop.clock.now(),
    });
  });

  test("a store is told what is known of a message that has come to its phone, unless it has to look all the same", async () => {
    const { move } = shop.needs.commits;
    const written: Move[] = [];
    shop.needs.commits.move = { ...move, add: (step) => (written.push(step), move.add(step)) };
    const delivered = async (): Promise<boolean | undefined> => {
      await submitted();
      await report(shop.needs, receipt("delivered"));
      return written
        .filter(({ to }) => to === "delivered")
        .map(isDelivery)
        .at(-1);
    };
    expect(await delivered()).toBe(true);
    await shop.store.addCredits(1, { id: newId(1), amount: 5, note: null, at: 1 });
    shop.settings = { ...shop.settings, credits: "metered" };
    expect(await delivered()).toBe(false);
  });

  test("a repeated receipt changes nothing but the trail", async () => {
    const message = await submitted();
    await report(shop.needs, receipt("delivered"));
    const first = await shop.read(message);
    shop.clock.advance(1000);
    await report(shop.needs, receipt("delivered"));
    const again = await shop.read(message);
    expect({ ...again, trail: null }).toEqual({ ...first, trail: null });
    expect(readTrail(again.trail)).toHaveLength(readTrail(first.trail).length + 1);
  });

  test("receipts out of order never take the message backwards", async () => {
    const message = await submitted();
    await report(shop.needs, receipt("delivered"));
    await report(shop.needs, receipt("enroute"));
    expect((await shop.read(message)).state).toBe("delivered");
  });

  test("contradictory receipts: the first end stands", async () => {
    const message = await submitted();
    await report(shop.needs, receipt("undelivered"));
    await report(shop.needs, receipt("delivered"));
    expect((await shop.read(message)).state).toBe("undelivered");
  });

  test("a late delivered overrules failed by expiry", async () => {
    const message = await submitted();
    await report(shop.needs, receipt("expired"));
    shop.clock.advance(60_000);
    await report(shop.needs, receipt("delivered"));
    expect(await shop.read(message)).toMatchObject({ state: "delivered", doneAt: shop.clock.now() });
  });

  test("unknown is no end: whatever comes after it counts", async () => {
    const message = await submitted();
    await report(shop.needs, receipt("unknown"));
    expect(await shop.read(message)).toMatchObject({ state: "unknown", doneAt: null });
    await report(shop.needs, receipt("undelivered"));
    expect((await shop.read(message)).state).toBe("undelivered");
  });

  test("a receipt that comes before the answer to the submit is kept and applied with it", async () => {
    const message = await shop.accept();
    shop.carrier.answer = async () => {
      await report(shop.needs, receipt("delivered"));
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "delivered", submittedAt: shop.clock.now() });
    expect(await shop.store.parkedWithMessage(10)).toEqual([]);
  });

  test("early receipts are applied in the order they came", async () => {
    const message = await shop.accept();
    shop.carrier.answer = async () => {
      await report(shop.needs, receipt("enroute"));
      await report(shop.needs, receipt("expired"));
      await report(shop.needs, receipt("delivered"));
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    await shop.dispatch(message);
    expect((await shop.read(message)).state).toBe("delivered");
  });

  test("a receipt for an id that nobody knows is kept for seven days and changes nothing", async () => {
    const message = await submitted();
    await report(shop.needs, receipt("delivered", "never-heard-of"));
    expect((await shop.read(message)).state).toBe("submitted");
    const day = 86_400_000;
    expect(await shop.store.forget({ idempotency: 0, parked: shop.clock.now() - 7 * day })).toBe(0);
    shop.clock.advance(7 * day + 1);
    expect(await shop.store.forget({ idempotency: 0, parked: shop.clock.now() - 7 * day })).toBe(1);
  });

  test("a parked receipt whose submit becomes known is found by the job and settled", async () => {
    const message = await shop.accept();
    await report(shop.needs, receipt("delivered"));
    // The submit's answer is written by a process that dies before it can apply what was parked.
    const { node } = shop.needs.membership;
    await shop.store.move([{ ...message, to: "submitting", at: 1, owner: node, carrier: "scripted" }]);
    await shop.store.move([
      { ...message, to: "submitted", at: 2, owner: 0, carrier: "scripted", carrierMessageId: "c-1" },
    ]);
    const [parked] = await shop.store.parkedWithMessage(10);
    if (parked) await settleParked(shop.needs, parked.ref, [parked]);
    expect((await shop.read(message)).state).toBe("delivered");
    expect(await shop.store.parkedWithMessage(10)).toEqual([]);
  });

  test("a receipt that echoes our own id is matched though the answer to the submit was lost", async () => {
    const message = await shop.accept("PROMO");
    shop.carrier.answer = () => ({ kind: "unknown", description: "The line broke" });
    await shop.dispatch(message);
    await report(shop.needs, { ...receipt("delivered", "c-9"), ref: message });
    expect(await shop.read(message)).toMatchObject({ state: "delivered", submittedAt: shop.clock.now() });
  });

  test("a receipt that echoes an id of ours that is in no record is kept like any that fits nothing", async () => {
    const message = await submitted();
    await report(shop.needs, { ...receipt("delivered", "c-9"), ref: { ...message, n: 7 } });
    expect((await shop.store.listParked({}, null, 10)).rows).toMatchObject([{ receipt: { carrierMessageId: "c-9" } }]);
    await report(shop.needs, { ...receipt("delivered"), ref: message });
    await report(shop.needs, { ...receipt("delivered"), ref: message });
    expect((await shop.store.listParked({}, null, 10)).rows).toHaveLength(1);
  });

  test("many receipts at once, doubled and shuffled, leave every message delivered once", async () => {
    const messages = await Promise.all(Array.from({ length: 50 }, () => shop.accept()));
    shop.carrier.answer = (message) => ({ kind: "taken", carrierMessageId: message.requestId });
    await Promise.all(messages.map((message) => shop.dispatch(message)));
    const receipts = messages.flatMap((message) => [
      receipt("enroute", message.requestId),
      receipt("delivered", message.requestId),
      receipt("delivered", message.requestId),
    ]);
    await Promise.all(receipts.toSorted(() => Math.random() - 0.5).map((each) => report(shop.needs, each)));
    for (const message of messages) expect((await shop.read(message)).state).toBe("delivered");
  });
});
