/** One in 200 wider than the last: a quantile is right to half a percent, from a microsecond to hours. */
const STEP = Math.log(1.005);
const BUCKETS = 5000;
const SMALLEST_MS = 0.001;

/** Times of a run without keeping each: a count for each small span of them, on a logarithmic scale. */
export class Latencies {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;

  add(ms: number): void {
    const place = Math.ceil(Math.log(Math.max(ms, SMALLEST_MS) / SMALLEST_MS) / STEP);
    const bucket = Math.min(BUCKETS - 1, place);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total += 1;
  }

  /** In milliseconds; zero where nothing was measured. */
  quantile(share: number): number {
    const wanted = this.#total * share;
    let seen = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count;
      if (count > 0 && seen >= wanted) return SMALLEST_MS * Math.exp(bucket * STEP);
    }
    return 0;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }
}
