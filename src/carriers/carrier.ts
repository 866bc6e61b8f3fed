import type { PulledTemplates } from "../model/chatapp.ts";
import type { InboundMessage } from "../model/inbound.ts";
import type { Channel, Message, MessageRef, State } from "../model/message.ts";
import type { PlatformAnswer, PlatformCall } from "./platform.ts";

/**
 * What became of handing a message to a carrier. None of these is an error: carriers do all five every day.
 * - `taken`: it is the carrier's now, under this id.
 * - `busy`: not now; try again (a throttled or restarting carrier). It does not count as a failed try.
 * - `refused`: never; the carrier will not take this message. For reasons of its own (`fault` is `carrier`), another might.
 * - `down`: the carrier cannot be reached, and the message was certainly not taken.
 * - `unknown`: the line broke before the answer came; it may or may not have been taken.
 */
export type Outcome = (
  | {
      kind: "taken";
      carrierMessageId: string;
      /** The ids of all parts, in order and the first among them, where it went as several: each has receipts of its own. */
      partIds?: readonly string[];
    }
  | { kind: "busy"; retryAfterMs?: number }
  | { kind: "refused"; fault: "message" | "carrier"; code: string; description: string }
  | { kind: "down"; description: string }
  | {
      kind: "unknown";
      description: string;
      /** The id that it has if it was taken, where that is known beforehand: its receipts match though no answer comes. */
      carrierMessageId?: string;
    }
) & {
  /** What went over the line, in the carrier's own form and without the text, for whoever asks the carrier about it. */
  exchange?: string;
};

/** What became of it where that is known. */
export type KnownOutcome = Exclude<Outcome, { kind: "unknown" }>;

/** What a carrier answers when nobody waits any more: until then nobody could tell whether it had taken the message. */
export interface LateAnswer {
  message: MessageRef;
  /** The carrier's name in the whole service. */
  carrier: string;
  outcome: KnownOutcome;
}

/** Resolves once what was answered is written down. */
export type OnLateAnswer = (late: LateAnswer) => Promise<void>;

export type ReceiptState = Extract<
  State,
  "enroute" | "delivered" | "read" | "undelivered" | "expired" | "rejected" | "unknown"
>;

/** What a carrier says later about a message it took. */
export interface Receipt {
  carrier: string;
  carrierMessageId: string;
  /** The id as the carrier wrote it, where `carrierMessageId` may be another spelling: what is learned is learned from it. */
  spelt?: string;
  /** Other spellings of the same id, the likeliest first. They are tried on a miss, and count only for `recipient`. */
  otherIds?: readonly string[];
  /** Works these out, which nearly no receipt needs. */
  respell?(): readonly string[];
  /** The phone that it is about, as the carrier writes its number. */
  recipient?: string;
  /**
   * Our own message, where the carrier echoes it: then the receipt is matched even if the answer to the submit was lost.
   * It speaks for the whole message, so never where that has gone as several parts.
   */
  ref?: MessageRef;
  /** The channel it went by, where one carrier has several. */
  channel?: Channel;
  state: ReceiptState;
  errorCode: string | null;
  description: string | null;
  /** Whose network the phone is in, and where, as far as the carrier says so. */
  operator?: string;
  circle?: string;
  /** When it happened, by the carrier's word. */
  at: number;
}

/** Resolves once the receipt is committed; only then may a carrier acknowledge it. */
export type OnReceipt = (receipt: Receipt) => Promise<void>;

/** Resolves once what the phone sent is on disk; only then may a carrier acknowledge it. */
export type OnInbound = (inbound: Inbound) => Promise<void>;

/** Resolves once the part is on disk; the text is received when its last part has come. */
export type OnInboundPart = (part: InboundPart) => Promise<void>;

/** One part of a text that a phone sent as several. It is kept in octets: a character may begin in one and end in the next. */
export interface InboundPart {
  accountId: number;
  /** The carrier's name in the whole service: two may hear of the same phone. */
  carrier: string;
  from: string;
  to: string;
  /** By which the phone tells its long texts apart. */
  reference: number;
  total: number;
  /** From 1. */
  index: number;
  octets: Buffer;
  dataCoding: number;
  /** What the carrier takes an octet for when the coding names nothing else. */
  alphabet: string;
  /** When it came, by our clock. */
  at: number;
}

