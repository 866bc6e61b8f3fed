import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Account } from "../model/account.ts";
import { NO_ACCOUNT } from "../model/audit.ts";
import { MINUTES_KEPT_MS } from "../model/stats.ts";
import type { Cursor } from "../store/key-range.ts";
import type { RecordStore } from "../store/records.ts";
import type { Cutoff, Expiring, RetentionStore, Sweep } from "../store/retention.ts";
import { isAway, type Store } from "../store/store.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The pause after a complete pass, or after a failure. */
const PAUSE_MS = 10 * MINUTE_MS;
const IDEMPOTENCY_KEY_LIFE_MS = DAY_MS;
const UNMATCHED_RECEIPT_LIFE_MS = 7 * DAY_MS;
/** A carrier whose acknowledgement was lost repeats a part of an inbound text within this time. */
const INBOUND_PART_REPEATS_MS = 10 * MINUTE_MS;
/** Clients ask for the status of a part by its id. */
const SUBMITTED_PART_LIFE_MS = 3 * 86_400_000;

interface BatchSize {
  /** Duration of a transaction, by which the rows of the next are chosen. */
  aimMs: number;
  min: number;
  max: number;
}

/**
 * SQLite has one writer, and a send that arrives during a batch waits for its end. PostgreSQL serves sends meanwhile, and half
 * of a short transaction are round trips.
 */
const BATCHES: Record<Store["engine"], BatchSize> = {
  sqlite: { aimMs: 4, min: 100, max: 2000 },
  postgres: { aimMs: 50, min: 250, max: 5000 },
};
const FIRST_BATCH = 250;
/** The job rests this many times as long as its last transaction took: it takes half of the writer at most. */
const REST = 1;

export interface RetentionDeps {
  store: RetentionStore & Pick<RecordStore, "listAccounts"> & Pick<Store, "engine" | "freePages">;
  clock: Clock;
  log: Log;
  linkLifeMs: number;
  sessionLimits: { idleMs: number; lifeMs: number };
  /** Lifetime of audit log entries. */
  auditMs: number;
}

/** Runs retention step by step. Yields the pause before the next step. */
type Pass = AsyncGenerator<number | undefined, void>;

/**
 * Erases texts and deletes data older than the retention settings of its account. Each run is one short transaction, so that
 * messages are not delayed, and a shutdown waits for one at most. Resolves to the pause before the next run.
 */
export const runRetention = (deps: RetentionDeps): (() => Promise<number | undefined>) =>
  runPasses(deps, PAUSE_MS, removeExpired);

/** Deletes data whose lifetime is the same for every account. */
export const runExpiry = (deps: RetentionDeps): (() => Promise<number | undefined>) =>
  runPasses(deps, MINUTE_MS, ({ clock }, sweep) => {
    const now = clock.now();
    return isolated(deps, [
      sweep("idempotencyKeys", { before: now - IDEMPOTENCY_KEY_LIFE_MS }),
      sweep("unmatchedReceipts", { before: now - UNMATCHED_RECEIPT_LIFE_MS }),
      sweep("inboundParts", { before: now - INBOUND_PART_REPEATS_MS }),
      sweep("submittedParts", { before: now - SUBMITTED_PART_LIFE_MS }),
    ]);
  });

function runPasses(
  deps: RetentionDeps,
  pauseMs: number,
  begin: (deps: RetentionDeps, sweep: SweepKind) => Pass,
): () => Promise<number | undefined> {
  const sweep = sweepKinds(deps);
  let pass: Pass | null = null;
  let pausedUntil = 0;
  return async () => {
    const now = deps.clock.now();
    if (!pass && now < pausedUntil) return undefined;
    const current = pass ?? begin(deps, sweep);
    pass = null;
    pausedUntil = now + pauseMs;
    const { done, value } = await current.next();
    if (!done) pass = current;
    return done ? undefined : value;
  };
}

async function* removeExpired(deps: RetentionDeps, sweep: SweepKind): Pass {
  const { store, clock, auditMs } = deps;
  const start = clock.now();
  yield* isolated(deps, [
    sweep("loginFailures", { before: start - 2 * DAY_MS }),
    sweep("audit", { accountId: NO_ACCOUNT, before: start - auditMs }),
  ]);
  const accounts = await store.listAccounts();
  // A receipt without an account may belong to any: the shortest retention of all accounts applies to it.
  if (accounts.length === 0) return;
  const shortest = Math.min(...accounts.map(({ settings }) => settings.keepMessagesDays));
  yield* isolated(deps, [sweep("unmatchedReceipts", { accountId: null, before: start - shortest * DAY_MS })]);
  for (const account of accounts) {
    yield* isolated(deps, [...stepsFor(deps, account, sweep), sweep("freePages", { before: start })]);
    yield undefined;
  }
}

