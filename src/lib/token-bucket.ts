/** Lets `ratePerSecond` through on average and a second's worth at once, which is one at least. */
export class TokenBucket {
  #tokens: number;
  #filledAt: number;
  #ratePerSecond: number;

  constructor(ratePerSecond: number, now: number) {
    this.#ratePerSecond = ratePerSecond;
    this.#tokens = Math.max(1, ratePerSecond);
    this.#filledAt = now;
  }

  get ratePerSecond(): number {
    return this.#ratePerSecond;
  }

  /** Another rate from now on. What has been taken stays taken: changing it often gives nobody more. */
  changeRate(ratePerSecond: number, now: number): void {
    this.#fill(now);
    this.#ratePerSecond = ratePerSecond;
    this.#tokens = Math.min(this.#tokens, Math.max(1, ratePerSecond));
  }

  /** Takes one token if there is one; otherwise says how long until there will be. */
  take(now: number): { taken: true; left: number } | { taken: false; waitMs: number } {
    this.#fill(now);
    if (this.#tokens < 1) return { taken: false, waitMs: ((1 - this.#tokens) / this.#ratePerSecond) * 1000 };
    this.#tokens -= 1;
    return { taken: true, left: Math.floor(this.#tokens) };
  }

  #fill(now: number): void {
    const elapsedMs = Math.max(0, now - this.#filledAt);
    const most = Math.max(1, this.#ratePerSecond);
    this.#tokens = Math.min(most, this.#tokens + (elapsedMs / 1000) * this.#ratePerSecond);
    this.#filledAt = now;
  }
}
