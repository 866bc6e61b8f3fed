import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MUTANTS } from "../simulation/mutant-list.ts";

const ROOT = join(import.meta.dirname, "../..");

test.each(MUTANTS)("the mutant $name of the simulation takes one safeguard out of the source", ({ file, from, to }) => {
  expect(readFileSync(join(ROOT, file), "utf8").split(from)).toHaveLength(2);
  expect(to).not.toBe(from);
});

test("mutants of the simulation have different names", () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});
