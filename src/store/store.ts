import type { Receipt } from "../carriers/carrier.ts";
import type { Callback, MessageFacts, StatusHappening } from "../model/callback.ts";
import type {
  Channel,
  CustomerStatus,
  Message,
  MessageContent,
  MessageRef,
  RouteClass,
  State,
} from "../model/message.ts";
import type { AuditStore } from "./audit-store.ts";
import type { CallbackStore } from "./callback-store.ts";
import type { CatalogStore } from "./catalog-store.ts";
import type { CreditStore } from "./credit-store.ts";
import type { FigureStore } from "./figure-store.ts";
import type { IdFormStore } from "./id-form-store.ts";
import type { InboundStore } from "./inbound-store.ts";
import type { LinkStore } from "./link-store.ts";
import type { NodeStore } from "./node-store.ts";
import type { OptOutStore } from "./opt-out-store.ts";
import type { PhoneStore } from "./phone-store.ts";
import type { RecordStore } from "./record-store.ts";
import type { RetentionStore } from "./retention-store.ts";
import type { UserStore } from "./user-store.ts";
import type { Admission, NewVerification, VerifyStore } from "./verify-store.ts";

/**
 * The port to what lasts. Two engines stand behind it, SQLite and PostgreSQL, and one suite holds both to the same words.
 * A resolved write is on disk. A write that could not be done rejects with `StorageUnavailable` and changed nothing,
 * unless the line to the database broke during its commit; every write here may therefore be done again.
 */
export interface Store
  extends
    MessageStore,
    NodeStore,
    RecordStore,
    CatalogStore,
    OptOutStore,
    CreditStore,
    RetentionStore,
    LinkStore,
    InboundStore,
    CallbackStore,
    VerifyStore,
    UserStore,
    AuditStore,
    FigureStore,
    IdFormStore,
    PhoneStore {
  readonly engine: "sqlite" | "postgres";
  /** Resolves when the store can be written; rejects with `StorageUnavailable` when not. */
  ping(): Promise<void>;
  /** How much room it takes. */
  databaseBytes(): Promise<number>;
  close(): Promise<void>;
}

/** The disk is full or the database is away. It may pass. */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
}

/** Whether a write failed in a way that may pass, so that it is worth trying again. */
export const isAway = (error: unknown): boolean => error instanceof StorageUnavailable;

/** The owner of a row that nobody has taken. */
export const NOBODY = 0;

/** One send request on its way into the store: what all its messages share, and who they go to. */
export interface Acceptance {
  message: Omit<Message, "n" | "recipient" | "credits" | "tried" | "carrier" | "state" | "attempts" | "repeats">;
  /** In the order of their `n`, from 1. */
  recipients: readonly NewRecipient[];
  /** The steps that all of them have behind them. */
  trail: string | null;
  /** The node that will send them, or `NOBODY`. What is not due yet is nobody's all the same. */
  owner: number;
  /** The carrier that all of them are handed to as soon as they are stored: they are born with the intent. */
  carrier?: string;
  /** Whether the credits are taken from the account's balance; without enough of them nothing is stored. */
  metered: boolean;
  links: NewLinks | null;
  /** What customers are to be told at once, of recipients that fail at the door; due when the request was made. */
  callbacks?: readonly Callback[];
  /** The one-time password that its only recipient is sent. */
  verification?: NewVerification;
  idempotency: { path: string; key: string; bodyHash: string; response: string } | null;
}

/** One of the recipients, with what is its own. */
export interface NewRecipient {
  number: string;
  /** Stored as rejected, for the record, and costs nothing. */
  failure: string | null;
  credits: number;
  /** Where its text is another than that of the rest. */
  content?: MessageContent;
  segments?: number;
  /** Where it is held longer than the rest; its validity begins then. */
  dueAt?: number;
  /** Steps behind it that the rest has not; they follow those that all have. */
  trail?: string;
}

/** Short links that a request makes: its targets, and a code for each recipient and target. */
export interface NewLinks {
  /** The k-th target has `k` = its place here, from 1. */
  targets: readonly string[];
  expiresAt: number;
  codes: readonly { code: string; n: number; k: number }[];
}

/**
 * - `stored`: it is on disk; `noted` are limits on one-time passwords that would have refused it, where any would.
 * - `replayed`: the idempotency key had been used; nothing was stored, and here is what was answered then.
 * - `unpaid`: the balance does not cover it; nothing was stored.
 * - `code taken`: one of the short links' codes is another link's; nothing was stored.
 * - `held back`: limits on one-time passwords refuse it; nothing of the request was stored.
 */
export type AcceptResult =
  | { kind: "stored"; noted?: Admission["noted"] }
  | { kind: "replayed"; bodyHash: string; response: string }
  | { kind: "unpaid" }
  | { kind: "code taken" }
  | { kind: "held back"; admission: Admission };

