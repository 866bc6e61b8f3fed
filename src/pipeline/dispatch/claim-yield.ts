import type { Message, RouteClass } from "../../model/message.ts";

/** The yield is low when this share of a claim was deferred. */
const DEFERRED_SHARE = 0.9;
const CLAIM_SIZE_MIN = 100;

interface Claim {
  /** Messages that were not deferred. */
  rest: Set<Message>;
  size: number;
}

/** The last claim of each class, and the share of it that was deferred because its carriers are down. */
export class ClaimYield {
  readonly #last = new Map<RouteClass, Claim>();

  recordClaim(routeClass: RouteClass, messages: readonly Message[]): void {
    this.#last.set(routeClass, { rest: new Set(messages), size: messages.length });
  }

  recordDeferred(message: Message): void {
    this.#last.get(message.routeClass)?.rest.delete(message);
  }

  /** Nearly all of the last claim was deferred, so the next one probably will be too. */
  wasLow(routeClass: RouteClass): boolean {
    const last = this.#last.get(routeClass);
    return last !== undefined && last.size >= CLAIM_SIZE_MIN && last.rest.size <= last.size * (1 - DEFERRED_SHARE);
  }
}
