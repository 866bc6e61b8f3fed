/** This many enquiries may remain unanswered. */
const MISSED_MAX = 2;

interface Limits {
  /** Silence after which the other side is asked whether it is there; null never asks. */
  enquireAfterMs: number | null;
  answerWithinMs: number;
}

/** Watches whether the other side is still there. Whatever it says is a sign of life, not only the answer to an enquiry. */
export class Vigil {
  readonly #limits: Limits;
  #heardAt: number;
  #enquiredAt: number | null = null;
  #missed = 0;

  constructor(limits: Limits, now: number) {
    this.#limits = limits;
    this.#heardAt = now;
  }

  heard(now: number): void {
    this.#heardAt = now;
    this.#enquiredAt = null;
    this.#missed = 0;
  }

  /** What is to be done now; `enquire` counts as done. */
  look(now: number): "nothing" | "enquire" | "give up" {
    const { enquireAfterMs, answerWithinMs } = this.#limits;
    if (enquireAfterMs === null) return "nothing";
    if (this.#enquiredAt === null) {
      if (now - this.#heardAt < enquireAfterMs) return "nothing";
    } else {
      if (now - this.#enquiredAt < answerWithinMs) return "nothing";
      this.#missed += 1;
      if (this.#missed === MISSED_MAX) return "give up";
    }
    this.#enquiredAt = now;
    return "enquire";
  }
}
