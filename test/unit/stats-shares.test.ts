import { expect, test } from "vitest";
import { shareOf } from "../../src/http/admin/stats.ts";

test("a delivery rate is at most 1, also if reports belong to messages that were sent before the range", () => {
  expect(shareOf(96, 99)).toBe(0.9697);
  expect(shareOf(12, 10)).toBe(1);
  expect(shareOf(0, 10)).toBe(0);
});

test("without messages there is no delivery rate", () => {
  expect(shareOf(0, 0)).toBeNull();
  expect(shareOf(3, 0)).toBeNull();
});