/** The steps for one account. A generator runs nothing before its first `next`. */
function stepsFor(deps: RetentionDeps, { id: accountId, settings }: Account, sweep: SweepKind): Pass[] {
  const { clock, linkLifeMs, sessionLimits, auditMs } = deps;
  const now = clock.now();
  const texts = { accountId, before: now - settings.keepTextsDays * DAY_MS };
  const messages = { accountId, before: now - settings.keepMessagesDays * DAY_MS };
  // A short link works for its whole lifetime, even after its message is removed.
  const links = { accountId, before: Math.min(messages.before, now - linkLifeMs) };
  // Counts are not read beyond their windows.
  const prefixes = { accountId, before: now - 30 * DAY_MS };
  const numbers = { accountId, before: now - 2 * DAY_MS, alsoBefore: Math.max(messages.before, prefixes.before) };
  const minutes = { accountId, before: now - MINUTES_KEPT_MS - HOUR_MS };
  const sessions = { accountId, before: now - sessionLimits.idleMs, alsoBefore: now - sessionLimits.lifeMs };
  return [
    // Before the texts: those of deleted messages need not be erased.
    sweep("messages", messages),
    sweep("campaignCounts", messages),
    sweep("texts", texts),
    sweep("keptTexts", texts),
    sweep("phoneMessages", texts),
    sweep("inbound", texts),
    sweep("conversations", texts),
    ...(settings.keepContactsDays === null
      ? []
      : [sweep("contacts", { accountId, before: now - settings.keepContactsDays * DAY_MS })]),
    sweep("callbacks", texts),
    sweep("unmatchedReceipts", messages),
    sweep("links", links),
    sweep("linkTargets", links),
    sweep("verifications", messages),
    sweep("verifyRequests", messages),
    sweep("verifySources", messages),
    sweep("verifyNumbers", numbers),
    sweep("keywordUsers", { accountId, before: now - 2 * DAY_MS }),
    sweep("verifyTallies", { accountId, before: now - 9 * DAY_MS }),
    sweep("verifyPrefixes", prefixes),
    sweep("sessions", sessions),
    sweep("stats", messages),
    sweep("statsMinutes", minutes),
    sweep("groupStats", messages),
    sweep("groupStatsMinutes", minutes),
    sweep("campaignStats", messages),
    sweep("campaignStatsMinutes", minutes),
    sweep("codeTexts", messages),
    // By the age of the audience, whose id begins with its time.
    sweep("audienceRecipients", messages),
    sweep("audienceFaults", messages),
    sweep("audienceParts", messages),
    sweep("audiences", messages),
    sweep("campaignLinks", messages),
    sweep("campaigns", messages),
    sweep("alerts", messages),
    sweep("audit", { accountId, before: now - auditMs }),
  ];
}

type SweepKind = (kind: Expiring | "texts" | "keptTexts" | "freePages", cutoff: Cutoff) => Pass;

/** Deletes one kind of data batch by batch. The batches of each kind grow and shrink with the time that they take. */
function sweepKinds({ store }: RetentionDeps): SweepKind {
  const sizes = new Map<string, number>();
  const run = (kind: Parameters<SweepKind>[0], cutoff: Cutoff, after: Cursor, limit: number): Promise<Sweep> => {
    const { accountId, before } = cutoff;
    if (kind === "texts") return store.eraseTexts(accountId ?? NO_ACCOUNT, before, limit);
    if (kind === "keptTexts") return store.eraseKeptTexts(accountId ?? NO_ACCOUNT, before, after, limit);
    if (kind === "freePages") return store.freePages(limit);
    return store.deleteExpired(kind, cutoff, after, limit);
  };
  return async function* (kind, cutoff) {
    let after: Cursor = [];
    for (;;) {
      const limit = sizes.get(kind) ?? FIRST_BATCH;
      const { next, ms } = await run(kind, cutoff, after, limit);
      // The last batch is mostly short and says little.
      if (next || ms > BATCHES[store.engine].aimMs) sizes.set(kind, nextSize(limit, ms, BATCHES[store.engine]));
      if (!next) return;
      after = next;
      yield Math.ceil(REST * ms);
    }
  };
}

function nextSize(limit: number, ms: number, { aimMs, min, max }: BatchSize): number {
  const factor = Math.min(2, Math.max(0.25, aimMs / Math.max(ms, 0.01)));
  return Math.min(max, Math.max(min, Math.round(limit * factor)));
}

/** Runs steps in order. A failed step is logged and skipped, so that it blocks neither other steps nor other accounts. */
async function* isolated({ log }: RetentionDeps, steps: readonly Pass[]): Pass {
  for (const step of steps) {
    try {
      yield* step;
    } catch (error) {
      if (isAway(error)) throw error;
      log.error({ err: error, job: "retention" }, "job skipped a failed item");
    }
  }
}
