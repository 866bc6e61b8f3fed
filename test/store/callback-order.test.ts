import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../../src/records/catalog.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import type { Callback, StatusWord } from "../../src/model/callback.ts";
import type { MessageRef, State } from "../../src/model/message.ts";
import { UNOWNED, type Store } from "../../src/store/store.ts";
import { createWebhookPlanner } from "../../src/webhooks/plan.ts";
import { WebhookDispatcher, type WebhookDispatcherDeps } from "../../src/webhooks/dispatcher.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { createMetrics } from "../../src/metrics.ts";
import { acceptance } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { transitionAll, transitionTo } from "../support/transitions.ts";

const log = createLog("silent");
const WORDS: readonly StatusWord[] = ["sent", "delivered", "read"];

/** Runs `speed` times as fast as the system's clock, and so many milliseconds ahead of it. */
function createClock(speed: number, aheadMs: number): Clock {
  const startedAt = Date.now();
  const monotonic = (): number => performance.now() * speed;
  const firstAt = monotonic();
  return {
    now: () => Math.floor(startedAt + aheadMs + monotonic() - firstAt),
    monotonic,
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs / speed).unref();
      return () => clearTimeout(timer);
    },
  };
}

function webhookIn(catalog: Catalog, endpointId: string): void {
  catalog.of(1).put({
    accountId: 1,
    kind: "webhook",
    id: endpointId,
    name: "RCS",
    origin: "authored",
    createdAt: 0,
    updatedAt: 0,
    content: {
      channel: "rcs",
      method: "POST",
      events: ["message_status"],
      url: "https://shop.example/rcs",
      enabled: true,
      disabledReason: null,
      secrets: [],
    },
  });
}

interface Node {
  commits: ReturnType<typeof createGroupCommit>;
  webhookDispatcher: WebhookDispatcher;
}

/** The callback parts of a node: it writes transitions, and sends callbacks that it has stored or claimed. */
function openNode(
  id: number,
  store: Store,
  clock: Clock,
  { transport, room }: Pick<WebhookDispatcherDeps, "transport" | "room">,
  endpointId: string,
): Node {
  const catalog = new Catalog({ store, clock });
  webhookIn(catalog, endpointId);
  const membership = {
    node: id,
    alive: true,
    dead: [],
    onLost: () => {},
  } as unknown as WebhookDispatcherDeps["membership"];
  const webhookDispatcher = new WebhookDispatcher({
    store,
    membership,
    catalog,
    clock,
    log,
    metrics: createMetrics(),
    figures: { onCallbackSettled: () => {} },
    encryption: { encrypt: (text) => text, decrypt: (sealed) => sealed },
    accountOf: (accountId) => ({ id: accountId, name: "default", suspended: false, settings: DEFAULT_SETTINGS }),
    operatorOf: () => "",
    transport,
    ...(room && { room }),
  });
  const webhookPlanner = createWebhookPlanner({ catalog, clock, webhookDispatcher: () => id }, webhookDispatcher);
  return {
    commits: createGroupCommit({ store, clock, log, webhookPlanner }, { acceptBacklog: 10_000 }),
    webhookDispatcher,
  };
}

/** An endpoint that is slow at times, fails at times, and notes what it was sent and answered well. */
class Endpoint {
  readonly got = new Map<string, StatusWord[]>();
  readonly #failed = new Set<string>();
  readonly #failsOften: boolean;
  requests = 0;
  failures = 0;

  constructor({ failsOften = false } = {}) {
    this.#failsOften = failsOften;
  }

  readonly sendWebhook: WebhookDispatcherDeps["transport"]["sendWebhook"] = async ({ body }) => {
    const { messageId, statuses } = JSON.parse(body ?? "") as {
      messageId: string;
      statuses: { eventId: string; status: StatusWord };
    };
    this.requests += 1;
    const isFirst = !this.#failed.has(statuses.eventId);
    await sleep(Math.random() < 0.02 ? 40 : Math.random() * 4);
    if (this.#failsOften && isFirst && Math.random() < 0.08) {
      this.#failed.add(statuses.eventId);
      this.failures += 1;
      return {
        kind: "failed",
        status: 500,
        ms: 1,
        reason: "500",
        excerpt: "",
        gone: false,
        timedOut: false,
        retryAfter: null,
      };
    }
    this.got.set(messageId, [...(this.got.get(messageId) ?? []), statuses.status]);
    return { kind: "delivered", status: 200, ms: 1, excerpt: "" };
  };

  /** Messages whose whole way it was told. */
  get complete(): number {
    return [...this.got.values()].filter((words) => WORDS.every((word) => words.includes(word))).length;
  }

  get outOfOrder(): string[] {
    const firsts = [...this.got.values()].map((words) => [...new Set(words)]);
    const inOrder = (words: readonly StatusWord[]): string => WORDS.filter((word) => words.includes(word)).join(" ");
    return firsts.filter((words) => words.join(" ") !== inOrder(words)).map((words) => words.join(" "));
  }
}

const MESSAGES = Number(process.env["HELIOGRAPH_ORDER_MESSAGES"] ?? 300);
const WAVE = 60;
const SPEED = 25;
const SKEW_MS = 3000;

