export const print = (line: string): void => void process.stdout.write(`${line}\n`);

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const above = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const below = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
  return (below + above) / 2;
}
