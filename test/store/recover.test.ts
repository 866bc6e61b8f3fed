import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import { openQueues, type OpenedQueues } from "../../src/pipeline/dispatch/open-queues.ts";
import { createRecovery } from "../../src/pipeline/dispatch/recover.ts";
import { reserveSlots } from "../../src/pipeline/accept/reserve-slots.ts";
import type { Message, RouteClass } from "../../src/model/message.ts";
import { UNOWNED, type OwnedRow } from "../../src/store/store.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { acceptance } from "../support/acceptances.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { sampleMessage } from "../support/message.ts";
import { TestPipeline, type ScriptedCarrier } from "../support/test-pipeline.ts";
import { transitionTo } from "../support/transitions.ts";

const MINUTE_MS = 60_000;

describe.each(ENGINES)("recovery of orphaned messages on %s", (engine) => {
  let pipeline: TestPipeline;
  let sending: OpenedQueues;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    sending = openQueues(pipeline.deps, pipeline.store, { laneCapacity: 100, dispatchWindow: 3 });
  });
  afterEach(() => pipeline.close());

  /** Lets time pass for a node that keeps its heartbeat. */
  async function pass(ms: number): Promise<void> {
    pipeline.clock.advance(ms);
    await pipeline.deps.membership.heartbeat();
  }
  const ownerOf = async (message: Message): Promise<number> => {
    const [row] = (await pipeline.opened.execute(
      `select owner from messages where request_id = '${message.requestId}'`,
    )) as { owner: number }[];
    return row?.owner ?? Number.NaN;
  };
  /** A message that this node owns in the store and has in no hand, as after a commit whose answer was lost. */
  async function orphan(routeClass: RouteClass, { inDoubt = false } = {}): Promise<Message> {
    const message = await pipeline.accept(routeClass);
    if (!inDoubt) return message;
    const { node: owner } = pipeline.deps.membership;
    const { accountId, requestId, n } = message;
    const intent = { accountId, requestId, n, to: "submitting", at: pipeline.clock.now(), owner } as const;
    const transition = transitionTo({ ...intent, carrier: "scripted", attempt: true });
    expect((await pipeline.deps.commits.move.add(transition)).moved).toBe(true);
    return message;
  }

  test("a message that this node owns but does not hold is sent after a minute, and not before", async () => {
    const message = await orphan("TRANS");
    await pass(MINUTE_MS - 1000);
    await sending.recover();
    expect(await ownerOf(message)).toBe(pipeline.deps.membership.node);
    await pass(1000);
    await sending.recover();
    expect(await ownerOf(message)).toBe(UNOWNED);
    await sending.claim();
    await eventually(
      () => pipeline.read(message),
      ({ state }) => state === "submitted",
    );
    expect(pipeline.carrier.submitted).toHaveLength(1);
    expect(await pipeline.deps.metrics.registry.metrics()).toContain(
      'heliograph_messages_recovered_total{type="TRANS"} 1',
    );
  });

  test("an orphan in doubt follows the class rule: TRANS is repeated and counted, PROMO waits for its receipt", async () => {
    const trans = await orphan("TRANS", { inDoubt: true });
    const promo = await orphan("PROMO", { inDoubt: true });
    await pass(MINUTE_MS);
    await sending.recover();
    await sending.claim();
    const sent = await eventually(
      () => pipeline.read(trans),
      ({ state }) => state === "submitted",
    );
    expect(sent.repeats).toBe(1);
    await eventually(
      () => ownerOf(promo),
      (owner) => owner === UNOWNED,
    );
    expect(await pipeline.read(promo)).toMatchObject({ state: "submitting", repeats: 0, dueAt: promo.expiresAt });
    expect(pipeline.carrier.submitted.map(({ requestId }) => requestId)).toEqual([trans.requestId]);
  });

  test("messages in a queue, at the rate limit, in flight or being stored are not orphans", async () => {
    const { node } = pipeline.deps.membership;
    const slow = pipeline.addCarrier("slow");
    slow.messagesPerSecond = 0.001;
    pipeline.route("Slow", { carrier: "slow", prefixes: ["44"], priority: 0 });
    const answers: (() => void)[] = [];
    const silent: ScriptedCarrier["answer"] = () =>
      new Promise((resolve) => answers.push(() => resolve({ kind: "taken", carrierMessageId: `c-${answers.length}` })));
    pipeline.carrier.answer = silent;
    slow.answer = silent;

    const first = await pipeline.accept("TRANS", undefined, { recipient: "447700900123" });
    const atRate = await pipeline.accept("TRANS", undefined, { recipient: "447700900123" });
    const inFlight = await pipeline.accept();
    for (const message of [first, atRate, inFlight]) sending.queues.push(message);
    sending.dispatcher.wake();
    await eventually(
      () => answers.length,
      (count) => count === 2,
    );
    const direct = acceptance({ createdAt: pipeline.clock.now(), owner: node });
    const directSlot = reserveSlots(sending, direct.message, direct);
    const reserved = acceptance({ createdAt: pipeline.clock.now(), owner: node, to: ["15550100101", "15550100102"] });
    const slots = reserveSlots(sending, reserved.message, reserved);
    for (const [request, places] of [
      [direct, directSlot],
      [reserved, slots],
    ] as const)
      await pipeline.deps.commits.accept.add({ ...request, ...places?.stored });
    const queued = await pipeline.accept("PROMO");
    sending.queues.push(queued);

    await pass(10 * MINUTE_MS);
    await sending.recover();
    const owners = (await pipeline.opened.execute("select distinct owner from messages")) as { owner: number }[];
    expect(owners).toEqual([{ owner: node }]);

    // A request whose commit failed for its caller and landed all the same is in no hand any more.
    slots?.release();
    await sending.recover();
    const free = (await pipeline.opened.execute(
      `select distinct request_id from messages where owner = ${UNOWNED}`,
    )) as object[];
    expect(free).toEqual([{ request_id: reserved.message.requestId }]);
    directSlot?.release();
  });

  test.each([
    ["the intent", [1], 1],
    ["the intent, and again when the message is released", [1, 2], 1],
    ["the submit ack", [2], 2],
    ["the submit ack, and again when the message is released", [2, 3], 2],
  ])("a message is sent within a minute of an unexpected SQL error on %s", async (_, failing, submits) => {
    let moves = 0;
    const move: typeof pipeline.store.transition = async (...args) => {
      moves += 1;
      if (failing.includes(moves)) throw new Error("unexpected SQL error");
      return pipeline.store.transition(...args);
    };
    const { clock } = pipeline;
    const commits = createGroupCommit(
      { store: { ...pipeline.store, transition: move }, clock, log: createLog("silent") },
      { acceptBacklog: 1000 },
    );
    const faulty = openQueues({ ...pipeline.deps, commits }, pipeline.store, { laneCapacity: 100, dispatchWindow: 3 });
    const message = await pipeline.accept("TRANS");
    faulty.queues.push(message);
    faulty.dispatcher.wake();
    await eventually(
      () => [moves, faulty.dispatcher.inFlight],
      ([written = 0, inFlight]) => written >= Math.max(...failing) && inFlight === 0,
    );
    expect((await pipeline.read(message)).state).not.toBe("submitted");
    await pass(MINUTE_MS);
    await faulty.recover();
    await faulty.claim();
    await eventually(
      () => pipeline.read(message),
      ({ state }) => state === "submitted",
    );
    expect(pipeline.carrier.submitted).toHaveLength(submits);
  });

  test("recovery waits for a claim in progress, whose rows are on their way into memory", async () => {
    const message = await pipeline.accept();
    await pipeline.store.release(pipeline.deps.membership.node, [message]);
    await pass(MINUTE_MS);
    const answered = Promise.withResolvers<void>();
    const committed = Promise.withResolvers<void>();
    const slowly = {
      ...pipeline.store,
      claim: async (wanted: Parameters<typeof pipeline.store.claim>[0]) => {
        const claimed = await pipeline.store.claim(wanted);
        if (claimed.length > 0) {
          committed.resolve();
          await answered.promise;
        }
        return claimed;
      },
    };
    const slow = openQueues(pipeline.deps, slowly, { laneCapacity: 100, dispatchWindow: 0 });
    const claiming = slow.claim();
    await committed.promise;
    const recovering = slow.recover();
    answered.resolve();
    await Promise.all([claiming, recovering]);
    expect(await ownerOf(message)).toBe(pipeline.deps.membership.node);
    expect(slow.queues.size).toBe(1);
  });
});