describe.each(ENGINES)("callbacks of RCS messages on %s", (engine) => {
  let opened: OpenStore;
  beforeEach(async () => {
    opened = await openStore(engine);
  });
  afterEach(() => opened.discard());

  test("callbacks wait in the store behind an earlier one that was put back while they were stored", async () => {
    const { store } = opened;
    const endpoint = new Endpoint();
    const endpointId = newId(0);
    const clock = createClock(1, 0);
    const { webhookDispatcher } = openNode(7, store, clock, { transport: endpoint }, endpointId);
    const item = acceptance({ channel: "rcs" });
    expect(await store.accept([item])).toEqual([{ kind: "stored" }]);
    const ref = { accountId: 1, requestId: item.message.requestId, n: 1 };
    const announced = async (to: State, status: StatusWord): Promise<Callback> => {
      const target = { eventId: newId(clock.now()), endpointId, kind: "status", status, channel: "rcs" } as const;
      const announce = { owner: 7, dueAt: 0, targets: [{ ...target, carrier: null, endOnly: false }] };
      const [result] = await transitionAll(store, [{ ...ref, to, at: 0, owner: UNOWNED, callbacks: announce }]);
      if (!result || result instanceof Error || !result.callbacks[0]) throw new Error("nothing was announced");
      return result.callbacks[0];
    };
    await transitionAll(store, [{ ...ref, to: "submitting", at: 0, owner: UNOWNED }]);
    const sent = await announced("submitted", "sent");
    const delivered = await announced("delivered", "delivered");
    const putBack = {
      ownedBy: 7,
      attempts: 0,
      state: "waiting",
      at: 0,
      dueAt: 0,
      message: ref,
      attempted: false,
      log: "",
    } as const;
    await store.settleCallbacks([{ accountId: 1, eventId: sent.eventId, endpointId, ...putBack }]);
    webhookDispatcher.take([delivered]);
    const owners = () => opened.execute("select owner from callbacks where state = 'waiting'");
    await eventually(owners, (rows) => JSON.stringify(rows.map((row) => Object.values(row as object))) === "[[0],[0]]");
    expect(endpoint.requests).toBe(0);
    await eventually(
      () => webhookDispatcher.claim(),
      () => [...endpoint.got.values()].flat().length === 2,
    );
    expect([...endpoint.got.values()]).toEqual([["sent", "delivered"]]);
  });

  test(
    "callbacks arrive in the order of the transitions, from nodes with different clocks, at a flaky endpoint, with little memory",
    { timeout: 120_000 + MESSAGES * 60 },
    async () => {
      const endpoint = new Endpoint({ failsOften: true });
      const endpointId = newId(0);
      const options = { transport: endpoint, room: { jobsMax: 48, jobsPerEndpoint: 24 } };
      // SQLite has one node.
      const aheadMs = engine === "postgres" ? [0, SKEW_MS] : [0];
      const nodes = aheadMs.map((ahead, index) =>
        openNode(7 + index, opened.store, createClock(SPEED, ahead), options, endpointId),
      );
      const anyNode = (): Node => nodes[Math.floor(Math.random() * nodes.length)] as Node;
      let isOver = false;
      const claiming = nodes.map(async ({ webhookDispatcher }) => {
        while (!isOver) {
          await webhookDispatcher.claim();
          // A claim may meet a row that is just being put back, and leaves it to this.
          await webhookDispatcher.recover();
          await sleep(20);
        }
      });

      const transition = (ref: MessageRef, to: State) =>
        anyNode().commits.move.add(
          transitionTo({
            ...ref,
            to,
            at: Date.now(),
            owner: UNOWNED,
            carrier: "1/line",
            timeline: `${to}\n`,
            timelineAlways: true,
          }),
        );
      for (let made = 0; made < MESSAGES; made += WAVE) {
        const items = Array.from({ length: Math.min(WAVE, MESSAGES - made) }, () =>
          acceptance({ channel: "rcs", requestId: newId(Date.now()) }),
        );
        expect(await opened.store.accept(items)).toEqual(items.map(() => ({ kind: "stored" })));
        await Promise.all(
          items.map(async ({ message: { accountId, requestId } }) => {
            const ref = { accountId, requestId, n: 1 };
            await transition(ref, "submitting");
            const steps = [transition(ref, "submitted")];
            for (const to of ["delivered", "read"] as const) {
              // Some overtake the statement before them on its way; the store takes only those that are legal.
              if (Math.random() < 0.5) await steps.at(-1);
              else await sleep(Math.random() * 6);
              steps.push(transition(ref, to));
            }
            await Promise.all(steps);
          }),
        );
      }
      await eventually(
        () => opened.store.countWaitingCallbacks(),
        (waiting) => waiting === 0,
        90_000 + MESSAGES * 50,
      );
      isOver = true;
      await Promise.all(claiming);
      await Promise.all(nodes.map(({ webhookDispatcher }) => webhookDispatcher.stop()));
      const { requests, failures, complete, outOfOrder } = endpoint;
      if (MESSAGES > 300)
        process.stdout.write(
          `${JSON.stringify({ engine, MESSAGES, requests, failures, complete, outOfOrder: outOfOrder.length })}\n`,
        );
      expect(outOfOrder).toEqual([]);
      expect(complete).toBeGreaterThan(MESSAGES / 4);
    },
  );
});
