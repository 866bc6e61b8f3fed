/** Caches one value per key. When `max` is reached, the cache is emptied. */
export function memoize<V>(max: number, make: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    if (known.size >= max) known.clear();
    known.set(key, made);
    return made;
  };
}
