/**
 * SVG plots without a library: they are simple, and rebuilding them should need no dependency. Each plot has a light
 * background and its own colours, so it is also legible on a dark page.
 */

const WIDTH = 840;
const CARD = "#f6f8fa";
const EDGE = "#d0d7de";
const INK = "#24292f";
const MUTED = "#57606a";
export const COLOURS = {
  blue: "#2f74c0",
  orange: "#c96a1b",
  green: "#2d8a55",
  red: "#c0453a",
  grey: "#8c959f",
  violet: "#7a5cc0",
} as const;
type Colour = (typeof COLOURS)[keyof typeof COLOURS];

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Two decimals are finer than a pixel and keep the files small. */
const at = (value: number): string => String(Math.round(value * 100) / 100);

interface TextStyle {
  size?: number;
  anchor?: "start" | "middle" | "end";
  fill?: string;
  bold?: boolean;
  turned?: boolean;
}

function label(x: number, y: number, text: string, style: TextStyle = {}): string {
  const { size = 13, anchor = "start", fill = INK, bold = false, turned = false } = style;
  const turn = turned ? ` transform="rotate(-90 ${at(x)} ${at(y)})"` : "";
  return `<text x="${at(x)}" y="${at(y)}" font-size="${size}" text-anchor="${anchor}" fill="${fill}"${bold ? ' font-weight="600"' : ""}${turn}>${escaped(text)}</text>`;
}

const bar = (x: number, y: number, width: number, height: number, fill: string): string =>
  `<rect x="${at(x)}" y="${at(y)}" width="${at(Math.max(0, width))}" height="${height}" rx="2" fill="${fill}"/>`;

const stroke = (x1: number, y1: number, x2: number, y2: number, colour: string, more = ""): string =>
  `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" stroke="${colour}"${more}/>`;

