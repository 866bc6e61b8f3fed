/** Damerau-Levenshtein distance between two texts: two swapped letters, the most common typing error, count once. */
function distance(one: string, other: string): number {
  let earlier: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of one.split("").entries()) {
    const next = [index + 1];
    for (const [column, wanted] of other.split("").entries()) {
      const [above = 0, before = 0, diagonal = 0] = [row[column + 1], next[column], row[column]];
      const isSwap = index > 0 && column > 0 && letter === other[column - 1] && one[index - 1] === wanted;
      const swapped = isSwap ? (earlier[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(above + 1, before + 1, diagonal + (letter === wanted ? 0 : 1), swapped));
    }
    [earlier, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}

/** Longer than any command, and short enough to compare. */
const LENGTH_MAX = 40;

/** The command that was probably meant; null when none is like it. */
export function nearestCommand(words: readonly string[], commands: readonly string[]): string | null {
  const given = words.slice(0, 2).join(" ").toLowerCase().slice(0, LENGTH_MAX);
  const [first = ""] = given.split(" ");
  // A command of one word is compared with the first word alone, and a first word with that of each command.
  const ranked = commands
    .map((command) => {
      const away = Math.min(distance(given, command), distance(first, command.split(" ")[0] ?? "") + 0.5);
      return { command, away, whole: distance(given, command) };
    })
    .toSorted((one, other) => one.away - other.away || one.whole - other.whole);
  const [best] = ranked;
  return best && best.away <= Math.max(1.5, first.length / 2) ? best.command : null;
}

/** The option that was probably meant; null when none is like it. */
export function nearestOption(given: string, options: readonly string[]): string | null {
  const short = given.slice(0, LENGTH_MAX);
  const [best] = options
    .map((option) => ({ option, away: distance(short, option) }))
    .toSorted((one, other) => one.away - other.away);
  return best && best.away <= Math.max(1.5, best.option.length / 3) ? best.option : null;
}
