/** A measurement of how a node keeps up with its own sending. */
export interface Backpressure {
  /** Messages between the queue and the carrier's answer. */
  inFlight: number;
  /** Transitions that are not written yet. */
  movesUnwritten: number;
  /** Age of the oldest transition that is in no commit yet. */
  movesLateMs: number;
}

/** Far longer than a commit on a slow disk, so transitions that wait longer are queued behind others. */
const LATE_MS = 10;

/**
 * Overloaded: most of the messages in flight wait for this node to write their transitions. A slow carrier leaves few
 * transitions to write, however long its queue is, and is no overload.
 */
export const isOverloaded = ({ inFlight, movesUnwritten, movesLateMs }: Backpressure): boolean =>
  movesLateMs >= LATE_MS && movesUnwritten * 2 >= inFlight;
