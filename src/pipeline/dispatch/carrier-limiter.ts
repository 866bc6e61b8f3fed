import type { Carrier } from "../../carriers/carrier.ts";
import type { Clock } from "../../lib/clock.ts";
import { Queue } from "../../lib/queue.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import { ROUTE_CLASSES, type Message, type RouteClass } from "../../model/message.ts";
import { PriorityScheduler } from "./priority-scheduler.ts";

interface CarrierState {
  /** The carrier as of the last call. */
  carrier: Carrier;
  bucket: TokenBucket;
  /** Messages that hold a slot of this carrier. */
  underWay: number;
  waiting: Map<RouteClass, Queue<Message>>;
  scheduler: PriorityScheduler;
  /** The next timer, and whether a free slot makes it run at once. */
  timer: { cancel(): void; isForSlot: boolean } | null;
}

interface CarrierLimiterDeps {
  clock: Clock;
  /** The number of nodes that share the contracted rate. */
  nodeCount(): number;
}

/** Poll interval of a carrier at capacity. A slot that this node releases is seen at once. */
const LOOK_AGAIN_MS = 100;

/**
 * Rate limiter per carrier: a token bucket for the contracted rate, and a bound on messages in progress.
 *
 * Messages over the limit wait in memory by priority, so a password that comes last still goes first. They count towards the
 * capacity of the priority queues. The intent is written only after a slot is acquired, so a waiting message was not sent.
 */
export class CarrierLimiter {
  readonly #deps: CarrierLimiterDeps;
  readonly #states = new Map<string, CarrierState>();
  #onAcquired: (message: Message, carrier: string) => void = () => {};

  constructor(deps: CarrierLimiterDeps) {
    this.#deps = deps;
  }

  /** Sets the handler of waiting messages that acquire their slot. */
  onAcquired(run: (message: Message, carrier: string) => void): void {
    this.#onAcquired = run;
  }

