import { createBatcher, type Batcher } from "../lib/batcher.ts";
import { insist } from "../lib/insist.ts";
import type { Log } from "../lib/log.ts";
import { messageIdIn, messageOf, type Callback } from "../model/callback.ts";
import type { CallbackStore, Settlement } from "../store/callback-store.ts";
import { isAway, NOBODY } from "../store/store.ts";
import type { Membership } from "../work/membership.ts";
import type { Meters } from "../work/meters.ts";
import { Courier, type EndpointHealth, type Ending, type ReturnReason } from "./courier.ts";
import { HealthWatch, type HealthNeeds } from "./health-watch.ts";
import { settledRef, tell, type TellNeeds } from "./tell.ts";

export interface TellerNeeds extends TellNeeds, HealthNeeds {
  store: CallbackStore & HealthNeeds["store"];
  membership: Membership;
  meters: Meters;
  figures: { onTold(accountId: number, state: Settlement["state"]): void };
  log: Log;
}

const CLAIM_AT_ONCE = 500;
/** In memory; more wait in the store. */
const JOBS_MAX = 40_000;
/** What an endpoint has no room for is looked at again after so long. */
const NO_ROOM_MS = 1000;
const NO_ROOM_SPREAD_MS = 4000;
/** What an endpoint is spared for a while comes back spread over so long, not all at once. */
const SPREAD_MS = 120_000;
/** What one endpoint may have in memory, so that there is always room for the others. */
const JOBS_PER_ENDPOINT = 20_000;
/** How often one turn asks the store for more. */
const STEPS_PER_CLAIM = 10;
const LEAVING_MAX = 2000;
/** How long it is remembered that something of a message could not be told, and of how many. */
const FAILED_KEPT_MS = 30_000;
const FAILED_MAX = 50_000;
/** Rows that are this node's for so long without being in its memory were lost on the way there. */
const LOST_MS = 60_000;

const STOP_LIMIT_MS = 4000;

interface Job {
  key: string;
  endpointKey: string;
  orderKey: string;
  callback: Callback;
  node: number;
}

type PutBackReason = ReturnReason | "no room" | "this node was silent for too long";

/** Tells customers what happened: from memory what was just written, from the store what waits there. */
export class Teller {
  readonly #needs: TellerNeeds;
  readonly #courier: Courier<Job>;
  readonly #settlements: Batcher<Settlement, void>;
  readonly #health: HealthWatch;
  /** What is in memory, by its key. */
  readonly #held = new Set<string>();
  /** What is being put back, by endpoint and message. */
  readonly #leaving = new Map<string, number>();
  /** When something of a message was last not told, by endpoint and message. */
  readonly #failed = new Map<string, number>();
  #claiming: Promise<void> | null = null;