/** A change of state. It takes effect only from a state that may legally go there. */
export interface Move extends MessageRef {
  to: State;
  /** When it happened. */
  at: number;
  /** The owner afterwards. */
  owner: number;
  /** Only if this node still owns the row. */
  ownedBy?: number;
  /** Only if this is the carrier that has it now. */
  carriedBy?: string;
  /** Only if it is still due at this time. */
  dueIs?: number;
  /** Only if it goes by this channel now. */
  channelIs?: Channel;
  dueAt?: number;
  /** Makes it valid for so much longer. */
  extendMs?: number;
  /** Empty takes it from its carrier. */
  carrier?: string;
  /** Set when the carrier took it, or may have: receipts will name this id. */
  carrierMessageId?: string;
  /** The ids of all its parts in order, where there is more than one. */
  partIds?: readonly string[];
  /** Counts one more try. */
  attempt?: boolean;
  /** Counts one more repeat of a message in doubt, or takes back one that was not sent after all. */
  repeat?: 1 | -1;
  /** Whose network the phone is in, by the carrier's word. */
  operator?: string;
  circle?: string;
  errorCode?: string | null;
  description?: string | null;
  /** A parked receipt that this move settles; it is removed whether or not the move was legal. */
  settles?: number;
  /** A step for the message's trail. */
  trail?: string;
  /** The step is written down even if the move was not legal. */
  trailAlways?: boolean;
  /** Routes that were used and brought nothing, from now on. */
  tried?: readonly string[];
  /** When to try the next route unless the message has come to an end; null ends such a plan. */
  failoverAt?: number | null;
  /** What it is from now on, having been something else: an RCS message that goes on as a text. */
  becomes?: Pick<Message, "channel" | "sender" | "content" | "segments">;
  /** Pays the credits back even if they were spent. */
  refund?: boolean;
  announce?: Announcement;
  /**
   * What its sender knows of a message that is being handed to a carrier, or was just taken by it and has nothing to be settled:
   * a store that has to look at the row before it writes it may do without.
   */
  known?: Omit<MovedMessage, "taken">;
  /** What customers are told of a delivered message besides that, where its sender knows it too. */
  facts?: Pick<MessageFacts, "sender" | "credits" | "createdAt">;
}

/** Who is to be told of a move, if it takes place: written down in the transaction that makes it. */
export interface Announcement {
  /** The node that will tell them, or `NOBODY`. */
  owner: number;
  /** When they are to be told. */
  dueAt: number;
  targets: readonly AnnouncementTarget[];
}

/** An endpoint that is told if the message goes by this channel, and by this carrier where one is named. */
export interface AnnouncementTarget {
  eventId: string;
  endpointId: string;
  kind: "status" | "sent";
  status: StatusHappening["status"] | null;
  channel: Channel;
  carrier: string | null;
  /** The endpoint is told how messages end, or that nobody knows, and of nothing that may happen to one before. */
  endOnly: boolean;
}

/** A message as a carrier's id names it. */
export interface Submission extends MessageRef {
  /** How many parts it has gone as; absent where it is one. */
  parts?: number;
}

/** A message that a carrier's id names in another spelling. */
export interface Respelled {
  submission: Submission;
  /** The id as the carrier spelled it in its answer to the submit. */
  knownAs: string;
}

/** What a receipt says of one part of a message. */
export type PartReport = Pick<Receipt, "carrier" | "carrierMessageId" | "state" | "errorCode" | "description">;

/** What has become of one part. */
export interface Part {
  index: number;
  total: number;
  carrierMessageId: string;
  /** Null while nothing is known of it. */
  state: Receipt["state"] | null;
  errorCode: string | null;
  description: string | null;
}

/** A receipt that came before the carrier's answer to the submit. */
export interface ParkedReceipt {
  id: number;
  receipt: Receipt;
}

/** A parked receipt as its account sees it. */
export interface UnmatchedReceipt extends ParkedReceipt {
  parkedAt: number;
}

/** Which parked receipts: of one account or all, of one carrier or all. */
export interface ParkedFilter {
  accountId?: number;
  /** By its name in the whole service. */
  carrier?: string;
  /** Only those whose id could be spelled otherwise. */
  respelled?: boolean;
  /** Epoch ms, inclusive: only those parked since then. */
  since?: number;
}

/** What the row of a message that moved says of it. */
export interface MovedMessage {
  channel: Channel;
  routeClass: RouteClass;
  recipient: string;
  /** Whether this was the first sign that a carrier has it. */
  taken: boolean;
}

export interface MoveResult {
  moved: boolean;
  /** Null when it did not move. */
  message: MovedMessage | null;
  /** Receipts that were waiting for the id of this submit. */
  parked: readonly ParkedReceipt[];
  /** What this node is to tell because of it. */
  told: readonly Callback[];
}

