import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../src/lib/log.ts";
import { cancelMessage, cancelRequest } from "../src/messages/cancel.ts";
import { Dispatcher } from "../src/messages/dispatcher.ts";
import { failOver } from "../src/messages/fail-over.ts";
import type { Message, MessageRef } from "../src/model/message.ts";
import { readTrail } from "../src/model/trail.ts";
import { NOBODY, type Move } from "../src/store/store.ts";
import { createGroupCommit } from "../src/work/group-commit.ts";
import { Lanes } from "../src/work/lanes.ts";
import { ENGINES } from "./support/engines.ts";
import { openHouse, type Envelope, type ErrorBody, type House } from "./support/house.ts";
import { Workshop } from "./support/workshop.ts";

describe.each(ENGINES)("cancelling on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  const refOf = ({ accountId, requestId, n }: Message): MessageRef => ({ accountId, requestId, n });
  const cancel = (message: Message) => cancelMessage({ ...shop.needs, store: shop.store }, refOf(message));
  const move = (message: Message, to: Move["to"]) =>
    shop.needs.commits.move.add({ ...refOf(message), to, at: shop.clock.now(), owner: NOBODY });

  test("a message that waits ends as cancelled, and its trail says so", async () => {
    const message = await shop.accept();
    expect(await cancel(message)).toEqual({ cancelled: 1, tooLate: 0 });
    const stored = await shop.read(message);
    expect(stored).toMatchObject({ state: "cancelled", errorCode: "CANCELLED", doneAt: shop.clock.now() });
    expect(stored.description).toBe("The message was cancelled before it was sent.");
    expect(readTrail(stored.trail)).toEqual([{ at: shop.clock.now(), step: "changed", what: "cancelled" }]);
  });

  test("a message that lies in this node's lanes is not sent afterwards", async () => {
    const message = await shop.accept();
    const kept = await shop.accept();
    const lanes = new Lanes(10);
    const dispatcher = new Dispatcher({ ...shop.needs, lanes }, 10);
    lanes.push(message);
    lanes.push(kept);
    await cancel(message);
    dispatcher.wake();
    await dispatcher.stop();
    expect(shop.carrier.submitted.map(({ requestId }) => requestId)).toEqual([kept.requestId]);
    expect(await shop.read(message)).toMatchObject({ state: "cancelled", attempts: 0 });
  });

  test("a message that another node has in its lanes is not sent afterwards", async () => {
    const message = await shop.accept();
    const { clock, store, needs } = shop;
    const otherNode = createGroupCommit({ store, clock, log: createLog("silent") }, { acceptBacklog: 10 });
    await cancelMessage({ store, commits: otherNode, clock, meters: needs.meters }, refOf(message));
    await shop.dispatch(message);
    expect(shop.carrier.submitted).toEqual([]);
    expect((await shop.read(message)).state).toBe("cancelled");
  });

  test("between the intent to send and the carrier's answer it is too late", async () => {
    const message = await shop.accept();
    let told: unknown;
    shop.carrier.answer = async () => {
      told = await cancel(message);
      return { kind: "taken", carrierMessageId: "x" };
    };
    await shop.dispatch(message);
    expect(told).toEqual({ cancelled: 0, tooLate: 1 });
    expect((await shop.read(message)).state).toBe("submitted");
  });

  test.each(["submitting", "submitted", "delivered", "undelivered"] as const)(
    "a message that is %s is left as it is",
    async (state) => {
      const message = await shop.accept();
      await move(message, "submitting");
      if (state !== "submitting") await move(message, state);
      const before = await shop.read(message);
      expect(await cancel(message)).toEqual({ cancelled: 0, tooLate: 1 });
      expect(await shop.read(message)).toEqual(before);
    },
  );

  test("a message that waits for its second route has been with the first carrier: it is too late", async () => {
    shop.addCarrier("silent");
    shop.addCarrier("second");
    shop.route("First", { carrier: "silent", priority: 1, failoverAfterSeconds: 1 });
    shop.route("Second", { carrier: "second", priority: 2 });
    const message = await shop.accept();
    await shop.dispatch(message);
    shop.clock.advance(1500);
    await failOver(shop.needs);
    expect((await shop.read(message)).state).toBe("accepted");
    expect(await cancel(message)).toEqual({ cancelled: 0, tooLate: 1 });
  });

  test("of many calls at the same moment, all have what they asked for and one writes it down", async () => {
    const message = await shop.accept();
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(message)));
    for (const answer of answers) expect(answer).toEqual({ cancelled: 1, tooLate: 0 });
    expect(readTrail((await shop.read(message)).trail)).toHaveLength(1);
  });

  test("a message races with its sending: it is either sent or cancelled, never both", async () => {
    const messages: Message[] = [];
    for (let count = 0; count < 40; count += 1) messages.push(await shop.accept());
    const answers = await Promise.all(
      messages.map(async (message, index) => {
        const sending = index % 2 === 0 ? shop.dispatch(message) : null;
        const answer = await cancel(message);
        await (sending ?? shop.dispatch(message));
        return answer;
      }),
    );
    for (const [index, message] of messages.entries()) {
      const wasSent = shop.carrier.submitted.some(({ requestId }) => requestId === message.requestId);
      expect(answers[index]).toEqual({ cancelled: wasSent ? 0 : 1, tooLate: wasSent ? 1 : 0 });
      expect((await shop.read(message)).state).toBe(wasSent ? "submitted" : "cancelled");
    }
  });

  test("there is nothing to cancel where there is no message", async () => {
    const message = await shop.accept();
    const needs = { ...shop.needs, store: shop.store };
    expect(await cancelMessage(needs, { ...refOf(message), n: 2 })).toBeNull();
    expect(await cancelMessage(needs, { ...refOf(message), accountId: 2 })).toBeNull();
    expect(await cancelRequest(needs, 2, message.requestId)).toBeNull();
  });
});

