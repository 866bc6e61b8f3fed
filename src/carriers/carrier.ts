import type { ChatTemplate, PulledTemplates, SubmittedTemplate, TemplateSubmission } from "../model/chatapp.ts";
import type { InboundMessage, InboundPart } from "../model/inbound.ts";
import type { Message, MessageRef } from "../model/message.ts";
import type { Receipt } from "../model/receipt.ts";
import type { PlatformAnswer, PlatformWebhook } from "./http-platform.ts";

/**
 * Result of submitting a message to a carrier. None of these is an error: carriers do all five every day.
 * - `taken`: the carrier accepted it under this id.
 * - `busy`: retry later (throttled or restarting). It does not count as an attempt.
 * - `refused`: the carrier will never accept this message. If `fault` is `carrier`, another carrier might.
 * - `down`: the carrier is unreachable, and the message was certainly not accepted.
 * - `unknown`: the connection broke before the response; the message may or may not have been accepted.
 */
export type Outcome = (
  | {
      kind: "taken";
      carrierMessageId: string;
      /** Ids of all parts in order, if there are several: each part has its own receipts. */
      partIds?: readonly string[];
    }
  | { kind: "busy"; retryAfterMs?: number }
  | { kind: "refused"; fault: "message" | "carrier"; code: string; description: string }
  | { kind: "down"; description: string }
  | {
      kind: "unknown";
      description: string;
      /**
       * The id under which it was accepted, if it was and if the id is known in advance. Receipts then match without a
       * response.
       */
      carrierMessageId?: string;
    }
) & {
  /** The exchange in the carrier's own terms, without the text, for support requests to the carrier. */
  exchange?: string;
};

/** The address of the bytes of a user's file. */
export type FileLocation =
  | { kind: "found"; url: string; headers: Readonly<Record<string, string>> }
  /** The platform does not have the file any more. */
  | { kind: "gone"; description: string }
  | { kind: "failed"; description: string };

export type KnownOutcome = Exclude<Outcome, { kind: "unknown" }>;

/** A submit response that came after its time-out, when the outcome was still unknown. */
export interface LateAnswer {
  message: MessageRef;
  /** Unique in the whole service. */
  carrier: string;
  outcome: KnownOutcome;
}

/** Resolves once the outcome is committed. */
export type OnLateAnswer = (late: LateAnswer) => Promise<void>;

/** Resolves once the receipt is committed; only then may a carrier acknowledge it. */
export type OnReceipt = (receipt: Receipt) => Promise<void>;

/** Resolves once the message is committed; only then may a carrier acknowledge it. */
export type OnInbound = (inbound: Inbound) => Promise<void>;

/** Resolves once the part is committed. The last part completes the message. */
export type OnInboundPart = (part: InboundPart) => Promise<void>;

/** An inbound message (MO) as its carrier delivers it. */
export interface Inbound extends Omit<InboundMessage, "id"> {
  /** A deterministic UUIDv7 for carriers that may repeat a delivery, so that a repetition has the same id. */
  id?: string;
  /**
   * True if the time in the id is our time of receipt. A repetition received by another process then has an id that differs
   * in its time only.
   */
  isTimeOurs?: boolean;
}

/** Limits of a graceful stop: for outstanding responses, then for the unbind itself. */
export interface StopTimeouts {
  drainMs: number;
  unbindMs: number;
}

/** Asked before a message is written to its carrier. The answer is the same for every part of a message. */
export type MaySend = () => boolean;