  waitingCount(routeClass: RouteClass): number {
    let size = 0;
    for (const { waiting } of this.#states.values()) size += waiting.get(routeClass)?.length ?? 0;
    return size;
  }

  /** Takes a slot, which the caller releases or refunds. Without a free slot the message waits here, and false is returned. */
  acquire(carrier: Carrier, message: Message): boolean {
    if (isUnlimited(carrier)) return true;
    const state = this.#stateOf(carrier);
    if (this.#takeFreeSlot(state, message)) return true;
    state.waiting.get(message.routeClass)?.push(message);
    this.#handOut(state);
    return false;
  }

  /** Takes a slot if one is free; the message never waits. */
  tryAcquire(carrier: Carrier, message: Message): boolean {
    if (isUnlimited(carrier)) return true;
    const state = this.#stateOf(carrier);
    return this.#takeFreeSlot(state, message);
  }

  /** Releases the slot of a message that was not sent, and returns its tokens. */
  refund(name: string, { segments }: Message): void {
    const state = this.#states.get(name);
    if (!state) return;
    if (state.carrier.messagesPerSecond !== null)
      state.bucket.refund(this.#deps.clock.monotonic(), Math.max(1, segments));
    // The tokens returned may be enough for the next message.
    if (state.timer) state.timer.isForSlot = true;
    this.release(name);
  }

  /** Releases the slot of a message that the carrier has answered, whatever the answer. */
  release(name: string): void {
    const state = this.#states.get(name);
    if (!state) return;
    state.underWay = Math.max(0, state.underWay - 1);
    if (state.timer?.isForSlot) {
      state.timer.cancel();
      state.timer = null;
    }
    this.#handOut(state);
  }

  /** All waiting messages. */
  *messages(): Generator<Message> {
    for (const { waiting } of this.#states.values()) for (const queue of waiting.values()) yield* queue;
  }

  /** Drops all waiting messages: other nodes claim the rows. */
  clear(): void {
    for (const state of this.#states.values()) state.waiting = emptyQueues();
  }

  #stateOf(carrier: Carrier): CarrierState {
    let state = this.#states.get(carrier.name);
    if (!state) {
      const bucket = new TokenBucket(this.#rateOf(carrier), this.#deps.clock.monotonic());
      state = { carrier, bucket, underWay: 0, waiting: emptyQueues(), scheduler: new PriorityScheduler(), timer: null };
      this.#states.set(carrier.name, state);
    }
    state.carrier = carrier;
    return state;
  }

  /** This node's share of the contracted rate. */
  #rateOf({ messagesPerSecond, share }: Carrier): number {
    return messagesPerSecond === null
      ? Infinity
      : messagesPerSecond * (share ?? 1 / Math.max(1, this.#deps.nodeCount()));
  }

  /** The time until a slot and a token are free; null if they are free now. */
  #wait({ carrier, bucket, underWay }: CarrierState, rate: number): { ms: number; isForSlot: boolean } | null {
    if (underWay >= (carrier.capacity ?? Infinity)) return { ms: LOOK_AGAIN_MS, isForSlot: true };
    if (rate === Infinity) return null;
    const now = this.#deps.clock.monotonic();
    if (bucket.ratePerSecond !== rate) bucket.changeRate(rate, now);
    const ms = Math.ceil(bucket.waitMs(now));
    return ms === 0 ? null : { ms, isForSlot: false };
  }

  /** Takes one slot, and one token per segment. */
  #takeSlot(state: CarrierState, { segments }: Message, rate: number): void {
    state.underWay += 1;
    if (rate !== Infinity) state.bucket.take(this.#deps.clock.monotonic(), Math.max(1, segments));
  }

  /** Takes a slot unless other messages wait. */
  #takeFreeSlot(state: CarrierState, message: Message): boolean {
    if (!isEmpty(state)) return false;
    const rate = this.#rateOf(state.carrier);
    if (this.#wait(state, rate)) return false;
    this.#takeSlot(state, message, rate);
    return true;
  }

  /** Hands out all free slots and arms the timer for the next one. */
  #handOut(state: CarrierState): void {
    if (state.timer || isEmpty(state)) return;
    for (;;) {
      this.#passWithoutSlot(state);
      if (isEmpty(state)) return;
      const rate = this.#rateOf(state.carrier);
      const wait = this.#wait(state, rate);
      if (wait) {
        const cancel = this.#deps.clock.after(wait.ms, () => {
          state.timer = null;
          this.#handOut(state);
        });
        state.timer = { cancel, isForSlot: wait.isForSlot };
        return;
      }
      const message = nextOf(state);
      if (!message) return;
      this.#takeSlot(state, message, rate);
      this.#onAcquired(message, state.carrier.name);
    }
  }

  /** Expired messages only end, and a carrier that is down makes its messages take another route: neither waits for a slot. */
  #passWithoutSlot(state: CarrierState): void {
    const { carrier, waiting } = state;
    const now = this.#deps.clock.now();
    const monotonic = this.#deps.clock.monotonic();
    const rate = this.#rateOf(carrier);
    const isLost = !carrier.isUp() && !carrier.isConnecting?.();
    for (const queue of waiting.values()) {
      for (let first = queue.peek(); first && (isLost || first.expiresAt <= now); first = queue.peek()) {
        queue.shift();
        state.underWay += 1;
        // Charged as debt, which the refund returns: nothing is sent, unless the carrier is up again by then.
        if (rate !== Infinity) state.bucket.charge(monotonic, Math.max(1, first.segments));
        this.#onAcquired(first, carrier.name);
      }
    }
  }
}

// Capacity first: reading the rate costs more.
const isUnlimited = (carrier: Carrier): boolean => carrier.capacity === undefined && carrier.messagesPerSecond === null;

const emptyQueues = (): CarrierState["waiting"] =>
  new Map(ROUTE_CLASSES.map((routeClass) => [routeClass, new Queue<Message>()]));

const isEmpty = ({ waiting }: CarrierState): boolean => {
  for (const { length } of waiting.values()) if (length > 0) return false;
  return true;
};

function nextOf({ waiting, scheduler }: CarrierState): Message | undefined {
  for (const routeClass of scheduler.next()) {
    const message = waiting.get(routeClass)?.shift();
    if (message) return message;
  }
  return undefined;
}
