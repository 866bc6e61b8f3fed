import type { Clock } from "../../lib/clock.ts";
import { UNOWNED, type Acceptance } from "../../store/store.ts";
import type { ChangedMessage, Transition } from "../../store/transition.ts";
import type { Observer } from "../group-commit.ts";

/** Rows that are due within the same interval share one claim. */
const INTERVAL_MS = 50;
/** Rows that are due later wait for the periodic claim. It bounds the number of timers. */
const HORIZON_MS = 60_000;
/** A row that is deferred until now, such as a withdrawn intent, pauses: on a slow store it would be claimed in a loop. */
const DEFERRED_MIN_MS = 100;

/**
 * Watches the commits of this node for one-time passwords that are stored unowned, and calls for a claim when they are due.
 * They come from deferred attempts, failovers, and accepts without a free slot. The periodic claim would come up to half a second later, or
 * after its claim of a campaign.
 */
export class UrgentRows implements Observer {
  readonly #clock: Clock;
  readonly #scheduled = new Set<number>();
  #claim: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onDue(claim: () => void): void {
    this.#claim = claim;
  }

  onAccepted({ message, owner }: Acceptance): void {
    if (owner === UNOWNED && message.routeClass === "OTP") this.#schedule(message.dueAt);
  }

  onMoved(step: Transition, { routeClass }: ChangedMessage): void {
    if (routeClass !== "OTP" || (step.kind !== "deferred" && step.kind !== "rerouted")) return;
    if (step.owner !== UNOWNED) return;
    if (step.kind === "rerouted") return this.#schedule(step.dueAt);
    // Claimed here at once, a row that only others can send would not reach them.
    if (!step.leftToOthers) this.#schedule(Math.max(step.dueAt ?? 0, this.#clock.now() + DEFERRED_MIN_MS));
  }

  #schedule(dueAt: number): void {
    const now = this.#clock.now();
    if (dueAt > now + HORIZON_MS) return;
    if (dueAt <= now) return this.#claim();
    const interval = Math.ceil(dueAt / INTERVAL_MS);
    if (this.#scheduled.has(interval)) return;
    this.#scheduled.add(interval);
    this.#clock.after(interval * INTERVAL_MS - now, () => {
      this.#scheduled.delete(interval);
      this.#claim();
    });
  }
}
