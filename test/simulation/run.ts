import { seedGlobals } from "./replace-globals.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { newKeySecret } from "../../src/model/api-key.ts";
import { mayTransition, STATES } from "../../src/model/message.ts";
import { CarrierNetwork, HEALTHY, PERFECT, type SubmitFates } from "./carrier-network.ts";
import { Customer } from "./customer.ts";
import {
  allMessages,
  checkAtEnd,
  checkLedger,
  checkMemory,
  checkOwners,
  checkStrict,
  Findings,
  hasEnded,
  VALIDITY_MS,
  type CreditRules,
  type Violation,
} from "./invariants.ts";
import { SimulatedNode, type NodeDeps } from "./node.ts";
import { People } from "./people.ts";
import { seededRandom, type Random } from "../torture/random.ts";
import type { OpenStore } from "./simulated-database.ts";
import { NO_STORE_FAULTS, type StoreFaults } from "./store-gate.ts";
import { World } from "./world.ts";

const ACTING_MS = 90_000;
const FAULT_KINDS = [
  "crash",
  "stop",
  "pause",
  "sleep",
  "clock",
  "store",
  "carrier",
  "line",
  "answers",
  "customer",
] as const;
type FaultKind = (typeof FAULT_KINDS)[number];

/** One run of the simulation. Everything that happens follows from it, the code and the engine. */
export interface Plan {
  seed: number;
  engine: "sqlite" | "postgres";
  nodes: number;
  /** Actions of people, before the world calms down. Each has a seed of its own, so that shrinking can leave others out. */
  actions: readonly Planned[];
  faults: readonly (Planned & { kind: FaultKind })[];
}

interface Planned {
  atMs: number;
  seed: number;
}

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

/** The plan that a seed stands for. */
export function planOf(seed: number, engine: Plan["engine"], wantedNodes?: number): Plan {
  const random = seededRandom(seed);
  const kinds = FAULT_KINDS.filter(() => random.chance(0.6));
  const nodes = random.between(1, 5);
  const planned = (count: number): Planned[] =>
    Array.from({ length: count }, () => ({ atMs: random.between(0, ACTING_MS), seed: random.seed() }));
  return {
    seed,
    engine,
    // SQLite allows one node.
    nodes: engine === "sqlite" ? 1 : (wantedNodes ?? nodes),
    actions: planned(random.between(20, 120)),
    faults:
      kinds.length === 0 ? [] : planned(random.between(0, 15)).map((each) => ({ ...each, kind: random.pick(kinds) })),
  };
}

const QUIET_WITHIN_MS = 3_600_000;
const LOOK_EVERY_MS = 5000;
const STRICT_WITHIN_MS = 600_000;
const STRICT_REPORTED_WITHIN_MS = 60_000;
const EVENTS_WITHIN_MS = 60_000;
const RESTARTED_WITHIN_MS = 500;
/** A node's clock is never further off. Readers of events rely on clocks that differ less. */
const SKEW_MAX_MS = 10_000;
const PASSWORD = "password of the owner";
const ROUGH: SubmitFates = {
  taken: 60,
  busy: 10,
  refusedMessage: 4,
  refusedCarrier: 6,
  takenInSilence: 8,
  lostInSilence: 6,
  takenLate: 12,
};

