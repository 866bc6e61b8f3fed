import { saysOnly } from "./says-only.ts";
import type { Move, MoveResult } from "./store.ts";

const FIELDS = new Set<string>([
  "accountId", "requestId", "n", "to", "at", "owner", "carrier", "carrierMessageId", "partIds", "trail", "trailAlways",
  "failoverAt", "known",
] satisfies (keyof Move)[]); // prettier-ignore

/** A move that says that a carrier has a message, by whoever handed it over, and nothing else. */
export type Taking = AsKnown & Required<Pick<Move, "carrier">>;

export const isTaking = (move: Move): move is Taking =>
  move.to === "submitted" &&
  move.known !== undefined &&
  move.carrier !== undefined &&
  move.failoverAt !== null &&
  saysOnly(move, FIELDS);

/** A move by somebody who knows what it is about. */
export type AsKnown = Move & Required<Pick<Move, "known">>;

/** The result of a move where everything was as its sender knew it. */
export const movedAsKnown = ({ to, known }: AsKnown): MoveResult => ({
  moved: true,
  message: { ...known, taken: to === "submitted" },
  parked: [],
  told: [],
});
