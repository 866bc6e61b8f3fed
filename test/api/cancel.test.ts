import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Carrier } from "../../src/carriers/carrier.ts";
import { createLog } from "../../src/lib/log.ts";
import { cancelMessage, cancelRequest } from "../../src/pipeline/cancel.ts";
import { Dispatcher } from "../../src/pipeline/dispatch/dispatcher.ts";
import { failOver } from "../../src/pipeline/dispatch/failover.ts";
import type { Message, MessageRef } from "../../src/model/message.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { UNOWNED } from "../../src/store/store.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { PriorityQueues } from "../../src/pipeline/dispatch/priority-queues.ts";
import { ENGINES } from "../support/engines.ts";
import { startTestServer, type Envelope, type ErrorBody, type TestServer } from "../support/test-server.ts";
import { TestPipeline } from "../support/test-pipeline.ts";
import { transitionTo, type TransitionFields } from "../support/transitions.ts";

describe.each(ENGINES)("cancelling on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const refOf = ({ accountId, requestId, n }: Message): MessageRef => ({ accountId, requestId, n });
  const cancel = (message: Message) => cancelMessage({ ...pipeline.deps, store: pipeline.store }, refOf(message));
  const carriersWith = (revoke: NonNullable<Carrier["revoke"]>) => ({
    find: () => Object.assign(Object.create(pipeline.carrier) as Carrier, { revoke }),
  });
  const move = (message: MessageRef, to: TransitionFields["to"]) =>
    pipeline.deps.commits.move.add(
      transitionTo({ ...refOf(message as Message), to, at: pipeline.clock.now(), owner: UNOWNED }),
    );

  test("a waiting message becomes cancelled, and its timeline shows it", async () => {
    const message = await pipeline.accept();
    expect(await cancel(message)).toEqual({ cancelled: 1, revoked: 0, tooLate: 0 });
    const stored = await pipeline.read(message);
    expect(stored).toMatchObject({ state: "cancelled", errorCode: "CANCELLED", doneAt: pipeline.clock.now() });
    expect(stored.description).toBe("The message was cancelled before it was sent.");
    expect(decodeTimeline(stored.timeline)).toEqual([{ at: pipeline.clock.now(), step: "changed", what: "cancelled" }]);
  });

  test("a message in this node's queues is not sent afterwards", async () => {
    const message = await pipeline.accept();
    const kept = await pipeline.accept();
    const queues = new PriorityQueues(10);
    const dispatcher = new Dispatcher({ ...pipeline.deps, queues }, 10);
    queues.push(message);
    queues.push(kept);
    await cancel(message);
    dispatcher.wake();
    await dispatcher.stop();
    expect(pipeline.carrier.submitted.map(({ requestId }) => requestId)).toEqual([kept.requestId]);
    expect(await pipeline.read(message)).toMatchObject({ state: "cancelled", attempts: 0 });
  });

  test("a message in another node's queues is not sent afterwards", async () => {
    const message = await pipeline.accept();
    const { clock, store, deps } = pipeline;
    const otherNode = createGroupCommit({ store, clock, log: createLog("silent") }, { acceptBacklog: 10 });
    await cancelMessage({ store, commits: otherNode, clock, metrics: deps.metrics }, refOf(message));
    await pipeline.dispatch(message);
    expect(pipeline.carrier.submitted).toEqual([]);
    expect((await pipeline.read(message)).state).toBe("cancelled");
  });

  test("cancelling is too late between the intent and the carrier's response", async () => {
    const message = await pipeline.accept();
    let told: unknown;
    pipeline.carrier.answer = async () => {
      told = await cancel(message);
      return { kind: "taken", carrierMessageId: "x" };
    };
    await pipeline.dispatch(message);
    expect(told).toEqual({ cancelled: 0, revoked: 0, tooLate: 1 });
    expect((await pipeline.read(message)).state).toBe("submitted");
  });

  test.each(["submitting", "submitted", "delivered", "undelivered"] as const)(
    "a message that is %s is left as it is",
    async (state) => {
      const message = await pipeline.accept();
      await move(message, "submitting");
      if (state !== "submitting") await move(message, state);
      const before = await pipeline.read(message);
      expect(await cancel(message)).toEqual({ cancelled: 0, revoked: 0, tooLate: 1 });
      expect(await pipeline.read(message)).toEqual(before);
    },
  );

  test("a message that its carrier calls back ends as expired, and its fallback is not sent", async () => {
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    const revoked: string[] = [];
    const carriers = carriersWith(async ({ requestId }) => {
      revoked.push(requestId);
      return { kind: "accepted" };
    });
    const deps = { ...pipeline.deps, store: pipeline.store, carriers };
    // A repeated call gets the same answer.
    for (const _ of [1, 2])
      expect(await cancelMessage(deps, refOf(message))).toEqual({ cancelled: 0, revoked: 1, tooLate: 0 });
    expect(revoked).toEqual([message.requestId]);
    const stored = await pipeline.read(message);
    expect(stored).toMatchObject({ state: "expired", errorCode: "REVOKED" });
    expect(decodeTimeline(stored.timeline)).toContainEqual({
      at: pipeline.clock.now(),
      step: "changed",
      what: "revoked",
    });
  });

  test("two concurrent calls back of one message both succeed", async () => {
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    const asked = Promise.withResolvers<void>();
    let waiting = 0;
    const carriers = carriersWith(async () => {
      waiting += 1;
      if (waiting === 2) asked.resolve();
      await asked.promise;
      return { kind: "accepted" };
    });
    const deps = { ...pipeline.deps, store: pipeline.store, carriers };
    const results = await Promise.all([1, 2].map(() => cancelMessage(deps, refOf(message))));
    expect(results).toEqual([1, 2].map(() => ({ cancelled: 0, revoked: 1, tooLate: 0 })));
  });

  test("a delivery that was faster than the call back is reported", async () => {
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    const accepting = carriersWith(() => Promise.resolve({ kind: "accepted" }));
    await cancelMessage({ ...pipeline.deps, store: pipeline.store, carriers: accepting }, refOf(message));
    await move(message, "delivered");
    expect((await pipeline.read(message)).state).toBe("delivered");
    const other = await pipeline.accept();
    await pipeline.dispatch(other);
    const delivering = carriersWith(async (meant) => {
      await move(meant, "delivered");
      return { kind: "accepted" };
    });
    const deps = { ...pipeline.deps, store: pipeline.store, carriers: delivering };
    expect(await cancelMessage(deps, refOf(other))).toEqual({ cancelled: 0, revoked: 0, tooLate: 1 });
    expect((await pipeline.read(other)).state).toBe("delivered");
  });

  test("a message that its carrier does not call back stays with it", async () => {
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    const before = await pipeline.read(message);
    const failing = carriersWith(() => Promise.resolve({ kind: "failed", description: "no" }));
    for (const carriers of [failing, { find: () => pipeline.carrier }]) {
      const deps = { ...pipeline.deps, store: pipeline.store, carriers };
      expect(await cancelMessage(deps, refOf(message))).toEqual({ cancelled: 0, revoked: 0, tooLate: 1 });
    }
    expect(await pipeline.read(message)).toEqual(before);
  });

  test("cancelling is too late while a message waits for failover to its second route", async () => {
    pipeline.addCarrier("silent");
    pipeline.addCarrier("second");
    pipeline.route("First", { carrier: "silent", priority: 1, failoverAfterSeconds: 1 });
    pipeline.route("Second", { carrier: "second", priority: 2 });
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    pipeline.clock.advance(1500);
    await failOver(pipeline.deps);
    expect((await pipeline.read(message)).state).toBe("accepted");
    expect(await cancel(message)).toEqual({ cancelled: 0, revoked: 0, tooLate: 1 });
  });

  test("cancelling is too late if the message was sent and failed over since the cancellation read it", async () => {
    pipeline.addCarrier("silent");
    pipeline.addCarrier("second");
    pipeline.route("First", { carrier: "silent", priority: 1, failoverAfterSeconds: 1 });
    pipeline.route("Second", { carrier: "second", priority: 2 });
    const message = await pipeline.accept();
    let isRead = false;
    const findMessage: typeof pipeline.store.findMessage = async (ref) => {
      const found = await pipeline.store.findMessage(ref);
      if (isRead) return found;
      isRead = true;
      await pipeline.dispatch(message);
      pipeline.clock.advance(1500);
      await failOver(pipeline.deps);
      return found;
    };
    const store = { findMessage, listRequest: pipeline.store.listRequest.bind(pipeline.store) };
    expect(await cancelMessage({ ...pipeline.deps, store }, message)).toEqual({ cancelled: 0, revoked: 0, tooLate: 1 });
    expect((await pipeline.read(message)).state).toBe("accepted");
  });

  test("parallel cancellations all succeed, and one of them is recorded", async () => {
    const message = await pipeline.accept();
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(message)));
    for (const answer of answers) expect(answer).toEqual({ cancelled: 1, revoked: 0, tooLate: 0 });
    expect(decodeTimeline((await pipeline.read(message)).timeline)).toHaveLength(1);
  });

  test("a message is either sent or cancelled, never both", async () => {
    const messages: Message[] = [];
    for (let count = 0; count < 40; count += 1) messages.push(await pipeline.accept());
    const answers = await Promise.all(
      messages.map(async (message, index) => {
        const sending = index % 2 === 0 ? pipeline.dispatch(message) : null;
        const answer = await cancel(message);
        await (sending ?? pipeline.dispatch(message));
        return answer;
      }),
    );
    for (const [index, message] of messages.entries()) {
      const wasSent = pipeline.carrier.submitted.some(({ requestId }) => requestId === message.requestId);
      expect(answers[index]).toEqual({ cancelled: wasSent ? 0 : 1, revoked: 0, tooLate: wasSent ? 1 : 0 });
      expect((await pipeline.read(message)).state).toBe(wasSent ? "submitted" : "cancelled");
    }
  });

  test("an unknown message cannot be cancelled", async () => {
    const message = await pipeline.accept();
    const deps = { ...pipeline.deps, store: pipeline.store };
    expect(await cancelMessage(deps, { ...refOf(message), n: 2 })).toBeNull();
    expect(await cancelMessage(deps, { ...refOf(message), accountId: 2 })).toBeNull();
    expect(await cancelRequest(deps, 2, message.requestId)).toBeNull();
  });
});