function card(title: string, subtitle: string, height: number, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="-apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif">`,
    `<title>${escaped(title)}</title>`,
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8" fill="${CARD}" stroke="${EDGE}"/>`,
    label(20, 30, title, { size: 17, bold: true }),
    label(20, 50, subtitle, { fill: MUTED }),
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/** Measured value of a path as a share of its target: 1 is reached, whatever the unit. */
export interface TargetBar {
  name: string;
  /** Undefined if not measured. */
  share: number | undefined;
  /** Figure and target as text. */
  text: string;
}

const SHARE_MAX = 2;

/** Every path as a share of its target, which is marked. Bars end at twice the target. */
export function targetPlot(title: string, subtitle: string, bars: readonly TargetBar[]): string {
  const left = 312;
  const scale = 155;
  const top = 84;
  const row = 22;
  const bottom = top + bars.length * row;
  const line = left + scale;
  const parts = [
    label(left, top - 10, "0", { fill: MUTED, anchor: "middle", size: 12 }),
    label(line, top - 10, "target", { fill: INK, anchor: "middle", size: 12, bold: true }),
    label(left + SHARE_MAX * scale, top - 10, "twice", { fill: MUTED, anchor: "middle", size: 12 }),
    stroke(left, top - 4, left, bottom, EDGE),
    stroke(left + SHARE_MAX * scale, top - 4, left + SHARE_MAX * scale, bottom, EDGE),
  ];
  for (const [index, { name, share, text }] of bars.entries()) {
    const y = top + index * row;
    parts.push(label(left - 10, y + 14, name, { anchor: "end" }));
    if (share !== undefined)
      parts.push(
        bar(left, y + 3, Math.min(share, SHARE_MAX) * scale, row - 7, share >= 1 ? COLOURS.green : COLOURS.orange),
      );
    parts.push(
      label(left + SHARE_MAX * scale + 12, y + 14, text, { fill: share === undefined ? MUTED : INK, size: 12 }),
    );
  }
  parts.push(stroke(line, top - 4, line, bottom, INK, ' stroke-width="1.5" stroke-dasharray="4 3"'));
  return card(title, subtitle, bottom + 20, parts);
}

/** One quantity of both sides, with the figures as text. */
export interface PairBars {
  name: string;
  full: number;
  empty: number;
  text: (value: number) => string;
}

/** Pairs of bars. Each pair has its own scale, because the units differ. */
export function pairPlot(title: string, subtitle: string, pairs: readonly PairBars[]): string {
  const left = 246;
  const width = 440;
  const top = 84;
  const row = 38;
  const parts = [
    bar(left, 62, 12, 12, COLOURS.blue),
    label(left + 18, 73, "full", { size: 12 }),
    bar(left + 70, 62, 12, 12, COLOURS.grey),
    label(left + 88, 73, "empty", { size: 12 }),
  ];
  for (const [index, { name, full, empty, text }] of pairs.entries()) {
    const y = top + index * row;
    const scale = width / Math.max(full, empty, Number.MIN_VALUE);
    parts.push(
      label(left - 10, y + 20, name, { anchor: "end" }),
      bar(left, y + 3, full * scale, 13, COLOURS.blue),
      label(left + full * scale + 8, y + 14, text(full), { size: 12 }),
      bar(left, y + 17, empty * scale, 13, COLOURS.grey),
      label(left + empty * scale + 8, y + 28, text(empty), { size: 12, fill: MUTED }),
    );
  }
  return card(title, subtitle, top + pairs.length * row + 14, parts);
}

/** One quantity with several values, in the order of the legend. Null leaves a bar out. */
interface BarGroup {
  name: string;
  values: readonly (number | null)[];
}

export interface GroupPlot {
  title: string;
  subtitle: string;
  legend: readonly { name: string; colour: Colour }[];
  groups: readonly BarGroup[];
  text: (value: number) => string;
}

/** Groups of bars with a common logarithmic scale, for values of one unit that differ by powers of ten. */
export function groupPlot({ title, subtitle, legend, groups, text }: GroupPlot): string {
  const left = 264;
  const width = 470;
  const top = 92;
  const thickness = 8;
  const row = legend.length * thickness + 8;
  const bottom = top + groups.length * row;
  const axis = logAxis(groups.flatMap(({ values }) => values.filter((value) => value !== null)));
  const x = (value: number): number => left + axis.share(value) * width;
  const parts: string[] = [];
  for (const tick of axis.ticks) {
    parts.push(stroke(x(tick), top - 4, x(tick), bottom, EDGE));
    parts.push(label(x(tick), bottom + 16, text(tick), { anchor: "middle", fill: MUTED, size: 12 }));
  }
  let legendAt = left;
  for (const { name, colour } of legend) {
    parts.push(bar(legendAt, 64, 12, 12, colour), label(legendAt + 18, 75, name, { size: 12 }));
    legendAt += 40 + name.length * 7;
  }
  for (const [index, { name, values }] of groups.entries()) {
    const y = top + index * row;
    parts.push(label(left - 10, y + row / 2, name, { anchor: "end", size: 12 }));
    for (const [place, value] of values.entries()) {
      if (value === null) continue;
      const colour = legend[place]?.colour ?? COLOURS.grey;
      parts.push(
        bar(left, y + place * thickness, x(value) - left, thickness - 1, colour),
        label(x(value) + 5, y + place * thickness + 7, text(value), { size: 9, fill: MUTED }),
      );
    }
  }
  return card(title, subtitle, bottom + 30, parts);
}

export interface Series {
  name: string;
  colour: Colour;
  /** Null interrupts the line. */
  values: readonly (number | null)[];
}

export interface LinePlot {
  title: string;
  subtitle: string;
  /** Time of each value since the start. */
  seconds: readonly number[];
  unit: string;
  series: readonly Series[];
  /** For values that differ by powers of ten, such as quantiles. */
  logarithmic?: boolean;
}

const PLOT = { left: 74, right: 24, top: 92, height: 220 };
const POINTS_MAX = 400;

/** Lines over time. With many samples the maximum of each interval is drawn, so that no peak is lost. */
export function linePlot({ title, subtitle, seconds, unit, series, logarithmic = false }: LinePlot): string {
  const { left, right, top, height } = PLOT;
  const width = WIDTH - left - right;
  const bottom = top + height;
  const [first = 0, last = 0] = [seconds.at(0), seconds.at(-1)];
  const span = Math.max(1, last - first);
  const x = (second: number): number => left + ((second - first) / span) * width;

  const values = series.flatMap((each) => each.values.filter((value) => value !== null));
  const axis = logarithmic ? logAxis(values) : linearAxis(values);
  const y = (value: number): number => bottom - axis.share(value) * height;

  const parts: string[] = [];
  for (const tick of axis.ticks) {
    parts.push(stroke(left, y(tick), left + width, y(tick), EDGE));
    parts.push(label(left - 8, y(tick) + 4, tickText(tick), { anchor: "end", fill: MUTED, size: 12 }));
  }
  const time = timeAxis(span);
  for (let tick = 0; tick * time.step <= span; tick += 1) {
    const place = x(first + tick * time.step);
    parts.push(stroke(place, bottom, place, bottom + 5, MUTED));
    const text = tickText((tick * time.step) / time.unitSeconds);
    parts.push(label(place, bottom + 19, text, { anchor: "middle", fill: MUTED, size: 12 }));
  }
  parts.push(
    stroke(left, bottom, left + width, bottom, MUTED),
    label(left + width / 2, bottom + 38, time.name, { anchor: "middle", fill: MUTED }),
    label(22, top + height / 2, unit, { anchor: "middle", fill: MUTED, turned: true }),
  );
  let legend = left;
  for (const { name, colour, values: ofSeries } of series) {
    parts.push(stroke(legend, 70, legend + 18, 70, colour, ' stroke-width="3"'));
    parts.push(label(legend + 24, 74, name, { size: 12 }));
    legend += 44 + name.length * 7;
    const path = pathOf(thinned(seconds, ofSeries), x, y);
    parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-linejoin="round"/>`);
  }
  return card(title, subtitle, bottom + 54, parts);
}

type Point = readonly [second: number, value: number | null];

function thinned(seconds: readonly number[], values: readonly (number | null)[]): Point[] {
  const points = seconds.map((second, index): Point => [second, values[index] ?? null]);
  const stretch = Math.ceil(points.length / POINTS_MAX);
  if (stretch <= 1) return points;
  return Array.from({ length: Math.ceil(points.length / stretch) }, (_, index): Point => {
    const within = points.slice(index * stretch, (index + 1) * stretch);
    const known = within.flatMap(([, value]) => (value === null ? [] : [value]));
    return [within[0]?.[0] ?? 0, known.length === 0 ? null : Math.max(...known)];
  });
}

function pathOf(points: readonly Point[], x: (second: number) => number, y: (value: number) => number): string {
  let path = "";
  let isBroken = true;
  for (const [second, value] of points) {
    if (value !== null) path += `${isBroken ? "M" : "L"}${at(x(second))} ${at(y(value))}`;
    isBroken = value === null;
  }
  return path;
}

interface Axis {
  ticks: number[];
  /** Position of a value, from 0 at the bottom to 1 at the top. */
  share(value: number): number;
}

/** From zero to a round number, so that changes are drawn to scale. */
function linearAxis(values: readonly number[]): Axis {
  const highest = values.reduce((most, value) => Math.max(most, value), 0) || 1;
  const step = roundStep(highest / 4);
  const top = Math.ceil(highest / step) * step;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
  return { ticks, share: (value) => value / top };
}

function logAxis(values: readonly number[]): Axis {
  const positive = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(positive.reduce((least, value) => Math.min(least, value), Infinity)));
  const high = Math.ceil(Math.log10(positive.reduce((most, value) => Math.max(most, value), 0)));
  const [from, to] = Number.isFinite(low) && Number.isFinite(high) ? [low, Math.max(high, low + 1)] : [0, 1];
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  return { ticks, share: (value) => Math.max(0, (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from)) };
}

/** Smallest step of 1, 2 or 5 times a power of ten. */
function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  const factor = [1, 2, 5, 10].find((each) => each * power >= atLeast * 0.999) ?? 10;
  return factor * power;
}

const TIME_STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

function timeAxis(span: number): { step: number; unitSeconds: number; name: string } {
  const step = TIME_STEPS.find((each) => span / each <= 12) ?? Math.ceil(span / 12 / 86_400) * 86_400;
  if (step < 60) return { step, unitSeconds: 1, name: "seconds" };
  return step < 3600 ? { step, unitSeconds: 60, name: "minutes" } : { step, unitSeconds: 3600, name: "hours" };
}

const tickText = (value: number): string => value.toLocaleString("en", { maximumSignificantDigits: 4 });
