import type { Callback } from "../model/callback.ts";
import type { InboundMessage } from "../model/inbound.ts";
import type { Channel, MessageRef } from "../model/message.ts";

export interface InboundFilter {
  channel?: Channel;
  from?: string;
  to?: string;
  /** Epoch ms, inclusive. */
  since?: number;
  /** Epoch ms, exclusive. */
  until?: number;
}

/** What users send back. */
export interface InboundStore {
  /** A message that was stored before is passed over. */
  storeInbound(batch: readonly InboundMessage[], callbacks?: readonly Callback[], at?: number): Promise<void>;
  /** When a phone last wrote to a sender; null when it never did, or so long ago that it was forgotten. */
  lastInboundAt(accountId: number, channel: Channel, from: string, to: string): Promise<number | null>;
  /** Newest first. A page may be short, even empty, before the end: each call looks at a bounded number of rows. */
  listInbound(
    accountId: number,
    filter: InboundFilter,
    after: string | null,
    limit: number,
  ): Promise<{ rows: InboundMessage[]; next: string | null }>;
  findInbound(accountId: number, id: string): Promise<InboundMessage | null>;
  /** What answers one message, oldest first. */
  listAnswers(ref: MessageRef, limit: number): Promise<readonly InboundMessage[]>;
  /** Removes messages that came before a time, oldest first and at most `limit`; says how many went. */
  forgetInbound(accountId: number, before: number, limit: number): Promise<number>;
}
