import type { Position } from "./store.ts";

/** Forgets what is past its time, looking at a bounded number of rows in each call. */
export interface RetentionStore {
  /**
   * Erases the texts of messages that ended before a time, going on from where the last call of any node stopped. A message
   * that has not ended by then is set aside for `eraseKeptTexts`. Says how many messages it looked at.
   */
  eraseTexts(accountId: number, before: number, limit: number): Promise<number>;
  /** Looks again at the texts that were set aside. Gives where to go on, or null at the end. */
  eraseKeptTexts(accountId: number, before: number, after: Position | null, limit: number): Promise<Position | null>;
  /** Empties the simulated phones of what came before a time; says how many messages went. */
  emptyPhones(accountId: number, before: number, limit: number): Promise<number>;
  /** Removes messages that ended before a time, with all that hangs on them. Gives where to go on, or null at the end. */
  removeMessages(accountId: number, before: number, after: Position | null, limit: number): Promise<Position | null>;
}
