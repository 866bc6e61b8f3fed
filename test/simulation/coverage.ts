import { LEGAL_MOVES } from "./record-moves.ts";

/** Legal changes of state that no run has seen, from the counts of all of them. */
export const movesNeverSeen = (counts: Readonly<Record<string, number>>): string[] =>
  LEGAL_MOVES.map(({ table, from, to }) => `${table}: ${from} → ${to}`).filter(
    (move) => counts[`move of ${move}`] === undefined,
  );

/** Names of the store calls that no fault has interrupted, and the number of the others. */
export function callCoverage(counts: Readonly<Record<string, number>>): { hit: number; missed: string[] } {
  const names = Object.keys(counts).flatMap((name) => /^call (.*)$/.exec(name)?.[1] ?? []);
  const missed = names.filter((name) => counts[`interrupted ${name}`] === undefined);
  return { hit: names.length - missed.length, missed };
}