/** What a phone sent, as its carrier hands it over. */
export interface Inbound extends Omit<InboundMessage, "id"> {
  /** A carrier that may repeat itself names each message, the same way every time: a UUID of the moment it came. */
  id?: string;
  /** That moment is only when we heard of it: told again to another process, it has the same id but for the time in it. */
  isTimeOurs?: boolean;
}

/** How long an end may wait: for the answers that are due, and then for its own. */
export interface Patience {
  drainMs: number;
  unbindMs: number;
}

export interface Carrier {
  /** Names the line in the whole service, not only in its account; receipts are matched by it. */
  readonly name: string;
  /** Contracted speed over all nodes together; null means as fast as it goes. */
  readonly messagesPerSecond: number | null;
  /** What of that speed is this node's, from 0 to 1, where nodes do not share alike. */
  readonly share?: number;
  /** Whether it knows a message that it was handed before: one in doubt may always be handed over again, to this carrier. */
  readonly repeatsSafely?: true;
  /** Whether it was asked to say nothing more of what it has taken. */
  readonly reportsNothing?: boolean;
  /** How many messages it can have in hand at once on this node; any number where it does not say. */
  readonly capacity?: number;
  /** Whether it makes sense to hand it anything now. */
  isUp(): boolean;
  /** Whether other nodes have all of the line: what is meant for it is left to them, and takes no other route. */
  isElsewhere?(): boolean;
  submit(message: Message): Promise<Outcome>;
  /**
   * Calls back what has not been delivered, as well as it can, because something else takes its place. Resolves whatever
   * came of it; absent where a message that was taken cannot be called back.
   */
  revoke?(message: Message): Promise<void>;
  /** Told that a receipt's id was known in another spelling, so that the next ones can come in that one at once. */
  learned?(receipt: Receipt, knownAs: string): void;
  /** Begins to hand over receipts. */
  start(onReceipt: OnReceipt): Promise<void>;
  /**
   * Takes nothing more, waits a while for the answers to what it has taken, and stops handing over receipts; what was not
   * handed over comes after the next start. With `patience`, it waits no longer than that.
   */
  stop(patience?: Patience): Promise<void>;
  /** Told when this node's share of the line has changed. */
  onShare?(): void;
  /**
   * Takes what the platform calls back with, once it has shown that it is the platform. Resolves once all of it is on disk;
   * absent where nothing comes that way.
   */
  called?(call: PlatformCall): Promise<PlatformAnswer>;
  /** Lists the templates that the platform keeps for the account; absent where it keeps none. */
  templates?(): Promise<PulledTemplates>;
  /** How the line is on this node; absent where there is nothing to tell. */
  state?(): CarrierState;
}

/** How a line is, as one node sees it. */
export interface CarrierState {
  binds: readonly BindState[];
  /** Submits answered in the last second. */
  submitsPerSecond: number;
  /** How fast it may be sent to now, on this node; null for as fast as it goes. */
  speed: number | null;
  /** Nothing is sent before this time, because the carrier asked for it; null when it did not. */
  pausedUntil: number | null;
  /** How often the carrier answered something else than yes, by its code. */
  errors: Readonly<Record<string, number>>;
  lastError: { at: number; code: string; description: string } | null;
  /** How its receipts spell ids, where that was learned. */
  learnedIdForm: string | null;
}

export interface BindState {
  as: "transceiver" | "transmitter" | "receiver";
  state: "connecting" | "bound" | "refused" | "waiting" | "closing";
  /** In the state. */
  since: number;
  /** Why it is not bound, in words; null when it is. */
  reason: string | null;
  /** When it is tried again; null when nothing is waited for. */
  nextTryAt: number | null;
  /** Submits that wait for their answer. */
  inFlight: number;
}

/** What became of a try to bind a line, for people. */
export interface LineTrial {
  outcome: "bound" | "refused" | "unreachable";
  description: string;
  /** The carrier's code; null where it gave none. */
  code: string | null;
  /** What the carrier calls itself; null when it did not say. */
  systemId: string | null;
  ms: number;
}

/** The lines that are there, by account and the name that routes use. */
export interface Carriers {
  find(accountId: number, name: string): Carrier | null;
}

/** The same, for whoever calls from outside. */
export interface CalledCarriers extends Carriers {
  /** By the id of its record, which is all that a platform knows. */
  byId(id: string): Carrier | null;
}
