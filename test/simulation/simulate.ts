// Runs the service in a simulated world and checks its promises: npm run simulate [-- --seed 1 --runs 10 --minutes 5
// --engine sqlite,postgres --nodes 3 --trace FILE --plan FILE]. Without --seed the seeds are new ones, printed with every violation.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startCluster } from "../support/postgres-cluster.ts";
import { callCoverage, movesNeverSeen } from "./coverage.ts";
import { planOf, type Plan } from "./plan.ts";
import type { Result } from "./run.ts";
import type { Order } from "./run-one.ts";

type Report = Omit<Result, "counts" | "looks"> & { counts: Record<string, number>; looks: Record<string, number> };

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    runs: { type: "string" },
    minutes: { type: "string" },
    engine: { type: "string", default: "sqlite,postgres" },
    nodes: { type: "string" },
    trace: { type: "string" },
    /** A plan as JSON, or a file with one, as a violation prints it. */
    plan: { type: "string" },
    /** Reports a violation as it was found, without looking for a smaller run that shows it. */
    "no-shrink": { type: "boolean", default: false },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const RUN_WITHIN_MS = 1_200_000;
const SHRINK_RUNS = 60;
const givenPlan = options.plan === undefined ? null : readPlan(options.plan);
const engines = givenPlan ? [givenPlan.engine] : (options.engine.split(",") as Plan["engine"][]);
const cluster = engines.includes("postgres") ? await startCluster({ fleeting: true }) : null;

function readPlan(written: string): Plan {
  return JSON.parse(written.startsWith("{") ? written : readFileSync(written, "utf8")) as Plan;
}

/** Runs a plan in a process of its own. */
async function run(plan: Plan, trace: string | null = null): Promise<Report> {
  const child = fork(join(import.meta.dirname, "run-one.ts"));
  const limit = setTimeout(() => child.kill("SIGKILL"), RUN_WITHIN_MS);
  const ended = once(child, "exit").then(() => null);
  child.send({ plan, postgresUrl: cluster?.url ?? null, trace } satisfies Order);
  const answer = await Promise.race([once(child, "message").then(([report]) => report as Report), ended]);
  clearTimeout(limit);
  if (answer) return answer;
  const detail = `the process ended without a result (exit ${child.exitCode ?? child.signalCode})`;
  const nothing = { story: [], simulatedMs: 0, events: 0, messages: 0, copies: 0, hash: 0, counts: {}, looks: {} };
  return { plan, violations: [{ rule: "the run ends", detail }], ...nothing };
}

/** Leaves out what is not needed for the violation of a rule: nodes, faults, then actions. */
async function shrink(plan: Plan, rule: string): Promise<Report | null> {
  let best: Report | null = null;
  let left = SHRINK_RUNS;
  const tryPlan = async (smaller: Plan): Promise<boolean> => {
    if (left === 0) return false;
    left -= 1;
    const report = await run(smaller);
    if (!report.violations.some((violation) => violation.rule === rule)) return false;
    best = report;
    return true;
  };
  let { nodes } = plan;
  while (nodes > 1 && (await tryPlan({ ...plan, nodes: nodes - 1 }))) nodes -= 1;
  let current: Plan = { ...plan, nodes };
  for (const part of ["faults", "actions"] as const)
    for (let size = Math.ceil(current[part].length / 2); size >= 1; size = Math.floor(size / 2))
      for (let at = 0; at < current[part].length;) {
        const smaller = { ...current, [part]: current[part].toSpliced(at, size) };
        if (await tryPlan(smaller)) current = smaller;
        else at += size;
      }
  return best;
}

const MESSAGE_ID = /[0-9a-f]{8}-[0-9a-f-]{27}(?::\d+)?/g;

/** The story that is printed has at most this many messages. */
const MESSAGES_MAX = 3;

/** Faults, starts and stops, and everything about the first messages of the violations, in plain words. */
function storyOf({ plan, story, violations }: Report): string[] {
  const [first] = violations;
  const ids = [...new Set(violations.flatMap(({ detail }) => detail.match(MESSAGE_ID)?.[0] ?? []))].slice(
    0,
    MESSAGES_MAX,
  );
  const names = new Map(ids.map((id, index) => [id, `message ${index + 1}`]));
  const named = (text: string): string => text.replaceAll(MESSAGE_ID, (id) => names.get(id) ?? id);
  const told = story.filter((line) => {
    const found = line.match(MESSAGE_ID) ?? [];
    return found.length === 0 ? !line.includes("invalid/") : found.some((id) => names.has(id));
  });
  const engine = plan.engine === "sqlite" ? "SQLite" : "PostgreSQL";
  return [
    `${plan.nodes} nodes on ${engine}; people act ${plan.actions.length} times, and ${plan.faults.length} faults are planned.`,
    ...told.map(named),
    ...(first ? [`Broken: ${first.rule}. ${named(first.detail)}`] : []),
    ...[...names].map(([id, name]) => `${name} is ${id}`),
  ];
}

