import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { NodeStore } from "../store/node-store.ts";
import { NOBODY } from "../store/store.ts";

interface Needs {
  store: NodeStore;
  clock: Clock;
  log: Log;
}

interface Options {
  /** No other process can be using this store. */
  alone: boolean;
  /** What this node does, for whoever looks at the nodes. */
  roles?: readonly string[];
  /** After so much silence a node counts as dead and its rows may be taken. */
  silentMs: number;
  /** Whether it has a share in the lines to carriers. */
  sends: boolean;
}

/**
 * This process as one of the nodes that share the store. Rows are owned by node id; a node that has been silent too long
 * has lost its rows, and `alive` turns false at the same moment by its own clock, so that it stops sending by itself.
 */
export class Membership {
  #node = NOBODY;
  #dead: readonly number[] = [];
  #place = { count: 1, rank: 0 };
  #heardAt = Number.NEGATIVE_INFINITY;
  readonly #needs: Needs;
  readonly #options: Options;
  readonly #onLost: (() => void)[] = [];

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

  /** How many nodes share the sending, as far as this one has heard. */
  get count(): number {
    return this.#place.count;
  }

  /** How many of them come before this one, so that each takes its own share of what cannot be halved. */
  get rank(): number {
    return this.#place.rank;
  }

  /** Whether this node is one of them now. */
  get sends(): boolean {
    return this.#options.sends && this.alive;
  }

  /** Whether the rows of this node are still its own. */
  get alive(): boolean {
    return this.#needs.clock.monotonic() - this.#heardAt < this.#options.silentMs;
  }

  /** Calls back at the moment at which this node, declared dead by the others, has a new id: what it held is no longer its own. */
  onLost(run: () => void): void {
    this.#onLost.push(run);
  }

  async join(): Promise<void> {
    const startedAt = this.#needs.clock.monotonic();
    const node = await this.#needs.store.join(this.#options);
    const again = this.#node !== NOBODY;
    this.#node = node;
    this.#heardAt = startedAt;
    // In the same turn as the id changes: what enters the lanes from now on is the new node's and must stay.
    if (again) for (const run of this.#onLost) run();
    await this.#lookAround();
  }

  /** Says that this node lives and looks who does not. */
  async beat(): Promise<void> {
    const { store, clock, log } = this.#needs;
    const sentAt = clock.monotonic();
    if (await store.beat(this.#node)) {
      this.#heardAt = sentAt;
      return this.#lookAround();
    }
    log.warn({ node: this.#node }, "node was declared dead and joins again");
    await this.join();
  }

  async #lookAround(): Promise<void> {
    const { store } = this.#needs;
    this.#dead = await store.bury(this.#options.silentMs);
    this.#place = await store.placeOf(this.#node);
  }

  async leave(): Promise<void> {
    await this.#needs.store.leave(this.#node);
    this.#heardAt = Number.NEGATIVE_INFINITY;
  }
}
