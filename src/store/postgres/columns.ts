/** A batch as one array per column, which PostgreSQL turns back into rows: one statement text for every size of batch. */
export interface Columns<C extends string> {
  /** The rows, with their 1-based `place` in the batch; to be selected from. */
  rows: string;
  /** The arrays as PostgreSQL writes them. */
  values(batch: readonly Record<C, unknown>[]): string[];
  /** The number of the first parameter that these columns leave free. */
  next: number;
}

/**
 * Names the columns of a batch and their types; the parameters count from `first`. The first column is never null, and how many
 * rows it has is hidden from the server: for a row or two it would think a plan of their own worth making each time anew, which
 * takes it longer than the statement does.
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
 * Written here and not by the driver, which takes more than twice as long, on the event loop that passwords wait for. Nulls after
 * the last value are left out, and so are all of them where there is none: `unnest` fills what is missing with nulls, and most
 * columns of a move have nothing else.
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
