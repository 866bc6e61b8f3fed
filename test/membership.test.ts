import { expect, test } from "vitest";
import { createLog } from "../src/lib/log.ts";
import type { NodeStore } from "../src/store/node-store.ts";
import { Membership } from "../src/work/membership.ts";
import { MovedClock } from "./support/moved-clock.ts";

/** A store of nodes in which the test decides who is dead and how long a burial takes. */
function scripted(): { store: NodeStore; dead: Set<number>; finishBurial(): void; slowBurials(): void } {
  let id = 0;
  const dead = new Set<number>();
  let waiting: (() => void)[] = [];
  let slow = false;
  const store: NodeStore = {
    join: async () => (id += 1),
    beat: async (node) => !dead.has(node),
    bury: async () => {
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
    slowBurials: () => {
      slow = true;
    },
    finishBurial: () => {
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
}

test("a node declared dead gives up what it held at the moment it has its new id, not later", async () => {
  const nodes = scripted();
  const membership = new Membership(
    { store: nodes.store, clock: new MovedClock(), log: createLog("silent") },
    { alone: false, silentMs: 30_000, sends: true },
  );
  const losses: number[] = [];
  membership.onLost(() => losses.push(membership.node));
  await membership.join();
  expect(losses, "the first time there is nothing to lose").toEqual([]);

  nodes.dead.add(membership.node);
  nodes.slowBurials();
  const beating = membership.beat();
  await new Promise((resolve) => setImmediate(resolve));
  expect([membership.node, membership.alive, losses]).toEqual([2, true, [2]]);
  nodes.finishBurial();
  await beating;
  expect(losses, "and only once: what came into the lanes since then stays").toEqual([2]);
});

test("a node takes its place with every beat, and has none while it is not heard of", async () => {
  const clock = new MovedClock();
  const { store } = scripted();
  let place = { count: 1, rank: 0 };
  const needs = { store: { ...store, placeOf: async () => place }, clock, log: createLog("silent") };
  const membership = new Membership(needs, { alone: false, silentMs: 30_000, sends: true });
  await membership.join();
  expect([membership.count, membership.rank, membership.sends]).toEqual([1, 0, true]);
  place = { count: 3, rank: 2 };
  await membership.beat();
  expect([membership.count, membership.rank]).toEqual([3, 2]);
  clock.advance(30_000);
  expect(membership.sends).toBe(false);
  const reader = new Membership(needs, { alone: false, silentMs: 30_000, sends: false });
  await reader.join();
  expect([reader.alive, reader.sends]).toEqual([true, false]);
});

test("a node that is not heard of for too long counts itself out, and in again when it is heard", async () => {
  const clock = new MovedClock();
  const { store } = scripted();
  const membership = new Membership(
    { store, clock, log: createLog("silent") },
    { alone: false, silentMs: 30_000, sends: true },
  );
  await membership.join();
  clock.advance(30_000);
  expect(membership.alive).toBe(false);
  await membership.beat();
  expect([membership.alive, membership.node]).toEqual([true, 1]);
});
