import type { Batcher } from "../../lib/batcher.ts";
import type { Clock } from "../../lib/clock.ts";
import { QueueFull } from "../../lib/async.ts";
import { FairQueue } from "../../lib/fair-queue.ts";
import { BULK, ROUTE_CLASSES, type RouteClass } from "../../model/message.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { PriorityQueues } from "../dispatch/priority-queues.ts";
import { isOverloaded, type Backpressure } from "./backpressure.ts";

interface WaitingRequest {
  count: number;
  since: number;
  admit(): void;
  refuse(error: QueueFull): void;
}

interface AdmissionControllerDeps {
  clock: Clock;
  commits: Pick<GroupCommit, "accept" | "urgentAccept" | "isStoreUnavailable">;
  /** Null on a node that only accepts. */
  sending: { queues: PriorityQueues; backpressure(routeClass: RouteClass): Backpressure } | null;
}

interface Options {
  /** The longest time a request waits for admission. */
  acceptWaitMs: number;
  /** Capacity of each priority queue. */
  laneCapacity: number;
}

/** One pass over a waiting line yields to the event loop after this time. */
const PASS_MS = 4;
const NEXT_PASS_MS = 10;
/** Overload is remembered for this long: between two commits the measurement briefly shows none. */
const OVERLOAD_MEMORY_MS = 1000;
/** A longer line refuses at once, or takes room from the account or system id that has the most in it. */
const WAITING_MAX = 5000;
const ROWS_PER_COMMIT_MAX = 1000;

/**
 * Admission control: every send request is accepted at once, held in a line, or refused with 503.
 *
 * Congestion collapse: an accept is cheaper than a send, and both run on the same cores. An overloaded node that accepted
 * everything would have no time left to send, so it admits what it can send. A refusal is held back for a while, because a
 * client that repeats it immediately costs CPU again. Each class has a line of its own; passwords, sent first, rarely wait.
 * Fair queueing: a line serves accounts and system ids in turn, so that one of them cannot fill it for all. Messages for a slow
 * carrier wait in the store and are no overload.
 */
