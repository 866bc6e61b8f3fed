import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repetitions, testSeed } from "../support/repetitions.ts";

const WITHIN_MS = 1_800_000;
/** A run prints its seed. `npm run test:long` draws new ones and runs more. */
const SEED = testSeed(process.env["HELIOGRAPH_TEST_SIMULATION_SEED"]);
/** With the seed of `npm test`, a run with few messages: each statement is a round trip to the server. */
const POSTGRES_SEED = SEED + 18;
const RUNS = String(repetitions(1, 3));
const PROGRAMME = join(import.meta.dirname, "../simulation/simulate.ts");

/** Runs the programme and returns everything it printed. */
async function simulate(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [PROGRAMME, "--no-shrink", "--runs", RUNS, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

/** The lines of the runs, each with a hash over all its events and store calls. */
const runsOf = (output: string): string[] => output.match(/^seed .* events \([0-9a-f]+\).*$/gm) ?? [];

test(
  "a seed gives the same run twice on SQLite, and the run breaks no promise",
  async () => {
    const [one, other] = await Promise.all([1, 2].map(() => simulate("--engine", "sqlite", "--seed", String(SEED))));
    expect(one).toMatchObject({ code: 0 });
    expect(one?.output).toMatch(/messages: [1-9]/);
    expect(runsOf(one?.output ?? "")).toHaveLength(Number(RUNS));
    expect(runsOf(other?.output ?? "")).toEqual(runsOf(one?.output ?? ""));
  },
  WITHIN_MS,
);

test(
  "a simulation of two nodes on PostgreSQL breaks no promise",
  async () => {
    const { code, output } = await simulate("--engine", "postgres", "--nodes", "2", "--seed", String(POSTGRES_SEED));
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toMatch(/messages: [1-9]/);
  },
  WITHIN_MS,
);
