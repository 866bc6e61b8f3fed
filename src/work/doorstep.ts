import type { Batcher } from "../lib/batcher.ts";
import type { Clock } from "../lib/clock.ts";
import { DoorFull } from "../lib/narrow-door.ts";
import { Queue } from "../lib/queue.ts";
import { BULK, ROUTE_CLASSES, type RouteClass } from "../model/message.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Lanes } from "./lanes.ts";
import { isBehind, type Strain } from "./strain.ts";

interface Waiting {
  count: number;
  since: number;
  /** Does what it has waited for. */
  enter(): void;
  turnAway(error: DoorFull): void;
}

interface Needs {
  clock: Clock;
  commits: Pick<GroupCommit, "accept" | "urgentAccept" | "isStoreAway">;
  /** Absent on a node that only accepts. */
  sending: { lanes: Lanes; strain(routeClass: RouteClass): Strain } | null;
}

interface Options {
  /** How long a message may wait to be accepted. */
  acceptWaitMs: number;
  laneCapacity: number;
}

/** Whoever else has something to do has a turn after so long, however many may enter. */
const SLICE_MS = 4;
/** How soon to look again whether there is room for whoever waits. */
const LOOK_AGAIN_MS = 10;
/** What was seen a moment ago still holds: between two commits nothing waits, and nothing is better for it. */
const STRAINED_MS = 1000;
/** Who would be later in a line than that is turned away at once. */
const LINE_MAX = 5000;
/** More than fits in one commit waits behind it. */
const FULL_COMMIT = 1000;

/**
 * Where messages wait to be accepted. Accepting is quicker than sending and takes from the same cores, so a node that took
 * whatever comes would send ever less of it. Therefore a node that is behind by its own fault accepts as many as it sends:
 * whoever finds no place waits here for one, and is turned away after a while. That this takes its time is meant: those who
 * call again at once whatever they hear would otherwise take the cores from what is being sent. Each type has a line of its
 * own, and passwords are sent first: theirs is the last to form. Bulks take turns at the store instead of waiting for a lane. A
 * lane that is full because its carrier is slow holds up nobody; what does not fit waits in the store.
 */
export class Doorstep {
  readonly #needs: Needs;
  readonly #options: Options;
  readonly #lines: Readonly<Record<RouteClass, Queue<Waiting>>> = {
    OTP: new Queue(),
    TRANS: new Queue(),
    PROMO: new Queue(),
  };
  readonly #strainedUntil = new Map<RouteClass, number>();
  #closed = false;
  #cancelLook: (() => void) | null = null;

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
    if (this.#closed) return true;
    if (this.#lines[routeClass].length >= LINE_MAX) return true;
    return this.#isTooLong(this.#commitOf(routeClass));
  }

  /** Takes places for some messages by `take`, now or when it is their turn. */
  enter<Taken>(routeClass: RouteClass, count: number, take: () => Taken): Taken | Promise<Taken> {
    if (this.isShut(routeClass)) throw tooMuch();
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
      line.push({ count, since: this.#needs.clock.monotonic(), enter, turnAway: reject });
    });
    this.#lookLater();
    return entered;
  }

  /** Nobody enters any more, and whoever waits hears so. */
  close(): void {
    this.#closed = true;
    this.#cancelLook?.();
    for (const line of Object.values(this.#lines))
      for (let first = line.shift(); first; first = line.shift()) first.turnAway(tooMuch());
  }

  #commitOf(routeClass: RouteClass): Pick<Batcher<never, never>, "load" | "waitingMs"> {
    const { accept, urgentAccept } = this.#needs.commits;
    return routeClass === "OTP" ? urgentAccept : accept;
  }

  /** `entered` is what has just come in and is in no commit yet. */
  #mayEnter(routeClass: RouteClass, count: number, entered = 0): boolean {
    const { commits, sending } = this.#needs;
    // Moves that wait for a store that is away are no strain: whoever comes now hears from the store itself.
    if (!sending || commits.isStoreAway) return true;
    const { laneCapacity } = this.#options;
    // What waits for a slow carrier is not in the lane: what has no place because of that is stored and claimed later.
    const inLane = sending.lanes.taken(routeClass);
    const hasRoom = laneCapacity - inLane >= count;
    if ((hasRoom && inLane === 0) || count > laneCapacity || !this.#isStrained(routeClass, sending)) return true;
    // A campaign is in the store long before it is sent: its bulks wait for the one before them, not for the carrier.
    if (count >= BULK && this.#commitOf(routeClass).load + entered < FULL_COMMIT) return true;
    // What goes to its carrier without a stay in the lane is a write less: single messages that may do so come when they can,
    // unless bulks keep the lane full.
    const mayBoard = count === 1 && routeClass !== "PROMO";
    return hasRoom && (!mayBoard || inLane > laneCapacity / 2);
  }

  #isStrained(routeClass: RouteClass, { strain }: NonNullable<Needs["sending"]>): boolean {
    const now = this.#needs.clock.monotonic();
    if (isBehind(strain(routeClass))) this.#strainedUntil.set(routeClass, now + STRAINED_MS);
    return now < (this.#strainedUntil.get(routeClass) ?? Number.NEGATIVE_INFINITY);
  }

  #isTooLong(commit: Pick<Batcher<never, never>, "load" | "waitingMs">): boolean {
    return commit.load > FULL_COMMIT && commit.waitingMs >= this.#options.acceptWaitMs;
  }

  #lookLater(): void {
    this.#cancelLook ??= this.#needs.clock.after(LOOK_AGAIN_MS, () => {
      this.#cancelLook = null;
      for (const routeClass of ROUTE_CLASSES) this.#letIn(routeClass);
      if (this.waiting > 0) this.#lookLater();
    });
  }

  #letIn(routeClass: RouteClass): void {
    const line = this.#lines[routeClass];
    const { clock } = this.#needs;
    const began = clock.monotonic();
    const tooLongAgo = began - this.#options.acceptWaitMs;
    let entered = 0;
    for (let first = line.peek(); first && clock.monotonic() - began < SLICE_MS; first = line.peek()) {
      const entering = this.#mayEnter(routeClass, first.count, entered);
      if (!entering && first.since > tooLongAgo) return;
      line.shift();
      if (entering) {
        entered += first.count;
        first.enter();
      }
      // Whoever sent it has given up on it, or is about to.
      else first.turnAway(tooMuch());
    }
  }
}

const tooMuch = (): DoorFull => new DoorFull("this node has more to do than it can");
