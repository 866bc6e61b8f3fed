import { PathMap } from "./path-map.ts";

interface About {
  name: string;
  help: string;
}

interface Labelled extends About {
  labels: readonly string[];
}

type Kind = "counter" | "gauge" | "histogram";

class Count {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

/** How many of what was seen were up to each bound. */
class Distribution {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = [...bounds, Infinity];
    this.counts = this.bounds.map(() => 0);
  }

  observe(value: number): void {
    const place = this.bounds.findIndex((bound) => value <= bound);
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += value;
  }
}

/** Figures in the text format of Prometheus, in the order in which they were made known. */
export class Registry {
  readonly contentType = "text/plain; version=0.0.4; charset=utf-8";
  readonly #writers: (() => Promise<string>)[] = [];

  counter(about: Labelled): (...values: string[]) => Count {
    return this.#series(
      "counter",
      about,
      () => new Count(),
      ({ value }, labels) => line(about.name, labels, value),
    );
  }

  histogram(about: Labelled, bounds: readonly number[]): (...values: string[]) => Distribution {
    const { name } = about;
    return this.#series(
      "histogram",
      about,
      () => new Distribution(bounds),
      (distribution, labels) => {
        let upToHere = 0;
        const buckets = distribution.counts.map((count, place) => {
          const bound = written(distribution.bounds[place] ?? Infinity);
          return line(`${name}_bucket`, [["le", bound], ...labels], (upToHere += count));
        });
        return [
          ...buckets,
          line(`${name}_sum`, labels, distribution.sum),
          line(`${name}_count`, labels, upToHere),
        ].join("");
      },
    );
  }

  /** A figure that is asked for when somebody reads. */
  gauge(about: About, read: () => number | Promise<number>): void {
    this.#writers.push(async () => head("gauge", about) + line(about.name, [], await read()));
  }

  /** Figures by what one label says: those that are there when somebody reads. */
  gauges(about: About & { label: string }): Map<string, number> {
    const figures = new Map<string, number>();
    const lines = (): string[] =>
      [...figures].map(([value, figure]) => line(about.name, [[about.label, value]], figure));
    this.#writers.push(async () => head("gauge", about) + lines().join(""));
    return figures;
  }

  async metrics(): Promise<string> {
    return (await Promise.all(this.#writers.map((write) => write()))).join("\n");
  }

  #series<S>(
    kind: Kind,
    about: Labelled,
    make: () => S,
    write: (series: S, labels: Labels) => string,
  ): (...values: string[]) => S {
    const known = new PathMap<S>();
    const all: { series: S; labels: Labels }[] = [];
    this.#writers.push(async () => head(kind, about) + all.map(({ series, labels }) => write(series, labels)).join(""));
    return (...values) => {
      const found = known.get(values);
      if (found) return found;
      const series = make();
      known.set(values, series);
      all.push({ series, labels: about.labels.map((label, index) => [label, values[index] ?? ""]) });
      return series;
    };
  }
}

type Labels = readonly (readonly [name: string, value: string])[];

const head = (kind: Kind, { name, help }: About): string => `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;

function line(name: string, labels: Labels, figure: number): string {
  const pairs = labels.map(([label, value]) => `${label}="${escaped(value)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${written(figure)}\n`;
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

const written = (figure: number): string => (figure === Infinity ? "+Inf" : String(figure));
