import type { Channel, MessageRef, State } from "./message.ts";

export type ReceiptState = Extract<
  State,
  "enroute" | "delivered" | "read" | "undelivered" | "expired" | "rejected" | "unknown"
>;

/** A delivery report: the carrier's later word on a message that it accepted. */
export interface Receipt {
  carrier: string;
  carrierMessageId: string;
  /** The id as the carrier wrote it, where `carrierMessageId` is in another format. The id format is learned from this one. */
  spelt?: string;
  /** The same id in other formats, the likeliest first. They are tried on a miss, and match only a message to `recipient`. */
  otherIds?: readonly string[];
  /** Computes `otherIds` on demand: nearly no receipt needs them. */
  alternateIds?(): readonly string[];
  /** The recipient's number in the carrier's own format. */
  recipient?: string;
  /**
   * Our own message reference, where the carrier echoes it: the receipt matches even if the submit response was lost.
   * It stands for the whole message, so it is absent from messages that were sent in several parts.
   */
  ref?: MessageRef;
  /** The channel of the message, where one carrier serves several. */
  channel?: Channel;
  state: ReceiptState;
  errorCode: string | null;
  description: string | null;
  /** The phone's network and region, where the carrier reports them. */
  operator?: string;
  circle?: string;
  /** The time of the event by the carrier's clock. */
  at: number;
}
