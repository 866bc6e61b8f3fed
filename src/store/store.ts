import type { Callback } from "../model/callback.ts";
import type {
  Channel,
  CustomerStatus,
  Message,
  MessageContent,
  MessageRef,
  RouteClass,
  State,
} from "../model/message.ts";
import type { Receipt } from "../model/receipt.ts";
import type { AgentSendStore } from "./agent-sends.ts";
import type { AlertStore } from "./alerts.ts";
import type { AudienceStore } from "./audiences.ts";
import type { AuditStore } from "./audit.ts";
import type { AwaitedStore } from "./awaited-receipts.ts";
import type { CallbackStore } from "./callbacks.ts";
import type { CampaignResultStore } from "./campaign-results.ts";
import type { CampaignStore } from "./campaigns.ts";
import type { ContactImportStore } from "./contact-imports.ts";
import type { ContactStore } from "./contacts.ts";
import type { ConversationStore } from "./conversations.ts";
import type { ErasureStore } from "./erasures.ts";
import type { CatalogStore } from "./catalog.ts";
import type { CredentialStore } from "./credentials.ts";
import type { CreditStore } from "./credits.ts";
import type { StatsStore } from "./stats.ts";
import type { HoldStore } from "./hold.ts";
import type { IdFormatStore } from "./submissions.ts";
import type { InboundStore } from "./inbound.ts";
import type { KeywordStore } from "./keyword-users.ts";
import type { LinkStore } from "./links.ts";
import type { MediaStore } from "./media.ts";
import type { NodeStore } from "./nodes.ts";
import type { OldestWaitingStore } from "./oldest-waiting.ts";
import type { OptOutStore } from "./opt-outs.ts";
import type { PhoneStore } from "./phones.ts";
import type { RecordStore } from "./records.ts";
import type { ReportingLoad } from "./reporting-queue.ts";
import type { RetentionStore, Sweep } from "./retention.ts";
import type { SearchIndexStore } from "./search/search-index.ts";
import type { SmppBindStore } from "./smpp-binds.ts";
import type { StopStore } from "./stops.ts";
import type { SubmittedPartStore } from "./submitted-parts.ts";
import type { Transition, TransitionResult } from "./transition.ts";
import type { UserStore } from "./users.ts";
import type { Admission, NewVerification, VerifyStore } from "./verifications.ts";

/** A streaming replica that answers reporting reads. */
export interface ReplicaState {
  /** `in use`: it answered the last read. `behind`: it did not catch up in time. `unavailable`: it does not answer, or is another database. */
  status: "in use" | "behind" | "unavailable";
  /** Age of the last transaction that it had applied when it was asked; 0 if it had applied all. */
  lagMs: number;
  /** Reads that each server has answered. */
  reads: { replica: number; primary: number };
}

/**
 * The persistence port. SQLite and PostgreSQL implement it, and one test suite checks both. A resolved write is on disk. A
 * failed write rejects with `StorageUnavailable` and has changed nothing, unless the connection broke during the commit. Every
 * write is therefore safe to repeat.
 */
export interface Store
  extends
    MessageStore,
    NodeStore,
    RecordStore,
    CredentialStore,
    CatalogStore,
    OldestWaitingStore,
    OptOutStore,
    KeywordStore,
    StopStore,
    CreditStore,
    RetentionStore,
    SearchIndexStore,
    AwaitedStore,
    LinkStore,
    InboundStore,
    CallbackStore,
    VerifyStore,
    UserStore,
    AgentSendStore,
    AudienceStore,
    MediaStore,
    CampaignStore,
    CampaignResultStore,
    AlertStore,
    ContactStore,
    ContactImportStore,
    ConversationStore,
    ErasureStore,
    AuditStore,
    StatsStore,
    IdFormatStore,
    HoldStore,
    SmppBindStore,
    SubmittedPartStore,
    PhoneStore {
  readonly engine: "sqlite" | "postgres";
  readonly reporting: { readonly load: ReportingLoad };
  /** Null without a replica. */
  readonly replica: { readonly state: ReplicaState } | null;
  /** Resolves when the store is writable; rejects with `StorageUnavailable` otherwise. */
  ping(): Promise<void>;
  databaseBytes(): Promise<number>;
  /** Returns at most `limit` pages that deleted rows left behind to the file system, while sends do not wait. */
  freePages(limit: number): Promise<Sweep>;
  close(): Promise<void>;
}

