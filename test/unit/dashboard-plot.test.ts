import { expect, test } from "vitest";
import { heightOf, labelEvery, labelWidthOf, stack, ticksTo } from "../../dashboard/src/parts/charts/scale.ts";

test.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [100, [0, 50, 100]],
  [1312, [0, 500, 1000, 1500]],
  [1_000_000, [0, 500_000, 1_000_000]],
])("the axis up to %d has few round whole numbers that reach it", (most, ticks) => {
  expect(ticksTo(most)).toEqual(ticks);
});

test("each series of a chart stands on the ones before it", () => {
  const layers = stack(
    [
      { name: "a", sent: 2, failed: 1 },
      { name: "b", sent: 0 },
    ],
    ["sent", "failed"],
  );
  expect(layers).toEqual([
    [
      { from: 0, to: 2 },
      { from: 0, to: 0 },
    ],
    [
      { from: 2, to: 3 },
      { from: 0, to: 0 },
    ],
  ]);
  expect(heightOf(layers)).toBe(3);
  expect(heightOf([])).toBe(0);
});

test("names below the axis are left out where they would touch", () => {
  const width = labelWidthOf(["Mon 10:00", "Tue"]);
  expect(labelEvery(width, 200)).toBe(1);
  expect(labelEvery(width, 10)).toBeGreaterThan(5);
});
