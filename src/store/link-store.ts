import type { Callback } from "../model/callback.ts";
import type { Click, ClickCounts, Link, LinkTarget, TargetRef } from "../model/link.ts";
import type { MessageRef } from "../model/message.ts";

/** A link with what following it needs. */
export interface LinkHit extends Link {
  url: string;
  expiresAt: number;
}

export interface LinkCounts {
  /** Recipients that have a link. */
  recipients: number;
  /** Recipients whose link a person has followed. */
  recipientsClicked: number;
  clicks: ClickCounts;
  /** False when there are more clicks than one call looks at: then there are at least these. */
  complete: boolean;
}

export type CountedTarget = LinkTarget & LinkCounts;
export type CountedLink = Link & LinkTarget & LinkCounts;

/** All links of a target, or one of them. */
export type LinkChoice = TargetRef | { code: string };

export interface ClickBucket {
  /** When it begins: a multiple of its length since 1970. */
  at: number;
  clicks: ClickCounts;
}

/** Short links and who followed them. They are written by `MessageStore.accept`, together with the messages they stand in. */
export interface LinkStore {
  /** One answer per code, in order. */
  findLinks(codes: readonly string[]): Promise<readonly (LinkHit | null)[]>;
  /** A click that was recorded before is passed over. */
  recordClicks(batch: readonly Click[], callbacks?: readonly Callback[], at?: number): Promise<void>;
  /** Newest first. A page may be short before the end: each call looks at a bounded number of links and clicks. */
  listLinkTargets(
    accountId: number,
    after: TargetRef | null,
    limit: number,
  ): Promise<{ rows: CountedTarget[]; next: TargetRef | null }>;
  findLinkTarget(accountId: number, requestId: string, k: number): Promise<CountedTarget | null>;
  findLink(accountId: number, code: string): Promise<CountedLink | null>;
  /** In the order of their `k`. */
  listLinksOfMessage(ref: MessageRef): Promise<readonly LinkHit[]>;
  /** Newest first. */
  listClicksOfMessage(ref: MessageRef, limit: number): Promise<readonly (Click & { k: number })[]>;
  /** Clicks from `from` until before `to`, oldest bucket first; buckets without clicks are left out. */
  clicksOverTime(
    accountId: number,
    choice: LinkChoice,
    span: { from: number; to: number; bucketMs: number },
  ): Promise<{ buckets: ClickBucket[]; complete: boolean }>;
  /** Removes clicks, links and targets of requests with an id below `beforeRequestId`, at most `limit` of each; says how many rows went. */
  forgetLinks(accountId: number, beforeRequestId: string, limit: number): Promise<number>;
}
