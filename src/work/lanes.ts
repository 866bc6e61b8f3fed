import { ROUTE_CLASSES, type Message, type RouteClass } from "../model/message.ts";
import { Queue } from "../lib/queue.ts";
import { Turns } from "./turns.ts";

/**
 * What this node will send next, in memory: one-time passwords before transactions before promotions.
 * Each lane has its own bound, so a campaign can fill its lane but never take the place of a password.
 * A place is reserved before the message is stored, because a row must know its owner when it is born.
 */
export class Lanes {
  readonly #queues = new Map<RouteClass, Queue<Message>>(
    ROUTE_CLASSES.map((routeClass) => [routeClass, new Queue<Message>()]),
  );
  readonly #held = new Map<RouteClass, number>(ROUTE_CLASSES.map((routeClass) => [routeClass, 0]));
  readonly #capacity: number;
  /** How many messages of a lane wait elsewhere in memory. */
  readonly #elsewhere: (routeClass: RouteClass) => number;
  readonly #turns = new Turns();

  constructor(capacity: number, elsewhere: (routeClass: RouteClass) => number = () => 0) {
    this.#capacity = capacity;
    this.#elsewhere = elsewhere;
  }

  get size(): number {
    return ROUTE_CLASSES.reduce((sum, routeClass) => sum + this.sizeOf(routeClass), 0);
  }

  sizeOf(routeClass: RouteClass): number {
    return this.#queues.get(routeClass)?.length ?? 0;
  }

  /** How many more messages the lane can take. */
  room(routeClass: RouteClass): number {
    return this.#capacity - this.sizeOf(routeClass) - this.#elsewhere(routeClass) - (this.#held.get(routeClass) ?? 0);
  }

  /** How many are in the lane or have a place held there, whatever waits elsewhere. */
  taken(routeClass: RouteClass): number {
    return this.sizeOf(routeClass) + (this.#held.get(routeClass) ?? 0);
  }

  /** Holds places for messages about to be stored; false when there are not enough. */
  reserve(routeClass: RouteClass, count: number): boolean {
    if (this.room(routeClass) < count) return false;
    this.#held.set(routeClass, (this.#held.get(routeClass) ?? 0) + count);
    return true;
  }

  giveBack(routeClass: RouteClass, count: number): void {
    this.#held.set(routeClass, (this.#held.get(routeClass) ?? 0) - count);
  }

  push(message: Message): void {
    this.#queues.get(message.routeClass)?.push(message);
  }

  /** The next message of a lane that may go on. */
  take(mayGoOn: (routeClass: RouteClass) => boolean = () => true): Message | undefined {
    for (const routeClass of this.#turns.next()) {
      if (!mayGoOn(routeClass)) continue;
      const message = this.#queues.get(routeClass)?.shift();
      if (message) return message;
    }
    return undefined;
  }

  /** Forgets everything: the rows stay in the store and belong to whoever claims them. */
  clear(): void {
    for (const routeClass of ROUTE_CLASSES) this.#queues.set(routeClass, new Queue<Message>());
  }
}
