/** Makes a value for a key once and remembers it; when there are too many, all are forgotten and made again as needed. */
export function createRecall<V, K = string>(max: number, make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    if (known.size >= max) known.clear();
    known.set(key, made);
    return made;
  };
}