  constructor(needs: TellerNeeds) {
    this.#needs = needs;
    this.#health = new HealthWatch(needs);
    this.#courier = new Courier<Job>({
      clock: needs.clock,
      log: needs.log,
      deliver: (job, onAnswered) => this.#deliver(job, onAnswered),
      onReturned: (jobs, reason) => this.#putBack(jobs, reason),
      options: { jobsMax: JOBS_MAX, jobsPerEndpoint: JOBS_PER_ENDPOINT },
    });
    needs.membership.onLost(() => {
      this.#courier.clear();
      this.#held.clear();
    });
    this.#settlements = createBatcher<Settlement, void>({
      run: async (batch) => {
        await insist(needs.clock, isAway, () => needs.store.settleCallbacks(batch));
        return batch.map(() => undefined);
      },
      maxBatch: 500,
      maxLoad: Number.POSITIVE_INFINITY,
      inFlight: 2,
    });
  }

  /** Takes what this node has just written down to be told. Next: src/webhooks/tell.ts */
  take(callbacks: readonly Callback[]): void {
    this.#offer(callbacks, (job) => this.#failedLately(job));
  }

  /** Takes what waits in the store and is due: what did not fit, what is tried again, what a dead node left behind. */
  claim(): Promise<void> {
    this.#claiming ??= this.#claimDue().finally(() => {
      this.#claiming = null;
    });
    return this.#claiming;
  }

  /** Fetches what has just been stored, without waiting for the next turn of the job. */
  claimSoon(): void {
    this.claim().catch((error: unknown) => this.#needs.log.warn({ err: error }, "callbacks were not claimed"));
  }

  /** In bounded steps: what an endpoint will not take now is put off, and others behind it have their turn. */
  async #claimDue(): Promise<void> {
    const { store, membership, clock } = this.#needs;
    if (!membership.alive) return;
    for (const from of [NOBODY, ...membership.dead]) {
      for (let step = 0; step < STEPS_PER_CLAIM && this.#courier.size < JOBS_MAX / 2; step += 1) {
        const { node } = membership;
        const due = await store.claimCallbacks({ node, from, dueBy: clock.now(), limit: CLAIM_AT_ONCE });
        if (membership.node === node) this.#offer(due);
        // What is being put back is written down before more is taken.
        if (due.length < CLAIM_AT_ONCE || this.#leaving.size > LEAVING_MAX) break;
      }
    }
  }

  /** Takes up again what is this node's in the store and not in its memory: the answer to a commit may have been lost. */
  async recover(): Promise<void> {
    const { store, membership, clock } = this.#needs;
    if (!membership.alive) return;
    const { node } = membership;
    const own = await store.claimCallbacks({ node, from: node, dueBy: clock.now() - LOST_MS, limit: CLAIM_AT_ONCE });
    if (membership.node === node) this.#offer(own);
  }

  #offer(callbacks: readonly Callback[], isHeldUp: (job: Job) => boolean = () => false): void {
    const { node } = this.#needs.membership;
    const refused: Job[] = [];
    const overtaking: Job[] = [];
    for (const callback of callbacks) {
      const job = jobOf(callback, node);
      if (this.#held.has(job.key)) continue;
      this.#held.add(job.key);
      if (this.#isLeaving(job) || isHeldUp(job)) overtaking.push(job);
      else if (!this.#courier.offer(job)) refused.push(job);
    }
    if (overtaking.length > 0) this.#putBack(overtaking, "one before it failed");
    if (refused.length > 0) this.#putBack(refused, "no room");
  }

  /** Nothing later of a message may overtake what is being put back. */
  #isLeaving(job: Job): boolean {
    return this.#leaving.size > 0 && this.#leaving.has(orderOf(job));
  }

  /** What was born while the one before it failed may not know of that; the store has the order. */
  #failedLately(job: Job): boolean {
    if (this.#failed.size === 0) return false;
    const failedAt = this.#failed.get(orderOf(job));
    return failedAt !== undefined && this.#needs.clock.monotonic() - failedAt < FAILED_KEPT_MS;
  }

  #noteFailure(job: Job): void {
    const now = this.#needs.clock.monotonic();
    this.#failed.delete(orderOf(job));
    this.#failed.set(orderOf(job), now);
    for (const [order, failedAt] of this.#failed) {
      if (now - failedAt < FAILED_KEPT_MS && this.#failed.size <= FAILED_MAX) break;
      this.#failed.delete(order);
    }
  }

  /** How an endpoint is doing on this node. */
  healthOf(accountId: number, endpointId: string): EndpointHealth {
    return this.#courier.health(`${accountId}/${endpointId}`);
  }

  /** What is under way has a moment to end; after that it belongs to whoever claims it, and may be told twice. */
  async stop(): Promise<void> {
    await this.#claiming?.catch(() => undefined);
    await Promise.race([
      this.#courier.stop(),
      new Promise<void>((resolve) => this.#needs.clock.after(STOP_LIMIT_MS, resolve)),
    ]);
    await this.#settlements.idle();
    await this.#health.idle();
  }

  async #deliver(job: Job, onAnswered: () => void): Promise<Ending> {
    const { meters, figures, membership } = this.#needs;
    const { callback, node } = job;
    try {
      // A node that was declared dead has lost its rows: another tells what they say.
      if (node !== membership.node) return "untried";
      // One that may have been does not know whose they are. Only what is still its own is put back, for whoever lives.
      if (!membership.alive) {
        this.#putBack([job], "this node was silent for too long");
        return "untried";
      }
      const { result, endpoint, settlement } = await tell(this.#needs, callback);
      if (settlement.state === "waiting") this.#noteFailure(job);
      const settled = this.#settlements.add({ ...settlement, ownedBy: node });
      if (result?.kind === "delivered") onAnswered();
      await settled;
      meters.callbacks(settlement.state).inc();
      figures.onTold(callback.accountId, settlement.state);
      if (!result || !endpoint) return "delivered";
      this.#health.note(endpoint, result);
      return result.kind;
    } finally {
      this.#held.delete(job.key);
    }
  }

  /**
   * What cannot be told now waits in the store; another node may have more room for it. Until it is written down there,
   * nothing later of the same message is taken: it would overtake.
   */
  #putBack(jobs: readonly Job[], reason: PutBackReason): void {
    const { clock, log } = this.#needs;
    const at = clock.now();
    for (const job of jobs) {
      const order = orderOf(job);
      this.#leaving.set(order, (this.#leaving.get(order) ?? 0) + 1);
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
        .catch((error: unknown) => log.error({ err: error }, "a callback could not be put back"))
        .finally(() => this.#hasLeft(job));
    }
  }

  /** What waits for one before it is due when that one is, which the store knows. */
  #dueAgainAt({ endpointKey }: Job, reason: PutBackReason): number {
    const now = this.#needs.clock.now();
    if (reason !== "no room" && reason !== "the endpoint fails") return now;
    const { openForMs } = this.#courier.health(endpointKey);
    const [leastMs, spreadMs] = openForMs === 0 ? [NO_ROOM_MS, NO_ROOM_SPREAD_MS] : [openForMs, SPREAD_MS];
    return now + Math.ceil(leastMs + Math.random() * spreadMs);
  }

  #hasLeft(job: Job): void {
    this.#held.delete(job.key);
    const order = orderOf(job);
    const left = (this.#leaving.get(order) ?? 1) - 1;
    if (left > 0) this.#leaving.set(order, left);
    else this.#leaving.delete(order);
  }
}

const orderOf = ({ endpointKey, orderKey }: Job): string => `${endpointKey} ${orderKey}`;

function jobOf(callback: Callback, node: number): Job {
  const { accountId, eventId, endpointId, happening } = callback;
  const orderKey = messageIdIn(happening) ?? eventId;
  const endpointKey = `${accountId}/${endpointId}`;
  return { key: `${eventId} ${endpointId}`, endpointKey, orderKey, callback, node };
}
