import { expect, test } from "vitest";
import { progressBar } from "../../src/cli/progress-bar.ts";

test.each([
  [0, 2400, "[                              ] 0 %  rows"],
  [1200, 2400, "[###############               ] 50 %  rows"],
  [2399, 2400, "[##############################] 99 %  rows"],
  [2400, 2400, "[##############################] 100 %  rows"],
  [9, 4, "[##############################] 100 %  rows"],
  [0, 0, "[##############################] 100 %  rows"],
])("the progress bar of %i of %i stays within its width", (done, all, line) => {
  expect(progressBar(done, all, "rows")).toBe(line);
});
