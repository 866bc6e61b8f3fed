const SECOND_MS = 1000;
/** Limits memory: a carrier may invent codes. */
const CODES_MAX = 100;
/** Stands for all codes beyond the limit. */
export const OTHER_CODES = "other";

/** Response statistics of a carrier, for the dashboard. */
export class ResponseCounts {
  #second = 0;
  #inSecond = 0;
  #lastSecond = 0;
  readonly #errors = new Map<string, number>();
  #lastError: { at: number; code: string; description: string } | null = null;

  countResponse(now: number): void {
    this.#startSecond(now);
    this.#inSecond += 1;
  }

  /** Counts an error under its code or under `countAs`. Returns the name under which it was counted. */
  countError(now: number, code: string, description: string, countAs = code): string {
    const isKnown = this.#errors.has(countAs) || this.#errors.size < CODES_MAX;
    const counted = isKnown ? countAs : OTHER_CODES;
    this.#errors.set(counted, (this.#errors.get(counted) ?? 0) + 1);
    this.#lastError = { at: now, code, description };
    return counted;
  }

  /** Responses in the last full second. */
  perSecond(now: number): number {
    this.#startSecond(now);
    return this.#lastSecond;
  }

  get errors(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#errors);
  }

  get lastError(): { at: number; code: string; description: string } | null {
    return this.#lastError;
  }

  #startSecond(now: number): void {
    const second = Math.floor(now / SECOND_MS);
    if (second === this.#second) return;
    this.#lastSecond = second === this.#second + 1 ? this.#inSecond : 0;
    this.#second = second;
    this.#inSecond = 0;
  }
}