describe.each(ENGINES)("POST /v1/messages/{messageId}/cancel on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const later = () => ({ sendAt: Date.now() + 3_600_000 });
  const cancel = (id: string) =>
    server.request<{ cancelled: number; revoked: number; tooLate: number; error: ErrorBody | null }>(
      "POST",
      `/v1/messages/${id}/cancel`,
    );

  test("a scheduled message is cancelled, and cancelling it again changes nothing", async () => {
    const messageId = (await server.send(later())).body.data[0]?.messageId ?? "";
    const first = await cancel(messageId);
    expect([first.status, first.body]).toEqual([200, { cancelled: 1, revoked: 0, tooLate: 0 }]);
    const message = await server.message(messageId);
    expect(message).toMatchObject({ status: "Failed", state: "cancelled", errCode: "CANCELLED", dueAt: null });
    expect(message.timeline.map(({ event }) => event)).toEqual(["accepted", "held", "cancelled"]);
    const second = await cancel(messageId);
    expect([second.status, second.body]).toEqual([200, { cancelled: 1, revoked: 0, tooLate: 0 }]);
    expect(await server.message(messageId)).toEqual(message);
  });

  test("a message that was sent is 409", async () => {
    const messageId = (await server.send()).body.data[0]?.messageId ?? "";
    await server.settled(messageId);
    const { status, body } = await cancel(messageId);
    expect([status, body.error?.code]).toEqual([409, "NOT_CANCELLABLE"]);
  });

  test("the id of a request cancels all its cancellable messages and counts them", async () => {
    const { body } = await server.request<Envelope>("POST", "/v1/sms", {
      sender: "HELIOG",
      to: ["15550100100", "not a number", "15550100101"],
      text: "Hello",
      type: "TRANS",
      ...later(),
    });
    const answer = await cancel(body.id ?? "");
    expect([answer.status, answer.body]).toEqual([200, { cancelled: 2, revoked: 0, tooLate: 1 }]);
    expect((await server.message(`${body.id}:3`)).state).toBe("cancelled");
  });

  test("the credits of a cancelled message are refunded", async () => {
    await server.asOwner("POST", "/api/credits", { amount: 5 });
    await server.request("PATCH", "/api/account", { credits: "metered" });
    const balance = async () => (await server.request<{ balance: number; held: number }>("GET", "/api/credits")).body;
    const { body } = await server.send({ to: "15550100100,15550100101", ...later() });
    expect(await balance()).toMatchObject({ balance: 3, held: 2 });
    await cancel(`${body.id}:2`);
    expect(await balance()).toMatchObject({ balance: 4, held: 1 });
    await cancel(body.id ?? "");
    expect(await balance()).toMatchObject({ balance: 5, held: 0 });
    await server.asOwner("PATCH", "/api/account", { credits: "unlimited" });
  });

  test.each(["none", "01a1de2e-8887-76e5-817a-2cae74cadaf2", "01a1de2e-8887-76e5-817a-2cae74cadaf2:1"])(
    "%s is 404",
    async (id) => {
      const { status, body } = await cancel(id);
      expect([status, body.error?.code]).toEqual([404, "MESSAGE_NOT_FOUND"]);
    },
  );
});
