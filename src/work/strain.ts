/** How a node keeps up with its own sending, at one moment. */
export interface Strain {
  /** Messages between lane and carrier's answer. */
  inFlight: number;
  /** Moves of messages that are not written yet. */
  movesUnwritten: number;
  /** How long the first move that is in no commit yet has waited for one. */
  movesLateMs: number;
}

/** Far more than a commit takes on a disk that syncs slowly: moves that wait longer do so because others are before them. */
const LATE_MS = 10;

/**
 * Whether sending is slow because of this node: most of what it sends waits to be written down. A carrier that is slow or
 * down leaves few moves to write, however long the queue in front of it is, and so is nobody's strain.
 */
export const isBehind = ({ inFlight, movesUnwritten, movesLateMs }: Strain): boolean =>
  movesLateMs >= LATE_MS && movesUnwritten * 2 >= inFlight;
