import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import type { Callback, StatusWord } from "../../src/model/callback.ts";
import type { CallbackStore } from "../../src/store/callbacks.ts";
import { UNOWNED } from "../../src/store/store.ts";
import { WebhookDispatcher, type WebhookDispatcherDeps } from "../../src/webhooks/dispatcher.ts";
import { createMetrics } from "../../src/metrics.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const NAP_MS = 31_000;

describe.each(ENGINES)("a node on %s past its heartbeat limit", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.opened.discard());

  /** Tells what the store has, and falls asleep whenever it has taken something from there until it is woken. */
  function sleepyTeller() {
    const { clock, store } = pipeline;
    const told: string[] = [];
    let isSleepy = true;
    const claimCallbacks: CallbackStore["claimCallbacks"] = async (claim) => {
      const due = await store.claimCallbacks(claim);
      if (isSleepy && due.length > 0) clock.advance(NAP_MS);
      return due;
    };
    const webhookDispatcher = openTeller({ claimCallbacks }, told);
    return { webhookDispatcher, told, stayAwake: () => void (isSleepy = false) };
  }

  /** A dispatcher whose store is partly replaced; an endpoint takes everything, and `told` has what it was sent. */
  function openTeller(
    replaced: Partial<CallbackStore>,
    told: string[],
    room?: WebhookDispatcherDeps["room"],
    beforeAnswer: (status: string) => Promise<void> = async () => {},
  ): WebhookDispatcher {
    const { clock, catalog, deps, store } = pipeline;
    return new WebhookDispatcher({
      ...(room && { room }),
      store: { ...store, ...replaced },
      membership: deps.membership,
      catalog,
      clock,
      log: createLog("silent"),
      metrics: createMetrics(),
      figures: { onCallbackSettled: () => {} },
      encryption: { encrypt: (text) => text, decrypt: (sealed) => sealed },
      accountOf: (id) => ({ id, name: "default", suspended: false, settings: DEFAULT_SETTINGS }),
      operatorOf: () => "",
      transport: {
        async sendWebhook({ body }) {
          const { status } = JSON.parse(body ?? "") as { status: string };
          told.push(status);
          await beforeAnswer(status);
          return { kind: "delivered", status: 200, ms: 1, excerpt: "" };
        },
      },
    });
  }

  /** An endpoint of account 1 for reports on text messages; returns its id. */
  function addEndpoint(): string {
    const { clock, catalog } = pipeline;
    const endpointId = newId(clock.now());
    catalog.of(1).put({
      accountId: 1,
      kind: "dlrConfig",
      id: endpointId,
      name: `Reports ${endpointId}`,
      origin: "authored",
      content: {
        provider: "ALL",
        method: "POST",
        url: "https://shop.example/reports",
        headers: [],
        enabled: true,
        disabledReason: null,
        secrets: [],
      },
      createdAt: clock.now(),
      updatedAt: clock.now(),
    });
    return endpointId;
  }

  function reportOf(endpointId: string, status: StatusWord, messageId: string): Callback {
    const at = pipeline.clock.now();
    const message = {
      messageId,
      channel: "sms",
      recipient: "15550100100",
      sender: "HELIOG",
      credits: 1,
      createdAt: at,
      session: false,
    } as const;
    return {
      accountId: 1,
      eventId: newId(at),
      endpointId,
      attempts: 0,
      happening: { kind: "status", status, at, gateway: "scripted", errorCode: null, description: null, message },
    };
  }

  /** An endpoint that receives `failed` for a message, and later `delivered`. */
  async function twoReports({ ofOneMessage = true } = {}): Promise<void> {
    const { clock, store } = pipeline;
    const endpointId = addEndpoint();
    const messageId = `${newId(clock.now())}:1`;
    const other = ofOneMessage ? messageId : `${newId(clock.now())}:1`;
    await store.storeCallbacks(
      [reportOf(endpointId, "failed", messageId), reportOf(endpointId, "delivered", other)],
      clock.now(),
    );
  }

  test("a node past its heartbeat limit puts its callbacks back, and delivers them in order after its next heartbeat", async () => {
    await twoReports();
    const { webhookDispatcher, told, stayAwake } = sleepyTeller();
    const ownersOfWaiting = async (): Promise<unknown[]> =>
      (await pipeline.opened.execute("select owner from callbacks where state = 'waiting'")).map((row) =>
        Object.values(row as object),
      );
    await webhookDispatcher.claim();
    await eventually(ownersOfWaiting, (owners) => JSON.stringify(owners) === JSON.stringify([[UNOWNED], [UNOWNED]]));
    expect(told).toEqual([]);

    stayAwake();
    await pipeline.deps.membership.heartbeat();
    await eventually(
      () => webhookDispatcher.claim(),
      () => told.length === 2,
    );
    expect(told).toEqual(["Failed", "Delivered"]);
    await webhookDispatcher.stop();
    expect(await ownersOfWaiting()).toEqual([]);
  });

  test("a node past its heartbeat limit delivers a callback that it claims again before the put-back is acknowledged", async () => {
    await twoReports({ ofOneMessage: false });
    const { clock, store, deps } = pipeline;
    const told: string[] = [];
    /** There is room for one: the other is put back, and due again within five seconds. */
    const claimLater = async (): Promise<void> => {
      clock.advance(5000);
      await deps.membership.heartbeat();
      await webhookDispatcher.claim();
    };
    const settleCallbacks: CallbackStore["settleCallbacks"] = async (batch) => {
      await store.settleCallbacks(batch);
      if (batch.every(({ attempted }) => attempted)) return;
      await eventually(
        async () => told,
        ({ length }) => length === 1,
      );
      // The first call may join the claim that is under way; the second one looks after the write.
      await claimLater();
      await claimLater();
    };
    const webhookDispatcher = openTeller({ settleCallbacks }, told, { jobsMax: 10, jobsPerEndpoint: 1 });
    await webhookDispatcher.claim();
    await eventually(claimLater, () => told.length === 2);
    expect(told.toSorted()).toEqual(["Delivered", "Failed"]);
    await webhookDispatcher.stop();
  });

  test("an orphaned callback is recovered behind any number of callbacks in memory", async () => {
    const { clock, store, deps, opened } = pipeline;
    const slow = Array.from({ length: 21 }, addEndpoint);
    const quick = addEndpoint();
    const held = slow.length * 100;
    const newMessage = (): string => `${newId(clock.now())}:1`;
    const reports = slow.flatMap((endpointId) =>
      Array.from({ length: 100 }, () => reportOf(endpointId, "failed", newMessage())),
    );
    await store.storeCallbacks(reports, clock.now());
    const told: string[] = [];
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const webhookDispatcher = openTeller({}, told, undefined, (status) =>
      status === "Failed" ? answered : Promise.resolve(),
    );
    await webhookDispatcher.claim();
    const { node } = deps.membership;
    const ownedRows = () => opened.execute(`select 1 from callbacks where owner = ${node} and state = 'waiting'`);
    expect(await ownedRows()).toHaveLength(held);

    const orphan = reportOf(quick, "delivered", newMessage());
    await store.storeCallbacks([orphan], clock.now() + 1);
    await opened.execute(`update callbacks set owner = ${node} where event_id = '${orphan.eventId}'`);
    for (let passedMs = 0; passedMs <= 60_000; passedMs += 20_000) {
      clock.advance(20_000);
      await deps.membership.heartbeat();
    }
    await webhookDispatcher.recover();
    await eventually(
      () => store.findCallback(orphan),
      (found) => found?.state === "delivered",
    );
    expect(told.filter((status) => status === "Delivered")).toHaveLength(1);
    expect(await ownedRows(), "held callbacks stay this node's").toHaveLength(held);
    answer();
    await eventually(ownedRows, ({ length }) => length === 0);
    expect(told.filter((status) => status === "Failed")).toHaveLength(held);
    await webhookDispatcher.stop();
  });
});
