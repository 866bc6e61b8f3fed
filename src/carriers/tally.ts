const SECOND_MS = 1000;
/** More kinds of errors than this are a carrier's whim, and would only fill memory. */
const CODES_MAX = 100;
/** What stands for the codes that are not counted each by itself. */
export const OTHER_CODES = "other";

/** What a carrier has answered lately, for people who look. */
export class Tally {
  #second = 0;
  #inSecond = 0;
  #lastSecond = 0;
  readonly #errors = new Map<string, number>();
  #lastError: { at: number; code: string; description: string } | null = null;

  answered(now: number): void {
    this.#turn(now);
    this.#inSecond += 1;
  }

  /** Counts a no under its code, or under another word for it, and says under which it was counted. */
  failed(now: number, code: string, description: string, countAs = code): string {
    const isKnown = this.#errors.has(countAs) || this.#errors.size < CODES_MAX;
    const counted = isKnown ? countAs : OTHER_CODES;
    this.#errors.set(counted, (this.#errors.get(counted) ?? 0) + 1);
    this.#lastError = { at: now, code, description };
    return counted;
  }

  /** Answers in the last whole second. */
  perSecond(now: number): number {
    this.#turn(now);
    return this.#lastSecond;
  }

  get errors(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#errors);
  }

  get lastError(): { at: number; code: string; description: string } | null {
    return this.#lastError;
  }

  #turn(now: number): void {
    const second = Math.floor(now / SECOND_MS);
    if (second === this.#second) return;
    this.#lastSecond = second === this.#second + 1 ? this.#inSecond : 0;
    this.#second = second;
    this.#inSecond = 0;
  }
}
