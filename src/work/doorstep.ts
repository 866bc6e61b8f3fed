import type { Batcher } from "../lib/batcher.ts";
import type { Clock } from "../lib/clock.ts";
import { DoorFull } from "../lib/narrow-door.ts";
import { Queue } from "../lib/queue.ts";
import { ROUTE_CLASSES, type RouteClass } from "../model/message.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Lanes } from "./lanes.ts";
import { isBehind, type Strain } from "./strain.ts";

interface Waiting {
  count: number;
  since: number;
  /** Does what it has waited for. */
  enter(): void;
}

interface Needs {
  clock: Clock;
  commits: Pick<GroupCommit, "accept" | "urgentAccept">;
  /** Absent on a node that only accepts. */
  sending: { lanes: Lanes; strain(): Strain } | null;
}

interface Options {
  /** How long a message may wait to be accepted. */
  acceptWaitMs: number;
  laneCapacity: number;
}

/** How soon to look again whether there is room for whoever waits. */
const LOOK_AGAIN_MS = 10;
/** What was seen a moment ago still holds: between two commits nothing waits, and nothing is better for it. */
const STRAINED_MS = 1000;
/** More than fits in one commit waits behind it. */
const FULL_COMMIT = 1000;

/**
 * Where messages wait to be accepted. Accepting is quicker than sending and takes from the same cores, so a node that took
 * whatever comes would send ever less of it. Therefore a node that is behind by its own fault accepts as many as it sends:
 * whoever finds the lane full waits here for a place, and is turned away once those in front have waited too long. Each type
 * has a line of its own, and passwords are sent first: theirs is the last to form. A lane that is full because its carrier
 * is slow holds up nobody; what does not fit waits in the store.
 */
export class Doorstep {
  readonly #needs: Needs;
  readonly #options: Options;
  readonly #lines: Readonly<Record<RouteClass, Queue<Waiting>>> = {
    OTP: new Queue(),
    TRANS: new Queue(),
    PROMO: new Queue(),
  };
  #strainedUntil = Number.NEGATIVE_INFINITY;
  #looking = false;

  constructor(needs: Needs, options: Options) {
    this.#needs = needs;
    this.#options = options;
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return ROUTE_CLASSES.reduce((sum, routeClass) => sum + this.#lines[routeClass].length, 0);
  }

  /** Whether messages of a type are turned away for now. */
  isShut(routeClass: RouteClass): boolean {
    const { clock, commits } = this.#needs;
    const first = this.#lines[routeClass].peek();
    if (first && clock.monotonic() - first.since >= this.#options.acceptWaitMs) return true;
    return this.#isTooLong(routeClass === "OTP" ? commits.urgentAccept : commits.accept);
  }

  /** Takes places for some messages by `take`, now or when it is their turn. */
  enter<Taken>(routeClass: RouteClass, count: number, take: () => Taken): Taken | Promise<Taken> {
    if (this.isShut(routeClass)) throw new DoorFull("this node has more to do than it can");
    const line = this.#lines[routeClass];
    if (line.length === 0 && this.#mayEnter(routeClass, count)) return take();
    const entered = new Promise<Taken>((resolve, reject) => {
      const enter = (): void => {
        try {
          resolve(take());
        } catch (error) {
          reject(error);
        }
      };
      line.push({ count, since: this.#needs.clock.monotonic(), enter });
    });
    this.#lookLater();
    return entered;
  }

  #mayEnter(routeClass: RouteClass, count: number): boolean {
    const { sending } = this.#needs;
    if (!sending) return true;
    const { laneCapacity } = this.#options;
    const room = sending.lanes.room(routeClass);
    const hasRoom = room >= count;
    const inLane = laneCapacity - room;
    if ((hasRoom && inLane === 0) || count > laneCapacity || !this.#isStrained(sending)) return true;
    // What goes to its carrier without a stay in the lane is a write less: single messages come when they can do that, unless
    // bulks keep the lane full.
    return hasRoom && (count > 1 || inLane > laneCapacity / 2);
  }

  #isStrained({ strain }: NonNullable<Needs["sending"]>): boolean {
    const now = this.#needs.clock.monotonic();
    if (isBehind(strain())) this.#strainedUntil = now + STRAINED_MS;
    return now < this.#strainedUntil;
  }

  #isTooLong({ load, waitingMs }: Pick<Batcher<never, never>, "load" | "waitingMs">): boolean {
    return load > FULL_COMMIT && waitingMs >= this.#options.acceptWaitMs;
  }

  #lookLater(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#needs.clock.after(LOOK_AGAIN_MS, () => {
      this.#looking = false;
      for (const routeClass of ROUTE_CLASSES) this.#letIn(routeClass);
      if (this.waiting > 0) this.#lookLater();
    });
  }

  #letIn(routeClass: RouteClass): void {
    const line = this.#lines[routeClass];
    for (let first = line.peek(); first; first = line.peek()) {
      if (!this.#mayEnter(routeClass, first.count)) return;
      line.shift();
      first.enter();
    }
  }
}
