import type { Receipt } from "../carriers/carrier.ts";
import type { Account, AccountSettings, Role } from "../model/account.ts";
import type { ApiKey } from "../model/api-key.ts";
import type { CustomerStatus, Message, MessageRef, RouteClass, State } from "../model/message.ts";
import type { Phone, PhoneMessage } from "../model/phone.ts";

/**
 * The port to what lasts. Two engines stand behind it, SQLite and PostgreSQL, and one suite holds both to the same words.
 * A resolved write is on disk. A write that could not be done rejects with `StorageUnavailable` and changed nothing,
 * unless the line to the database broke during its commit; every write here may therefore be done again.
 */
export interface Store extends MessageStore, NodeStore, RecordStore, PhoneStore {
  readonly engine: "sqlite" | "postgres";
  /** Resolves when the store can be written; rejects with `StorageUnavailable` when not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The disk is full or the database is away. It may pass. */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
}

/** The owner of a row that nobody has taken. */
export const NOBODY = 0;

/** One send request on its way into the store: what all its messages share, and who they go to. */
export interface Acceptance {
  message: Omit<Message, "n" | "recipient" | "state" | "attempts">;
  /** In the order of their `n`, from 1. A recipient with a failure is stored as rejected, for the record. */
  recipients: readonly { number: string; failure: string | null }[];
  /** The node that will send them, or `NOBODY`. */
  owner: number;
  idempotency: { path: string; key: string; bodyHash: string; response: string } | null;
}

/** `replayed`: the idempotency key had been used; nothing was stored, and here is what was answered then. */
export type AcceptResult = { kind: "stored" } | { kind: "replayed"; bodyHash: string; response: string };

/** A change of state. It takes effect only from a state that may legally go there. */
export interface Move extends MessageRef {
  to: State;
  /** When it happened. */
  at: number;
  /** The owner afterwards. */
  owner: number;
  /** Only if this node still owns the row. */
  ownedBy?: number;
  dueAt?: number;
  carrier?: string;
  /** Set when the carrier took it: receipts will name this id. */
  carrierMessageId?: string;
  /** Counts one more try. */
  attempt?: boolean;
  errorCode?: string | null;
  description?: string | null;
  /** A parked receipt that this move settles; it is removed whether or not the move was legal. */
  settles?: number;
}

/** A receipt that came before the carrier's answer to the submit. */
export interface ParkedReceipt {
  id: number;
  receipt: Receipt;
}

export interface MoveResult {
  moved: boolean;
  /** Receipts that were waiting for the id of this submit. */
  parked: readonly ParkedReceipt[];
}

export interface MessageFilter {
  status?: CustomerStatus;
  channel?: string;
  recipient?: string;
  campaignName?: string;
  /** Epoch ms, inclusive. */
  from?: number;
  /** Epoch ms, exclusive. */
  to?: number;
}

/** A message with all that became of it. */
export interface StoredMessage extends Message {
  carrier: string | null;
  errorCode: string | null;
  description: string | null;
  submittedAt: number | null;
  doneAt: number | null;
}

export type Position = Pick<MessageRef, "requestId" | "n">;

interface Page<T, C> {
  rows: T[];
  /** Where the next page begins, or null at the end. */
  next: C | null;
}

