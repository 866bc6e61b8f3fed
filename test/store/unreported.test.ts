import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { endUnreported, type EndUnreportedDeps } from "../../src/pipeline/receipts/end-unreported.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import type { Account } from "../../src/model/account.ts";
import type { Message } from "../../src/model/message.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { createWebhookPlanner } from "../../src/webhooks/plan.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const HOUR = 3_600_000;
const GRACE = 6 * HOUR;
/** Longer than it takes until the job looks at a message again. */
const LOOK_AGAIN = HOUR;

describe.each(ENGINES)("a message without a receipt, on %s", (engine) => {
  let pipeline: TestPipeline;
  let deps: EndUnreportedDeps;
  let told: string[];

  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    told = [];
    const { store, clock, catalog } = pipeline;
    const webhookPlanner = createWebhookPlanner(
      { catalog, clock, webhookDispatcher: () => pipeline.deps.membership.node },
      {
        take: (callbacks) =>
          told.push(
            ...callbacks.map(({ happening }) =>
              "status" in happening ? `${happening.status} ${happening.errorCode ?? ""}`.trim() : happening.kind,
            ),
          ),
        claimSoon: () => {},
      },
    );
    const record = { accountId: 1, origin: "authored", createdAt: 0, updatedAt: 0 } as const;
    const endpoint = { enabled: true, disabledReason: null, secrets: [], url: "https://customer.example/" } as const;
    catalog.of(1).put({
      ...record,
      kind: "dlrConfig",
      id: newId(clock.now()),
      name: "Reports",
      content: { ...endpoint, method: "POST", provider: "ALL", headers: [] },
    });
    catalog.of(1).put({
      ...record,
      kind: "webhook",
      id: newId(clock.now()),
      name: "RCS",
      content: { ...endpoint, method: "POST", channel: "rcs", events: ["message_status"] },
    });
    const commits = createGroupCommit(
      { store, clock, log: createLog("silent"), webhookPlanner },
      { acceptBacklog: 1000 },
    );
    Object.assign(pipeline.deps, { commits });
    const account = pipeline.deps.accountOf(1);
    const listAccounts = async (): Promise<Account[]> => (account ? [account] : []);
    deps = { ...pipeline.deps, store: { ...store, listAccounts }, commits, receiptGraceMs: GRACE };
  });
  afterEach(() => pipeline.close());

  /** Lets time pass and runs the job, as a node that lives does. */
  async function pass(ms: number): Promise<void> {
    pipeline.clock.advance(ms);
    await pipeline.deps.membership.heartbeat();
    await endUnreported(deps);
  }

  async function send(message: Message): Promise<Message> {
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
    return message;
  }

  const awaited = async (): Promise<number> => (await pipeline.opened.execute("select * from awaited_receipts")).length;

  it("a message without a receipt ends as unknown after its validity and the grace period, reported once", async () => {
    const message = await send(await pipeline.accept("TRANS", HOUR));
    await pass(HOUR);
    await pass(GRACE - 1);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
    expect(told).toEqual([]);
    await pass(1);
    const stored = await pipeline.read(message);
    expect(stored).toMatchObject({ state: "unknown", errorCode: "NOT_REPORTED", doneAt: null });
    expect(decodeTimeline(stored.timeline).at(-1)).toMatchObject({
      step: "unreported",
      carrier: pipeline.carrier.name,
    });
    await pass(GRACE);
    expect(told).toEqual(["unknown NOT_REPORTED"]);
    expect(await awaited()).toBe(0);
  });

  it.each(["delivered", "undelivered"] as const)(
    "a message that ended as unknown still becomes %s by a late receipt",
    async (state) => {
      pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "C1" });
      const message = await send(await pipeline.accept("TRANS", HOUR));
      await pass(HOUR + GRACE);
      await pass(HOUR);
      expect(await pipeline.read(message)).toMatchObject({ state: "unknown" });
      const receipt = { carrier: pipeline.carrier.name, carrierMessageId: "C1", errorCode: null, description: null };
      await receiveReceipt(pipeline.deps, { ...receipt, state, at: pipeline.clock.now() });
      expect(await pipeline.read(message)).toMatchObject({ state });
      expect(told).toEqual(["unknown NOT_REPORTED", state === "delivered" ? "delivered" : "failed"]);
    },
  );

  it("ended messages are not kept in the list of those without a receipt", async () => {
    pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "C1" });
    await send(await pipeline.accept("TRANS", HOUR));
    const receipt = { carrier: pipeline.carrier.name, carrierMessageId: "C1", errorCode: null, description: null };
    await receiveReceipt(pipeline.deps, { ...receipt, state: "delivered", at: pipeline.clock.now() });
    pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "C2" });
    await send(await pipeline.accept("TRANS", HOUR));
    await pass(HOUR);
    expect(await awaited()).toBe(1);
    await receiveReceipt(pipeline.deps, {
      ...receipt,
      carrierMessageId: "C2",
      state: "delivered",
      at: pipeline.clock.now(),
    });
    await pass(GRACE);
    expect(await awaited()).toBe(0);
  });

  it("a message without a receipt waits for its extended validity and its time to be sent", async () => {
    const late = await pipeline.accept("TRANS", HOUR);
    const extended = await send(await pipeline.accept("TRANS", HOUR));
    await pass(HOUR);
    await pipeline.opened.execute(`update messages set expires_at = expires_at + ${10 * HOUR}`);
    await pass(GRACE);
    expect(await pipeline.read(extended)).toMatchObject({ state: "submitted" });
    expect(await pipeline.read(late)).toMatchObject({ state: "accepted" });
    await send({ ...late, expiresAt: late.expiresAt + 10 * HOUR });
    await pass(10 * HOUR - 1);
    for (const each of [late, extended]) expect(await pipeline.read(each)).toMatchObject({ state: "submitted" });
    await pass(LOOK_AGAIN);
    for (const each of [late, extended]) expect(await pipeline.read(each)).toMatchObject({ state: "unknown" });
  });

  it("the first node ends messages without a receipt", async () => {
    const message = await send(await pipeline.accept("TRANS", HOUR));
    deps.membership = { rank: 1, alive: true };
    await pass(HOUR + GRACE);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
  });

  it("a message without a receipt ends once if two nodes end it at the same time", async () => {
    const messages = await Promise.all(Array.from({ length: 20 }, () => pipeline.accept("TRANS", HOUR)));
    for (const message of messages) await send(message);
    pipeline.clock.advance(HOUR + GRACE);
    await pipeline.deps.membership.heartbeat();
    await Promise.all([endUnreported(deps), endUnreported(deps)]);
    for (const message of messages) expect(await pipeline.read(message)).toMatchObject({ state: "unknown" });
    expect(told).toHaveLength(messages.length);
  });

  it("a message without a receipt is found, however many are read at once", async () => {
    const messages = await Promise.all(Array.from({ length: 25 }, () => pipeline.accept("TRANS", HOUR)));
    for (const message of messages) await pipeline.dispatch(message);
    const before = pipeline.clock.now() + 1;
    let looks = 0;
    do looks += 1;
    while (await pipeline.store.setUnendedAside(1, before, GRACE, 10));
    expect(looks).toBe(3);
    expect(await awaited()).toBe(25);
    expect(await pipeline.store.setUnendedAside(1, before, GRACE, 10)).toBe(false);
    expect(await pipeline.store.listAwaited(pipeline.clock.now() + HOUR + GRACE, 100)).toHaveLength(25);
  });

  it("an RCS message without a receipt stays sent, because the phone may get it much later", async () => {
    const content = { kind: "text", botId: "b", templateName: "t", text: "Hi", params: [], suggestions: [], cards: [] };
    const message = await pipeline.accept("TRANS", HOUR, {
      channel: "rcs",
      content: content as unknown as Message["content"],
    });
    await send(message);
    await pass(HOUR + GRACE);
    expect(await pipeline.read(message)).toMatchObject({ state: "unknown" });
    expect(told).toEqual(["sent"]);
  });

  it("a message that ended as unknown has no failover plan any more", async () => {
    pipeline.route("Everything to the simulator", { carrier: "simulator", failoverAfterSeconds: 60 });
    const message = await send(await pipeline.accept("TRANS", HOUR));
    await pass(HOUR + GRACE);
    expect(await pipeline.read(message)).toMatchObject({ state: "unknown" });
    expect(await pipeline.store.listFailovers(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });
});
