import { createBatcher, type Batcher } from "../lib/batcher.ts";
import { retryUntil } from "../lib/async.ts";
import type { Log } from "../lib/log.ts";
import { messageIdIn, messageOf, type Callback } from "../model/callback.ts";
import { HELD, type CallbackStore, type Endpoint, type OwnedCallback, type Settlement } from "../store/callbacks.ts";
import { isAway, UNOWNED } from "../store/store.ts";
import type { Membership } from "../cluster/membership.ts";
import type { Metrics } from "../metrics.ts";
import { EndpointQueue, type QueueHealth, type Ending, type ReturnReason } from "./endpoint-queue.ts";
import { WebhookHealth, type WebhookHealthDeps } from "./health.ts";
import { settledRef, deliver, type DeliverDeps } from "./deliver.ts";

export interface WebhookDispatcherDeps extends DeliverDeps, WebhookHealthDeps {
  store: CallbackStore & WebhookHealthDeps["store"];
  membership: Membership;
  metrics: Metrics;
  figures: { onCallbackSettled(accountId: number, state: Settlement["state"]): void };
  log: Log;
  /** Overrides the number of callbacks in memory; for tests. */
  room?: { jobsMax: number; jobsPerEndpoint: number };
}

const CLAIM_AT_ONCE = 500;
/** Pause before a callback that found no room is due again. */
const NO_ROOM_MS = 1000;
const NO_ROOM_SPREAD_MS = 4000;
/** Callbacks of a resting endpoint become due spread over this time, not all at once. */
const SPREAD_MS = 120_000;
/** Callbacks in memory, in all and per endpoint; the rest waits in the store. One endpoint never takes all the room. */
const ROOM = { jobsMax: 40_000, jobsPerEndpoint: 20_000 };
/** Claims per run of the job. */
const STEPS_PER_CLAIM = 10;
const PUTTING_BACK_MAX = 2000;
/** Finished callbacks remembered, so that a later callback of the same message can tell that its predecessor is done. */
const FINISHED_MAX = 20_000;
/** A row owned by this node for this long without being in memory is orphaned. */
const ORPHANED_MS = 60_000;
/** Page size of a recovery, which reads all pages. */
const OWNED_PAGE = 2000;

const STOP_LIMIT_MS = 4000;

interface Job {
  key: string;
  endpointKey: string;
  orderKey: string;
  callback: Callback;
  node: number;
}

type PutBackReason = ReturnReason | "no room" | "this node was silent for too long";

/**
 * Delivers callbacks: new ones from memory, waiting ones from the store. Per endpoint and message it keeps commit order.
 * Next: src/webhooks/endpoint-queue.ts
 */
export class WebhookDispatcher {
  readonly #deps: WebhookDispatcherDeps;
  readonly #queues: EndpointQueue<Job>;
  readonly #settlements: Batcher<Settlement, void>;
  readonly #health: WebhookHealth;
  /** Keys of the callbacks in memory. */
  readonly #inMemory = new Set<string>();
  /** Callbacks claimed again before the write that put them back was acknowledged, by key. */
  readonly #claimedEarly = new Map<string, Callback>();
  /** Number of callbacks being put back, by endpoint and message. */
  readonly #puttingBack = new Map<string, number>();
  /** Keys of recently finished callbacks, oldest first. */
  readonly #finished = new Set<string>();
  readonly #room: NonNullable<WebhookDispatcherDeps["room"]>;
  /** Keys released from memory since a recovery began: the page it reads may show them as they were before. */
  #releasedMeanwhile: Set<string> | null = null;
  #claiming: Promise<void> | null = null;