export interface MessageStore {
  accept(batch: readonly Acceptance[]): Promise<readonly (AcceptResult | Error)[]>;
  move(batch: readonly Move[]): Promise<readonly (MoveResult | Error)[]>;
  /** Takes due rows of one lane from `from` (nobody, or a dead node) for `node`, oldest first. */
  claim(claim: {
    node: number;
    from: number;
    routeClass: RouteClass;
    dueBy: number;
    limit: number;
  }): Promise<Message[]>;
  /** Gives up rows of a node that it holds but will not work on. */
  release(node: number, requests: readonly Pick<MessageRef, "accountId" | "requestId">[]): Promise<void>;
  findSubmissions(
    batch: readonly Pick<Receipt, "carrier" | "carrierMessageId">[],
  ): Promise<readonly (MessageRef | null)[]>;
  /** Keeps receipts that match no submit; gives back the message where one matches after all. */
  park(batch: readonly Receipt[], at: number): Promise<readonly (MessageRef | null)[]>;
  /** Parked receipts whose submit has become known. */
  parkedWithMessage(limit: number): Promise<readonly (ParkedReceipt & { ref: MessageRef })[]>;
  findMessage(ref: MessageRef): Promise<StoredMessage | null>;
  /** Newest first. A page may be short, even empty, before the end: each call looks at a bounded number of rows. */
  listMessages(
    accountId: number,
    filter: MessageFilter,
    after: Position | null,
    limit: number,
  ): Promise<Page<StoredMessage, Position>>;
  countWaiting(): Promise<number>;
  /** Removes idempotency keys and parked receipts from before these times, a bounded number; says how many went. */
  forget(before: { idempotency: number; parked: number }): Promise<number>;
}

/** Who is running. Times are the store's own, so that clocks of different machines need not agree. */
export interface NodeStore {
  /** Registers a running process under a fresh id. `alone`: no other process can be running, so all others are dead. */
  join(options: { alone: boolean }): Promise<number>;
  /** Says that the node lives; false when the others have declared it dead. */
  beat(node: number): Promise<boolean>;
  /** Declares dead who has been silent for so long; gives the dead nodes that have left waiting rows behind. */
  bury(silentMs: number): Promise<readonly number[]>;
  /** Ends a node in order: its rows are nobody's, at once. */
  leave(node: number): Promise<void>;
  countNodes(): Promise<number>;
}

interface User {
  accountId: number;
  id: string;
  email: string;
  passwordHash: string;
  role: Role;
  createdAt: number;
}

export interface NewAccount {
  name: string;
  createdAt: number;
  owner: Omit<User, "accountId">;
  keys: readonly Omit<ApiKey, "accountId">[];
  phones: readonly { number: string; name: string }[];
}

/** What people configure: few rows, read into memory, changed seldom. */
export interface RecordStore {
  /** Grows with every change of accounts or keys, by any node. */
  revision(): Promise<number>;
  listAccounts(): Promise<Account[]>;
  /** Gives null, and stores nothing, when the name is taken. */
  createAccount(account: NewAccount): Promise<number | null>;
  /** Changes only the settings that are given. */
  saveSettings(accountId: number, change: Partial<AccountSettings>): Promise<void>;
  listKeys(): Promise<ApiKey[]>;
  insertKey(key: ApiKey): Promise<void>;
  /** Changes a key that is there; false when it is not. */
  updateKey(
    accountId: number,
    id: string,
    change: Partial<Pick<ApiKey, "name" | "scopes" | "allowedIps" | "requestsPerSecond" | "expiresAt" | "revokedAt">>,
  ): Promise<boolean>;
  touchKeys(used: readonly Pick<ApiKey, "accountId" | "id" | "lastUsedAt">[]): Promise<void>;
  findUser(email: string): Promise<User | null>;
  /** Writes a value of the whole service once; gives the value that stands. */
  settle(name: string, value: string): Promise<string>;
}

/** The simulated phones. */
export interface PhoneStore {
  receiveOnPhones(batch: readonly PhoneMessage[]): Promise<void>;
  /** The carrier has handed over all reports of these. */
  markReported(batch: readonly Pick<PhoneMessage, "accountId" | "id">[]): Promise<void>;
  /** Messages whose reports should have been handed over before `before`. */
  listUnreported(before: number, limit: number): Promise<PhoneMessage[]>;
  listPhones(accountId: number, after: string | null, limit: number): Promise<Page<Phone, string>>;
  /** Newest first. */
  listPhoneMessages(
    accountId: number,
    number: string,
    after: string | null,
    limit: number,
  ): Promise<Page<PhoneMessage, string>>;
  /** Messages to one phone, or to any, with ids from `fromId` on, oldest first. */
  phoneMessagesSince(accountId: number, number: string | null, fromId: string, limit: number): Promise<PhoneMessage[]>;
}