const startedAt = performance.now();
const minutes = options.minutes === undefined ? null : Number(options.minutes);
const runs = options.runs === undefined ? (minutes === null ? 1 : Number.POSITIVE_INFINITY) : Number(options.runs);
const firstSeed = options.seed === undefined ? Date.now() % 2 ** 31 : Number(options.seed);
const totals: Record<string, number> = {};
const looks: Record<string, number> = {};
let failed = 0;
let done = 0;
const add = (name: string, value: number): void => void (totals[name] = (totals[name] ?? 0) + value);
const sumOf = (isWanted: (name: string) => boolean): number =>
  Object.entries(totals).reduce((sum, [name, value]) => sum + (isWanted(name) ? value : 0), 0);
const isTimeLeft = (): boolean => minutes === null || performance.now() - startedAt < minutes * 60_000;
for (; done < runs && isTimeLeft(); done += 1) {
  const engine = engines[done % engines.length] ?? "sqlite";
  const plan =
    givenPlan ?? planOf(firstSeed + done, engine, options.nodes === undefined ? undefined : Number(options.nodes));
  const report = await run(plan, options.trace ?? null);
  add("simulated seconds", report.simulatedMs / 1000);
  add("events", report.events);
  add("messages", report.messages);
  add("copies at carriers", report.copies);
  for (const [name, value] of Object.entries(report.counts)) add(name, value);
  for (const [rule, value] of Object.entries(report.looks)) looks[rule] = (looks[rule] ?? 0) + value;
  print(
    `seed ${plan.seed} ${engine}: ${plan.nodes} nodes, ${plan.actions.length} actions, ${plan.faults.length} faults, ` +
      `${report.messages} messages, ${Math.round(report.simulatedMs / 1000)} s simulated, ` +
      `${report.events} events (${report.hash.toString(16)}), ${report.violations.length} violations`,
  );
  if (report.violations.length === 0) continue;
  failed += 1;
  for (const { rule, detail } of report.violations) print(`  ${rule}: ${detail}`);
  const [first] = report.violations;
  const small = first && !options["no-shrink"] ? await shrink(plan, first.rule) : null;
  print(`  ${small ? "A smaller run that shows it" : "The run"}:`);
  for (const line of storyOf(small ?? report)) print(`  ${line}`);
  print(`  Repeat it: npm run simulate -- --seed ${plan.seed} --engine ${engine} --nodes ${plan.nodes}`);
  if (small) print(`  Repeat the smaller run: npm run simulate -- --plan '${JSON.stringify(small.plan)}'`);
}
const seconds = (performance.now() - startedAt) / 1000;
print(`${done} runs in ${Math.round(seconds)} s, ${failed} with violations`);
const perSecond = (value: number): string => (value / seconds).toFixed(1);
const faults = sumOf((name) => /^(planned fault|fault of the store): /.test(name));
const mischief = sumOf((name) => /^(submit (?!taken$)|receipts (?!orderly$))/.test(name));
print(
  `Per second: ${perSecond(totals["simulated seconds"] ?? 0)} simulated seconds, ${perSecond(totals["events"] ?? 0)} events, ` +
    `${perSecond(faults)} faults, ${perSecond(mischief)} submits and receipts out of the ordinary`,
);
const shown = Object.entries(totals).filter(([name]) => !/^(call|interrupted) /.test(name));
for (const [name, value] of shown.toSorted(([one], [other]) => one.localeCompare(other)))
  print(`  ${name}: ${Math.round(value)}`);
print("Rules, with the times that each was looked at:");
for (const [rule, value] of Object.entries(looks).toSorted(([one], [other]) => one.localeCompare(other)))
  print(`  ${rule}: ${value}`);
print(`Legal changes of state that were not seen: ${movesNeverSeen(totals).join(", ") || "none"}`);
const { hit, missed } = callCoverage(totals);
print(
  `Store calls during which a node died or stood still: ${hit} of ${hit + missed.length}; not: ${missed.toSorted().join(", ") || "none"}`,
);
await cluster?.stop();
process.exit(failed > 0 ? 1 : 0);