test("recovery reads a long queue in pages, one per turn, and starts again at its end", async () => {
  const held = Array.from({ length: 2000 }, (_, index) => sampleMessage({ requestId: `held-${index}` }));
  const rows: OwnedRow[] = [...held, sampleMessage({ requestId: "orphan" })].map((message, index) => ({
    accountId: 1,
    requestId: message.requestId,
    n: message.n,
    dueAt: index,
  }));
  const asked: (number | null)[] = [];
  const released: string[] = [];
  const pipeline = await TestPipeline.open("sqlite");
  const recover = createRecovery({
    ...pipeline.deps,
    log: createLog("silent"),
    dispatcher: { messages: () => held[Symbol.iterator]() as ReturnType<OpenedQueues["dispatcher"]["messages"]> },
    reserved: new Set(),
    store: {
      listOwned: async ({ routeClass, after, limit }) => {
        if (routeClass !== "TRANS") return [];
        asked.push(after?.dueAt ?? null);
        return rows.filter(({ dueAt }) => dueAt > (after?.dueAt ?? -1)).slice(0, limit);
      },
      releaseOwned: async (_, orphans) => {
        released.push(...orphans.map(({ requestId }) => requestId));
        return orphans.length;
      },
    },
  });
  await recover();
  expect(released).toEqual([]);
  await recover();
  expect(released).toEqual(["orphan"]);
  await recover();
  expect(asked).toEqual([null, 1999, null]);
  await pipeline.close();
});
