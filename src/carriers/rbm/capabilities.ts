import type { Clock } from "../../lib/clock.ts";
import type { Exchange } from "../exchange.ts";
import type { Closed } from "./access-token.ts";
import { bodyOf, errorOf } from "./read-answer.ts";

/** What the platform can bring to a phone. */
export interface Reach {
  kind: "known";
  isThere: boolean;
  showsCards: boolean;
  showsCarousels: boolean;
}

/** The platform did not say, for reasons that may pass. */
interface Unclear {
  kind: "unclear";
  answer: Exchange | Closed;
}

interface Needs {
  clock: Clock;
  keptMs: number;
  /** How many phones are remembered; those asked for longest ago go first. */
  max: number;
  ask(agentId: string, number: string): Promise<Exchange | Closed>;
}

const NOT_THERE: Reach = { kind: "known", isThere: false, showsCards: false, showsCarousels: false };

/** Which phones the platform reaches for which agent, asked once in a while and not for every message. */
export class Capabilities {
  readonly #needs: Needs;
  readonly #kept = new Map<string, { reach: Reach; until: number }>();
  readonly #asking = new Map<string, Promise<Reach | Unclear>>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async of(agentId: string, number: string): Promise<Reach | Unclear> {
    const key = `${number} ${agentId}`;
    const kept = this.#kept.get(key);
    if (kept && this.#needs.clock.monotonic() < kept.until) return kept.reach;
    const asking = this.#asking.get(key) ?? this.#ask(key, agentId, number);
    this.#asking.set(key, asking);
    return asking;
  }

  /** The platform has said in another way that it does not reach the phone. */
  isGone(agentId: string, number: string): void {
    this.#keep(`${number} ${agentId}`, NOT_THERE);
  }

  async #ask(key: string, agentId: string, number: string): Promise<Reach | Unclear> {
    try {
      const answer = await this.#needs.ask(agentId, number);
      const reach = reachIn(answer);
      if (!reach) return { kind: "unclear", answer };
      this.#keep(key, reach);
      return reach;
    } finally {
      this.#asking.delete(key);
    }
  }

  #keep(key: string, reach: Reach): void {
    const { clock, keptMs, max } = this.#needs;
    this.#kept.delete(key);
    this.#kept.set(key, { reach, until: clock.monotonic() + keptMs });
    if (this.#kept.size <= max) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }
}

function reachIn(answer: Exchange | Closed): Reach | null {
  if (answer.kind !== "answered") return null;
  if (answer.status === 404) return errorOf(answer).status === "NOT_FOUND" ? NOT_THERE : null;
  const features = answer.status === 200 ? bodyOf(answer)?.features : null;
  if (!Array.isArray(features)) return null;
  return {
    kind: "known",
    isThere: true,
    showsCards: features.includes("RICHCARD_STANDALONE"),
    showsCarousels: features.includes("RICHCARD_CAROUSEL"),
  };
}
