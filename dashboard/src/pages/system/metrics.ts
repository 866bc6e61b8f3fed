/** One sample of a Prometheus metric. */
export interface Figure {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

const LINE = /^([a-z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)/i;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Parses the Prometheus text format. Other lines are skipped. */
export function readMetrics(text: string): Figure[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const read = [...labels.matchAll(LABEL)].map(([, label = "", written = ""]) => [label, written] as const);
    return [{ name, labels: Object.fromEntries(read), value: Number(value) }];
  });
}

/** Sums of a metric by the values of one label, largest first. */
export function byLabel(figures: readonly Figure[], name: string, label: string): { name: string; count: number }[] {
  const groups = Map.groupBy(
    figures.filter((figure) => figure.name === name),
    ({ labels }) => labels[label] ?? "",
  );
  return [...groups]
    .map(([word, group]) => ({ name: word, count: group.reduce((sum, { value }) => sum + value, 0) }))
    .toSorted((a, b) => b.count - a.count);
}
