import type { RouteClass } from "../../model/message.ts";

/** Against starvation, one turn in 20 begins below the highest class. */
const TURNS_PER_GUARD = 20;

const BY_PRIORITY = ["OTP", "TRANS", "PROMO"] as const satisfies readonly RouteClass[];
/** The lower classes alternate: if PROMO had every guard turn, TRANS would starve between floods of the other two. */
const GUARD_ORDERS = [
  ["PROMO", "TRANS", "OTP"],
  ["TRANS", "PROMO", "OTP"],
] as const satisfies readonly (readonly RouteClass[])[];

/** Priority order with a starvation guard, wherever messages queue. */
export class PriorityScheduler {
  #turn = 0;

  /** The order in which to look at the classes this time. */
  next(): readonly RouteClass[] {
    this.#turn += 1;
    if (this.#turn % TURNS_PER_GUARD !== 0) return BY_PRIORITY;
    return GUARD_ORDERS[(this.#turn / TURNS_PER_GUARD) % GUARD_ORDERS.length] ?? BY_PRIORITY;
  }
}
