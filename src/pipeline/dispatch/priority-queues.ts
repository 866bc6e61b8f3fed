import { ROUTE_CLASSES, type Message, type RouteClass } from "../../model/message.ts";
import { Queue } from "../../lib/queue.ts";
import { PriorityScheduler } from "./priority-scheduler.ts";

/**
 * The messages that this node sends next: one in-memory queue per class, passwords before transactions before promotions.
 * Each queue has its own capacity, so a campaign never takes the slot of a password. Slots are reserved before the commit,
 * because the row is inserted with its owner.
 */
export class PriorityQueues {
  readonly #queues = new Map<RouteClass, Queue<Message>>(
    ROUTE_CLASSES.map((routeClass) => [routeClass, new Queue<Message>()]),
  );
  readonly #reserved = new Map<RouteClass, number>(ROUTE_CLASSES.map((routeClass) => [routeClass, 0]));
  readonly #capacity: number;
  /** Messages of a class that wait elsewhere in memory, in the carrier limiter. */
  readonly #elsewhere: (routeClass: RouteClass) => number;
  readonly #scheduler = new PriorityScheduler();

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

  freeSlots(routeClass: RouteClass): number {
    return (
      this.#capacity - this.sizeOf(routeClass) - this.#elsewhere(routeClass) - (this.#reserved.get(routeClass) ?? 0)
    );
  }

  /** Queued and reserved messages, without those that wait elsewhere. */
  occupiedSlots(routeClass: RouteClass): number {
    return this.sizeOf(routeClass) + (this.#reserved.get(routeClass) ?? 0);
  }

  /** Reserves slots for messages that are about to be stored; false if too few are free. */
  reserve(routeClass: RouteClass, count: number): boolean {
    if (this.freeSlots(routeClass) < count) return false;
    this.#reserved.set(routeClass, (this.#reserved.get(routeClass) ?? 0) + count);
    return true;
  }

  releaseSlots(routeClass: RouteClass, count: number): void {
    this.#reserved.set(routeClass, (this.#reserved.get(routeClass) ?? 0) - count);
  }

  push(message: Message): void {
    this.#queues.get(message.routeClass)?.push(message);
  }

  /** The next message of a class that may be sent now. */
  take(maySend: (routeClass: RouteClass) => boolean = () => true): Message | undefined {
    for (const routeClass of this.#scheduler.next()) {
      if (!maySend(routeClass)) continue;
      const message = this.#queues.get(routeClass)?.shift();
      if (message) return message;
    }
    return undefined;
  }

  *messages(): Generator<Message> {
    for (const queue of this.#queues.values()) yield* queue;
  }

  /** Drops all messages: other nodes claim the rows. */
  clear(): void {
    for (const routeClass of ROUTE_CLASSES) this.#queues.set(routeClass, new Queue<Message>());
  }
}
