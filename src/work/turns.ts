import type { RouteClass } from "../model/message.ts";

/** Out of so many turns one is a courtesy, so that nothing starves behind a flood above it. */
const TURNS_PER_COURTESY = 20;

const BY_RANK = ["OTP", "TRANS", "PROMO"] as const satisfies readonly RouteClass[];
/** The lower classes have the courtesies by turns: if all were for the lowest, the middle one would starve between two floods. */
const BY_COURTESY = [
  ["PROMO", "TRANS", "OTP"],
  ["TRANS", "PROMO", "OTP"],
] as const satisfies readonly (readonly RouteClass[])[];

/** Who goes next wherever messages queue: passwords before transactions before promotions, but nobody never. */
export class Turns {
  #turn = 0;

  /** The order in which the classes are asked this time. */
  next(): readonly RouteClass[] {
    this.#turn += 1;
    if (this.#turn % TURNS_PER_COURTESY !== 0) return BY_RANK;
    return BY_COURTESY[(this.#turn / TURNS_PER_COURTESY) % BY_COURTESY.length] ?? BY_RANK;
  }
}
