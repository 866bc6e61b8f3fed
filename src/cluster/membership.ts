import { startStopwatch, type Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { NodeStore } from "../store/nodes.ts";
import { UNOWNED } from "../store/store.ts";

interface MembershipDeps {
  store: NodeStore;
  clock: Clock;
  log: Log;
}

interface Options {
  /** True if no other process can use this store (SQLite). */
  alone: boolean;
  /** Shown in the list of nodes. */
  roles?: readonly string[];
  /** A node without heartbeat for this time is dead, and other nodes claim its rows. */
  silentMs: number;
  /** True on a node with the role dispatch, which has a share of the carrier connections. */
  sends: boolean;
}

/**
 * Membership of this process in the nodes that share the store. Rows are owned by node id. A node without heartbeat for
 * `silentMs` loses its rows. Its own `alive` turns false at the same time by its own clock, so that it stops sending (fencing).
 */
export class Membership {
  #node = UNOWNED;
  #dead: readonly number[] = [];
  #position = { count: 1, rank: 0 };
  #sinceHeartbeat: () => number = never;
  readonly #deps: MembershipDeps;
  readonly #options: Options;
  readonly #onLost: (() => void)[] = [];

  constructor(deps: MembershipDeps, options: Options) {
    this.#deps = deps;
    this.#options = options;
  }

  get node(): number {
    return this.#node;
  }

  /** Dead nodes that may still own rows. */
  get dead(): readonly number[] {
    return this.#dead;
  }

  /** Number of sending nodes at the last heartbeat. */
  get count(): number {
    return this.#position.count;
  }

  /** Number of sending nodes before this one, which decides its share of whole things such as connections. */
  get rank(): number {
    return this.#position.rank;
  }

  get sends(): boolean {
    return this.#options.sends && this.alive;
  }

  /** True while this node owns its rows. */
  get alive(): boolean {
    return this.#sinceHeartbeat() < this.#options.silentMs;
  }

  /** Calls back when this node, expired by the others, gets a new id: it no longer owns the rows in its memory. */
  onLost(run: () => void): void {
    this.#onLost.push(run);
  }

  async join(): Promise<void> {
    const elapsed = this.#startStopwatch();
    const node = await this.#deps.store.join(this.#options);
    const isRejoin = this.#node !== UNOWNED;
    this.#node = node;
    this.#sinceHeartbeat = elapsed;
    // Before any await: rows queued after the change of id belong to the new node and must stay.
    if (isRejoin) for (const run of this.#onLost) run();
    await this.#readCluster();
  }

  /** Records that this node is alive and expires those that are not. */
  async heartbeat(): Promise<void> {
    const { store, log } = this.#deps;
    const elapsed = this.#startStopwatch();
    if (await store.beat(this.#node)) {
      this.#sinceHeartbeat = elapsed;
      return this.#readCluster();
    }
    log.warn({ node: this.#node }, "node expired, joining again");
    await this.join();
  }

  async #readCluster(): Promise<void> {
    const { store } = this.#deps;
    this.#dead = await store.expireNodes(this.#options.silentMs);
    this.#position = await store.placeOf(this.#node);
  }

  async leave(): Promise<void> {
    await this.#deps.store.leave(this.#node);
    this.#sinceHeartbeat = never;
  }

  /** Other nodes count the time that this machine is suspended. A node alone has no others, and a jump of its clock means nothing. */
  #startStopwatch(): () => number {
    const { clock } = this.#deps;
    if (!this.#options.alone) return startStopwatch(clock);
    const startedAt = clock.monotonic();
    return () => clock.monotonic() - startedAt;
  }
}

const never = (): number => Number.POSITIVE_INFINITY;
