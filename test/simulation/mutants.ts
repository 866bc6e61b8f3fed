// Checks the simulation itself: each mutant takes one safeguard out of the service, and the simulation has to notice.
// Run: npm run simulate:mutants [-- --engine sqlite --seed 1 --seeds 20 --nodes 2 --only orphans,dead-nodes]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { MUTANTS, type Mutant } from "./mutant-list.ts";

const { values: options } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    engine: { type: "string", default: "sqlite,postgres" },
    nodes: { type: "string" },
    only: { type: "string" },
  },
});
const root = join(import.meta.dirname, "../..");
const firstSeed = Number(options.seed);
const engines = options.engine.split(",");
const nodes = options.nodes === undefined ? [] : ["--nodes", options.nodes];

type Engine = Mutant["engine"];

/** Runs seeds on the source in a folder until `isEnough` says so. It gets each seed with the rules that the run broke. */
async function runSeeds(
  { folder, engine, seed, seeds }: { folder: string; engine: Engine; seed: number; seeds: number },
  isEnough: (seed: number, broken: ReadonlySet<string>) => boolean,
): Promise<void> {
  const programme = ["test/simulation/simulate.ts", "--seed", String(seed), "--runs", String(seeds)];
  const child = spawn(process.execPath, [...programme, "--engine", engine, "--no-shrink", ...nodes], {
    cwd: folder,
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, ".compiled") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  let current: { seed: number; broken: Set<string>; left: number } | null = null;
  for await (const line of createInterface({ input: child.stdout })) {
    const begun = /^seed (\d+) .* (\d+) violations$/.exec(line);
    if (begun) current = { seed: Number(begun[1]), broken: new Set(), left: Number(begun[2]) };
    else if (current && current.left > 0) {
      const rule = /^ {2}([a-z][^:]+): /i.exec(line)?.[1];
      if (rule !== undefined) current.left -= 1;
      if (rule !== undefined) current.broken.add(rule);
    }
    if (current?.left !== 0) continue;
    const { seed: ended, broken } = current;
    current = null;
    if (isEnough(ended, broken)) break;
  }
  child.kill();
  await closed;
}

const sound = new Map<string, boolean>();

/** True if the unchanged source breaks no rule with this seed: what the mutant breaks is then its own. */
async function isSound(seed: number, engine: Engine): Promise<boolean> {
  const key = `${seed} ${engine}`;
  const known = sound.get(key);
  if (known !== undefined) return known;
  let isClean = false;
  await runSeeds({ folder: root, engine, seed, seeds: 1 }, (_, broken) => {
    isClean = broken.size === 0;
    return true;
  });
  sound.set(key, isClean);
  return isClean;
}

/** A copy of the source without the safeguard. */
function copyWithout({ file, from, to }: Mutant): string {
  const folder = mkdtempSync(join(tmpdir(), "heliograph-mutant-"));
  for (const part of ["src", "test", "package.json"]) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const source = readFileSync(join(folder, file), "utf8");
  if (source.split(from).length !== 2) throw new Error(`${file} has changed: the mutant's line is not in it once`);
  writeFileSync(
    join(folder, file),
    source.replace(from, () => to),
  );
  return folder;
}

interface Notice {
  /** Seeds until then. */
  seeds: number;
  rule: string;
}

/** Runs seeds until one of the mutant's rules notices it; null if none does. */
async function noticeOf(mutant: Mutant): Promise<Notice | null> {
  const { engine, rules } = mutant;
  const folder = copyWithout(mutant);
  const last = firstSeed + Number(options.seeds);
  try {
    for (let seed = firstSeed; seed < last;) {
      let found: (Notice & { seed: number }) | null = null as (Notice & { seed: number }) | null;
      await runSeeds({ folder, engine, seed, seeds: last - seed }, (ended, broken) => {
        const rule = rules.find((each) => broken.has(each));
        if (rule !== undefined) found = { seed: ended, seeds: ended - firstSeed + 1, rule };
        return rule !== undefined;
      });
      if (!found) return null;
      if (await isSound(found.seed, engine)) return found;
      seed = found.seed + 1;
    }
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let missed = 0;
for (const mutant of MUTANTS) {
  const { name, without, engine } = mutant;
  if (!engines.includes(engine) || (options.only !== undefined && !options.only.split(",").includes(name))) continue;
  const noticed = await noticeOf(mutant);
  if (!noticed) missed += 1;
  const result = noticed
    ? `noticed after ${noticed.seeds} seeds: ${noticed.rule}`
    : `not noticed in ${options.seeds} seeds`;
  process.stdout.write(`${name} (without "${without}", ${engine}): ${result}\n`);
}
process.exit(missed > 0 ? 1 : 0);
