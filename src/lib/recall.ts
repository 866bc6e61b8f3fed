/** Makes a value for a key once and remembers it; when there are too many, all are forgotten and made again as needed. */
export function createRecall<V>(max: number, make: (key: string) => V): (key: string) => V {
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
