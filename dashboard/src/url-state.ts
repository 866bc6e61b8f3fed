import { useSearchParams } from "wouter";

/** State in the URL, so that links can be shared. Empty values are left out. */
export function useUrlState<K extends string>(
  names: readonly K[],
): [Record<K, string>, (changes: Partial<Record<K, string | null>>) => void] {
  const [search, setSearch] = useSearchParams();
  const values = Object.fromEntries(names.map((name) => [name, search.get(name) ?? ""])) as Record<K, string>;
  const change = (changes: Partial<Record<K, string | null>>): void => {
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries<string | null | undefined>(changes)) {
          if (value) after.set(name, value);
          else after.delete(name);
        }
        return after;
      },
      { replace: true },
    );
  };
  return [values, change];
}
