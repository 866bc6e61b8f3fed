export interface BatchItem<T> {
  place: number;
  item: T;
}

/**
 * Splits a batch into independent sub-batches without duplicate keys; items with the same key keep their order. A statement sees each row as it
 * was before the statement, so it can change each row only once.
 */
export function splitIntoSubBatches<T>(batch: readonly T[], keyOf: (item: T) => string | null): BatchItem<T>[][] {
  const seen = new Map<string, number>();
  const result: BatchItem<T>[][] = [];
  batch.forEach((item, place) => {
    const key = keyOf(item);
    const index = key === null ? 0 : (seen.get(key) ?? 0);
    if (key !== null) seen.set(key, index + 1);
    (result[index] ??= []).push({ place, item });
  });
  return result;
}