export interface Carrier {
  /** Unique in the whole service, not only in its account; receipts are matched by it. */
  readonly name: string;
  /** Contracted rate of all nodes together; null for no limit. */
  readonly messagesPerSecond: number | null;
  /** This node's part of the rate, 0 to 1, if nodes do not share equally. */
  readonly share?: number;
  /** True if the carrier deduplicates: a message in doubt may be submitted to it again. */
  readonly repeatsSafely?: true;
  /** True if the carrier was asked for no receipts. */
  readonly sendsNoReceipts?: boolean;
  /** Messages that it can process at once on this node; absent for no limit. */
  readonly capacity?: number;
  /** False if a submit would certainly fail now. */
  isUp(): boolean;
  /**
   * True while the first connections since opening are being made: the carrier is not down yet, and messages wait in
   * memory. Absent if there is nothing to connect.
   */
  isConnecting?(): boolean;
  /** True if other nodes have all connections. This node leaves the carrier's messages to them and uses no other route. */
  isElsewhere?(): boolean;
  /**
   * Submits a message. A carrier in which messages wait for a connection or a window slot asks `maySend` just before
   * writing. If the answer is no, nothing is written and the outcome does not matter.
   */
  submit(message: Message, maySend?: MaySend): Promise<Outcome>;
  /**
   * Calls an undelivered message back, because a fallback replaces it or its sender cancelled it. A message that the phone
   * has by then stays there, and its delivery is still reported. Absent if the carrier cannot do so.
   */
  revoke?(message: Message): Promise<RevokeOutcome>;
  /** Called when a receipt matched only under an alternate id, so that later receipts are converted at once. */
  learnIdFormat?(receipt: Receipt, knownAs: string): void;
  /** Starts to pass receipts to `onReceipt`. */
  start(onReceipt: OnReceipt): Promise<void>;
  /**
   * Refuses new messages, waits for outstanding responses up to the time-outs, then stops passing receipts on.
   * Unacknowledged receipts come again after the next start.
   */
  stop(timeouts?: StopTimeouts): Promise<void>;
  /** Called when this node's share has changed. */
  onShareChanged?(): void;
  /**
   * Verifies and processes a webhook request of the platform. Resolves once everything in it is committed. Absent if the
   * carrier sends no webhooks.
   */
  handleWebhook?(webhook: PlatformWebhook): Promise<PlatformAnswer>;
  /** Shows the user that a message of theirs was read, and perhaps that an answer is being typed. Absent if it cannot. */
  markRead?(inbound: InboundMessage, options: { typing: boolean }): Promise<MarkOutcome>;
  /** Finds the bytes of a file that a user sent, by the address that came with the message; absent if it has no files. */
  locateFile?(uri: string): Promise<FileLocation>;
  /** Lists the templates that the platform stores for the account; absent if it stores none. */
  templates?(): Promise<PulledTemplates>;
  /** Asks the platform which numbers a sender reaches; absent if it cannot be asked. Numbers are digits, without plus. */
  reach?(sender: string, numbers: readonly string[]): Promise<ReachOutcome>;
  /** Submits a template for the platform's review, or an edited one again; absent if the platform stores none. */
  submitTemplate?(name: string, content: ChatTemplate, submission: TemplateSubmission): Promise<SubmittedTemplate>;
  /** State of the connection on this node; absent if there is none to show. */
  state?(): CarrierState;
}

/** Result of asking a platform which numbers it reaches. */
export type ReachOutcome =
  | { kind: "known"; reachable: ReadonlySet<string> }
  | { kind: "failed"; code: string | null; description: string };

/** Result of calling a message back. `accepted` is no proof: the phone may have it already. */
export type RevokeOutcome = { kind: "accepted" } | { kind: "failed"; description: string };

/** Result of a read mark. */
export type MarkOutcome = { kind: "marked" } | { kind: "failed"; description: string };

/** State of a carrier connection, as seen by one node. */
export interface CarrierState {
  binds: readonly BindState[];
  /** Submit responses in the last second. */
  submitsPerSecond: number;
  /** Current rate limit on this node; null for none. */
  speed: number | null;
  /** End of a pause that the carrier asked for; null if none. */
  pausedUntil: number | null;
  /** Error responses by code. */
  errors: Readonly<Record<string, number>>;
  lastError: { at: number; code: string; description: string } | null;
  /** Learned message-id format of receipts. */
  learnedIdForm: string | null;
}

export interface BindState {
  as: "transceiver" | "transmitter" | "receiver";
  state: "connecting" | "bound" | "refused" | "waiting" | "closing";
  /** Start of this state. */
  since: number;
  /** Reason why it is not bound; null if it is. */
  reason: string | null;
  /** Time of the next attempt; null if none is scheduled. */
  nextTryAt: number | null;
  /** Submits without a response. */
  inFlight: number;
}

/** Result of a connection test, for display. */
export interface ConnectionTest {
  outcome: "bound" | "refused" | "unreachable";
  description: string;
  /** The carrier's code; null if absent. */
  code: string | null;
  /** The carrier's own name; null if absent. */
  systemId: string | null;
  ms: number;
}

/** Open carriers by account and by the name that routes use. */
export interface Carriers {
  find(accountId: number, name: string): Carrier | null;
}

/** Adds the lookup for incoming webhooks. */
export interface WebhookCarriers extends Carriers {
  /** By record id, which is part of the webhook URL. */
  byId(id: string): Carrier | null;
}
