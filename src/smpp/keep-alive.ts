/** Number of unanswered enquire_link PDUs after which the session ends. */
const MISSED_MAX = 2;

interface Limits {
  /** Silence before an enquire_link is sent; null disables it. */
  enquireAfterMs: number | null;
  answerWithinMs: number;
}

/** Detects a dead peer with enquire_link. Any PDU of the peer counts as a sign of life, not only enquire_link_resp. */
export class KeepAlive {
  readonly #limits: Limits;
  #receivedAt: number;
  #enquiredAt: number | null = null;
  #missed = 0;

  constructor(limits: Limits, now: number) {
    this.#limits = limits;
    this.#receivedAt = now;
  }

  received(now: number): void {
    this.#receivedAt = now;
    this.#enquiredAt = null;
    this.#missed = 0;
  }

  /** The action that is due now; `enquire` counts as done. */
  check(now: number): "nothing" | "enquire" | "give up" {
    const { enquireAfterMs, answerWithinMs } = this.#limits;
    if (enquireAfterMs === null) return "nothing";
    if (this.#enquiredAt === null) {
      if (now - this.#receivedAt < enquireAfterMs) return "nothing";
    } else {
      if (now - this.#enquiredAt < answerWithinMs) return "nothing";
      this.#missed += 1;
      if (this.#missed === MISSED_MAX) return "give up";
    }
    this.#enquiredAt = now;
    return "enquire";
  }
}
