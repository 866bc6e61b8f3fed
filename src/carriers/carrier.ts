import type { Message, MessageRef, State } from "../model/message.ts";

/**
 * What became of handing a message to a carrier. None of these is an error: carriers do all four every day.
 * - `taken`: it is the carrier's now, under this id.
 * - `busy`: not now; try again (a throttled or restarting carrier). It does not count as a failed try.
 * - `refused`: never; the carrier will not take this message.
 * - `unknown`: the line broke before the answer came; it may or may not have been taken.
 */
export type Outcome =
  | { kind: "taken"; carrierMessageId: string }
  | { kind: "busy"; retryAfterMs?: number }
  | { kind: "refused"; code: string; description: string }
  | { kind: "unknown"; description: string };

export type ReceiptState = Extract<State, "enroute" | "delivered" | "undelivered" | "expired" | "rejected" | "unknown">;

/** What a carrier says later about a message it took. */
export interface Receipt {
  carrier: string;
  carrierMessageId: string;
  /** Our own message, where the carrier echoes it: then the receipt is matched even if the answer to the submit was lost. */
  ref?: MessageRef;
  state: ReceiptState;
  errorCode: string | null;
  description: string | null;
  /** When it happened, by the carrier's word. */
  at: number;
}

/** Resolves once the receipt is committed; only then may a carrier acknowledge it. */
export type OnReceipt = (receipt: Receipt) => Promise<void>;

export interface Carrier {
  readonly name: string;
  submit(message: Message): Promise<Outcome>;
  /** Begins to hand over receipts. */
  start(onReceipt: OnReceipt): Promise<void>;
  /** Stops handing over receipts; what was not handed over comes after the next start. */
  stop(): Promise<void>;
}
