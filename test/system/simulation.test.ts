import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repetitions } from "../support/repetitions.ts";

const WITHIN_MS = 900_000;
/** Short runs; `npm run test:long` takes those with more messages, and `npm run simulate` any. */
const SQLITE_SEED = String(repetitions(2, 106));
const POSTGRES_SEED = String(repetitions(103, 401));
const PROGRAMME = join(import.meta.dirname, "../simulation/simulate.ts");

/** Runs the programme and returns everything it printed. */
async function simulate(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [PROGRAMME, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

/** The line of a run, with a hash over all its events and store calls. */
const runOf = (output: string): string | undefined => /^seed .* events \([0-9a-f]+\).*$/m.exec(output)?.[0];

test(
  "a seed gives the same run twice on SQLite, and the run breaks no promise",
  async () => {
    const [one, other] = await Promise.all(
      [1, 2].map(() => simulate("--seed", SQLITE_SEED, "--engine", "sqlite", "--no-shrink")),
    );
    expect(one?.output).toMatch(/messages: [1-9]/);
    expect(one).toMatchObject({ code: 0 });
    expect(runOf(one?.output ?? "")).toBeDefined();
    expect(runOf(other?.output ?? "")).toBe(runOf(one?.output ?? ""));
  },
  WITHIN_MS,
);

test(
  "a simulation of two nodes on PostgreSQL breaks no promise",
  async () => {
    const { code, output } = await simulate(
      "--seed",
      POSTGRES_SEED,
      "--nodes",
      "2",
      "--engine",
      "postgres",
      "--no-shrink",
    );
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toMatch(/messages: [1-9]/);
  },
  WITHIN_MS,
);
