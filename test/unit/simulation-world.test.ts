import { expect, test } from "vitest";
import { SimulatedProcess, World } from "../simulation/world.ts";

test("a delay with a fraction of a millisecond ends at the next whole millisecond", async () => {
  const world = new World(1);
  const begunAt = world.now;
  const times: number[] = [];
  for (const delayMs of [0.4, 1, 1.5]) world.plan(delayMs, null, () => void times.push(world.now - begunAt));
  await world.run(10);
  expect(times).toEqual([1, 1, 2]);
});

test("a store call without an answer counts as interrupted when its process dies", () => {
  const world = new World(1);
  const process = new SimulatedProcess(world, "node 1");
  const end = process.beginCall("claim");
  process.beginCall("accept");
  end();
  process.die();
  expect([...world.calls.keys()]).toEqual(["claim", "accept"]);
  expect([...world.interrupted.keys()]).toEqual(["accept"]);
});

test("of two events at one time the seed chooses the first, always the same one", async () => {
  const orderOf = async (seed: number): Promise<string> => {
    const world = new World(seed);
    let order = "";
    for (const name of ["a", "b"])
      world.plan(1, null, () => {
        order += name;
      });
    await world.run(10);
    return order;
  };
  const orders = await Promise.all(Array.from({ length: 20 }, (_, seed) => orderOf(seed)));
  expect(new Set(orders)).toEqual(new Set(["ab", "ba"]));
  expect(await Promise.all(Array.from({ length: 20 }, (_, seed) => orderOf(seed)))).toEqual(orders);
});

test("a process that is woken early does at once what it missed", async () => {
  const world = new World(1);
  const process = new SimulatedProcess(world, "node 1");
  const begunAt = world.now;
  const times: number[] = [];
  process.pause(60_000);
  for (const delayMs of [10, 20]) world.plan(delayMs, process, () => void times.push(world.now - begunAt));
  await world.run(100);
  process.wake();
  await world.run(100);
  expect(times).toEqual([100, 100]);
});

test("a pause does not shorten another one", async () => {
  const world = new World(1);
  const process = new SimulatedProcess(world, "node 1");
  process.pause(60_000);
  process.pause(10);
  expect(process.pausedUntil - world.now).toBe(60_000);
});

test("the monotonic clock stands still while the machine sleeps, and never goes back", async () => {
  const world = new World(1);
  const process = new SimulatedProcess(world, "node 1");
  process.sleep(1000);
  await world.run(500);
  process.sleep(2000);
  await world.run(1500);
  expect(process.clock.monotonic()).toBe(0);
  process.wake();
  await world.run(300);
  expect(process.clock.monotonic()).toBe(300);
});
