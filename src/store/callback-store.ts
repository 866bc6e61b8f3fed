import type { Callback, CallbackState, EndpointHealth } from "../model/callback.ts";
import type { MessageRef } from "../model/message.ts";

export type CallbackRef = Pick<Callback, "accountId" | "eventId" | "endpointId">;

/** What became of an attempt, or of a callback that is not to be attempted any more. */
export interface Settlement extends CallbackRef {
  /** Only if this node still owns the row. */
  ownedBy: number;
  state: CallbackState;
  at: number;
  /**
   * When it is tried again, where it waits; what is to be told of the same message later waits as long. Without an attempt
   * it is only put back, and never becomes due sooner than it was.
   */
  dueAt: number;
  /** The message it is about, where it waits; null when it does not, or is about none. */
  message: Pick<MessageRef, "requestId" | "n"> | null;
  /** Counts one more try. */
  attempted: boolean;
  /** A line for its log; empty adds none. */
  log: string;
}

export interface CallbackFilter {
  endpointId?: string;
  state?: CallbackState;
  /** Epoch ms, inclusive. */
  from?: number;
  /** Epoch ms, exclusive. */
  to?: number;
}

/** A callback with all that became of it. */
export interface StoredCallback extends Callback {
  state: CallbackState;
  dueAt: number;
  doneAt: number | null;
  log: string | null;
}

export type CallbackPosition = Pick<Callback, "eventId" | "endpointId">;

/** What customers are to be told. `MessageStore.move` writes here by itself, in the transaction of the change. */
export interface CallbackStore {
  /** Stores callbacks that no move announces, as nobody's. One that is there already stays as it is. */
  storeCallbacks(batch: readonly Callback[], dueAt: number): Promise<void>;
  /** Takes due callbacks from `from` (nobody, or a dead node) for `node`, but none while something earlier of the same message waits. */
  claimCallbacks(claim: { node: number; from: number; dueBy: number; limit: number }): Promise<Callback[]>;
  settleCallbacks(batch: readonly Settlement[]): Promise<void>;
  findCallback(ref: CallbackRef): Promise<StoredCallback | null>;
  /** Newest event first. A page may be short before the end: each call looks at a bounded number of rows. */
  listCallbacks(
    accountId: number,
    filter: CallbackFilter,
    after: CallbackPosition | null,
    limit: number,
  ): Promise<{ rows: StoredCallback[]; next: CallbackPosition | null }>;
  /** Oldest first, of every endpoint. */
  listCallbacksOfMessage(ref: MessageRef, limit: number): Promise<readonly StoredCallback[]>;
  /** Oldest event first, one callback of each: what happened, whoever was told of it. */
  listEvents(accountId: number, after: string | null, limit: number): Promise<readonly Callback[]>;
  /** Makes one due now that has come to its end, or waits for its next try; false when there is none such. */
  resendCallback(ref: CallbackRef, at: number): Promise<boolean>;
  /** Puts those that failed for good since a time back to waiting, at most `limit`; says how many. */
  resendFailed(accountId: number, endpointId: string, since: number, at: number, limit: number): Promise<number>;
  findHealth(accountId: number, endpointId: string): Promise<EndpointHealth | null>;
  noteHealth(accountId: number, endpointId: string, health: EndpointHealth): Promise<void>;
  /** How many are still to be told, of all accounts. */
  countWaitingCallbacks(): Promise<number>;
  /** Removes callbacks that ended before a time; says how many. */
  forgetCallbacks(accountId: number, before: number, limit: number): Promise<number>;
}
