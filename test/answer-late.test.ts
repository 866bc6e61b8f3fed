import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KnownOutcome, Receipt } from "../src/carriers/carrier.ts";
import { answerLate } from "../src/messages/answer-late.ts";
import { report } from "../src/messages/report.ts";
import type { Message, RouteClass } from "../src/model/message.ts";
import { readTrail } from "../src/model/trail.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop, type ScriptedCarrier } from "./support/workshop.ts";

const REFUSED = { kind: "refused", fault: "message", code: "0x0B", description: "Invalid destination" } as const;

describe.each(ENGINES)("an answer that comes late on %s", (engine) => {
  let shop: Workshop;
  let line: ScriptedCarrier;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    line = shop.addCarrier("north");
    shop.route("Everything to the simulator", { carrier: "north" });
  });
  afterEach(() => shop.close());

  async function inDoubt(routeClass: RouteClass = "TRANS"): Promise<Message> {
    const message = await shop.accept(routeClass);
    line.answer = () => ({ kind: "unknown", description: "The carrier did not answer in time" });
    await shop.dispatch(message);
    return message;
  }
  const answer = (message: Message, outcome: KnownOutcome): Promise<void> => {
    const { accountId, requestId, n } = message;
    return answerLate(shop.needs, { message: { accountId, requestId, n }, carrier: line.name, outcome });
  };
  const receipt = (carrierMessageId: string, state: Receipt["state"] = "delivered"): Receipt => ({
    carrier: line.name,
    carrierMessageId,
    state,
    errorCode: null,
    description: null,
    at: shop.clock.now(),
  });
  /** Sends again what is due. */
  async function again(): Promise<number> {
    shop.clock.advance(1200);
    const claimed = await shop.claim();
    for (const each of claimed) await shop.dispatch(each);
    return claimed.length;
  }

  test("ends the doubt: the message was taken, is not sent again, and its receipt finds it", async () => {
    const message = await inDoubt();
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    expect(await shop.read(message)).toMatchObject({ state: "submitted", carrier: line.name, attempts: 1 });
    expect(await again()).toBe(0);
    await report(shop.needs, receipt("c-1"));
    expect(await shop.read(message)).toMatchObject({ state: "delivered" });
    expect(line.submitted).toHaveLength(1);
  });

  test("settles the receipts that had come before it, of all parts", async () => {
    const message = await inDoubt("PROMO");
    for (const id of ["c-1", "c-2"]) await report(shop.needs, receipt(id));
    expect(await shop.read(message)).toMatchObject({ state: "submitting" });
    await answer(message, { kind: "taken", carrierMessageId: "c-1", partIds: ["c-1", "c-2"] });
    expect(await shop.read(message)).toMatchObject({ state: "delivered" });
  });

  test("after a repeat was taken changes nothing but that receipts of both are known", async () => {
    const message = await inDoubt();
    line.answer = () => ({ kind: "taken", carrierMessageId: "c-2" });
    await again();
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    const { state, attempts, repeats, trail } = await shop.read(message);
    expect({ state, attempts, repeats }).toEqual({ state: "submitted", attempts: 2, repeats: 1 });
    expect(readTrail(trail).at(-1)).toMatchObject({ step: "answer", outcome: "taken", late: true });
    await report(shop.needs, receipt("c-1"));
    expect(await shop.read(message)).toMatchObject({ state: "delivered" });
  });

  test("does not take a message back that has come to its end", async () => {
    const message = await inDoubt("PROMO");
    shop.clock.advance(3_600_000);
    await again();
    expect(await shop.read(message)).toMatchObject({ state: "unknown" });
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    expect(await shop.read(message)).toMatchObject({ state: "unknown" });
    await report(shop.needs, receipt("c-1"));
    expect(await shop.read(message)).toMatchObject({ state: "delivered" });
  });

  test("leaves a message with the carrier that it has gone on to", async () => {
    const message = await inDoubt();
    const ref = { accountId: 1, requestId: message.requestId, n: 1, at: shop.clock.now(), owner: 0 };
    await shop.store.move([
      { ...ref, to: "accepted", carrier: "" },
      { ...ref, to: "submitting", carrier: "1/south" },
    ]);
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    expect(await shop.read(message)).toMatchObject({ state: "submitting", carrier: "1/south" });
  });

  test("plans the next route for a silent carrier as an answer in time would", async () => {
    shop.route("Everything to the simulator", { carrier: "north", failoverAfterSeconds: 60 });
    const message = await inDoubt();
    await answer(message, { kind: "taken", carrierMessageId: "c-1" });
    const due = await shop.store.listFailovers(shop.clock.now() + 60_000, 10);
    expect(due).toMatchObject([{ requestId: message.requestId }]);
  });

  test("that refuses the message ends it, as long as it was sent once only", async () => {
    const message = await inDoubt();
    await answer(message, REFUSED);
    expect(await shop.read(message)).toMatchObject({ state: "rejected", errorCode: "0x0B" });
  });

  test("that refuses what has been sent again says nothing of the second try", async () => {
    const message = await inDoubt();
    await again();
    await answer(message, REFUSED);
    expect(await shop.read(message)).toMatchObject({ state: "submitting", repeats: 1 });
    const { trail } = await shop.read(message);
    expect(readTrail(trail).at(-1)).toMatchObject({ step: "answer", outcome: "refused", late: true });
  });

  test("that refuses what is being sent again at this moment says nothing of the second try", async () => {
    const message = await inDoubt();
    shop.clock.advance(1200);
    const [taken] = await shop.claim();
    await answer(message, REFUSED);
    expect(await shop.read(message)).toMatchObject({ state: "submitting" });
    line.answer = () => ({ kind: "taken", carrierMessageId: "c-2" });
    if (taken) await shop.dispatch(taken);
    expect(await shop.read(message)).toMatchObject({ state: "submitted" });
  });

  test.each<KnownOutcome>([
    { kind: "busy" },
    { kind: "down", description: "Not bound" },
    { ...REFUSED, fault: "carrier" },
  ])("that says it was not taken this time makes a promotion as good as new: $kind", async (outcome) => {
    const message = await inDoubt("PROMO");
    await answer(message, outcome);
    expect(await shop.read(message)).toMatchObject({ state: "accepted" });
    line.answer = () => ({ kind: "taken", carrierMessageId: "c-2" });
    expect(await again()).toBe(1);
    expect(await shop.read(message)).toMatchObject({ state: "submitted" });
  });

  test("to a message that is gone is no news", async () => {
    const message = await inDoubt();
    await answer({ ...message, n: 2 }, { kind: "taken", carrierMessageId: "c-1" });
    expect(await shop.read(message)).toMatchObject({ state: "submitting" });
  });
});
