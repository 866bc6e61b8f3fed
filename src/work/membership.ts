import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { NodeStore } from "../store/store.ts";

interface Needs {
  store: NodeStore;
  clock: Clock;
  log: Log;
}

interface Options {
  /** No other process can be using this store. */
  alone: boolean;
  /** After so much silence a node counts as dead and its rows may be taken. */
  silentMs: number;
}

/**
 * This process as one of the nodes that share the store. Rows are owned by node id; a node that has been silent too long
 * has lost its rows, and `alive` turns false at the same moment by its own clock, so that it stops sending by itself.
 */
export class Membership {
  #node = 0;
  #dead: readonly number[] = [];
  #heardAt = Number.NEGATIVE_INFINITY;
  readonly #needs: Needs;
  readonly #options: Options;
  #onLost: () => void = () => {};

  constructor(needs: Needs, options: Options) {
    this.#needs = needs;
    this.#options = options;
  }

  get node(): number {
    return this.#node;
  }

  /** Nodes that died and may have left rows behind. */
  get dead(): readonly number[] {
    return this.#dead;
  }

  /** Whether the rows of this node are still its own. */
  get alive(): boolean {
    return this.#needs.clock.monotonic() - this.#heardAt < this.#options.silentMs;
  }

  /** Calls back when the others have declared this node dead; by then it has joined again under a new id. */
  onLost(run: () => void): void {
    this.#onLost = run;
  }

  async join(): Promise<void> {
    const startedAt = this.#needs.clock.monotonic();
    this.#node = await this.#needs.store.join({ alone: this.#options.alone });
    this.#heardAt = startedAt;
    this.#dead = await this.#needs.store.bury(this.#options.silentMs);
  }

  /** Says that this node lives and looks who does not. */
  async beat(): Promise<void> {
    const { store, clock, log } = this.#needs;
    const sentAt = clock.monotonic();
    if (await store.beat(this.#node)) {
      this.#heardAt = sentAt;
      this.#dead = await store.bury(this.#options.silentMs);
      return;
    }
    log.warn({ node: this.#node }, "node was declared dead and joins again");
    await this.join();
    this.#onLost();
  }

  async leave(): Promise<void> {
    await this.#needs.store.leave(this.#node);
    this.#heardAt = Number.NEGATIVE_INFINITY;
  }
}
