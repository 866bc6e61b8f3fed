import { seedGlobals } from "./replace-globals.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { newKeySecret } from "../../src/model/api-key.ts";
import { CarrierNetwork, HEALTHY, PERFECT } from "./carrier-network.ts";
import { configure } from "./configure.ts";
import { Customer } from "./customer.ts";
import { createFaults } from "./faults.ts";
import {
  allMessages,
  checkAtEnd,
  checkLedger,
  checkMemory,
  checkOwners,
  checkStrict,
  hasEnded,
  VALIDITY_MS,
} from "./invariants.ts";
import { Findings, type Violation } from "./findings.ts";
import { SimulatedNode, type NodeDeps } from "./node.ts";
import { People } from "./people.ts";
import { ACTING_MS, type Plan } from "./plan.ts";
import { seededRandom } from "../torture/random.ts";
import type { OpenStore } from "./simulated-database.ts";
import { NO_STORE_FAULTS, type StoreFaults } from "./store-gate.ts";
import { World } from "./world.ts";

export interface Result {
  plan: Plan;
  violations: Violation[];
  story: readonly string[];
  /** Over every event and store call. */
  hash: number;
  simulatedMs: number;
  events: number;
  messages: number;
  copies: number;
  /** Everything that was counted, by its name. */
  counts: ReadonlyMap<string, number>;
  /** Checks of each rule. */
  looks: ReadonlyMap<string, number>;
}

const QUIET_WITHIN_MS = 3_600_000;
const LOOK_EVERY_MS = 5000;
const STRICT_WITHIN_MS = 600_000;
const STRICT_REPORTED_WITHIN_MS = 60_000;
const RESTARTED_WITHIN_MS = 500;
const PLANNED_MAX = 500;
const PASSWORD = "password of the owner";