/** The disk is full or the database is unavailable. The condition may be temporary. */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
}

/** True if a write failed for a temporary reason and can be retried. */
export const isAway = (error: unknown): boolean => error instanceof StorageUnavailable;

/** The owner of an unclaimed row. */
export const UNOWNED = 0;

/** A send request to store: the values that its messages share, and their recipients. */
export interface Acceptance {
  message: Omit<Message, "n" | "recipient" | "credits" | "tried" | "carrier" | "state" | "attempts" | "repeats">;
  /** Ordered by `n`, from 1. */
  recipients: readonly NewRecipient[];
  /** Timeline entries that all messages share. */
  timeline: string | null;
  /** The node that will send them, or `UNOWNED`. Messages that are not due yet are stored unowned in any case. */
  owner: number;
  /** Direct dispatch: the carrier that gets all messages as soon as they are stored. They are stored with the intent. */
  carrier?: string;
  /** Credits are taken from the account's balance. If it is too low, nothing is stored. */
  metered: boolean;
  links: NewLinks | null;
  /** Callbacks about recipients that fail validation; due at the time of the request. */
  callbacks?: readonly Callback[];
  /** The one-time password for the only recipient. */
  verification?: NewVerification;
  idempotency: { path: string; key: string; bodyHash: string; response: string } | null;
  /** Called before the write: true if the caller has timed out. */
  isLate?(): boolean;
}

/** One recipient, with the values that differ from the rest. */
export interface NewRecipient {
  number: string;
  /** Stored as rejected, for the record, and costs nothing. */
  failure: string | null;
  credits: number;
  /** Set if the text differs from the rest. */
  content?: MessageContent;
  segments?: number;
  /** Set if it is due later than the rest; its validity starts then. */
  dueAt?: number;
  /** Additional timeline entries, after the shared ones. */
  timeline?: string;
}

/** Short links of a request: its targets, and a code for each recipient and target. */
export interface NewLinks {
  /** The k-th target has `k` = its position here, from 1. */
  targets: readonly string[];
  expiresAt: number;
  codes: readonly { code: string; n: number; k: number }[];
}

/**
 * - `stored`: on disk; `noted` lists limits on one-time passwords that would have refused it.
 * - `replayed`: the idempotency key was used before; nothing was stored, and this is the earlier response.
 * - `unpaid`: the balance is too low; nothing was stored.
 * - `code taken`: another link has one of the short link codes; nothing was stored.
 * - `held back`: limits on one-time passwords refuse it; nothing of the request was stored.
 */
export type AcceptResult =
  | { kind: "stored"; noted?: Admission["noted"] }
  | { kind: "replayed"; bodyHash: string; response: string }
  | { kind: "unpaid" }
  | { kind: "code taken" }
  | { kind: "held back"; admission: Admission };

/** The message that a carrier's id identifies. */
export interface SubmittedMessage extends MessageRef {
  /** The number of parts; absent for a single one. */
  parts?: number;
}

/** A message found by another format of the carrier's id. */
export interface Respelled {
  submission: SubmittedMessage;
  /** The id as in the carrier's submit response. */
  knownAs: string;
}

/** The result of a receipt for one part of a message. */
export type PartReport = Pick<Receipt, "carrier" | "carrierMessageId" | "state" | "errorCode" | "description">;

/** The state of one part. */
export interface Part {
  index: number;
  total: number;
  carrierMessageId: string;
  /** Null before the first receipt. */
  state: Receipt["state"] | null;
  errorCode: string | null;
  description: string | null;
}

