/** Seeded random choices. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** Integer, both bounds included. */
  between(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
  /** Picks a key of a table of weights. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K;
  /** A seed for a generator of its own, so that two parts of a run do not shift each other's numbers. */
  seed(): number;
}

/** Mulberry32: small, fast and sufficient for choosing times and numbers. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length - 1)] as (typeof list)[number],
    chance: (probability) => next() < probability,
    weighted: <K extends string>(weights: Readonly<Record<K, number>>): K => {
      const entries = Object.entries(weights) as [K, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        if (left < 0) return key;
      }
      throw new Error("the table of weights is empty");
    },
    seed: () => Math.floor(next() * 4_294_967_296),
  };
}

/** The given seed, to repeat a run, or a new one. */
export const seedOf = (wanted: string | undefined): number =>
  wanted === undefined || wanted === "" ? Math.floor(Math.random() * 4_294_967_296) : Number(wanted);
