import type { InboundPart } from "../carriers/carrier.ts";
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

/** What tells one long text from all others, for as long as its phone does not use the reference again. */
export interface TextKey {
  accountId: number;
  carrier: string;
  from: string;
  to: string;
  reference: string;
  total: number;
}

/** Stands between a reference and what sets it apart once its phone has used it again. */
export const AGAIN = "~";

/** The reference as the phone gave it. */
export const givenReference = ({ reference }: Pick<TextKey, "reference">): string => reference.split(AGAIN, 1)[0] ?? "";

/** What there is of a long text. */
export interface KeptText extends TextKey {
  alphabet: string;
  /** In their order. */
  parts: readonly Pick<InboundPart, "index" | "octets" | "dataCoding">[];
  firstAt: number;
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
  /** Keeps one part of a long text, once; gives the text when all its parts are there, and again when one is repeated. */
  keepInboundPart(part: InboundPart): Promise<KeptText | null>;
  /** The text has been received: its parts stay for a while only so that a repeated one is known as such. */
  endInboundParts(key: TextKey, at: number): Promise<void>;
  /** Texts of which a part came before a time and that have not been received. */
  listIncompleteTexts(before: number, limit: number): Promise<readonly KeptText[]>;
  /** Removes the parts of texts that were received before a time. */
  forgetInboundParts(before: number): Promise<void>;
  findInbound(accountId: number, id: string): Promise<InboundMessage | null>;
  /** What answers one message, oldest first. */
  listAnswers(ref: MessageRef, limit: number): Promise<readonly InboundMessage[]>;
  /** Removes messages that came before a time, oldest first and at most `limit`; says how many went. */
  forgetInbound(accountId: number, before: number, limit: number): Promise<number>;
}
