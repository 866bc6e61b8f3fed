// Checks the simulation itself: each mutant takes one safeguard out of the service, and the simulation has to notice.
// Run: npm run simulate:mutants [-- --seeds 20 --only orphans]
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

interface Mutant {
  name: string;
  /** The safeguard that is missing. */
  without: string;
  file: string;
  from: string;
  to: string;
  engine: "sqlite" | "postgres";
  /** The rules that notice it; any of them counts. */
  rules: readonly string[];
}

const MUTANTS: readonly Mutant[] = [
  {
    name: "promotion-repeats",
    without: "a promotion in doubt is not repeated",
    file: "src/pipeline/dispatch/retry.ts",
    from: `(message.routeClass !== "PROMO" || repeats)`,
    to: `(message.routeClass !== "PROMO" || repeats || true)`,
    engine: "sqlite",
    rules: ["a promotion in doubt is never repeated"],
  },
  {
    name: "refused-intent",
    without: "a message is sent only if its intent was written",
    file: "src/pipeline/dispatch/dispatch.ts",
    from: `if (!(await transitionBatcherFor(deps, message).add(counted)).moved) {`,
    to: `if (!(await transitionBatcherFor(deps, message).add(counted)).moved && false) {`,
    engine: "sqlite",
    rules: [
      "nothing is sent after an acknowledged stop",
      "every submit has its intent",
      "every copy is counted",
      "a message that was not sent is not at a carrier",
    ],
  },
  {
    name: "orphans",
    without: "rows that a lost commit left behind are recovered",
    file: "src/cluster/jobs.ts",
    from: `run: () => sending.recover() }`,
    to: `run: async () => undefined }`,
    engine: "postgres",
    rules: ["every accepted message ends", "an owner holds its rows", "an expiry has a reason"],
  },
  {
    name: "dead-nodes",
    without: "rows of dead nodes are claimed",
    file: "src/pipeline/dispatch/claim.ts",
    from: `[UNOWNED, ...deps.membership.dead]`,
    to: `[UNOWNED]`,
    engine: "sqlite",
    rules: ["every accepted message ends"],
  },
  {
    name: "early-receipts",
    without: "receipts that overtook the submit ack are stored",
    file: "src/pipeline/receipts/receive-receipt.ts",
    from: `const late = await commits.storeUnmatched.add(alternateIds ? { ...unmatched, otherIds: alternateIds() } : unmatched);`,
    to: `const late = null as Submission | null; void unmatched;`,
    engine: "sqlite",
    rules: ["an acknowledged receipt counts"],
  },
  {
    name: "unwritten-receipts",
    without: "a receipt is acknowledged after its commit",
    file: "src/app/carriers.ts",
    from: `await connections.start((receipt) => receiveReceipt(pipeline.dispatchDeps, receipt), { sends: cluster.sends });`,
    to: `await connections.start(async (receipt) => void receiveReceipt(pipeline.dispatchDeps, receipt).catch(() => undefined), { sends: cluster.sends });`,
    engine: "sqlite",
    rules: ["an acknowledged receipt counts"],
  },
  {
    name: "send-lease",
    without: "a stop ends the leases of messages on their way to a carrier",
    file: "src/pipeline/dispatch/stop-guard.ts",
    from: `return () => elapsed() < LEASE_MS && !isStopped(number) && !isStopped(campaign);`,
    to: `return () => elapsed() < LEASE_MS || isStopped(number) || isStopped(campaign) || true;`,
    engine: "sqlite",
    rules: ["nothing is sent after an acknowledged stop"],
  },
  {
    name: "other-nodes-lease",
    without: "a stop is acknowledged after the leases of other nodes",
    file: "src/pipeline/dispatch/stop-guard.ts",
    from: `if ((await store.countNodes()) > 1) await`,
    to: `if ((await store.countNodes()) > 1000) await`,
    engine: "postgres",
    rules: ["nothing is sent after an acknowledged stop"],
  },
  {
    name: "callback-recovery",
    without: "callbacks that a lost commit left behind are recovered",
    file: "src/cluster/jobs.ts",
    from: `run: () => webhooks.recover() }`,
    to: `run: async () => undefined }`,
    engine: "postgres",
    rules: ["every accepted message ends", "an owner delivers its callbacks", "a callback arrives at least once"],
  },
  {
    name: "callback-order",
    without: "callbacks of one message wait for each other",
    file: "src/webhooks/endpoint-queue.ts",
    from: `const behind = endpoint.behind.get(job.orderKey);`,
    to: `job.orderKey += String(Math.random());\n    const behind = endpoint.behind.get(job.orderKey);`,
    engine: "sqlite",
    rules: ["callbacks of a message arrive in order"],
  },
  {
    name: "write-retry",
    without: "a fact from outside is written again while the store is away",
    file: "src/pipeline/group-commit.ts",
    from: `if (!isAway(error)) return false;`,
    to: `if (true) return false;`,
    engine: "sqlite",
    rules: [
      "an acknowledged receipt counts",
      "a copy is sent only after a doubt",
      "no code throws without a handler",
      "not reported means that a carrier has it",
    ],
  },
  {
    name: "late-answers",
    without: "a submit ack that came after its time-out is recorded",
    file: "src/app/carriers.ts",
    from: `onLateAnswer: (late) => handleLateAnswer(pipeline.dispatchDeps, late),`,
    to: `onLateAnswer: async (late) => void late,`,
    engine: "sqlite",
    rules: ["an acknowledged receipt counts"],
  },
  {
    name: "expired-id",
    without: "a node sends nothing under an id that the others have expired",
    file: "src/pipeline/dispatch/dispatch.ts",
    from: `if (!membership.alive || membership.node !== node) return undoIntent(deps, message, fence, at);`,
    to: `if (!membership.alive) return undoIntent(deps, message, fence, at);`,
    engine: "postgres",
    rules: ["every copy is counted", "every submit has its intent", "a promotion in doubt is never repeated"],
  },
  {
    name: "attempt-fence",
    without: "a write about one attempt does not undo a later one",
    file: "src/store/postgres/transition.ts",
    from: `and (step.attempt_is is null or messages.attempts = step.attempt_is or \${IS_MADE}) and \${IS_LEGAL}`,
    to: `and \${IS_LEGAL}`,
    engine: "postgres",
    rules: ["a promotion in doubt is never repeated", "every copy is counted", "every submit has its intent"],
  },
  {
    name: "stop-in-intent",
    without: "the intent is written only if no stop came before",
    file: "src/pipeline/dispatch/dispatch.ts",
    from: `if (lease) intent.unlessStopped = true;`,
    to: ``,
    engine: "postgres",
    rules: ["nothing is sent after an acknowledged stop"],
  },
  {
    name: "lost-accept",
    without: "rows of an accept whose answer was lost are released",
    file: "src/pipeline/accept/accept.ts",
    from: `if (isAway(error) && slots) void releaseLater(deps, node, message);`,
    to: ``,
    engine: "postgres",
    rules: ["an expiry has a reason", "an owner holds its rows"],
  },
  {
    name: "simulator-fallback",
    without: "live messages do not go to the simulator beside a real carrier",
    file: "src/records/catalog.ts",
    from: `(!isReal || content.simulateLive === true || !this.isSimulated(content.carrier)),`,
    to: `true,`,
    engine: "sqlite",
    rules: ["no live message goes to the simulator"],
  },
  {
    name: "undo-in-doubt",
    without: "an unused repeat leaves the message in doubt",
    file: "src/pipeline/dispatch/dispatch.ts",
    from: `return message.state === "submitting"
    ? holdUnconfirmed(deps, message, fence, at, { repeat: -1 })`,
    to: `return Math.random() > 2
    ? holdUnconfirmed(deps, message, fence, at, { repeat: -1 })`,
    engine: "postgres",
    rules: ["a message that was not sent is not at a carrier", "every copy is counted"],
  },
  {
    name: "late-event-ids",
    without: "event ids carry the time of arrival",
    file: "src/webhooks/plan.ts",
    from: `readers' cursors may have passed it.
      const eventId = newId(deps.clock.now());`,
    to: `readers' cursors may have passed it.
      const eventId = newId(at);`,
    engine: "sqlite",
    rules: ["events are complete"],
  },
  {
    name: "claimed-early",
    without: "a callback that is claimed while it is put back is offered again",
    file: "src/webhooks/dispatcher.ts",
    from: `if (this.#inMemory.has(key)) this.#claimedEarly.set(key, callback);`,
    to: `void this.#claimedEarly;`,
    engine: "sqlite",
    rules: ["an owner holds its callbacks"],
  },
  {
    name: "end-unreported",
    without: "messages without a receipt end",
    file: "src/cluster/jobs.ts",
    from: `run: () => sending.endUnreported() }`,
    to: `run: async () => undefined }`,
    engine: "sqlite",
    rules: ["every accepted message ends"],
  },
  {
    name: "held-credits",
    without: "a cancel releases the held credits",
    file: "src/store/charge.ts",
    from: `to: ["rejected", "expired", "cancelled"], change`,
    to: `to: ["rejected", "expired"], change`,
    engine: "sqlite",
    rules: ["nothing is held at rest", "a message is charged once"],
  },
  {
    name: "settle-fence",
    without: "the result of a callback's attempt is written once",
    file: "src/store/postgres/settle-callbacks.ts",
    from: `and callbacks.attempts = step.attempts and \${waitsByItself("callbacks")}`,
    to: `and \${waitsByItself("callbacks")}`,
    engine: "postgres",
    rules: ["an attempt of a callback is counted once", "callbacks of a message arrive in order"],
  },
  {
    name: "leave-forgets",
    without: "a node that left is still known by its id",
    file: "src/store/postgres/nodes.ts",
    from: `update nodes set dead = 1 where id = $1", values: [node] });`,
    to: `delete from nodes where id = $1", values: [node] });`,
    engine: "postgres",
    rules: ["every accepted message ends", "a callback arrives at least once"],
  },
];

