/** More lines would crowd a chart of 220 pixels. */
const STEPS_MAX = 4;
const ROUND = [1, 2, 5, 10];

/** Round whole numbers for the axis of counts, from 0 to at least `most`. */
export function ticksTo(most: number): readonly number[] {
  const least = Math.max(1, most / STEPS_MAX);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * (ROUND.find((factor) => factor * power >= least) ?? 10);
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, index) => index * step);
}

const CHARACTER_PX = 7;
const GAP_PX = 24;

/** The width that the longest name needs below the axis. */
export const labelWidthOf = (names: readonly string[]): number =>
  CHARACTER_PX * Math.max(0, ...names.map((name) => name.length));

/** Shows every n-th name below the axis, so that names do not touch. */
export const labelEvery = (labelPx: number, bandPx: number): number =>
  Math.max(1, Math.ceil((labelPx + GAP_PX) / bandPx));

/** The part of the axis of counts that a series fills at one place. */
interface Span {
  from: number;
  to: number;
}

/** Puts each series on top of the ones before it. */
export function stack(
  rows: readonly Readonly<Record<string, string | number>>[],
  keys: readonly string[],
): readonly (readonly Span[])[] {
  const tops = rows.map(() => 0);
  return keys.map((key) =>
    rows.map((row, place) => {
      const from = tops[place] ?? 0;
      const to = from + Number(row[key] ?? 0);
      tops[place] = to;
      return { from, to };
    }),
  );
}

/** The largest sum of all series at one place. */
export const heightOf = (layers: readonly (readonly Span[])[]): number =>
  Math.max(0, ...(layers.at(-1) ?? []).map(({ to }) => to));
