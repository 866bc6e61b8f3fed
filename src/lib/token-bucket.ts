/** Token bucket: `ratePerSecond` on average, with a burst of one second's tokens, at least one. */
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

  /** Changes the rate and keeps the tokens, so that frequent changes grant no extra tokens. */
  changeRate(ratePerSecond: number, now: number): void {
    this.#fill(now);
    this.#ratePerSecond = ratePerSecond;
    this.#tokens = Math.min(this.#tokens, Math.max(1, ratePerSecond));
  }

  /** Milliseconds until a token is available; 0 when there is one. */
  waitMs(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.#ratePerSecond) * 1000;
  }

  /**
   * Takes tokens if at least one is available; otherwise returns the time to wait. Taking more than there are leaves a
   * debt, which delays later callers.
   */
  take(now: number, tokens = 1): { taken: true; left: number } | { taken: false; waitMs: number } {
    const waitMs = this.waitMs(now);
    if (waitMs > 0) return { taken: false, waitMs };
    this.#tokens -= tokens;
    return { taken: true, left: Math.max(0, Math.floor(this.#tokens)) };
  }

  /** Takes tokens unconditionally; missing ones are a debt. */
  charge(now: number, tokens: number): void {
    this.#fill(now);
    this.#tokens -= tokens;
  }

  /** Returns tokens that were taken and not used. */
  refund(now: number, tokens: number): void {
    this.#fill(now);
    this.#tokens = Math.min(Math.max(1, this.#ratePerSecond), this.#tokens + tokens);
  }

  #fill(now: number): void {
    const elapsedMs = Math.max(0, now - this.#filledAt);
    const capacity = Math.max(1, this.#ratePerSecond);
    this.#tokens = Math.min(capacity, this.#tokens + (elapsedMs / 1000) * this.#ratePerSecond);
    this.#filledAt = now;
  }
}