const { values: options } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
  },
});
const root = join(import.meta.dirname, "../..");

type Engine = Mutant["engine"];

/** Runs one seed on the source in a folder; the rules that were broken. */
function brokenRules(folder: string, seed: number, engine: Engine): string[] {
  const args = ["test/simulation/simulate.ts", "--seed", String(seed), "--engine", engine, "--no-shrink"];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  if (status === 0) return [];
  const told = stdout.split("violations\n")[1]?.split("\n  The run: ")[0] ?? "";
  const rules = told.split("\n").flatMap((line) => /^ {2}([a-z][^:]+): /i.exec(line)?.[1] ?? []);
  if (status !== 1 || rules.length === 0) throw new Error(`the simulation failed: ${stdout.slice(-2000)}`);
  return [...new Set(rules)];
}

const sound = new Map<string, boolean>();

/** True if the unchanged source breaks no rule with this seed: what the mutant breaks is then its own. */
function isSound(seed: number, engine: Engine): boolean {
  const key = `${seed} ${engine}`;
  const known = sound.get(key);
  if (known !== undefined) return known;
  const isClean = brokenRules(root, seed, engine).length === 0;
  sound.set(key, isClean);
  return isClean;
}

/** Seeds until the mutant was noticed by one of its rules; null if it was not. */
function seedsToNotice({ file, from, to, engine, rules }: Mutant): { seeds: number; rule: string } | null {
  const folder = mkdtempSync(join(tmpdir(), "heliograph-mutant-"));
  try {
    for (const part of ["src", "test", "package.json"])
      cpSync(join(root, part), join(folder, part), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const source = readFileSync(join(folder, file), "utf8");
    if (source.split(from).length !== 2) throw new Error(`${file} has changed: the mutant's line is not in it once`);
    writeFileSync(
      join(folder, file),
      source.replace(from, () => to),
    );
    for (let seeds = 1; seeds <= Number(options.seeds); seeds += 1) {
      const seed = Number(options.seed) + seeds - 1;
      const rule = brokenRules(folder, seed, engine).find((each) => rules.includes(each));
      if (rule !== undefined && isSound(seed, engine)) return { seeds, rule };
    }
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let missed = 0;
for (const mutant of MUTANTS) {
  if (options.only !== undefined && !options.only.split(",").includes(mutant.name)) continue;
  const noticed = seedsToNotice(mutant);
  if (!noticed) missed += 1;
  const result = noticed
    ? `noticed after ${noticed.seeds} seeds: ${noticed.rule}`
    : `not noticed in ${options.seeds} seeds`;
  process.stdout.write(`${mutant.name} (without "${mutant.without}", ${mutant.engine}): ${result}\n`);
}
process.exit(missed > 0 ? 1 : 0);
