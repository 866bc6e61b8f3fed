import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

interface Step {
  run?: string;
  uses?: string;
  with?: Record<string, unknown>;
}

interface Job {
  env?: Record<string, string>;
  steps: Step[];
}

const FOLDER = join(import.meta.dirname, "../../.github/workflows");

const jobs = readdirSync(FOLDER).flatMap((file) => {
  const workflow = parse(readFileSync(join(FOLDER, file), "utf8")) as { jobs: Record<string, Job> };
  return Object.entries(workflow.jobs).map(([name, job]) => ({ name: `${file} ${name}`, job }));
});

const runs = (job: Job, command: string): number => job.steps.findIndex(({ run }) => run === command);

describe.each(jobs)("the workflow $name", ({ job }) => {
  test("checks out the whole history, which a test of the upgrade needs", () => {
    const checkouts = job.steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkouts.filter((step) => step.with?.["fetch-depth"] !== 0)).toEqual([]);
  });

  test("fails if a tool of the tests is missing", () => {
    const tests = runs(job, "npm test") >= 0 || runs(job, "npm run test:long") >= 0;
    expect(job.env?.["HELIOGRAPH_TEST_REQUIRE_TOOLS"]).toBe(tests ? "1" : undefined);
  });
});

test("a release is built after the long tests", () => {
  const [release] = jobs.filter(({ job }) => runs(job, "npm run release") >= 0).map(({ job }) => job);
  expect(release && runs(release, "npm run release") > runs(release, "npm run test:long")).toBe(true);
  expect(release && runs(release, "npm run test:long")).toBeGreaterThan(0);
});
