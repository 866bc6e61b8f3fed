import { seededRandom } from "../torture/random.ts";

/** People act and faults happen during this time. */
export const ACTING_MS = 150_000;
/** Half of the actions happen this close to a fault. */
const AROUND_FAULT_MS = 3000;
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
export type FaultKind = (typeof FAULT_KINDS)[number];

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

/** The plan that a seed stands for. */
export function planOf(seed: number, engine: Plan["engine"], wantedNodes?: number): Plan {
  const random = seededRandom(seed);
  const kinds = FAULT_KINDS.filter(() => random.chance(0.6));
  const nodes = random.between(1, 5);
  const planned = (count: number): Planned[] =>
    Array.from({ length: count }, () => ({ atMs: random.between(0, ACTING_MS), seed: random.seed() }));
  const faults =
    kinds.length === 0 ? [] : planned(random.between(0, 24)).map((each) => ({ ...each, kind: random.pick(kinds) }));
  const actions = planned(random.between(60, 360)).map((each) => {
    if (faults.length === 0 || random.chance(0.5)) return each;
    const atMs = random.pick(faults).atMs + random.between(-AROUND_FAULT_MS, AROUND_FAULT_MS);
    return { ...each, atMs: Math.max(0, atMs) };
  });
  return {
    seed,
    engine,
    // SQLite allows one node.
    nodes: engine === "sqlite" ? 1 : (wantedNodes ?? nodes),
    actions,
    faults,
  };
}
