import { expect, test } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import type { NodeStore } from "../../src/store/nodes.ts";
import { Membership } from "../../src/cluster/membership.ts";
import { MovedClock } from "../support/moved-clock.ts";

/** A node store in which the test decides which nodes are dead and how long expiry takes. */
function scripted(): { store: NodeStore; dead: Set<number>; finishExpiry(): void; slowExpiry(): void } {
  let id = 0;
  const dead = new Set<number>();
  let waiting: (() => void)[] = [];
  let slow = false;
  const store: NodeStore = {
    join: async () => (id += 1),
    beat: async (node) => !dead.has(node),
    expireNodes: async () => {
      if (slow) await new Promise<void>((resolve) => waiting.push(resolve));
      return [...dead];
    },
    leave: async () => {},
    listNodes: async () => [],
    countNodes: async () => 1,
    placeOf: async () => ({ count: 1, rank: 0 }),
  };
  return {
    store,
    dead,
    slowExpiry: () => {
      slow = true;
    },
    finishExpiry: () => {
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
}

test("an expired node gives up its rows when it gets its new id, not later", async () => {
  const nodes = scripted();
  const membership = new Membership(
    { store: nodes.store, clock: new MovedClock(), log: createLog("silent") },
    { alone: false, silentMs: 30_000, sends: true },
  );
  const losses: number[] = [];
  membership.onLost(() => losses.push(membership.node));
  await membership.join();
  expect(losses, "the first join loses nothing").toEqual([]);

  nodes.dead.add(membership.node);
  nodes.slowExpiry();
  const heartbeat = membership.heartbeat();
  await new Promise((resolve) => setImmediate(resolve));
  expect([membership.node, membership.alive, losses]).toEqual([2, true, [2]]);
  nodes.finishExpiry();
  await heartbeat;
  expect(losses, "only once: rows queued since then stay").toEqual([2]);
});

test("a node learns its rank with every heartbeat, and does not send without heartbeats", async () => {
  const clock = new MovedClock();
  const { store } = scripted();
  let place = { count: 1, rank: 0 };
  const deps = { store: { ...store, placeOf: async () => place }, clock, log: createLog("silent") };
  const membership = new Membership(deps, { alone: false, silentMs: 30_000, sends: true });
  await membership.join();
  expect([membership.count, membership.rank, membership.sends]).toEqual([1, 0, true]);
  place = { count: 3, rank: 2 };
  await membership.heartbeat();
  expect([membership.count, membership.rank]).toEqual([3, 2]);
  clock.advance(30_000);
  expect(membership.sends).toBe(false);
  const reader = new Membership(deps, { alone: false, silentMs: 30_000, sends: false });
  await reader.join();
  expect([reader.alive, reader.sends]).toEqual([true, false]);
});

test("a node without heartbeat for too long is not alive, and is again after the next one", async () => {
  const clock = new MovedClock();
  const { store } = scripted();
  const membership = new Membership(
    { store, clock, log: createLog("silent") },
    { alone: false, silentMs: 30_000, sends: true },
  );
  await membership.join();
  clock.advance(30_000);
  expect(membership.alive).toBe(false);
  await membership.heartbeat();
  expect([membership.alive, membership.node]).toEqual([true, 1]);
});

test("a node whose machine was suspended beyond its time-out does not send before its next heartbeat", async () => {
  const clock = new MovedClock();
  let suspendedMs = 0;
  const suspendable = {
    now: () => clock.now() + suspendedMs,
    monotonic: () => clock.monotonic(),
    after: (delayMs: number, run: () => void) => clock.after(delayMs, run),
  };
  const deps = { store: scripted().store, clock: suspendable, log: createLog("silent") };
  const [shared, alone] = [false, true].map(
    (isAlone) => new Membership(deps, { alone: isAlone, silentMs: 30_000, sends: true }),
  );
  await shared?.join();
  await alone?.join();
  suspendedMs = 30_000;
  expect([shared?.sends, alone?.sends], "no other node expires a node alone").toEqual([false, true]);
  await shared?.heartbeat();
  expect(shared?.sends).toBe(true);
});