/** A receipt that arrived before the submit response. */
export interface StoredReceipt {
  id: number;
  receipt: Receipt;
}

/** An unmatched receipt, as shown to its account. */
export interface UnmatchedReceipt extends StoredReceipt {
  parkedAt: number;
}

/** Selects unmatched receipts: of one account or all, of one carrier or all. */
export interface UnmatchedFilter {
  accountId?: number;
  /** By its service-wide name. */
  carrier?: string;
  /** Only those whose id has alternate formats. */
  respelled?: boolean;
  /** Epoch ms, inclusive: only those stored since then. */
  since?: number;
}

export interface MessageFilter {
  status?: CustomerStatus;
  channel?: string;
  routeClass?: RouteClass;
  messageId?: Position;
  /** The id that a carrier gave to the message, or to one of its parts. */
  carrierMessageId?: string;
  recipient?: string;
  /** The last digits of the number, at least four. */
  recipientEnding?: string;
  /** Any of these senders. They have no index, so all messages that match otherwise are read. */
  senders?: readonly string[];
  campaignName?: string;
  templateName?: string;
  /** A part of the text, without regard to the case of ASCII letters. It has no index, as `senders`. */
  text?: string;
  /** Epoch ms, inclusive. */
  from?: number;
  /** Epoch ms, exclusive. */
  to?: number;
  /** Only messages of test keys, or only of live keys. */
  test?: boolean;
  /** Defaults to the newest first. */
  order?: MessageOrder;
}

export type MessageOrder = "newest" | "oldest";

/** A message with its current state and timeline. */
export interface StoredMessage extends Message {
  /** Its credits after refunds. */
  cost: number;
  timeline: string | null;
  errorCode: string | null;
  description: string | null;
  submittedAt: number | null;
  doneAt: number | null;
}

/** A row in the list of rows that a node owns. */
export interface OwnedRow extends MessageRef {
  dueAt: number;
}

export type Position = Pick<MessageRef, "requestId" | "n">;

export interface Page<T, C> {
  rows: T[];
  /** Position of the next page, or null at the end. */
  next: C | null;
}

/** States without messages are absent. */
export type StateCounts = Partial<Record<State, number>>;