describe.each(ENGINES)("POST /v1/messages/{messageId}/cancel on %s", (engine) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(engine);
  });
  afterAll(() => house.close());

  const later = () => ({ sendAt: Date.now() + 3_600_000 });
  const cancel = (id: string) =>
    house.ask<{ cancelled: number; tooLate: number; error: ErrorBody | null }>("POST", `/v1/messages/${id}/cancel`);

  test("a message to be sent later is cancelled, and cancelling it again changes nothing", async () => {
    const messageId = (await house.send(later())).body.data[0]?.messageId ?? "";
    const first = await cancel(messageId);
    expect([first.status, first.body]).toEqual([200, { cancelled: 1, tooLate: 0 }]);
    const message = await house.message(messageId);
    expect(message).toMatchObject({ status: "Failed", state: "cancelled", errCode: "CANCELLED", dueAt: null });
    expect(message.timeline.map(({ event }) => event)).toEqual(["accepted", "held", "cancelled"]);
    const second = await cancel(messageId);
    expect([second.status, second.body]).toEqual([200, { cancelled: 1, tooLate: 0 }]);
    expect(await house.message(messageId)).toEqual(message);
  });

  test("a message that was sent is 409", async () => {
    const messageId = (await house.send()).body.data[0]?.messageId ?? "";
    await house.settled(messageId);
    const { status, body } = await cancel(messageId);
    expect([status, body.error?.code]).toEqual([409, "NOT_CANCELLABLE"]);
  });

  test("the id of a request cancels all of it that can be, and counts", async () => {
    const { body } = await house.ask<Envelope>("POST", "/v1/sms", {
      sender: "HELIOG",
      to: ["15550100100", "not a number", "15550100101"],
      text: "Hello",
      type: "TRANS",
      ...later(),
    });
    const answer = await cancel(body.id ?? "");
    expect([answer.status, answer.body]).toEqual([200, { cancelled: 2, tooLate: 1 }]);
    expect((await house.message(`${body.id}:3`)).state).toBe("cancelled");
  });

  test("what it would have cost is given back", async () => {
    await house.ask("POST", "/api/credits", { amount: 5 });
    await house.ask("PATCH", "/api/account", { credits: "metered" });
    const balance = async () => (await house.ask<{ balance: number; held: number }>("GET", "/api/credits")).body;
    const { body } = await house.send({ to: "15550100100,15550100101", ...later() });
    expect(await balance()).toMatchObject({ balance: 3, held: 2 });
    await cancel(`${body.id}:2`);
    expect(await balance()).toMatchObject({ balance: 4, held: 1 });
    await cancel(body.id ?? "");
    expect(await balance()).toMatchObject({ balance: 5, held: 0 });
    await house.ask("PATCH", "/api/account", { credits: "unlimited" });
  });

  test.each(["none", "01a1de2e-8887-76e5-817a-2cae74cadaf2", "01a1de2e-8887-76e5-817a-2cae74cadaf2:1"])(
    "%s is 404",
    async (id) => {
      const { status, body } = await cancel(id);
      expect([status, body.error?.code]).toEqual([404, "MESSAGE_NOT_FOUND"]);
    },
  );
});
