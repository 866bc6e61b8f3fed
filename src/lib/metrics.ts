import { PathMap } from "./path-map.ts";

interface About {
  name: string;
  help: string;
}

interface Labelled extends About {
  labels: readonly string[];
}

/** The value of each label. */
type Values = Readonly<Record<string, number>>;

type Kind = "counter" | "gauge" | "histogram";

class Count {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

/** Counts observed values per bucket of a histogram. */
class Distribution {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = [...bounds, Infinity];
    this.counts = this.bounds.map(() => 0);
  }

  /** Runs for each request, so it allocates nothing. */
  observe(value: number): void {
    const { bounds, counts } = this;
    let place = 0;
    while (value > (bounds[place] ?? Infinity)) place += 1;
    counts[place] = (counts[place] ?? 0) + 1;
    this.sum += value;
  }
}

/** Metrics in the text format of Prometheus, in the order of registration. */
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

  /** A gauge whose value is read at every scrape. */
  gauge(about: About, read: () => number | Promise<number>): void {
    this.#writers.push(async () => head("gauge", about) + line(about.name, [], await read()));
  }

  /** A gauge that is always 1 and carries facts in its labels. */
  info(about: About, labels: Readonly<Record<string, string>>): void {
    this.#writers.push(async () => head("gauge", about) + line(about.name, Object.entries(labels), 1));
  }

  /** A gauge with one label; the map holds the value of each label at the time of a scrape. */
  gauges(about: About & { label: string }): Map<string, number> {
    const values = new Map<string, number>();
    const lines = (): string[] => [...values].map(([label, value]) => line(about.name, [[about.label, label]], value));
    this.#writers.push(async () => head("gauge", about) + lines().join(""));
    return values;
  }

  /** A counter that another component keeps; its value is read at every scrape. */
  count(about: About, read: () => number): void {
    this.#writers.push(async () => head("counter", about) + line(about.name, [], read()));
  }

  /** A counter with one label that another component keeps; its values are read at every scrape. */
  counts(about: About & { label: string }, read: () => Values): void {
    this.#readings("counter", about, read);
  }

  /** A gauge with one label that another component keeps; its values are read at every scrape. */
  states(about: About & { label: string }, read: () => Values | Promise<Values>): void {
    this.#readings("gauge", about, read);
  }

  #readings(kind: Kind, about: About & { label: string }, read: () => Values | Promise<Values>): void {
    const linesOf = (values: Values): string[] =>
      Object.entries(values).map(([label, value]) => line(about.name, [[about.label, label]], value));
    this.#writers.push(async () => head(kind, about) + linesOf(await read()).join(""));
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

function line(name: string, labels: Labels, value: number): string {
  const pairs = labels.map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${written(value)}\n`;
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

const written = (value: number): string => (value === Infinity ? "+Inf" : String(value));
