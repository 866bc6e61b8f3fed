import { Queue } from "../../lib/queue.ts";
import { messageIdOf, type Message, type RouteClass } from "../../model/message.ts";
import type { PriorityQueues } from "./priority-queues.ts";
import { sendPlanned, dispatch, planDirectDispatch, type DispatchPlan } from "./dispatch.ts";
import type { DispatchDeps } from "./dispatch-deps.ts";
import { holdUnconfirmed, releaseUnsent } from "./defer.ts";

const FAULT_PAUSE_MS = 60_000;

/** Shares of the window that lower classes may fill: a flood of promotions leaves room for transactions and passwords. */
const BELOW_OTP_SHARE = 0.9;
const PROMO_SHARE = 0.8;

/** Sends queued messages, up to a window of concurrent dispatches. */
export class Dispatcher {
  #inFlight = 0;
  readonly #messages = new Set<Message>();
  /** Further dispatches of the same message: the limiter may hand out its slot before the first dispatch has ended. */
  readonly #repeated: Message[] = [];
  readonly #inFlightByClass: Record<RouteClass, number> = { OTP: 0, TRANS: 0, PROMO: 0 };
  /** Direct dispatches among these whose commit is in progress. */
  readonly #reservedByClass: Record<RouteClass, number> = { OTP: 0, TRANS: 0, PROMO: 0 };
  #stopped = false;
  #onIdle: (() => void) | null = null;
  readonly #deps: DispatchDeps & { queues: PriorityQueues };
  readonly #window: number;
  readonly #admitted = new Queue<{ message: Message; carrier: string }>();
  #onDrained: () => void = () => {};

  constructor(deps: DispatchDeps & { queues: PriorityQueues }, window: number) {
    this.#deps = deps;
    this.#window = window;
    deps.carrierLimiter.onAcquired((message, carrier) => {
      this.#admitted.push({ message, carrier });
      this.wake();
    });
  }

  /** Dispatches whose message is stored, by batcher: passwords, or all other classes. */
  storedInFlight(routeClass: RouteClass): number {
    const { OTP, TRANS, PROMO } = this.#inFlightByClass;
    const reserved = this.#reservedByClass;
    return routeClass === "OTP" ? OTP - reserved.OTP : TRANS + PROMO - reserved.TRANS - reserved.PROMO;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Every message that this process holds: in a queue, waiting for its carrier's rate, or being sent. */
  *messages(): Generator<Message> {
    yield* this.#deps.queues.messages();
    yield* this.#deps.carrierLimiter.messages();
    for (const { message } of this.#admitted) yield message;
    yield* this.#messages;
  }

  /** Sets the handler of drained queues, which claims more rows at once. */
  onDrained(run: () => void): void {
    this.#onDrained = run;
  }

  wake(): void {
    if (this.#stopped) return;
    while (this.#inFlight < this.#window) {
      const admitted = this.#admitted.shift();
      const message = admitted?.message ?? this.#deps.queues.take((routeClass) => this.#hasRoomFor(routeClass));
      if (!message) return this.#deps.queues.size === 0 ? this.#onDrained() : undefined;
      this.#begin(message);
      this.#track(message, dispatch(this.#deps, message, admitted?.carrier ?? null));
    }
  }

  /**
   * Direct dispatch: reserves a window slot and a carrier slot for a message before it is stored, if none of its class waits.
   * The reservation ends with `sendReserved` or `cancelReservation`.
   */
  reserveDirect(message: Message): DispatchPlan | null {
    const { queues } = this.#deps;
    const { routeClass } = message;
    if (this.#stopped || this.#inFlight >= this.#window || this.#admitted.length > 0) return null;
    if (!this.#hasRoomFor(routeClass) || queues.sizeOf(routeClass) > 0) return null;
    const plan = planDirectDispatch(this.#deps, message);
    if (!plan) return null;
    this.#begin(message);
    this.#reservedByClass[routeClass] += 1;
    return plan;
  }

  /** Sends a reserved message once it is stored. */
  sendReserved(message: Message, plan: DispatchPlan): void {
    this.#reservedByClass[message.routeClass] -= 1;
    this.#track(message, sendPlanned(this.#deps, message, plan));
  }

  /** Releases a reservation whose message was not stored, or belongs to another node now. */
  cancelReservation(message: Message, { carrier }: DispatchPlan): void {
    this.#reservedByClass[message.routeClass] -= 1;
    this.#deps.carrierLimiter.refund(carrier, message);
    this.#end(message);
  }

  /** Counts the class and those below it, so that a flood of passwords does not block the others. */
  #hasRoomFor(routeClass: RouteClass): boolean {
    const { TRANS, PROMO } = this.#inFlightByClass;
    if (routeClass === "PROMO" && PROMO >= this.#window * PROMO_SHARE) return false;
    return routeClass === "OTP" || TRANS + PROMO < this.#window * BELOW_OTP_SHARE;
  }

  #begin(message: Message): void {
    this.#inFlight += 1;
    const before = this.#messages.size;
    this.#messages.add(message);
    if (this.#messages.size === before) this.#repeated.push(message);
    this.#inFlightByClass[message.routeClass] += 1;
  }

  #end(message: Message): void {
    this.#inFlight -= 1;
    const repeated = this.#repeated.indexOf(message);
    if (repeated === -1) this.#messages.delete(message);
    else this.#repeated.splice(repeated, 1);
    this.#inFlightByClass[message.routeClass] -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
    this.wake();
  }

  #track(message: Message, sent: Promise<void>): void {
    const { node } = this.#deps.membership;
    void sent.then(
      () => this.#end(message),
      (error: unknown) => this.#releaseAfterError(message, node, error).then(() => this.#end(message)),
    );
  }

  /** Drops admitted messages: other nodes claim the rows. */
  clear(): void {
    for (let next = this.#admitted.shift(); next; next = this.#admitted.shift())
      this.#deps.carrierLimiter.refund(next.carrier, next.message);
  }

  /** Releases the row after an internal error; as a row of a living node no other node would claim it. */
  async #releaseAfterError(message: Message, node: number, fault: unknown): Promise<void> {
    const { clock, log } = this.#deps;
    log.error({ err: fault, messageId: messageIdOf(message) }, "dispatch failed");
    try {
      const dueAt = clock.now() + FAULT_PAUSE_MS;
      // Without a committed intent the attempts are unchanged and the message was certainly not sent.
      if (!(await releaseUnsent(this.#deps, message, node, dueAt)))
        await holdUnconfirmed(this.#deps, message, { ownedBy: node }, dueAt);
    } catch (error) {
      log.error({ err: error, messageId: messageIdOf(message) }, "could not release message after dispatch error");
    }
  }

  /** Starts no more dispatches; resolves when those in progress are answered and written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