export interface MessageStore {
  /** Urgent transitions have their own queue. */
  accept(batch: readonly Acceptance[], urgent?: boolean): Promise<readonly (AcceptResult | Error)[]>;
  transition(batch: readonly Transition[], urgent?: boolean): Promise<readonly (TransitionResult | Error)[]>;
  /** Claims due rows of one lane of `from` (`UNOWNED` or a dead node) for `node`, oldest first. */
  claim(claim: {
    node: number;
    from: number;
    routeClass: RouteClass;
    dueBy: number;
    /** Claims the latest due rows first, instead of the oldest. */
    lastFirst?: boolean;
    limit: number;
  }): Promise<Message[]>;
  /** Releases rows that a node owns but will not send. */
  release(node: number, requests: readonly Pick<MessageRef, "accountId" | "requestId">[]): Promise<void>;
  /** Waiting rows of one class that a node owns and that were due by a time, ordered by due time, starting after `after`. */
  listOwned(wanted: {
    node: number;
    routeClass: RouteClass;
    dueBy: number;
    after: OwnedRow | null;
    limit: number;
  }): Promise<readonly OwnedRow[]>;
  /** Releases those rows that this node still owns and that wait; returns how many. */
  releaseOwned(node: number, rows: readonly MessageRef[]): Promise<number>;
  /** By the carrier's id. If the receipt names a phone number, only a message to that number matches. */
  findSubmissions(
    batch: readonly Pick<Receipt, "carrier" | "carrierMessageId" | "recipient">[],
  ): Promise<readonly (SubmittedMessage | null)[]>;
  /** The same by alternate formats of the ids: the first one that matches a message to the receipt's number. */
  findRespelled(
    batch: readonly Pick<Receipt, "carrier" | "otherIds" | "recipient">[],
  ): Promise<readonly (Respelled | null)[]>;
  /** Stores receipts that match no submit; returns the message for any that matches after all. */
  storeUnmatched(batch: readonly Receipt[], at: number): Promise<readonly (SubmittedMessage | null)[]>;
  /** Unmatched receipts whose submit is known by now, ordered by id, starting after `after`. */
  listMatchable(limit: number, after?: number): Promise<readonly (StoredReceipt & { ref: SubmittedMessage })[]>;
  /** Newest first, starting before `after`. */
  listUnmatched(
    filter: UnmatchedFilter,
    after: number | null,
    limit: number,
  ): Promise<{ rows: readonly UnmatchedReceipt[]; next: number | null }>;
  findUnmatched(accountId: number, id: number): Promise<UnmatchedReceipt | null>;
  removeUnmatched(accountId: number, id: number): Promise<boolean>;
  /** Stores the states of parts of long messages. A state never goes backwards. */
  reportParts(batch: readonly PartReport[]): Promise<void>;
  /** For each id, all parts of the same message, in order. */
  listParts(batch: readonly Pick<PartReport, "carrier" | "carrierMessageId">[]): Promise<readonly (readonly Part[])[]>;
  findMessage(ref: MessageRef): Promise<StoredMessage | null>;
  /** The id under which a carrier accepted the message last; null if none has it. */
  findCarrierMessageId(message: MessageRef): Promise<string | null>;
  /**
   * Newest first, or in the order of the filter. Only the last page is empty. A page is full unless it is the last, or its search took long. A search without
   * any result fails after its time limit, or after `withinMs`.
   */
  listMessages(
    accountId: number,
    filter: MessageFilter,
    after: Position | null,
    limit: number,
    withinMs?: number,
  ): Promise<Page<StoredMessage, Position>>;
  countWaiting(): Promise<number>;
  /** Messages of an account that are not submitted yet. */
  countWaitingMessages(accountId: number): Promise<number>;
  /** The stored response for an idempotency key; null when there is none. */
  findAnswer(accountId: number, path: string, key: string): Promise<{ bodyHash: string; response: string } | null>;
  /** Records that a request with this key was refused; false when the key already has a response. */
  refuseKey(
    accountId: number,
    request: { path: string; key: string; bodyHash: string; response: string; at: number },
  ): Promise<boolean>;
  /** Removes a key if it has this response. */
  freeKey(accountId: number, request: { path: string; key: string; response: string }): Promise<void>;
  /** Messages whose failover is due, oldest first, including those that have ended since. */
  listFailovers(dueBy: number, limit: number): Promise<readonly StoredMessage[]>;
  /** Cancels a planned failover. */
  dropFailover(ref: MessageRef): Promise<void>;
  /** Moves a planned failover to another time; false when none is planned, or another carrier or channel has the message. */
  replanFailover(ref: MessageRef, carrier: string, at: number, channel?: Channel): Promise<boolean>;
  /** Erases encrypted content without a transition, when the message will not be sent again. */
  eraseSealed(ref: MessageRef): Promise<void>;
  /** Erases the content of a message that does not wait to be sent, nor for another route; false if it does. */
  eraseText(ref: MessageRef): Promise<boolean>;
  /** Messages of a campaign in one of these states and due within this period, unordered. */
  listCampaignMessages(
    accountId: number,
    campaignName: string,
    wanted: { states: readonly State[]; dueFrom: number; dueBefore: number },
    limit: number,
  ): Promise<readonly StoredMessage[]>;
  /** Message counts of campaigns by state, by campaign name. They are kept, so no message is read. */
  countCampaigns(accountId: number, names: readonly string[]): Promise<ReadonlyMap<string, StateCounts>>;
  /** Adds up changes of the counts, where an engine stores them one by one. */
  foldCampaignCounts(): Promise<void>;
  listRequest(accountId: number, requestId: string): Promise<readonly StoredMessage[]>;
  /** The subset of these requests that a test key made. */
  testRequestsAmong(accountId: number, requestIds: readonly string[]): Promise<ReadonlySet<string>>;
}
