import { expect, test } from "vitest";
import { FairQueue } from "../../src/lib/fair-queue.ts";

const takeAll = (queue: FairQueue<string>): string[] => {
  const taken: string[] = [];
  for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
    expect(queue.shift()).toBe(next);
    taken.push(next);
  }
  expect(queue.length).toBe(0);
  return taken;
};

test("flows are served in turn, each in order of arrival", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "a2", "a3", "b1", "a4", "c1", "c2"]) queue.push(item[0] ?? "", item);
  expect(queue.length).toBe(7);
  expect(takeAll(queue)).toEqual(["a1", "b1", "c1", "a2", "c2", "a3", "a4"]);
});

test("a full queue drops from the flow with the most items", () => {
  const queue = new FairQueue<string>();
  for (const item of ["b1", "a1", "a2", "a3"]) queue.push(item[0] ?? "", item);
  expect([queue.isShort("a"), queue.isShort("b"), queue.isShort("new")]).toEqual([false, true, true]);
  expect(queue.shiftLongest()).toBe("a1");
  expect(takeAll(queue)).toEqual(["b1", "a2", "a3"]);
  expect(queue.shiftLongest()).toBeUndefined();
});

test("an item at the front of any flow can be removed by a condition", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "b1", "b2"]) queue.push(item[0] ?? "", item);
  expect(queue.shiftIf((item) => item.startsWith("b"))).toBe("b1");
  expect(queue.shiftIf((item) => item === "z")).toBeUndefined();
  expect(takeAll(queue)).toEqual(["a1", "b2"]);
});
