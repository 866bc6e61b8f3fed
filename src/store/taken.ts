import { saysOnly } from "./says-only.ts";
import type { Move, MoveResult } from "./store.ts";

const FIELDS = new Set<string>([
  "accountId", "requestId", "n", "to", "at", "owner", "carrier", "carrierMessageId", "partIds", "trail", "trailAlways",
  "failoverAt", "known",
] satisfies (keyof Move)[]); // prettier-ignore

/** A move that says that a carrier has a message, by whoever handed it over, and nothing else. */
export type Taking = Move & Required<Pick<Move, "known" | "carrier">>;

export const isTaking = (move: Move): move is Taking =>
  move.to === "submitted" &&
  move.known !== undefined &&
  move.carrier !== undefined &&
  move.failoverAt !== null &&
  saysOnly(move, FIELDS);

/** The result of such a move where everything was as its sender knew it. */
export const takenOf = ({ known }: Pick<Taking, "known">): MoveResult => ({
  moved: true,
  message: { ...known, taken: true },
  parked: [],
  told: [],
});
