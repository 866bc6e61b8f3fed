/**
 * A batch as one array per column, which PostgreSQL expands into rows with `unnest`. One statement text serves every batch
 * size.
 */
export interface Columns<C extends string> {
  /** The rows with their 1-based `place` in the batch, for use in a `from` clause. */
  rows: string;
  /** The columns as PostgreSQL array literals. */
  values(batch: readonly Record<C, unknown>[]): string[];
  /** Number of the first parameter after these columns. */
  next: number;
}

/**
 * Defines the columns of a batch and their types; the parameters count from `first`. The first column is never null, so it sets
 * the number of rows. A subselect hides that number from the planner. For one or two rows, PostgreSQL would otherwise make a
 * custom plan per execution, which takes longer than the statement.
 */
export function columns<C extends string>(types: Record<C, string>, first = 1): Columns<C> {
  const names = Object.keys(types) as C[];
  const [one, ...more] = names.map((name, index) => `$${first + index}::${types[name]}[]`);
  return {
    rows: `unnest(${[`(select ${one})`, ...more].join(", ")}) with ordinality as batch (${names.join(", ")}, place)`,
    values: (batch) => names.map((name) => arrayOf(batch, name)),
    next: first + names.length,
  };
}

/**
 * Serializes here instead of in the driver, which takes more than twice as long on the event loop that passwords wait for.
 * Trailing nulls are omitted, and a column of nulls is an empty array, because `unnest` pads shorter arrays with nulls. Most
 * columns of a transition hold only nulls.
 */
function arrayOf<C extends string>(batch: readonly Record<C, unknown>[], name: C): string {
  let text = "";
  let nulls = 0;
  for (const row of batch) {
    const value = row[name];
    if (value === null || value === undefined) {
      nulls += 1;
      continue;
    }
    text += text === "" ? "{" : ",";
    if (nulls > 0) text += "NULL,".repeat(nulls);
    nulls = 0;
    text += typeof value === "number" ? value : quoted(String(value));
  }
  return text === "" ? "{}" : `${text}}`;
}

const SPECIAL = /["\\]/;

const quoted = (value: string): string =>
  `"${SPECIAL.test(value) ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"') : value}"`;
