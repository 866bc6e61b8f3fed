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