/** Runs one plan on an empty store. */
export async function runPlan(
  plan: Plan,
  openStore: OpenStore,
  trace: ((line: string) => void) | null = null,
): Promise<Result> {
  const random = seededRandom(plan.seed);
  seedGlobals(seededRandom(random.seed()));
  const world = new World(random.seed());
  world.trace = trace;
  for (const event of ["unhandledRejection", "uncaughtException"])
    process.on(event, (error: unknown) => world.faults.push(error instanceof Error ? `${error.stack}` : String(error)));
  const network = new CarrierNetwork(world);
  const customer = new Customer(world);
  const counts = new Map<string, number>();
  const count = (kind: string): void => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const folder = mkdtempSync(join(tmpdir(), "heliograph-simulation-"));
  const apiKey = newKeySecret("live");
  const config = readConfig({
    HELIOGRAPH_DATA_DIR: folder,
    HELIOGRAPH_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    HELIOGRAPH_API_KEY: apiKey,
    HELIOGRAPH_ADMIN_PASSWORD: PASSWORD,
    HELIOGRAPH_LOG_LEVEL: "silent",
    HELIOGRAPH_HTTP_FAST_PATH: "off",
    HELIOGRAPH_BASE_URL: "http://simulated.invalid",
    HELIOGRAPH_VALIDITY_OTP_SECONDS: String(VALIDITY_MS.OTP / 1000),
    HELIOGRAPH_VALIDITY_TRANS_SECONDS: String(VALIDITY_MS.TRANS / 1000),
    HELIOGRAPH_VALIDITY_PROMO_SECONDS: String(VALIDITY_MS.PROMO / 1000),
    HELIOGRAPH_RECEIPT_GRACE_SECONDS: "60",
    HELIOGRAPH_NODE_SILENT_SECONDS: "15",
    HELIOGRAPH_REQUEST_PATIENCE_SECONDS: "600",
  });
  const storeFaults = new Map<string, StoreFaults>();
  let everywhere: StoreFaults = NO_STORE_FAULTS;
  const simulatedStore = await openStore({
    world,
    faults: ({ name }) => storeFaults.get(name) ?? everywhere,
    onFault: (kind) => count(`fault of the store: ${kind}`),
  });
  const { store } = simulatedStore;
  const deps: NodeDeps = {
    world,
    store: simulatedStore,
    config,
    network,
    customer,
    onFailedStart: ({ process: { skewMs } }) => restart(1000, skewMs),
  };
  const nodes: SimulatedNode[] = [];
  const alive = (): SimulatedNode[] => nodes.filter(({ isAlive }) => isAlive);
  const areAllDead = (): boolean => nodes.every((node) => node.process.isDead);
  const people = new People({ world, network, nodes: alive, apiKey, password: PASSWORD });
  const findings = new Findings();
  const rough: { from: number; until: number }[] = [];
  // Half of the accounts pay: accepts and submit acks take other statements then.
  const credits = random.chance(0.5) ? { refundUndelivered: random.chance(0.5) } : null;
  let born = 0;
  let restarting = 0;
  const restart = (afterMs: number, skewMs: number): void => {
    restarting += 1;
    world.plan(afterMs, null, () => {
      restarting -= 1;
      // SQLite allows one node: its process manager waits for the end of the last one.
      if (plan.engine === "sqlite" && !areAllDead()) restart(RESTARTED_WITHIN_MS, skewMs);
      else start(skewMs);
    });
  };
  const start = (skewMs = 0): SimulatedNode => {
    born += 1;
    const node = new SimulatedNode(`node ${born}`, deps, skewMs);
    nodes.push(node);
    world.tell(`${node.process.name} starts`);
    return node;
  };

  const first = start();
  await world.run(60_000, () => first.isReady);
  // A slow carrier keeps messages in memory, where stops and crashes find them.
  const messagesPerSecond = random.pick([null, null, 5, 20]);
  const failoverAfterSeconds = random.pick([null, null, 10]);
  people.operators.hasLimitedRates = messagesPerSecond !== null;
  await configure(world, first, { key: apiKey, credits, messagesPerSecond, failoverAfterSeconds });
  if (credits) {
    people.operators.isMetered = true;
    await world.finish(people.operators.fill(seededRandom(random.seed()), random.pick([60, 5000])), 60_000);
  }
  for (let more = 1; more < plan.nodes; more += 1)
    start(plan.faults.some(({ kind }) => kind === "clock") ? random.between(-2000, 2000) : 0);
  await world.run(60_000, () => nodes.every(({ isReady }) => isReady));

  const startedAt = world.now;
  world.hasPriorities = random.chance(0.5);
  for (const { atMs, seed } of plan.actions) world.plan(atMs, null, () => people.act(seededRandom(seed)));
  const cause = createFaults({ world, network, customer, alive, restart, count, plan, rough, setStore });
  function setStore(node: string | null, faults: StoreFaults | null): void {
    if (node === null) everywhere = faults ?? NO_STORE_FAULTS;
    else if (faults) storeFaults.set(node, faults);
    else storeFaults.delete(node);
  }
  for (const { atMs, seed, kind } of plan.faults) world.plan(atMs, null, () => cause(kind, seededRandom(seed)));
  const end = world.now + ACTING_MS + QUIET_WITHIN_MS;
  people.readers.start(end);
  const look = async (): Promise<void> => {
    if (credits) await checkLedger(store, findings);
    await checkOwners(alive(), store, findings);
  };
  for (let passed = 0; passed < ACTING_MS; passed += LOOK_EVERY_MS) {
    await world.run(LOOK_EVERY_MS);
    await look();
  }

  // The world calms down: every promise has to be kept from here on.
  world.tell("all faults end");
  storeFaults.clear();
  everywhere = NO_STORE_FAULTS;
  network.allUp();
  network.fates = HEALTHY;
  network.receiptsAreOrderly = true;
  customer.failing = 0;
  for (const { process } of nodes) process.wake();
  if (areAllDead() && restarting === 0) start();
  people.resumeAll();
  for (const period of rough) period.until = Math.min(period.until, world.now);
  const until = async (isReached: () => Promise<boolean>): Promise<boolean> => {
    while (world.now < end) {
      await world.run(LOOK_EVERY_MS);
      await look();
      if (await isReached()) return true;
    }
    return false;
  };
  const isSent = await until(async () => {
    const isReached = people.clients.waiting === 0 && network.pending === 0 && (await store.countWaiting()) === 0;
    if (!isReached) people.resumeAgain();
    return isReached;
  });
  // All nodes stay until their callbacks are delivered: the rows that a dead node leaves behind are rescued by the others.
  const isTold = isSent && (await until(async () => (await store.countWaitingCallbacks()) === 0));
  if (isTold) {
    network.fates = PERFECT;
    // Nothing fails for lack of credits from here on.
    if (credits) await world.finish(people.operators.fill(seededRandom(random.seed()), 1000), STRICT_WITHIN_MS);
    const isDone = await world.finish(people.actStrictly(seededRandom(random.seed())), STRICT_WITHIN_MS);
    findings.expect("everything works after the faults", isDone, () => "people wait for their answers");
    await world.run(STRICT_REPORTED_WITHIN_MS);
    await checkStrict({ people, store }, findings);
    await until(async () => network.pending === 0 && (await store.countWaitingCallbacks()) === 0);
    await world.run(LOOK_EVERY_MS);
    checkMemory(alive(), findings);
  }
  // Messages without a receipt end after minutes. One node is enough for these, and quicker.
  for (const node of alive().slice(1)) node.crash();
  const isEnded = isTold && (await until(async () => (await allMessages(store)).every(hasEnded)));
  // The end of a verification is reported minutes after its code was sent.
  const countPlanned = async (): Promise<number> => (await store.listDueVerifications(end, PLANNED_MAX)).length;
  const isQuiet =
    isEnded && (await until(async () => (await countPlanned()) === 0 && (await store.countWaitingCallbacks()) === 0));
  if (!isQuiet) {
    const [rows, waiting] = [await store.countWaiting(), await store.countWaitingCallbacks()];
    world.tell(
      `not at rest: ${rows} messages, ${waiting} callbacks, ${await countPlanned()} verifications, ` +
        `${people.clients.waiting} people, ${network.pending} at SMSCs`,
    );
  }
  await people.readers.finish();

  const made = await simulatedStore.moves();
  for (const { table, from, to } of made) count(`move of ${table}: ${from} → ${to}`);
  await checkAtEnd({ world, store, network, customer, people, nodes, moves: made, credits, rough, isQuiet }, findings);
  const { violations, looks } = findings;
  const rows = await allMessages(store);
  for (const node of nodes) node.dispose();
  await simulatedStore.discard();
  rmSync(folder, { recursive: true, force: true });
  for (const [text, number] of world.logged) counts.set(`logged: ${text}`, number);
  for (const [name, number] of world.calls) counts.set(`call ${name}`, number);
  for (const [name, number] of world.interrupted) counts.set(`interrupted ${name}`, number);
  for (const [kind, number] of [...network.counts, ...people.clients.counts]) counts.set(kind, number);
  return {
    plan,
    violations,
    story: world.story,
    hash: world.hash,
    simulatedMs: world.now - startedAt,
    events: world.eventCount,
    messages: rows.length,
    copies: network.copies.length,
    counts,
    looks,
  };
}