const UNRELIABLE_DISK = { refused: 0.05, slow: 0.2 };
/** For each statement; a call has several. */
const UNRELIABLE_NETWORK = { refused: 0.02, answerLost: 0.05, landsLater: 0.05, slow: 0.1 };

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
    onFault: count,
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
  await configure(world, first, apiKey, credits, random.pick([null, null, 5, 20]));
  if (credits) {
    people.isMetered = true;
    let isFilled = false;
    void people.fill(seededRandom(random.seed()), random.pick([60, 5000])).then(() => {
      isFilled = true;
    });
    await world.run(60_000, () => isFilled);
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
  people.readEvents(end);
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
  for (const { process } of nodes) process.pausedUntil = Math.min(process.pausedUntil, world.now);
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
    const isReached = people.waiting === 0 && network.pending === 0 && (await store.countWaiting()) === 0;
    if (!isReached) people.resumeAgain();
    return isReached;
  });
  // All nodes stay until their callbacks are delivered: the rows that a dead node leaves behind are rescued by the others.
  const isTold = isSent && (await until(async () => (await store.countWaitingCallbacks()) === 0));
  if (isTold) {
    network.fates = PERFECT;
    let isDone = false;
    void people.actStrictly(seededRandom(random.seed())).then(() => {
      isDone = true;
    });
    await world.run(STRICT_WITHIN_MS, () => isDone);
    await world.run(STRICT_REPORTED_WITHIN_MS);
    await checkStrict({ people, store }, findings);
    await until(async () => network.pending === 0 && (await store.countWaitingCallbacks()) === 0);
    await world.run(LOOK_EVERY_MS);
    checkMemory(alive(), findings);
  }
  // Messages without a receipt end after minutes. One node is enough for these, and quicker.
  for (const node of alive().slice(1)) node.crash();
  const isEnded = isTold && (await until(async () => (await allMessages(store)).every(hasEnded)));
  const isQuiet = isEnded && (await until(async () => (await store.countWaitingCallbacks()) === 0));
  if (!isQuiet) {
    const [rows, waiting] = [await store.countWaiting(), await store.countWaitingCallbacks()];
    world.tell(
      `not at rest: ${rows} messages, ${waiting} callbacks, ${people.waiting} people, ${network.pending} at SMSCs`,
    );
  }
  await readRest(world, people);

  const made = await simulatedStore.moves();
  for (const { from, to } of made) count(`move ${from} → ${to}`);
  await checkAtEnd({ world, store, network, customer, people, nodes, moves: made, credits, rough, isQuiet }, findings);
  const { violations, looks } = findings;
  for (const node of nodes) node.dispose();
  await simulatedStore.discard();
  rmSync(folder, { recursive: true, force: true });
  for (const [kind, number] of [...network.counts, ...people.counts]) counts.set(kind, number);
  return {
    plan,
    violations,
    story: world.story,
    hash: world.hash,
    simulatedMs: world.now - startedAt,
    events: world.eventCount,
    messages: people.sent.reduce((sum, { answers }) => sum + (answers[0]?.length ?? 0), 0),
    copies: network.copies.length,
    counts,
    looks,
  };
}

/** The readers of events read what is left. Events become readable half a minute after their commit. */
async function readRest(world: World, people: People): Promise<void> {
  await world.run(EVENTS_WITHIN_MS);
  for (const reader of people.readers) {
    const random = world.randomFor(`last pages of ${reader.name}`);
    for (let count: number | null = null; count !== 0;) {
      let isDone = false;
      void people.readPage(random, reader).then((read) => {
        count = read;
        isDone = true;
      });
      await world.run(EVENTS_WITHIN_MS, () => isDone);
      if (!isDone) return;
    }
  }
}

/** Legal changes of state that no run has seen, from the counts of all of them. */
export const movesNeverSeen = (counts: Readonly<Record<string, number>>): string[] =>
  STATES.flatMap((from) =>
    STATES.filter((to) => from !== to && mayTransition(from, to)).map((to) => `${from} → ${to}`),
  ).filter((move) => counts[`move ${move}`] === undefined);

