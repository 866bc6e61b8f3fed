export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The middle one, or what lies between the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const above = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const below = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
  return (below + above) / 2;
}