export interface MessageFilter {
  status?: CustomerStatus;
  channel?: string;
  routeClass?: RouteClass;
  recipient?: string;
  campaignName?: string;
  templateName?: string;
  /** Epoch ms, inclusive. */
  from?: number;
  /** Epoch ms, exclusive. */
  to?: number;
}

/** A message with all that became of it. */
export interface StoredMessage extends Message {
  trail: string | null;
  errorCode: string | null;
  description: string | null;
  submittedAt: number | null;
  doneAt: number | null;
}

export type Position = Pick<MessageRef, "requestId" | "n">;

export interface Page<T, C> {
  rows: T[];
  /** Where the next page begins, or null at the end. */
  next: C | null;
}

export interface MessageStore {
  /** What is urgent does not wait behind what is not. */
  accept(batch: readonly Acceptance[], urgent?: boolean): Promise<readonly (AcceptResult | Error)[]>;
  move(batch: readonly Move[], urgent?: boolean): Promise<readonly (MoveResult | Error)[]>;
  /** Takes due rows of one lane from `from` (nobody, or a dead node) for `node`, oldest first. */
  claim(claim: {
    node: number;
    from: number;
    routeClass: RouteClass;
    dueBy: number;
    /** Those that became due last instead of those that did first. */
    lastFirst?: boolean;
    limit: number;
  }): Promise<Message[]>;
  /** Gives up rows of a node that it holds but will not work on. */
  release(node: number, requests: readonly Pick<MessageRef, "accountId" | "requestId">[]): Promise<void>;
  /** By a carrier's id; where the receipt writes its phone's number, only a message to that. */
  findSubmissions(
    batch: readonly Pick<Receipt, "carrier" | "carrierMessageId" | "recipient">[],
  ): Promise<readonly (Submission | null)[]>;
  /** The same by the other spellings of their ids: the first that names a message to the receipt's own number. */
  findRespelled(
    batch: readonly Pick<Receipt, "carrier" | "otherIds" | "recipient">[],
  ): Promise<readonly (Respelled | null)[]>;
  /** Keeps receipts that match no submit; gives back the message where one matches after all. */
  park(batch: readonly Receipt[], at: number): Promise<readonly (Submission | null)[]>;
  /** Parked receipts whose submit has become known. */
  parkedWithMessage(limit: number): Promise<readonly (ParkedReceipt & { ref: Submission })[]>;
  /** Newest first, from the one before `after` on. */
  listParked(
    filter: ParkedFilter,
    after: number | null,
    limit: number,
  ): Promise<{ rows: readonly UnmatchedReceipt[]; next: number | null }>;
  findParked(accountId: number, id: number): Promise<UnmatchedReceipt | null>;
  removeParked(accountId: number, id: number): Promise<boolean>;
  /** Writes down what became of parts of long messages, never backwards. */
  reportParts(batch: readonly PartReport[]): Promise<void>;
  /** For each, all parts that were submitted with the one of this id, in order. */
  listParts(batch: readonly Pick<PartReport, "carrier" | "carrierMessageId">[]): Promise<readonly (readonly Part[])[]>;
  findMessage(ref: MessageRef): Promise<StoredMessage | null>;
  /** Newest first. A page may be short, even empty, before the end: each call looks at a bounded number of rows. */
  listMessages(
    accountId: number,
    filter: MessageFilter,
    after: Position | null,
    limit: number,
  ): Promise<Page<StoredMessage, Position>>;
  countWaiting(): Promise<number>;
  /** What a request with this idempotency key was answered; null when there was none. */
  findAnswer(accountId: number, path: string, key: string): Promise<{ bodyHash: string; response: string } | null>;
  /** Messages whose route has stayed silent for too long, oldest first; those too that have come to their end meanwhile. */
  listFailovers(dueBy: number, limit: number): Promise<readonly StoredMessage[]>;
  /** Gives up the plan to try another route. */
  dropFailover(ref: MessageRef): Promise<void>;
  /** Moves a planned failover to another time; false when none is planned, or another carrier or channel has the message. */
  replanFailover(ref: MessageRef, carrier: string, at: number, channel?: Channel): Promise<boolean>;
  /** Erases words that lie sealed, without a move: nobody will send them any more. */
  eraseSealed(ref: MessageRef): Promise<void>;
  /** Some messages of a campaign that are in one of these states and due within these times, in no order. */
  listCampaignMessages(
    accountId: number,
    campaignName: string,
    wanted: { states: readonly State[]; dueFrom: number; dueBefore: number },
    limit: number,
  ): Promise<readonly StoredMessage[]>;
  /** How many messages of a campaign there are, by state. */
  countCampaign(accountId: number, campaignName: string): Promise<Partial<Record<State, number>>>;
  /** All messages of one request. */
  listRequest(accountId: number, requestId: string): Promise<readonly StoredMessage[]>;
  /** Removes idempotency keys and parked receipts from before these times, a bounded number; says how many went. */
  forget(before: { idempotency: number; parked: number }): Promise<number>;
}
