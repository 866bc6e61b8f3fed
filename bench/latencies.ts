/** Bucket width of 0.5 %, which is the accuracy of a quantile, from 1 µs to hours. */
const STEP = Math.log(1.005);
const BUCKETS = 5000;
const SMALLEST_MS = 0.001;

/** Latency histogram with logarithmic buckets and constant memory. */
export class Latencies {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;

  add(ms: number): void {
    const index = Math.ceil(Math.log(Math.max(ms, SMALLEST_MS) / SMALLEST_MS) / STEP);
    const bucket = Math.min(BUCKETS - 1, index);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total += 1;
  }

  /** In ms; 0 if empty. */
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