/** Two carriers, routes over both, and endpoints for delivery reports. */
async function configure(
  world: World,
  node: SimulatedNode,
  key: string,
  credits: CreditRules | null,
  messagesPerSecond: number | null,
): Promise<void> {
  const ask = async (method: "GET" | "POST" | "PATCH" | "DELETE", url: string, body?: unknown): Promise<unknown> => {
    let result: unknown;
    let isDone = false;
    void node.request(method, url, { key, body }).then((answer) => {
      isDone = true;
      if (!answer || answer.status >= 300)
        throw new Error(`${method} ${url}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      result = answer.body;
    });
    await world.run(60_000, () => isDone);
    return result;
  };
  for (const name of ["north", "south"]) {
    // The second carrier allows one connection, so only one node has it.
    const binds = { connections: name === "north" ? 8 : 1 };
    const smpp = { host: "127.0.0.1", port: 2775, systemId: name, password: "secret", ...binds };
    const rate = messagesPerSecond === null ? {} : { messagesPerSecond };
    await ask("POST", "/api/carriers", { name, adapter: "smpp", ...rate, smpp });
    await ask("POST", "/api/routes", { name, channel: "sms", carrier: name, priority: 10 });
  }
  await ask("PATCH", "/api/account", { sameText: null });
  if (credits) await ask("PATCH", "/api/account", { credits: "metered", ...credits });
  if (credits) await ask("POST", "/api/prices", { routeClass: "PROMO", prefix: "1", creditsPerSegment: 3 });
  await ask("POST", "/api/dlr-configs", { name: "reports", url: "http://customer.invalid/reports" });
  for (const [channel, events] of Object.entries(WEBHOOKS))
    await ask("POST", "/api/webhooks", { name: channel, channel, url: `http://customer.invalid/${channel}`, events });
}

const WEBHOOKS = { sms: ["user_message"], rcs: ["message_status"], verify: ["verification_status"] };

interface FaultDeps {
  world: World;
  network: CarrierNetwork;
  customer: Customer;
  plan: Plan;
  rough: { from: number; until: number }[];
  alive(): SimulatedNode[];
  restart(afterMs: number, skewMs: number): void;
  count(kind: string): void;
  setStore(node: string | null, faults: StoreFaults | null): void;
}

/** Causes faults, each for a while. */
function createFaults(deps: FaultDeps): (kind: FaultKind, random: Random) => void {
  const { world, network, customer, plan, alive, restart, count, rough, setStore } = deps;
  const isNetworked = plan.engine === "postgres";
  return (kind, random) => {
    const later = (leastMs: number, mostMs: number, run: () => void): void =>
      void world.plan(random.between(leastMs, mostMs), null, run);
    const node = alive().length > 0 ? random.pick(alive()) : null;
    count(`fault ${kind}`);
    switch (kind) {
      case "crash": {
        if (!node) return;
        world.tell(`${node.process.name} is killed`);
        node.crash();
        return restart(random.between(500, 20_000), node.process.skewMs);
      }
      case "stop": {
        if (!node) return;
        world.tell(`${node.process.name} is asked to stop`);
        void node.stop();
        return restart(random.between(500, 20_000), node.process.skewMs);
      }
      case "pause": {
        if (!node) return;
        const ms = random.between(100, 60_000);
        world.tell(`${node.process.name} is stopped for ${ms} ms`);
        node.process.pause(ms);
        return;
      }
      case "sleep": {
        if (!node) return;
        const ms = random.between(1000, 60_000);
        world.tell(`the machine of ${node.process.name} is suspended for ${ms} ms`);
        node.process.pause(ms);
        node.process.sleptMs += ms;
        return;
      }
      case "clock": {
        if (!node) return;
        const wanted = node.process.skewMs + random.between(-5000, 5000);
        const ms = Math.max(-SKEW_MAX_MS, Math.min(SKEW_MAX_MS, wanted)) - node.process.skewMs;
        world.tell(`the clock of ${node.process.name} steps by ${ms} ms`);
        node.process.step(ms);
        return;
      }
      case "store": {
        const place = random.chance(0.5) || !node ? null : node.process.name;
        const how = random.weighted({ away: 4, unreliable: 5, "read-only": 1 });
        const faults: StoreFaults = {
          ...NO_STORE_FAULTS,
          ...(how === "away" && { refused: 1 }),
          ...(how === "read-only" && { readOnly: 1 }),
          ...(how === "unreliable" && (isNetworked ? UNRELIABLE_NETWORK : UNRELIABLE_DISK)),
        };
        world.tell(`the store is ${how} for ${place ?? "all nodes"}`);
        setStore(place, faults);
        // Results that a node could not write are lost with it.
        if (node && random.chance(0.25)) {
          later(100, 10_000, () => {
            if (!node.isAlive) return;
            world.tell(`${node.process.name} is killed`);
            node.crash();
            restart(random.between(500, 20_000), node.process.skewMs);
          });
        }
        return later(200, 25_000, () => {
          world.tell(`the store is back for ${place ?? "all nodes"}`);
          setStore(place, null);
        });
      }
      case "carrier":
      case "line": {
        const carriers = random.chance(0.3) ? network.carrierNames() : [random.pick(network.carrierNames())];
        const places = carriers.map((name) => (kind === "carrier" || !node ? name : `${node.process.name}/${name}`));
        for (const place of places) network.setDown(place, true);
        world.tell(`${places.join(" and ")} goes down`);
        return later(500, 40_000, () => {
          for (const place of places) network.setDown(place, false);
          world.tell(`${places.join(" and ")} is up`);
        });
      }
      case "answers":
        world.tell("the SMSCs answer unreliably");
        network.fates = ROUGH;
        rough.push({ from: world.now, until: Number.POSITIVE_INFINITY });
        return later(1000, 40_000, () => {
          network.fates = HEALTHY;
          for (const period of rough) period.until = Math.min(period.until, world.now);
        });
      case "customer":
        world.tell("the customer's endpoint fails");
        customer.failing = random.pick([0.3, 1]);
        return later(1000, 40_000, () => {
          customer.failing = 0;
        });
    }
  };
}
