import type { Message, RouteClass } from "../model/message.ts";

/** A claim of which so many were put off again was in vain. */
const IN_VAIN_SHARE = 0.9;
const IN_VAIN_AT_LEAST = 100;

interface Claim {
  /** What was not put off. */
  rest: Set<Message>;
  size: number;
}

/** What the last claim of each type gave, and how much of it was put off again because no line to it is up. */
export class Claimed {
  readonly #last = new Map<RouteClass, Claim>();

  note(routeClass: RouteClass, messages: readonly Message[]): void {
    this.#last.set(routeClass, { rest: new Set(messages), size: messages.length });
  }

  putOff(message: Message): void {
    this.#last.get(message.routeClass)?.rest.delete(message);
  }

  /** Whether nearly all of it was put off: the next claim is likely to be in vain too. */
  wasInVain(routeClass: RouteClass): boolean {
    const last = this.#last.get(routeClass);
    return last !== undefined && last.size >= IN_VAIN_AT_LEAST && last.rest.size <= last.size * (1 - IN_VAIN_SHARE);
  }
}
