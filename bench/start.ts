// Start time, CPU time and memory of the bundle of a release beside a clone.
// Run: node bench/start.ts [--rounds 9]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
// @ts-expect-error a script without types
import { bundle } from "../scripts/release/bundle.mjs";
import { buildInfo } from "../src/build-info.ts";
import { record } from "./record.ts";
import { median, print } from "./report.ts";

const { values: options } = parseArgs({ options: { rounds: { type: "string", default: "9" } } });

const ROOT = join(import.meta.dirname, "..");
/** Past the first idle run of the job that collects what the start left behind. */
const SETTLED_MS = 12_000;
/** CPU time in /proc is counted in hundredths of a second. */
const TICK_MS = 10;

interface Start {
  listeningMs: number;
  cpuMs: number;
  residentMb: number;
}

const folder = await mkdtemp(join(tmpdir(), "heliograph-start-"));
const lib = join(folder, "lib");
await bundle(lib, { version: buildInfo.version, commit: "0".repeat(40), builtAt: new Date(0).toISOString() });
symlinkSync(join(ROOT, "dashboard/dist"), join(folder, "dashboard"));

const KINDS = [
  { name: "bundle", args: [join(lib, "cli.mjs"), "start"] },
  { name: "clone", args: [join(ROOT, "src/main.ts")] },
] as const;

/** On a folder with data, as most starts are; the first start also creates the schema and the keys. */
async function start(kind: (typeof KINDS)[number], dataDir: string): Promise<Start> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, kind.args, {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: join(folder, `cache-${kind.name}`),
      // As the service and `npm start` set it.
      MALLOC_MMAP_THRESHOLD_: "262144",
      HELIOGRAPH_HOST: "127.0.0.1",
      HELIOGRAPH_PORT: "0",
      HELIOGRAPH_DATA_DIR: dataDir,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let printed = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    printed += String(chunk);
    if (printed.includes("is listening")) break;
  }
  const listeningMs = performance.now() - startedAt;
  const cpuMs = cpuMsOf(child.pid ?? 0);
  await sleep(SETTLED_MS);
  const residentMb = residentMbOf(child.pid ?? 0);
  child.kill("SIGTERM");
  await exited;
  return { listeningMs, cpuMs, residentMb };
}

function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

const residentMbOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

const measured = new Map<string, Start[]>();
try {
  for (const kind of KINDS) {
    const dataDir = join(folder, `data-${kind.name}`);
    mkdirSync(dataDir);
    // Not counted: creates the data, and fills the compile cache.
    for (let warmUp = 0; warmUp < 2; warmUp += 1) await start(kind, dataDir);
    measured.set(kind.name, []);
  }
  // Alternating, so that other work on the machine slows both alike.
  for (let round = 0; round < Number(options.rounds); round += 1)
    for (const kind of KINDS) measured.get(kind.name)?.push(await start(kind, join(folder, `data-${kind.name}`)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const results = [...measured].map(([name, starts]) => {
  const of = (field: keyof Start): number[] => starts.map((one) => one[field]);
  return {
    name,
    listeningMs: Math.round(median(of("listeningMs"))),
    fastestMs: Math.round(Math.min(...of("listeningMs"))),
    cpuMs: Math.round(median(of("cpuMs"))),
    residentMb: Math.round(median(of("residentMb"))),
  };
});
print(`load ${loadavg()[0]?.toFixed(1)}, medians of ${options.rounds} starts`);
for (const { name, listeningMs, fastestMs, cpuMs, residentMb } of results)
  print(`${name}: ${listeningMs} ms (fastest ${fastestMs} ms), ${cpuMs} ms CPU, ${residentMb} MB resident`);
await record("start", { rounds: Number(options.rounds), load: loadavg()[0], results });
