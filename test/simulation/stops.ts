import type { WrittenSubmit } from "./carrier-network.ts";
import type { Attempt } from "./node.ts";
import type { World } from "./world.ts";

/** A promise that the service made by an answer: from then on the messages stay where they are. */
export interface Stop {
  /** Explains it in a story. Requests that lift it have the same text. */
  what: string;
  askedAt: number;
  /** When its answer arrived. */
  at: number;
  concerns(submit: WrittenSubmit): boolean;
}

/** A request that lifts stops. */
interface Lift {
  what: string;
  attempt: Partial<Attempt>;
}

/** A commit whose caller gave up, or whose process died, may land this much later. */
const LANDS_WITHIN_MS = 60_000;

/** Cancels, pauses and STOPs that the service acknowledged, and the requests that may have lifted them. */
export class Stops {
  readonly all: Stop[] = [];
  readonly #lifts: Lift[] = [];
  /** Requests that pause campaigns. */
  readonly #pauses: Partial<Attempt>[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** The answer to a stop has arrived. */
  add(what: string, askedAt: number, concerns: Stop["concerns"]): void {
    this.#world.tell(`${what} is answered`);
    this.all.push({ what, askedAt, at: this.#world.now, concerns });
  }

  addLift(what: string, attempt: Partial<Attempt>): void {
    this.#lifts.push({ what, attempt });
  }

  addPause(attempt: Partial<Attempt>): void {
    this.#pauses.push(attempt);
  }

  /** True if another request than this one may have lifted it. */
  isLiftedBesides(what: string, attempt: Partial<Attempt> | undefined): boolean {
    return this.#lifts.some((each) => each.what === what && each.attempt !== attempt);
  }

  /** True if a pause may take effect after that time: it was repeated until then, or its commit lands late. */
  isPauseAfter(at: number): boolean {
    return this.#pauses.some((attempt) => lastEffectOf(attempt) >= at);
  }

  /** True if the stop was in force at that time. A request that lifts it may take effect before its answer, or without one. */
  isInForce(stop: Stop, at: number): boolean {
    if (at <= stop.at) return false;
    return !this.#lifts.some(({ what, attempt }) => what === stop.what && isLifted(stop, at, attempt));
  }
}

/** True if the request may have lifted the stop before that time. Only a refusal is certain. */
function isLifted(stop: Stop, at: number, attempt: Partial<Attempt>): boolean {
  const { askedAt = 0, endedAt = null, status = null } = attempt;
  if (at < askedAt) return false;
  if (status !== null && status >= 400 && status < 500 && status !== 409 && status !== 429)
    return at <= (endedAt ?? Number.POSITIVE_INFINITY);
  return stop.askedAt <= lastEffectOf(attempt);
}

/** The last moment at which a request may take effect. */
function lastEffectOf({ endedAt = null, status = null, process }: Partial<Attempt>): number {
  const isCertain = status !== null && status < 300;
  return (endedAt ?? process?.diedAt ?? 0) + (isCertain ? 0 : LANDS_WITHIN_MS);
}
