import { Queue } from "../lib/queue.ts";
import { messageIdOf, type Message, type RouteClass } from "../model/message.ts";
import type { Lanes } from "../work/lanes.ts";
import { dispatch, hold, type DispatchNeeds } from "./dispatch.ts";

const FAULT_PAUSE_MS = 60_000;

/** How much of the window the lanes below passwords may fill at the most: a flood of promotions leaves room for what is above. */
const BELOW_OTP_SHARE = 0.9;
const PROMO_SHARE = 0.8;

/** Takes messages from the lanes, as many at once as the window allows. */
export class Dispatcher {
  #inFlight = 0;
  readonly #byLane: Record<RouteClass, number> = { OTP: 0, TRANS: 0, PROMO: 0 };
  #stopped = false;
  #onIdle: (() => void) | null = null;
  readonly #needs: DispatchNeeds & { lanes: Lanes };
  readonly #window: number;
  readonly #admitted = new Queue<{ message: Message; carrier: string }>();
  #onHungry: () => void = () => {};

  constructor(needs: DispatchNeeds & { lanes: Lanes }, window: number) {
    this.#needs = needs;
    this.#window = window;
    needs.gates.onOpen((message, carrier) => {
      this.#admitted.push({ message, carrier });
      this.wake();
    });
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls back when the lanes have run empty, so that more can be fetched at once. */
  onHungry(run: () => void): void {
    this.#onHungry = run;
  }

  wake(): void {
    if (this.#stopped) return;
    while (this.#inFlight < this.#window) {
      const admitted = this.#admitted.shift();
      const message = admitted?.message ?? this.#needs.lanes.take((lane) => this.#hasRoomFor(lane));
      if (!message) return this.#needs.lanes.size === 0 ? this.#onHungry() : undefined;
      this.#inFlight += 1;
      this.#byLane[message.routeClass] += 1;
      void this.#send(message, admitted?.carrier ?? null);
    }
  }

  /** Counted by what is under way of the lane and those below it, so that no flood of passwords shuts the others out. */
  #hasRoomFor(lane: RouteClass): boolean {
    const { TRANS, PROMO } = this.#byLane;
    if (lane === "PROMO" && PROMO >= this.#window * PROMO_SHARE) return false;
    return lane === "OTP" || TRANS + PROMO < this.#window * BELOW_OTP_SHARE;
  }

  async #send(message: Message, admittedTo: string | null): Promise<void> {
    const { node } = this.#needs.membership;
    try {
      await dispatch(this.#needs, message, admittedTo);
    } catch (error) {
      this.#needs.log.error({ err: error, messageId: messageIdOf(message) }, "message could not be dispatched");
      await this.#letGo(message, node);
    }
    this.#inFlight -= 1;
    this.#byLane[message.routeClass] -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
    this.wake();
  }

  /** Forgets what has waited at gates: the rows belong to whoever claims them. */
  clear(): void {
    for (let next = this.#admitted.shift(); next; next = this.#admitted.shift()) this.#needs.gates.leave(next.carrier);
  }

  /** After a fault of our own nobody would look at the row again while this node lives, so it is left for a later try. */
  async #letGo(message: Message, node: number): Promise<void> {
    const { clock, log } = this.#needs;
    try {
      await hold(this.#needs, message, node, clock.now() + FAULT_PAUSE_MS);
    } catch (error) {
      log.error({ err: error, messageId: messageIdOf(message) }, "message could not be let go");
    }
  }

  /** Starts nothing more; resolves when what was under way is answered and written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
