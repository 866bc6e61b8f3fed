import type { KeyMode } from "../model/api-key.ts";
import type { Callback } from "../model/callback.ts";
import type { CountryHour } from "../model/country-alert.ts";
import type { PrefixBlock, PumpingGuard } from "../model/pumping.ts";
import type { SendRefusal } from "../model/send-limits.ts";
import type { FailureCaps, SendCaps, Verification, VerificationState } from "../model/verification.ts";

/** A code that a request sends: stored in the transaction that stores its message, or not at all. */
export interface NewVerification extends FailureCaps {
  /** Of the key that asks for it. */
  mode: KeyMode;
  config: string;
  country: string;
  /** What the code is recognised by; it says nothing about the code to whoever has only the store. */
  digest: string;
  checksMax: number;
  expiresAt: number;
  /** Whether limits refuse, or are only noted. */
  bound: boolean;
  /** What a number may be sent. */
  caps: SendCaps;
  /** Whether its code is always the same: nobody real is sent it, and wrong tries at it count wherever it is sent. */
  fixed: boolean;
  /** Against pumping; where limits do not bind, prefixes owe nothing. */
  guard: PumpingGuard | null;
  /** The way to the next channel, sealed, with its time; null when there is none. */
  next: { plan: string; at: number } | null;
  /** Whether it is one more message of a verification that is there: it counts as a send, and is no verification of its own. */
  continues?: boolean;
  /** Whether somebody is to be told of its end; then it is due once more when it has come to it. */
  followed?: boolean;
}

/** One try at a code. */
export interface CodeCheck {
  accountId: number;
  /** Of the key: what was asked for with the other is unknown to it. */
  mode: KeyMode;
  id: string;
  /** Of what was tried. */
  digest: string;
  at: number;
}

/**
 * - `incorrect`: counted; with none remaining the verification is used up.
 * - `blocked`: too many wrong tries at codes of the number, whatever this one was; not counted.
 * - `unknown`: the account has no such verification.
 */
export type CheckResult =
  | { kind: "verified" }
  | { kind: "incorrect"; remaining: number }
  | { kind: "blocked"; until: number }
  | { kind: "ended"; state: Exclude<VerificationState, "pending">; expiresAt: number }
  | { kind: "unknown" };

export interface VerificationFilter {
  state?: VerificationState;
  number?: string;
  config?: string;
  /** Epoch ms, inclusive. */
  from?: number;
  /** Epoch ms, exclusive. */
  to?: number;
}

export interface StoredBlock extends PrefixBlock {
  prefix: string;
}

/** A verification with which there is something to do: its code goes on by another channel, or its end is to be told. */
export interface DueVerification {
  verification: Verification;
  /** The way to the next channel, sealed; null when there is none left. */
  plan: string | null;
  followed: boolean;
  at: number;
}

/** What may have changed of a verification since it was found due. */
type TakenUp = Pick<Verification, "state" | "checks" | "doneAt">;

/** Sends to a country, and how many of them were verified. */
interface CountryCount {
  country: string;
  sends: number;
  verified: number;
}

/** Before which time what is of no more use: verifications, and what only counts for limits or tells what is usual. */
interface OldVerifications {
  ended: number;
  numbers: number;
  /** Numbers at which codes were used. */
  known: number;
  tallies: number;
  prefixes: number;
}

/** One-time passwords. They are made by `accept`, with the message that carries them. */
export interface VerifyStore {
  /**
   * Decides tries, each at once: of any number of right ones on any number of nodes exactly one is
   * `verified`. A try at a code that is unknown is written down too, so that it takes as long as any other.
   */
  checkCodes(batch: readonly CodeCheck[]): Promise<readonly (CheckResult | Error)[]>;
  findVerification(accountId: number, id: string): Promise<Verification | null>;
  /** The verification whose code a request brought, by its first channel or a later one. */
  findVerificationOf(accountId: number, requestId: string): Promise<Verification | null>;
  /** Newest first. A page may be short, even empty, before the end: each call looks at a bounded number of rows. */
  listVerifications(
    accountId: number,
    filter: VerificationFilter,
    now: number,
    after: string | null,
    limit: number,
  ): Promise<{ rows: Verification[]; next: string | null }>;
  /** Sends and how many of them were verified, on the day of `at` and the day before. */
  countConversion(accountId: number, at: number): Promise<{ sends: number; verified: number }>;
  /** What limits count now: sends of the day, and what went to each country within the hour. */
  countTraffic(accountId: number, now: number): Promise<{ today: number; countries: readonly CountryCount[] }>;
  /** What went to each country in each hour from one time on, until another. */
  countCountryHours(accountId: number, from: number, until: number): Promise<readonly CountryHour[]>;
  /** Every block that stands, newest first, or that of one prefix. */
  listBlocks(accountId: number, now: number, prefix?: string): Promise<readonly StoredBlock[]>;
  /** Ends a block; false when there is none. What was sent before no longer counts against the prefix. */
  liftBlock(accountId: number, prefix: string, now: number): Promise<boolean>;
  listDueVerifications(dueBy: number, limit: number): Promise<readonly DueVerification[]>;
  /**
   * Takes up one that is due, until a time at which another node may; gives what it is by then, or null when another node
   * was faster. One that nobody used in time is expired from then on.
   */
  takeUp(due: DueVerification, until: number, now: number): Promise<TakenUp | null>;
  /**
   * Sets what comes next, if it is still due at `was`; false when another node was faster. The request that brought the
   * code by a later channel, where one did, is known as such from then on.
   */
  planNext(
    verification: Pick<Verification, "accountId" | "id">,
    was: number,
    next: { at: number; plan: string | null } | null,
    requestId: string | null,
  ): Promise<boolean>;
  /** Stores who is told of an end, and that nothing comes after it, if it is still due at `was`. */
  tellEnd(
    verification: Pick<Verification, "accountId" | "id">,
    was: number,
    callbacks: readonly Callback[],
    now: number,
  ): Promise<void>;
  /** Removes old verifications and all that only counted them; says how many rows went. */
  forgetVerifications(accountId: number, before: OldVerifications, limit: number): Promise<number>;
}

/** What became of a code that limits had a word on. */
export interface Admission {
  /** Those that refused it, where they bind. */
  refused: readonly SendRefusal[];
  /** Those that would have, where they do not. */
  noted: readonly SendRefusal[];
  /** A prefix that was blocked at this moment. */
  blocked: StoredBlock | null;
}
