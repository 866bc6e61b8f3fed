/** A batch as one array per column, which PostgreSQL turns back into rows: one statement text for every size of batch. */
export interface Columns<C extends string> {
  /** The rows, with their 1-based `place` in the batch; to be selected from. */
  rows: string;
  values(batch: readonly Record<C, unknown>[]): unknown[][];
  /** The number of the first parameter that these columns leave free. */
  next: number;
}

/** Names the columns of a batch and their types; the parameters count from `first`. */
export function columns<C extends string>(types: Record<C, string>, first = 1): Columns<C> {
  const names = Object.keys(types) as C[];
  const parameters = names.map((name, index) => `$${first + index}::${types[name]}[]`);
  return {
    rows: `unnest(${parameters.join(", ")}) with ordinality as batch (${names.join(", ")}, place)`,
    values: (batch) => names.map((name) => batch.map((row) => row[name])),
    next: first + names.length,
  };
}