export class AdmissionController {
  readonly #deps: AdmissionControllerDeps;
  readonly #options: Options;
  readonly #lines: Readonly<Record<RouteClass, FairQueue<WaitingRequest>>> = {
    OTP: new FairQueue(),
    TRANS: new FairQueue(),
    PROMO: new FairQueue(),
  };
  readonly #overloadedUntil = new Map<RouteClass, number>();
  #closed = false;
  #cancelNextPass: (() => void) | null = null;

  constructor(deps: AdmissionControllerDeps, options: Options) {
    this.#deps = deps;
    this.#options = options;
  }

  /** The number of requests that wait for admission. */
  get waiting(): number {
    return ROUTE_CLASSES.reduce((sum, routeClass) => sum + this.#lines[routeClass].length, 0);
  }

  /** True if a request of this class is refused at once. `flow` is the account or system id whose turns it shares. */
  isRefusing(routeClass: RouteClass, flow: string | number): boolean {
    if (this.#closed) return true;
    const line = this.#lines[routeClass];
    if (line.length >= WAITING_MAX && !line.isShort(flow)) return true;
    const { load, waitingMs } = this.#commitOf(routeClass);
    return load > ROWS_PER_COMMIT_MAX && waitingMs >= this.#options.acceptWaitMs;
  }

  /**
   * Runs `reserve` at the moment of admission: synchronously, so that the next check sees what it reserved. `ageMs` is the
   * time that the request has waited elsewhere, such as for the memory of its body.
   */
  admit<Reserved>(
    routeClass: RouteClass,
    count: number,
    flow: string | number,
    reserve: () => Reserved,
    ageMs: () => number = () => 0,
  ): Reserved | Promise<Reserved> {
    if (this.isRefusing(routeClass, flow)) throw overloaded();
    const line = this.#lines[routeClass];
    if (line.length === 0 && this.#canAccept(routeClass, count)) return reserve();
    const admitted = new Promise<Reserved>((resolve, reject) => {
      const admit = (): void => {
        try {
          resolve(reserve());
        } catch (error) {
          reject(error);
        }
      };
      if (line.length >= WAITING_MAX) line.shiftLongest()?.refuse(overloaded());
      line.push(flow, { count, since: this.#deps.clock.monotonic() - ageMs(), admit, refuse: reject });
    });
    this.#scheduleNextPass();
    return admitted;
  }

  /** Refuses all waiting and future requests. */
  close(): void {
    this.#closed = true;
    this.#cancelNextPass?.();
    for (const line of Object.values(this.#lines))
      for (let first = line.shift(); first; first = line.shift()) first.refuse(overloaded());
  }

  #commitOf(routeClass: RouteClass): Pick<Batcher<never, never>, "load" | "waitingMs"> {
    const { accept, urgentAccept } = this.#deps.commits;
    return routeClass === "OTP" ? urgentAccept : accept;
  }

  /** `acceptedInPass` counts messages that this pass has admitted and that are in no commit yet. */
  #canAccept(routeClass: RouteClass, count: number, acceptedInPass = 0): boolean {
    const { commits, sending } = this.#deps;
    if (!sending) return true; // this node only accepts
    if (commits.isStoreUnavailable) return true; // the commit itself answers 503

    // Messages that wait for a slow carrier are not counted here. They are stored, and claimed later.
    const queued = sending.queues.occupiedSlots(routeClass);
    const capacity = this.#options.laneCapacity;
    const fitsInQueue = queued + count <= capacity;
    const largerThanQueue = count > capacity; // would wait forever
    if ((fitsInQueue && queued === 0) || largerThanQueue) return true;
    if (!this.#isOverloaded(routeClass, sending)) return true;

    // A campaign is stored long before it is sent, so bulk requests wait for the commit before them and not for the queue.
    const bulkFitsInCommit = count >= BULK && this.#commitOf(routeClass).load + acceptedInPass < ROWS_PER_COMMIT_MAX;
    if (bulkFitsInCommit) return true;

    // Direct dispatch saves a write, so single messages wait for an empty queue unless bulk traffic keeps it half full.
    const mayDispatchDirectly = count === 1 && routeClass !== "PROMO";
    if (mayDispatchDirectly && queued <= capacity / 2) return false;
    return fitsInQueue;
  }

  #isOverloaded(routeClass: RouteClass, { backpressure }: NonNullable<AdmissionControllerDeps["sending"]>): boolean {
    const now = this.#deps.clock.monotonic();
    if (isOverloaded(backpressure(routeClass))) this.#overloadedUntil.set(routeClass, now + OVERLOAD_MEMORY_MS);
    return now < (this.#overloadedUntil.get(routeClass) ?? Number.NEGATIVE_INFINITY);
  }

  #scheduleNextPass(): void {
    this.#cancelNextPass ??= this.#deps.clock.after(NEXT_PASS_MS, () => {
      this.#cancelNextPass = null;
      for (const routeClass of ROUTE_CLASSES) this.#admitWaiting(routeClass);
      if (this.waiting > 0) this.#scheduleNextPass();
    });
  }

  #admitWaiting(routeClass: RouteClass): void {
    const line = this.#lines[routeClass];
    const { clock } = this.#deps;
    const began = clock.monotonic();
    const timedOutBefore = began - this.#options.acceptWaitMs;
    let acceptedInPass = 0;
    for (let first = line.peek(); first && clock.monotonic() - began < PASS_MS; first = line.peek()) {
      if (this.#canAccept(routeClass, first.count, acceptedInPass)) {
        line.shift();
        acceptedInPass += first.count;
        first.admit();
        continue;
      }
      const timedOut = line.shiftIf(({ since }) => since <= timedOutBefore);
      if (!timedOut) return;
      timedOut.refuse(overloaded());
    }
  }
}

const overloaded = (): QueueFull => new QueueFull("this node has more to do than it can");
