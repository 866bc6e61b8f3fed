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

  /** How long until there is a token; 0 when there is one. */
  waitMs(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.#ratePerSecond) * 1000;
  }

  /**
   * Takes what is asked for if there is one token; otherwise says how long until there will be. Who takes more than there
   * are leaves a debt, which those who come next wait for.
   */
  take(now: number, tokens = 1): { taken: true; left: number } | { taken: false; waitMs: number } {
    const waitMs = this.waitMs(now);
    if (waitMs > 0) return { taken: false, waitMs };
    this.#tokens -= tokens;
    return { taken: true, left: Math.max(0, Math.floor(this.#tokens)) };
  }

  /** Puts back what was taken for nothing. */
  giveBack(now: number, tokens: number): void {
    this.#fill(now);
    this.#tokens = Math.min(Math.max(1, this.#ratePerSecond), this.#tokens + tokens);
  }

  #fill(now: number): void {
    const elapsedMs = Math.max(0, now - this.#filledAt);
    const most = Math.max(1, this.#ratePerSecond);
    this.#tokens = Math.min(most, this.#tokens + (elapsedMs / 1000) * this.#ratePerSecond);
    this.#filledAt = now;
  }
}