  constructor(deps: WebhookDispatcherDeps) {
    this.#deps = deps;
    this.#room = deps.room ?? ROOM;
    this.#health = new WebhookHealth(deps);
    this.#queues = new EndpointQueue<Job>({
      clock: deps.clock,
      log: deps.log,
      deliver: (job, onAnswered) => this.#deliver(job, onAnswered),
      onReturned: (jobs, reason) => this.#putBack(jobs, reason),
      options: this.#room,
    });
    deps.membership.onLost(() => {
      this.#queues.clear();
      this.#inMemory.clear();
      this.#claimedEarly.clear();
      this.#finished.clear();
    });
    this.#settlements = createBatcher<Settlement, void>({
      run: async (batch) => {
        await retryUntil(deps.clock, isAway, () => deps.store.settleCallbacks(batch));
        return batch.map(() => undefined);
      },
      maxBatch: 500,
      maxLoad: Number.POSITIVE_INFINITY,
      inFlight: 2,
    });
  }

  /** Takes callbacks that this node has just committed. */
  take(callbacks: readonly Callback[]): void {
    this.#offer(callbacks);
  }

  /** Claims due callbacks from the store: retries, those that found no room, those of dead nodes. */
  claim(): Promise<void> {
    this.#claiming ??= this.#claimDue().finally(() => {
      this.#claiming = null;
    });
    return this.#claiming;
  }

  /** Claims callbacks that were stored unowned, without waiting for the job. */
  claimSoon(): void {
    this.claim().catch((error: unknown) => this.#deps.log.warn({ err: error }, "callback claim failed"));
  }

  /** Claims in bounded steps: callbacks of a resting endpoint are deferred, and others get their turn. */
  async #claimDue(): Promise<void> {
    const { store, membership, clock } = this.#deps;
    if (!membership.alive) return;
    for (const from of [UNOWNED, ...membership.dead]) {
      for (let step = 0; step < STEPS_PER_CLAIM && this.#queues.size < this.#room.jobsMax / 2; step += 1) {
        const { node } = membership;
        const limit = Math.min(CLAIM_AT_ONCE, this.#room.jobsMax - this.#queues.size);
        const due = await store.claimCallbacks({ node, from, dueBy: clock.now(), limit });
        if (membership.node === node) this.#offerClaimed(due);
        // Backpressure: write pending put-backs before claiming more.
        if (due.length < limit || this.#puttingBack.size > PUTTING_BACK_MAX) break;
      }
    }
  }

  /** Claims callbacks that were held until their receiver connects, which is connected to this node. */
  async claimHeld(accountId: number, endpointId: string): Promise<void> {
    const { store, membership, clock } = this.#deps;
    for (let step = 0; step < STEPS_PER_CLAIM && this.#queues.size < this.#room.jobsMax / 2; step += 1) {
      if (!membership.alive) return;
      const { node } = membership;
      const claim = { node, accountId, endpointId, at: clock.now(), limit: CLAIM_AT_ONCE };
      const held = await store.claimHeld(claim);
      if (membership.node === node) this.#offerClaimed(held);
      if (held.length < CLAIM_AT_ONCE) return;
    }
  }

  /** The same for all receivers that are connected to this node, with one query while nothing waits for them. */
  async claimAllHeld(endpoints: readonly Endpoint[]): Promise<void> {
    if (endpoints.length === 0) return;
    const held = await this.#deps.store.listHeld(endpoints);
    await Promise.all(held.map(({ accountId, endpointId }) => this.claimHeld(accountId, endpointId)));
  }

  /**
   * Releases callbacks that this node owns in the store and does not hold in memory, so that a claim takes them: the answer to
   * a commit may have been lost. No claim runs beside it, because a claim owns its rows before it holds them.
   */
  async recover(): Promise<void> {
    while (this.#claiming) await this.#claiming.catch(() => undefined);
    this.#claiming = this.#releaseOrphans().finally(() => {
      this.#releasedMeanwhile = null;
      this.#claiming = null;
    });
    await this.#claiming;
  }

  async #releaseOrphans(): Promise<void> {
    const { store, membership, clock, log } = this.#deps;
    if (!membership.alive) return;
    const { node } = membership;
    const dueBy = clock.now() - ORPHANED_MS;
    const gone = new Set<string>();
    this.#releasedMeanwhile = gone;
    let released = 0;
    let after: OwnedCallback | null = null;
    for (let isLast = false; !isLast;) {
      const page: readonly OwnedCallback[] = await store.listOwnedCallbacks({ node, dueBy, after, limit: OWNED_PAGE });
      if (membership.node !== node) return;
      const orphans = page.filter(({ eventId, endpointId }) => {
        const key = keyOf(eventId, endpointId);
        return !this.#inMemory.has(key) && !gone.has(key);
      });
      if (orphans.length > 0) released += await store.releaseOwnedCallbacks(node, orphans);
      isLast = page.length < OWNED_PAGE;
      after = page.at(-1) ?? null;
    }
    if (released === 0) return;
    log.warn({ callbacks: released }, "orphaned callbacks recovered");
    await this.#claimDue();
  }

  /** A claimed callback that is still in memory was put back; it is offered again once that write is acknowledged. */
  #offerClaimed(callbacks: readonly Callback[]): void {
    for (const callback of callbacks) {
      const key = keyOf(callback.eventId, callback.endpointId);
      if (this.#inMemory.has(key)) this.#claimedEarly.set(key, callback);
    }
    this.#offer(callbacks);
  }

  #offer(callbacks: readonly Callback[]): void {
    const { node } = this.#deps.membership;
    const refused: Job[] = [];
    const overtaking: Job[] = [];
    for (const callback of callbacks) {
      const job = jobOf(callback, node);
      if (this.#inMemory.has(job.key)) continue;
      this.#inMemory.add(job.key);
      if (this.#isPuttingBack(job) || !this.#hasAllPredecessors(job)) overtaking.push(job);
      else if (!this.#queues.offer(job)) refused.push(job);
    }
    if (overtaking.length > 0) this.#putBack(overtaking, "one before it failed");
    if (refused.length > 0) this.#putBack(refused, "no room");
  }

  /** A later callback of a message must not overtake one that is being put back. */
  #isPuttingBack(job: Job): boolean {
    return this.#puttingBack.size > 0 && this.#puttingBack.has(orderOf(job));
  }

  /**
   * True if every predecessor is in memory, where the endpoint queue keeps the order, or finished. Otherwise a predecessor went
   * back to the store, and only the store knows the order.
   */
  #hasAllPredecessors({ callback: { follows = [], endpointId } }: Job): boolean {
    return follows.every((eventId) => {
      const key = keyOf(eventId, endpointId);
      return this.#inMemory.has(key) || this.#finished.has(key);
    });
  }

  /** Remembers a finished callback that a later status may follow. SMS delivery reports have no successor. */
  #rememberFinished({ key, callback: { happening } }: Job): void {
    if (happening.kind === "click" || happening.kind === "verification") return;
    if (happening.kind === "status" && happening.message.channel === "sms") return;
    this.#finished.add(key);
    if (this.#finished.size <= FINISHED_MAX) return;
    for (const oldest of this.#finished) {
      this.#finished.delete(oldest);
      return;
    }
  }

  /** Callbacks that this node holds in memory, delivers or puts back. */
  get load(): number {
    return this.#inMemory.size + this.#puttingBack.size + this.#claimedEarly.size + this.#settlements.load;
  }

  /** Queue state of an endpoint on this node. */
  healthOf(accountId: number, endpointId: string): QueueHealth {
    return this.#queues.health(`${accountId}/${endpointId}`);
  }

  /** Waits briefly for requests in flight. An unfinished one is claimed by another node and may be delivered twice. */
  async stop(): Promise<void> {
    await this.#claiming?.catch(() => undefined);
    await Promise.race([
      this.#queues.stop(),
      new Promise<void>((resolve) => this.#deps.clock.after(STOP_LIMIT_MS, resolve)),
    ]);
    await this.#settlements.idle();
    await this.#health.idle();
  }

  async #deliver(job: Job, onAnswered: () => void): Promise<Ending> {
    const { metrics, figures, membership } = this.#deps;
    const { callback, node } = job;
    try {
      // A node that was declared dead has lost its rows to other nodes.
      if (node !== membership.node) return "untried";
      // A node past its heartbeat limit may have lost them: release the rows that it still owns.
      if (!membership.alive) {
        this.#putBack([job], "this node was silent for too long");
        return "untried";
      }
      const { result, endpoint, settlement } = await deliver(this.#deps, callback);
      const settled = this.#settlements.add({ ...settlement, ownedBy: node });
      if (result?.kind === "delivered") onAnswered();
      await settled;
      if (settlement.dueAt === HELD) {
        await this.#releaseIfOn(callback);
        return "untried";
      }
      if (settlement.state !== "waiting") this.#rememberFinished(job);
      metrics.callbacks(settlement.state).inc();
      figures.onCallbackSettled(callback.accountId, settlement.state);
      if (!result) return "delivered";
      if (endpoint) this.#health.note(endpoint, result);
      return result.kind;
    } finally {
      this.#release(job);
    }
  }

  #release({ key }: Job): void {
    this.#inMemory.delete(key);
    this.#releasedMeanwhile?.add(key);
    const claimed = this.#claimedEarly.get(key);
    if (!claimed) return;
    this.#claimedEarly.delete(key);
    this.#offer([claimed]);
  }

  /** The endpoint may have been enabled before this callback was held, which left it out of that release. */
  async #releaseIfOn({ accountId, endpointId }: Callback): Promise<void> {
    const { catalog, store, clock } = this.#deps;
    await catalog.refresh();
    if (catalog.of(accountId).endpoint(endpointId)) await store.releaseHeld(accountId, endpointId, clock.now());
  }

  /**
   * Returns callbacks to the store, where any node may claim them. Until that write is acknowledged, later callbacks of the same
   * message are not accepted, because they would overtake.
   */
  #putBack(jobs: readonly Job[], reason: PutBackReason): void {
    const { clock, log } = this.#deps;
    const at = clock.now();
    for (const job of jobs) {
      const order = orderOf(job);
      this.#puttingBack.set(order, (this.#puttingBack.get(order) ?? 0) + 1);
      const settlement: Settlement = {
        ...settledRef(job.callback),
        ownedBy: job.node,
        state: "waiting",
        message: messageOf(job.callback.happening),
        at,
        dueAt: this.#dueAgainAt(job, reason),
        attempted: false,
        log: "",
      };
      this.#settlements
        .add(settlement)
        .catch((error: unknown) => log.error({ err: error }, "callback put-back failed"))
        .finally(() => this.#onPutBack(job));
    }
  }

  /** A callback that waits for its predecessor is due now: the store defers it together with the predecessor. */
  #dueAgainAt({ endpointKey }: Job, reason: PutBackReason): number {
    const now = this.#deps.clock.now();
    if (reason !== "no room" && reason !== "the endpoint fails") return now;
    const { openForMs } = this.#queues.health(endpointKey);
    const [leastMs, spreadMs] = openForMs === 0 ? [NO_ROOM_MS, NO_ROOM_SPREAD_MS] : [openForMs, SPREAD_MS];
    return now + Math.ceil(leastMs + Math.random() * spreadMs);
  }

  #onPutBack(job: Job): void {
    const order = orderOf(job);
    const left = (this.#puttingBack.get(order) ?? 1) - 1;
    if (left > 0) this.#puttingBack.set(order, left);
    else this.#puttingBack.delete(order);
    this.#release(job);
  }
}

const keyOf = (eventId: string, endpointId: string): string => `${eventId} ${endpointId}`;

const orderOf = ({ endpointKey, orderKey }: Job): string => `${endpointKey} ${orderKey}`;

function jobOf(callback: Callback, node: number): Job {
  const { accountId, eventId, endpointId, happening } = callback;
  const orderKey = messageIdIn(happening) ?? eventId;
  const endpointKey = `${accountId}/${endpointId}`;
  return { key: keyOf(eventId, endpointId), endpointKey, orderKey, callback, node };
}
