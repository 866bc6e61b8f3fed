export interface Placed<T> {
  place: number;
  item: T;
}

/**
 * Splits a batch so that no round holds the same key twice; what has the same key keeps its order.
 * One statement sees every row as it was before the statement, so it can work on each row once only.
 */
export function rounds<T>(batch: readonly T[], keyOf: (item: T) => string | null): Placed<T>[][] {
  const seen = new Map<string, number>();
  const result: Placed<T>[][] = [];
  batch.forEach((item, place) => {
    const key = keyOf(item);
    const round = key === null ? 0 : (seen.get(key) ?? 0);
    if (key !== null) seen.set(key, round + 1);
    (result[round] ??= []).push({ place, item });
  });
  return result;
}
