import { every, type Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { MessageRef } from "../model/message.ts";
import type { MessageStore, StoredReceipt } from "../store/store.ts";
import { forEachIsolated } from "./for-each-isolated.ts";
import { runExpiry, runRetention, type RetentionDeps } from "./retention.ts";
import { indexMessages, type IndexMessagesDeps } from "./search-index.ts";
import type { Membership } from "./membership.ts";

const HOUR_MS = 3_600_000;
const UNMATCHED_PAGE = 500;
/** By then the carrier has answered the submit, even if the store was unavailable meanwhile. */
const SUBMIT_ANSWERED_WITHIN_MS = HOUR_MS;
/** Nearly every submit is answered by then. A receipt without a match may have its message id in another format. */
const SUBMIT_ANSWER_USUAL_MS = 2000;

interface Job {
  /** Names the job in the log: a noun in kebab case. */
  name: string;
  pauseMs: number;
  /** The pause after a failed run, where it differs. */
  retryMs?: number;
  /** May resolve to the pause before the next run. */
  run(): Promise<number | void>;
}

/** The work of a node with the role dispatch. */
export interface SendingJobs {
  claim(): Promise<void>;
  /** One-time passwords alone. */
  claimUrgent(): Promise<void>;
  recover(): Promise<void>;
  settleCampaigns(): Promise<void>;
  advanceOtps(): Promise<void>;
  watchCountries(): Promise<void>;
  failOver(): Promise<void>;
  endUnreported(): Promise<void>;
  applyUnmatched(ref: MessageRef, receipts: readonly StoredReceipt[]): Promise<void>;
  matchUnmatched(receipts: readonly StoredReceipt[]): Promise<unknown>;
  divideConnections(): void;
  noteCarriers(): Promise<void>;
  syncTemplates(): Promise<void>;
  receiveIncomplete(): Promise<void>;
  resendOverdue(): Promise<void>;
}

interface ListJobsDeps extends RetentionDeps, Omit<IndexMessagesDeps, "store" | "membership"> {
  log: Log;
  store: MessageStore & RetentionDeps["store"] & IndexMessagesDeps["store"];
  membership: Membership;
  keyring: { refresh(): Promise<void>; saveUses(): Promise<void> };
  catalog: { refresh(): Promise<void>; saveLearned(): Promise<void> };
  /** Null on a node without the role callbacks. */
  webhooks: { claim(): Promise<void>; recover(): Promise<void> } | null;
  checkAudiences(): Promise<number | undefined>;
  importContacts(): Promise<number | undefined>;
  settleMedia(): Promise<number | undefined>;
  eraseNumbers(): Promise<number | undefined>;
  feedCampaigns(): Promise<number | undefined>;
  watchAlerts(): Promise<void>;
  mailAlerts(): Promise<void>;
  /** Null on a node without the role dispatch. */
  sending: SendingJobs | null;
  /** Null on a node that listens for no SMPP clients. */
  smpp: { tick(): Promise<void>; settle(): Promise<void> } | null;
  /** Null without scheduled backups. */
  backups: { run(): Promise<number> } | null;
  /** Null where the database is not a file of this node. */
  integrity: { run(): Promise<number> } | null;
  /** Null where no command can hold the service. */
  watchHold: (() => Promise<void>) | null;
  /** Null where the disk of the database is not this machine's. */
  watchDisk: (() => Promise<void>) | null;
  /** A held node deletes nothing: the operator may look for old data in a restored backup. */
  isHeld: boolean;
  heartbeatMs: number;
  watchDescriptors(): Promise<void>;
  releaseMemory(): Promise<void>;
  stats: { flush(): Promise<void> };
}

/** Lists the periodic jobs of this node. */
export function listJobs(deps: ListJobsDeps): Job[] {
  const { webhooks, smpp, sending, backups, integrity, watchHold, watchDisk } = deps;
  return [
    ...commonJobs(deps),
    ...(watchHold ? [{ name: "hold-watch", pauseMs: 1000, run: watchHold }] : []),
    ...(watchDisk ? [{ name: "disk-watch", pauseMs: 1000, run: watchDisk }] : []),
    ...(backups ? [{ name: "backup", pauseMs: 5000, run: () => backups.run() }] : []),
    // Not at once: a start is busy with other work.
    ...(integrity ? [{ name: "integrity-check", pauseMs: 60_000, run: () => integrity.run() }] : []),
    ...(webhooks ? webhookJobs(webhooks) : []),
    ...(smpp ? smppJobs(smpp) : []),
    ...(sending ? [...sendingJobs(sending), ...receiptJobs(deps, sending)] : []),
  ];
}

function commonJobs(deps: ListJobsDeps): Job[] {
  const { store, membership, keyring, catalog, heartbeatMs, stats } = deps;
  return [
    {
      name: "heartbeat",
      pauseMs: heartbeatMs,
      // A node expires after three intervals. One failed heartbeat that waits a whole interval uses up two of them.
      retryMs: heartbeatMs / 10,
      run: () => membership.heartbeat(),
    },
    { name: "account-refresh", pauseMs: 2000, run: () => keyring.refresh() },
    { name: "record-refresh", pauseMs: 2000, run: () => catalog.refresh() },
    { name: "learned-records", pauseMs: 2000, run: () => catalog.saveLearned() },
    { name: "statistics", pauseMs: 1000, run: () => stats.flush() },
    { name: "campaign-counts", pauseMs: 1000, run: () => store.foldCampaignCounts() },
    { name: "file-descriptor-watch", pauseMs: 1000, run: () => deps.watchDescriptors() },
    { name: "memory-release", pauseMs: 5000, run: () => deps.releaseMemory() },
    { name: "key-usage", pauseMs: 30_000, run: () => keyring.saveUses() },
    ...(deps.isHeld
      ? []
      : [
          { name: "idempotency-key-expiry", pauseMs: 1000, run: runExpiry(deps) },
          { name: "retention", pauseMs: 100, run: runRetention(deps) },
        ]),
    { name: "audience-check", pauseMs: 500, run: () => deps.checkAudiences() },
    ...(deps.isHeld
      ? []
      : [
          { name: "campaign-feed", pauseMs: 200, run: () => deps.feedCampaigns() },
          { name: "alerts", pauseMs: 1000, run: () => deps.watchAlerts() },
          { name: "alert-emails", pauseMs: 1000, run: () => deps.mailAlerts() },
        ]),
    ...(deps.isHeld ? [] : [{ name: "number-erasure", pauseMs: 500, run: () => deps.eraseNumbers() }]),
    ...(deps.isHeld ? [] : [{ name: "media", pauseMs: 1000, run: () => deps.settleMedia() }]),
    { name: "contact-import", pauseMs: 500, run: () => deps.importContacts() },
    { name: "search-index", pauseMs: 100, run: indexMessages(deps) },
  ];
}

const webhookJobs = (webhooks: NonNullable<ListJobsDeps["webhooks"]>): Job[] => [
  { name: "webhook-claim", pauseMs: 500, run: () => webhooks.claim() },
  { name: "webhook-recovery", pauseMs: 30_000, run: () => webhooks.recover() },
];

const smppJobs = (smpp: NonNullable<ListJobsDeps["smpp"]>): Job[] => [
  { name: "smpp-binds", pauseMs: 500, run: () => smpp.tick() },
  { name: "smpp-waiting-texts", pauseMs: 5000, run: () => smpp.settle() },
];

const sendingJobs = (sending: SendingJobs): Job[] => [
  { name: "message-claim", pauseMs: 500, run: () => sending.claim() },
  // Finds those that other nodes left unowned. This node claims its own as soon as they are due.
  { name: "urgent-message-claim", pauseMs: 200, run: () => sending.claimUrgent() },
  { name: "message-recovery", pauseMs: 30_000, run: () => sending.recover() },
  { name: "campaign-settlement", pauseMs: 5000, run: () => sending.settleCampaigns() },
  { name: "otp-channel-fallback", pauseMs: 500, run: () => sending.advanceOtps() },
  { name: "otp-country-watch", pauseMs: 300_000, run: () => sending.watchCountries() },
  { name: "route-failover", pauseMs: 500, run: () => sending.failOver() },
  { name: "unreported-messages", pauseMs: 30_000, run: () => sending.endUnreported() },
  { name: "connection-shares", pauseMs: 1000, run: async () => sending.divideConnections() },
  { name: "carrier-states", pauseMs: 5000, run: () => sending.noteCarriers() },
  { name: "template-sync", pauseMs: 900_000, run: () => sending.syncTemplates() },
  { name: "incomplete-inbound-texts", pauseMs: 60_000, run: () => sending.receiveIncomplete() },
  { name: "simulator-receipts", pauseMs: 5000, run: () => sending.resendOverdue() },
];

/** Matches stored receipts that arrived before the answer to their submit. */
function receiptJobs(deps: ListJobsDeps, sending: SendingJobs): Job[] {
  const { store, clock } = deps;
  return [
    {
      name: "early-receipts",
      pauseMs: 5000,
      run: async () => {
        for (let after = 0, isLast = false; !isLast;) {
          const page = await store.listMatchable(UNMATCHED_PAGE, after);
          await forEachIsolated(deps, "early-receipts", page, (receipt) =>
            sending.applyUnmatched(receipt.ref, [receipt]),
          );
          isLast = page.length < UNMATCHED_PAGE;
          after = page.at(-1)?.id ?? after;
        }
      },
    },
    {
      name: "early-receipts-by-alternate-id",
      pauseMs: 3000,
      run: async () => {
        // Older receipts are matched only on request.
        const now = clock.now();
        const filter = { respelled: true, since: now - SUBMIT_ANSWERED_WITHIN_MS };
        let after: number | null = null;
        do {
          const page = await store.listUnmatched(filter, after, UNMATCHED_PAGE);
          const due = page.rows.filter(({ parkedAt }) => parkedAt <= now - SUBMIT_ANSWER_USUAL_MS);
          // In parallel, so that they share statements. Each fails alone.
          const matches = due.map((receipt) => sending.matchUnmatched([receipt]));
          await Promise.allSettled(matches);
          await forEachIsolated(deps, "early-receipts-by-alternate-id", matches, (match) => match);
          after = page.next;
        } while (after !== null);
      },
    },
  ];
}

/** Runs jobs until stopped. A failed job is logged and runs again after its usual pause, or after `retryMs`. */
export function startJobs({ clock, log }: { clock: Clock; log: Log }, jobs: readonly Job[]): { stop(): Promise<void> } {
  const running = jobs.map((job) =>
    every(clock, job.pauseMs, () =>
      job.run().catch((error: unknown): number | undefined => {
        log.warn({ err: error, job: job.name }, "job failed");
        return job.retryMs;
      }),
    ),
  );
  return {
    stop: async () => {
      await Promise.all(running.map((job) => job.stop()));
    },
  };
}
