import { Queue } from "../lib/queue.ts";
import { messageIdOf, type Message, type RouteClass } from "../model/message.ts";
import type { Lanes } from "../work/lanes.ts";
import { depart, dispatch, planDeparture, type Departure } from "./dispatch.ts";
import type { DispatchNeeds } from "./dispatch-needs.ts";
import { hold } from "./put-off.ts";

const FAULT_PAUSE_MS = 60_000;

/** How much of the window the lanes below passwords may fill at the most: a flood of promotions leaves room for what is above. */
const BELOW_OTP_SHARE = 0.9;
const PROMO_SHARE = 0.8;

/** Takes messages from the lanes, as many at once as the window allows. */
export class Dispatcher {
  #inFlight = 0;
  readonly #byLane: Record<RouteClass, number> = { OTP: 0, TRANS: 0, PROMO: 0 };
  /** Of these, what is not stored yet. */
  readonly #boarding: Record<RouteClass, number> = { OTP: 0, TRANS: 0, PROMO: 0 };
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

  /** How many are on the way to a carrier and are past being stored: passwords, or all others, as they are written. */
  departed(routeClass: RouteClass): number {
    const { OTP, TRANS, PROMO } = this.#byLane;
    const boarding = this.#boarding;
    return routeClass === "OTP" ? OTP - boarding.OTP : TRANS + PROMO - boarding.TRANS - boarding.PROMO;
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
      this.#begin(message);
      this.#see(message, dispatch(this.#needs, message, admitted?.carrier ?? null));
    }
  }

  /**
   * Takes a message that is about to be stored past the lanes, if nothing waits there before it and its carrier has a place:
   * then it is under way from here on, until it departs or stays behind.
   */
  board(message: Message): Departure | null {
    const { lanes } = this.#needs;
    const { routeClass } = message;
    if (this.#stopped || this.#inFlight >= this.#window || this.#admitted.length > 0) return null;
    if (!this.#hasRoomFor(routeClass) || lanes.sizeOf(routeClass) > 0) return null;
    const departure = planDeparture(this.#needs, message);
    if (!departure) return null;
    this.#begin(message);
    this.#boarding[routeClass] += 1;
    return departure;
  }

  /** It is stored. */
  depart(message: Message, departure: Departure): void {
    this.#boarding[message.routeClass] -= 1;
    this.#see(message, depart(this.#needs, message, departure));
  }

  /** It was not stored, or is not this node's to send any more. */
  stayBehind(message: Message, { carrier }: Departure): void {
    this.#boarding[message.routeClass] -= 1;
    this.#needs.gates.turnBack(carrier, message);
    this.#end(message);
  }

  /** Counted by what is under way of the lane and those below it, so that no flood of passwords shuts the others out. */
  #hasRoomFor(lane: RouteClass): boolean {
    const { TRANS, PROMO } = this.#byLane;
    if (lane === "PROMO" && PROMO >= this.#window * PROMO_SHARE) return false;
    return lane === "OTP" || TRANS + PROMO < this.#window * BELOW_OTP_SHARE;
  }

  #begin({ routeClass }: Message): void {
    this.#inFlight += 1;
    this.#byLane[routeClass] += 1;
  }

  #end({ routeClass }: Message): void {
    this.#inFlight -= 1;
    this.#byLane[routeClass] -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
    this.wake();
  }

  #see(message: Message, sent: Promise<void>): void {
    const { node } = this.#needs.membership;
    void sent.then(
      () => this.#end(message),
      (error: unknown) => this.#letGo(message, node, error).then(() => this.#end(message)),
    );
  }

  /** Forgets what has waited at gates: the rows belong to whoever claims them. */
  clear(): void {
    for (let next = this.#admitted.shift(); next; next = this.#admitted.shift()) this.#needs.gates.leave(next.carrier);
  }

  /** After a fault of our own nobody would look at the row again while this node lives, so it is left for a later try. */
  async #letGo(message: Message, node: number, fault: unknown): Promise<void> {
    const { clock, log } = this.#needs;
    log.error({ err: fault, messageId: messageIdOf(message) }, "message could not be dispatched");
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
